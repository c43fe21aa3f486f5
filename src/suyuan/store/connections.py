"""``Connections``: the connections of this process to one database; a file of SQLite has exactly one owner."""

from __future__ import annotations

import os
import platform
import threading
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import QueuePool, StaticPool

from ..core.causes import store as causes
from ..core.causes.files import FOLDER_READ_ONLY
from ..core.disk_errors import disk_error
from ..core.private_file import private_folder
from ..core.read_only import address_for_reading, is_read_only
from ..core.secret import Secret
from .rescue import FileWatch
from .soundness import Soundness

BUSY_SECONDS = 30
SESSION_NAME = f"suyuan {platform.node()[:40]} {os.getpid()}"
"""Of the sessions of this process at a database server."""
_DRIVERS = ("sqlite", "sqlite+pysqlite", "postgresql+psycopg")
_MEMORY = "memory"


class Connections:
    """The pool of connections to one database, and the locks of those who use it.

    All users of one file of SQLite in this process share one object, and nothing else in the process may open the
    file. SQLite's locks are those of POSIX, which the operating system drops as soon as the process closes *any*
    descriptor of the file; the next process to close it would then take itself for the only user and delete the log
    with everything in it that is not in the file yet.
    """

    def __init__(self, url: URL, file: Path | None) -> None:
        self.url = url
        self.file = file
        self.sqlite = url.get_backend_name() == "sqlite"
        self.where = _where(url, file)
        # SQLite has one writer at a time: threads of this process wait for each other here and not at the file.
        self.writing: AbstractContextManager[Any] = threading.RLock() if self.sqlite else nullcontext()
        # A database in memory has a single connection.
        in_memory = self.sqlite and file is None
        self.reading = self.writing if in_memory else nullcontext()
        self.groups = Groups()
        self.read_only = file is not None and is_read_only(file)
        """Whether the file is on a disk on which nothing can be written, and is read without any file beside it."""
        self.engine = self._new_engine()
        self.users = 1
        self.watch = FileWatch(file, self.engine) if file is not None else None
        """Whether the path still leads to the file that is open."""
        self.soundness = Soundness(file, self.engine) if file is not None else None
        """Whether what is in it can be read."""

    def check_writable(self) -> None:
        """Raise the cause if the disk is read-only; one that is so no longer is written to from here on."""
        if not self.read_only:
            return
        assert self.file is not None, "a database server has no disk of ours"
        if is_read_only(self.file):
            raise FOLDER_READ_ONLY(where=self.file)
        self.read_only = False
        self.engine.dispose()

    def release(self) -> None:
        """Give it back; the last user closes the connections."""
        with _lock:
            self.users -= 1
            if self.users > 0:
                return
            if self.file is not None and _open_files.get(self.file) is self:
                del _open_files[self.file]
        if self.soundness is not None:
            self.soundness.close()
        if self.watch is not None:
            self.watch.close(idle=not self._in_use())
        with self.writing:
            self.engine.dispose()
        if self.watch is not None and not self._in_use():
            self.watch.release()

    def _in_use(self) -> bool:
        """Whether somebody still works with one of the connections."""
        pool = self.engine.pool
        return isinstance(pool, QueuePool) and pool.checkedout() > 0

    def _new_engine(self) -> Engine:
        options: dict[str, Any]
        try:
            if not self.sqlite:
                options = {"connect_timeout": 10, "fallback_application_name": SESSION_NAME}
                return create_engine(self.url, pool_pre_ping=True, hide_parameters=True, connect_args=options)
            options = {"connect_args": {"check_same_thread": False, "timeout": BUSY_SECONDS}}
            if self.file is None:
                options["poolclass"] = StaticPool
            engine = create_engine(self.url, hide_parameters=True, **options)
        except ModuleNotFoundError as error:
            raise causes.STORE_NO_DRIVER(driver=error.name or "psycopg") from None
        except (ArgumentError, TypeError, ValueError):
            raise causes.STORE_BAD_ADDRESS() from None
        if self.file is not None:
            event.listen(engine, "do_connect", self._before_connecting)
            event.listen(engine, "first_connect", self._remember_file)
        if self.file is not None and not self.file.exists():
            event.listen(engine, "first_connect", self._make_private)
        event.listen(engine, "connect", _set_up_connection)
        event.listen(engine, "begin", _begin)
        return engine

    def _make_private(self, _connection: object, _record: object) -> None:
        """Let nobody else read the new file, before anything is in it; SQLite gives its log the same mode."""
        with suppress(OSError):
            os.chmod(self.where, 0o600)

    def _before_connecting(self, _dialect: object, _record: object, places: list[Any], options: dict[str, Any]) -> None:
        """SQLite would create a new file, or open another one, where the path no longer leads to the open one."""
        if self.watch is not None:
            self.watch.check()
        if self.read_only and self.file is not None:
            places[0] = address_for_reading(self.file)
            options["uri"] = True

    def _remember_file(self, _connection: object, _record: object) -> None:
        if self.watch is not None:
            self.watch.remember()


class Groups(threading.local):
    """The group of writes that a thread has begun, and the last error in it."""

    connection: Connection | None = None
    error: BaseException = RuntimeError("nothing has failed")


_lock = threading.RLock()
_open_files: dict[Path, Connections] = {}


def connect(address: Secret | str, *, create: bool = True) -> Connections:
    """The connections to a database, those of the process if its file is open already; for :meth:`release`."""
    url, file = parse(address)
    with _lock:
        known = _open_files.get(file) if file is not None else None
        if known is not None:
            if known.watch is not None:
                known.watch.check()
            known.users += 1
            return known
        if file is not None and create:
            make_folder(file)
            if not file.exists() and is_read_only(file):
                raise FOLDER_READ_ONLY(where=file)
        elif file is not None and not file.is_file():
            raise causes.STORE_NO_BACKUP(where=str(file))
        made = Connections(url, file)
        if file is not None:
            _open_files[file] = made
        return made


def parse(address: Secret | str) -> tuple[URL, Path | None]:
    """The address of a database, and its file where it has one; raises the cause if it cannot be used."""
    text = (address.reveal() if isinstance(address, Secret) else address).strip()
    try:
        url = make_url(text or "sqlite://")
        if url.drivername in ("postgres", "postgresql"):
            url = url.set(drivername="postgresql+psycopg")
        url.get_dialect()
    except ModuleNotFoundError as error:
        raise causes.STORE_NO_DRIVER(driver=error.name or "psycopg") from None
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise causes.STORE_BAD_ADDRESS() from None
    is_uri = (url.database or "").startswith("file:")
    if url.drivername not in _DRIVERS or is_uri:
        raise causes.STORE_BAD_ADDRESS()
    has_file = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
    # One name for one file, whatever links lead to it.
    return url, Path(os.path.realpath(str(url.database))) if has_file else None


def make_folder(file: Path) -> None:
    """Create the folder of a file, readable for its owner only."""
    try:
        private_folder(file.parent)
    except OSError as error:
        if is_read_only(file):
            raise disk_error(error, file) from None
        raise causes.STORE_NOT_WRITABLE(where=str(file), why=error.strerror or str(error)) from None


def _where(url: URL, file: Path | None) -> str:
    """The place of a database for messages."""
    if file is not None:
        return str(file)
    if url.get_backend_name() == "sqlite":
        return _MEMORY
    port = f":{url.port}" if url.port else ""
    return f"{url.host or 'localhost'}{port}/{url.database or ''}"


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
