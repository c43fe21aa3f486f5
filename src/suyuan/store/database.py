"""One database, SQLite or PostgreSQL: its transactions, and its errors as causes."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Self

from sqlalchemy import URL, Connection, Float, Row, Select, UpdateBase, bindparam, func
from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from ..core.causes import store as causes
from ..core.causes.files import FOLDER_READ_ONLY
from ..core.errors import SuyuanError
from ..core.kept_files import KeptFiles
from ..core.notices import Notices
from ..core.read_only import is_read_only
from ..core.secret import Secret, redact
from ..core.spans import span
from . import migrations
from .connections import BUSY_SECONDS, connect
from .rescue import STAMPING
from .salvage import salvage_store
from .text_indexes import text_index

log = logging.getLogger("suyuan.store")

_PAUSE_SECONDS = 0.02
_NO_RIGHT = "42501"  # PostgreSQL's code for a missing privilege
_REFUSED = {"SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR", "SQLITE_AUTH"}
_BUSY = {"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"}


class Database:
    """Transactions on one database; safe for several threads and processes at the same time.

    All :class:`Database` objects of one file in a process have the same connections.
    """

    def __init__(self, address: Secret | str, *, create: bool = True, unfinished: bool = False) -> None:
        self._unfinished = unfinished
        self._connections = connections = connect(address, create=create)
        self._engine = connections.engine
        self._writing = connections.writing
        self._reading = connections.reading
        self._groups = connections.groups
        self._watch = connections.watch
        self._closed = False
        self.sqlite = connections.sqlite
        self.index = text_index(self._engine.dialect.name)
        """The full-text index of the conversations."""
        self.file = connections.file
        self.where = connections.where

    @classmethod
    def opened(cls, address: Secret | str, *, create: bool = True, unfinished: bool = False) -> Self:
        """The database at ``address``, ready for use; raises the cause if it cannot be opened.

        Only a copy under way opens one that is ``unfinished``: everybody else would take a part for the whole.
        """
        made = cls(address, create=create, unfinished=unfinished)
        # One that is only read, or a copy under way, is missed by nobody.
        kept = made.file if create and not unfinished else None
        with KeptFiles(kept.parent).opening(kept, "store") if kept is not None else nullcontext():
            try:
                made._open_or_salvage()
            except BaseException:
                made.close()
                raise
        return made

    def _open_or_salvage(self) -> None:
        """Open it; of a file that is no database any more, what can be read takes its place."""
        try:
            self.open()
        except SuyuanError as error:
            lost = error.detail_code == causes.STORE_NOT_A_DATABASE.detail_code
            if not lost or self.file is None or self._connections.read_only:
                raise
            self._engine.dispose()
            told = salvage_store(self.file)
            if told is None:
                self.note(error)
                raise
            if self._watch is not None:
                self._watch.remember()
            self.note(told)
            self.open()

    def open(self) -> None:
        """Create or migrate the tables; a database of another program or a newer release is left unchanged."""
        self._check_ours()
        if self._connections.read_only:
            self._check_usable_as_it_is()
            return
        if self.sqlite:
            self._set_up_file()
        with self.write() as connection:
            before = migrations.revision(connection)
            migrations.migrate(connection)
            has_index = self.index.is_there(connection)
            if not has_index and before != migrations.HEAD:
                self.index.create(connection)
        if not has_index and before == migrations.HEAD:
            self._make_missing_index()
        if self.sqlite:
            self._mark_file()

    def _mark_file(self) -> None:
        """Give a new store a number of its own: a file with another number that is written over it is noticed."""
        if self.file is None or self.pragma("application_id") != [(0,)]:
            return
        with self.write() as connection:
            if connection.exec_driver_sql("PRAGMA application_id").scalar() == 0:
                connection.exec_driver_sql(f"PRAGMA application_id={STAMPING.new_mark()}")
        self.pragma("wal_checkpoint(PASSIVE)")

    def _check_usable_as_it_is(self) -> None:
        """A store on a read-only disk cannot be brought to the present schema."""
        with self.read() as connection:
            is_present = migrations.revision(connection) == migrations.HEAD
        if not is_present:
            raise FOLDER_READ_ONLY(where=self.where)

    def _make_missing_index(self) -> None:
        try:
            self.begin_index_anew("it was not there")
        except SuyuanError as error:
            # What is damaged elsewhere is told where it is read.
            log.warning("the index of the conversations could not be made: %s", error.message)

    def note(self, what: SuyuanError) -> None:
        """Let the user know of something that happened to the database."""
        if self.file is None:
            log.warning("%s", what.message)
        else:
            Notices(self.file.parent).add(what, self.file)

    @contextmanager
    def group(self) -> Iterator[None]:
        """One transaction for everything that this thread writes in the block; it is on the disk when it is left."""
        with self.write() as connection:
            self._groups.connection = connection
            try:
                yield
            finally:
                self._groups.connection = None
            if not _in_transaction(connection):
                raise self._groups.error

    @contextmanager
    def _part_of_group(self, connection: Connection) -> Iterator[None]:
        """A part that can be undone alone."""
        if not _in_transaction(connection):
            raise self._groups.error
        connection.exec_driver_sql("SAVEPOINT part")
        try:
            yield
        except BaseException as error:
            # SQLite itself undoes the whole transaction where the disk is full, for example: then nothing of it counts.
            self._groups.error = error
            if _in_transaction(connection):
                connection.exec_driver_sql("ROLLBACK TO part")
                connection.exec_driver_sql("RELEASE part")
            raise
        connection.exec_driver_sql("RELEASE part")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that reads."""
        if (grouped := self._groups.connection) is not None:
            yield grouped
            return
        if self._watch is not None:
            # What is there can still be read.
            self._watch.look_before_reading()
        with (
            span("store.read"),
            self._reading,
            self._translated(),
            self._engine.connect() as connection,
            self._confirmed(connection, writes=False),
        ):
            yield connection

    @contextmanager
    def _confirmed(self, connection: Connection, *, writes: bool) -> Iterator[None]:
        """A transaction in a file that holds what this process knows of it; one that writes is refused elsewhere."""
        watch = self._watch
        if watch is None:
            with connection.begin():
                yield
            return
        db = _driver(connection)
        before = watch.before_transaction(db)
        with connection.begin():
            if not watch.confirm(db, before) and writes:
                watch.check()
            yield

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """A transaction that only reads and in which all statements see the state at its start."""
        with self.read() as connection:
            if not self.sqlite:
                connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction that may write; when it is left without an error, all of it is on the disk.

        Within a :meth:`group` it is on the disk with the group.
        """
        if (grouped := self._groups.connection) is not None:
            with span("store.write"), self._translated(), self._part_of_group(grouped):
                yield grouped
            return
        self._connections.check_writable()
        self._check_present()
        with span("store.write"), self._writing, self._translated(), self._engine.connect() as plain:
            connection = plain.execution_options(suyuan_write=True)
            counted = None
            with self._confirmed(connection, writes=True):
                before = _changes(connection)
                yield connection
                if before != _changes(connection) and _in_transaction(connection):
                    counted = STAMPING.count(_driver(connection))
            if counted is not None and self._watch is not None:
                self._watch.content.learn(counted)
        # Before anything is acknowledged.
        self._check_present()

    @property
    def is_gone(self) -> bool:
        """Whether the open file had been removed, replaced or overwritten when it was last looked at."""
        return self._watch is not None and self._watch.is_lost

    def _check_present(self) -> None:
        if self._watch is not None:
            self._watch.check()

    def rows(self, query: Select[Any], values: Mapping[str, Any] | None = None) -> Sequence[Any]:
        """The rows of one query."""
        with self.read() as connection:
            return connection.execute(query, values).all()

    def row(self, query: Select[Any], values: Mapping[str, Any] | None = None) -> Row[Any] | None:
        """The first row of one query."""
        with self.read() as connection:
            return connection.execute(query, values).first()

    def value(self, query: Select[Any]) -> Any:
        """The first value of the first row of one query; None if there is none."""
        with self.read() as connection:
            return connection.execute(query).scalar()

    def change(self, statement: UpdateBase) -> int:
        """Execute one statement that writes, and return how many rows it has changed."""
        with self.write() as connection:
            return connection.execute(statement).rowcount

    def erase(self) -> None:
        """Remove deleted text from the disk: it must stay neither in the index, nor in free pages, nor in the log."""
        while self._in_one_step(self.index.forget_removed) or self._in_one_step(self.index.merge_removed):
            # Others write in between.
            threading.Event().wait(_PAUSE_SECONDS)
        if self.sqlite:
            self.pragma("incremental_vacuum")
            self.pragma("wal_checkpoint(TRUNCATE)")

    def has_removed(self) -> bool:
        """Whether the index may still have words of what was removed."""
        with self.read() as connection:
            return self.index.has_removed(connection)

    def _in_one_step(self, work: Callable[[Connection], bool]) -> bool:
        try:
            with self.write() as connection:
                return work(connection)
        except SuyuanError as error:
            self.mend_index(error)
            return False

    def mend_index(self, error: SuyuanError) -> None:
        """Begin the index anew if it may be what is damaged; otherwise raise the error."""
        if error.detail_code != causes.STORE_DAMAGED.detail_code:
            raise error
        self.begin_index_anew(error.message)

    def begin_index_anew(self, why: str) -> SuyuanError:
        """Begin the index anew, and return what the user is told."""
        try:
            with self.write() as connection:
                self.index.create(connection)
        except SuyuanError as error:
            if not self.sqlite or error.detail_code != causes.STORE_DAMAGED.detail_code:
                raise
            # Not even another table can be created in a file with damaged pages.
            with self.write() as connection:
                self.index.forget(connection)
            self._execute("VACUUM")
            with self.write() as connection:
                self.index.create(connection)
        told = causes.STORE_INDEX_DAMAGED(where=self.where, why=why)
        self.note(told)
        return told

    def now(self, clock: Callable[[], float] = time.time) -> Any:
        """The time in seconds by the clock of the database, which all processes share; that of a test if it has one."""
        if self.sqlite or clock is not time.time:
            return bindparam("clock", callable_=clock, type_=Float(), unique=True)
        return func.extract("epoch", func.clock_timestamp())

    def pragma(self, name: str) -> list[Any]:
        """The rows that a PRAGMA of SQLite returns, outside of any transaction."""
        return self._execute(f"PRAGMA {name}")

    def _execute(self, statement: str) -> list[Any]:
        with self._writing, self._translated():
            raw = self._engine.raw_connection()
            try:
                cursor = raw.cursor()
                cursor.execute(statement)
                return list(cursor.fetchall())
            except sqlite3.Error as error:
                raise self._cause(error) from None
            finally:
                raw.close()

    def close(self) -> None:
        """Close every connection, unless somebody else in this process uses the same file."""
        if not self._closed:
            self._closed = True
            self._connections.release()

    def _check_ours(self) -> None:
        with self.read() as connection:
            found = migrations.revision(connection)
            if migrations.is_unfinished(found):
                if not self._unfinished or found != migrations.UNFINISHED:
                    raise causes.STORE_UNFINISHED(where=self.where)
                return
            if found > migrations.HEAD:
                raise causes.STORE_TOO_NEW(where=self.where, found=found, known=migrations.HEAD)
            # A database server may hold the tables of other programs; a file with other tables is another program's.
            if self.sqlite and not found and migrations.foreign_tables(connection):
                raise causes.STORE_NOT_OURS(where=self.where)

    def _set_up_file(self) -> None:
        """Set the options that SQLite stores in the file."""
        # A purge can shrink only a file that was created with this option.
        if self.pragma("page_count") == [(0,)]:
            self.pragma("auto_vacuum=INCREMENTAL")
        deadline = time.monotonic() + BUSY_SECONDS
        while self.pragma("journal_mode") not in ([("wal",)], [("memory",)]):
            try:
                self.pragma("journal_mode=WAL")
                return
            except SuyuanError as error:
                # SQLite does not wait here for another process that opens the file at this moment.
                if error.detail_code != causes.STORE_BUSY.detail_code or time.monotonic() > deadline:
                    raise
                threading.Event().wait(0.02)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            ours = isinstance(error, (IntegrityError, ProgrammingError))
            if ours and getattr(error.orig, "sqlstate", "") != _NO_RIGHT:
                raise
            raise self._cause(error.orig) from None
        except self._engine.dialect.loaded_dbapi.Error as error:
            # Of the driver itself, where it is used without SQLAlchemy.
            raise self._cause(error) from None
        except StatementError as error:
            # A parameter that is known only now was refused: the person who asks may not see what is their own.
            if isinstance(error.orig, SuyuanError):
                raise error.orig from None
            raise
        except PoolTimeout:
            raise causes.STORE_BUSY(where=self.where, seconds=BUSY_SECONDS) from None

    def _cause(self, error: BaseException | None) -> SuyuanError:
        why = redact(str(error).strip().partition("\n")[0], _passwords(self._connections.url))
        if getattr(error, "sqlstate", "") == _NO_RIGHT:
            return causes.STORE_NOT_WRITABLE(where=self.where, why=why)
        if not self.sqlite:
            return causes.STORE_UNREACHABLE(where=self.where, why=why)
        cause = sqlite_cause(getattr(error, "sqlite_errorname", "") or "", self.where, why)
        if cause.detail_code == causes.STORE_DAMAGED.detail_code and self._connections.soundness is not None:
            self._connections.soundness.suspect()
        return cause

    def refresh_statistics(self) -> None:
        """Let a database server see how much there is of the conversations; it would look by itself much later."""
        if self.sqlite:
            return
        with self.write() as connection:
            for table in ("suyuan_texts", "suyuan_messages", "suyuan_conversations"):
                connection.exec_driver_sql(f"ANALYZE {table}")

    def look_through(self) -> None:
        """Begin to look whether everything that is kept can be read, in the background; damage is a notice."""
        if self._connections.soundness is not None:
            self._connections.soundness.look()


def _changes(connection: Connection) -> int:
    """How many rows a connection to a file has changed so far; 0 at a database server."""
    return int(getattr(connection.connection.driver_connection, "total_changes", 0))


def _driver(connection: Connection) -> Any:
    """The connection of the driver of a file."""
    return connection.connection.driver_connection


def _in_transaction(connection: Connection) -> bool:
    return bool(connection.connection.driver_connection.in_transaction)  # type: ignore[union-attr]


def sqlite_cause(name: str, where: str, why: str) -> SuyuanError:
    """The cause of an error of SQLite, by its name."""
    main = "_".join(name.split("_")[:2])
    if main in _BUSY:
        return causes.STORE_BUSY(where=where, seconds=BUSY_SECONDS)
    if main == "SQLITE_FULL":
        return causes.STORE_FULL(where=where)
    if main == "SQLITE_NOTADB":
        return causes.STORE_NOT_A_DATABASE(where=where)
    if main in _REFUSED and is_read_only(where):
        return FOLDER_READ_ONLY(where=where)
    if main in _REFUSED:
        return causes.STORE_NOT_WRITABLE(where=where, why=why)
    return causes.STORE_DAMAGED(where=where, why=why)


def _passwords(url: URL) -> list[Secret]:
    return [Secret(str(value)) for value in (url.password, url.query.get("password")) if value]
