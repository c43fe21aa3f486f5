"""One database, SQLite or PostgreSQL: its transactions, and its errors as causes."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Self

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Float,
    Row,
    Select,
    UpdateBase,
    bindparam,
    create_engine,
    event,
    func,
    make_url,
)  # fmt: skip
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import StaticPool

from ..core.causes import store as causes
from ..core.errors import SuyuanError
from ..core.secret import Secret, redact
from ..core.spans import span
from . import migrations

BUSY_SECONDS = 30
_MEMORY = "memory"
_NO_RIGHT = "42501"  # PostgreSQL's code for a missing privilege
_BUSY = {"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"}


class Database:
    """Transactions on one database; safe for several threads and processes at the same time."""

    def __init__(self, address: Secret | str, *, create: bool = True) -> None:
        self._url = _parsed(address.reveal() if isinstance(address, Secret) else address)
        self.sqlite = self._url.get_backend_name() == "sqlite"
        self.file = _file(self._url) if self.sqlite else None
        self.where = str(self.file or (_MEMORY if self.sqlite else _server(self._url)))
        # SQLite has one writer at a time: threads of this process wait for each other here and not at the file.
        self._writing: AbstractContextManager[Any] = threading.RLock() if self.sqlite else nullcontext()
        # A database in memory has a single connection.
        self._reading = self._writing if self.sqlite and self.file is None else nullcontext()
        self._groups = _Groups()
        if self.file is not None and create:
            _prepare(self.file)
        elif self.file is not None and not self.file.is_file():
            raise causes.STORE_NO_BACKUP(where=self.where)
        self._engine = self._connected()

    @classmethod
    def opened(cls, address: Secret | str, *, create: bool = True) -> Self:
        """The database at ``address``, ready for use; raises the cause if it cannot be opened."""
        made = cls(address, create=create)
        try:
            made.open()
        except BaseException:
            made.close()
            raise
        return made

    def open(self) -> None:
        """Create or migrate the tables; a database of another program or a newer release is left unchanged."""
        self._check_ours()
        if self.sqlite:
            self._set_up_file()
        with self.write() as connection:
            migrations.migrate(connection)

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
        """A transaction that sees one state of the database."""
        if (grouped := self._groups.connection) is not None:
            yield grouped
            return
        with (
            span("store.read"),
            self._reading,
            self._translated(),
            self._engine.connect() as connection,
            connection.begin(),
        ):
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
        with span("store.write"), self._writing, self._translated(), self._engine.connect() as plain:
            connection = plain.execution_options(suyuan_write=True)
            with connection.begin():
                yield connection

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
        """Remove deleted text from the disk: it must stay neither in free pages nor in the log."""
        if self.sqlite:
            self.pragma("incremental_vacuum")
            self.pragma("wal_checkpoint(TRUNCATE)")

    def now(self, clock: Callable[[], float] = time.time) -> Any:
        """The time in seconds by the clock of the database, which all processes share; that of a test if it has one."""
        if self.sqlite or clock is not time.time:
            return bindparam("clock", callable_=clock, type_=Float(), unique=True)
        return func.extract("epoch", func.clock_timestamp())

    def pragma(self, name: str) -> list[Any]:
        """The rows that a PRAGMA of SQLite returns, outside of any transaction."""
        with self._writing, self._translated():
            raw = self._engine.raw_connection()
            try:
                cursor = raw.cursor()
                cursor.execute(f"PRAGMA {name}")
                return list(cursor.fetchall())
            except sqlite3.Error as error:
                raise self._cause(error) from None
            finally:
                raw.close()

    def close(self) -> None:
        """Close every connection."""
        with self._writing:
            self._engine.dispose()

    def _connected(self) -> Engine:
        try:
            if not self.sqlite:
                return create_engine(
                    self._url, pool_pre_ping=True, hide_parameters=True, connect_args={"connect_timeout": 10}
                )
            options: dict[str, Any] = {"connect_args": {"check_same_thread": False, "timeout": BUSY_SECONDS}}
            if self.file is None:
                options["poolclass"] = StaticPool
            engine = create_engine(self._url, hide_parameters=True, **options)
        except ModuleNotFoundError as error:
            raise causes.STORE_NO_DRIVER(driver=error.name or "psycopg") from None
        except (ArgumentError, TypeError, ValueError):
            raise causes.STORE_BAD_ADDRESS() from None
        event.listen(engine, "connect", _set_up_connection)
        event.listen(engine, "begin", _begin)
        return engine

    def _check_ours(self) -> None:
        with self.read() as connection:
            found = migrations.revision(connection)
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
        except PoolTimeout:
            raise causes.STORE_BUSY(where=self.where, seconds=BUSY_SECONDS) from None

    def _cause(self, error: BaseException | None) -> SuyuanError:
        why = redact(str(error).strip().partition("\n")[0], _passwords(self._url))
        if getattr(error, "sqlstate", "") == _NO_RIGHT:
            return causes.STORE_NOT_WRITABLE(where=self.where, why=why)
        if not self.sqlite:
            return causes.STORE_UNREACHABLE(where=self.where, why=why)
        return _sqlite_cause(getattr(error, "sqlite_errorname", "") or "", self.where, why)


class _Groups(threading.local):
    """The group that a thread is writing, and the last error in it."""

    connection: Connection | None = None
    error: BaseException = RuntimeError("nothing has failed")


def _in_transaction(connection: Connection) -> bool:
    return bool(connection.connection.driver_connection.in_transaction)  # type: ignore[union-attr]


def _sqlite_cause(name: str, where: str, why: str) -> SuyuanError:
    main = "_".join(name.split("_")[:2])
    if main in _BUSY:
        return causes.STORE_BUSY(where=where, seconds=BUSY_SECONDS)
    if main == "SQLITE_FULL":
        return causes.STORE_FULL(where=where)
    if main == "SQLITE_NOTADB":
        return causes.STORE_NOT_A_DATABASE(where=where)
    if main in ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR", "SQLITE_AUTH"):
        return causes.STORE_NOT_WRITABLE(where=where, why=why)
    return causes.STORE_DAMAGED(where=where, why=why)


def _set_up_connection(connection: Any, _record: object) -> None:
    # _begin starts the transactions; the driver would do it late and without the write lock.
    connection.isolation_level = None
    # SQLite's own lower() knows ASCII only.
    connection.create_function("lower", 1, _lower, deterministic=True)
    for pragma in ("foreign_keys=ON", "synchronous=FULL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # A writer takes the lock at once: SQLite refuses one that reads first and writes later, without waiting.
    writes = connection.get_execution_options().get("suyuan_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _lower(text: object) -> object:
    return text.lower() if isinstance(text, str) else text


def _parsed(address: str) -> URL:
    if not address.strip():
        return make_url("sqlite://")
    try:
        url = make_url(address.strip())
        if url.drivername in ("postgres", "postgresql"):
            url = url.set(drivername="postgresql+psycopg")
        url.get_dialect()
    except ModuleNotFoundError as error:
        raise causes.STORE_NO_DRIVER(driver=error.name or "psycopg") from None
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise causes.STORE_BAD_ADDRESS() from None
    drivers = ("sqlite", "sqlite+pysqlite", "postgresql+psycopg")
    if url.drivername not in drivers or (url.database or "").startswith("file:"):
        raise causes.STORE_BAD_ADDRESS()
    return url


def _file(url: URL) -> Path | None:
    return None if url.database in (None, "", ":memory:") else Path(str(url.database)).absolute()


def _server(url: URL) -> str:
    return f"{url.host or 'localhost'}{f':{url.port}' if url.port else ''}/{url.database or ''}"


def _passwords(url: URL) -> list[Secret]:
    return [Secret(str(value)) for value in (url.password, url.query.get("password")) if value]


def _prepare(file: Path) -> None:
    """Create the folder and the file, readable for their owner only."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise causes.STORE_NOT_WRITABLE(where=str(file), why=error.strerror or str(error)) from None
