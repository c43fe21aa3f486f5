"""``ArchiveFile``: the SQLite file of the archive: its connection, its errors as causes, its size, and its repair."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from ..core.cause import Cause
from ..core.causes.archive import (
    ARCHIVE_DAMAGED,
    ARCHIVE_FULL,
    ARCHIVE_LOCKED,
    ARCHIVE_NOT_OURS,
    ARCHIVE_OVERWRITTEN,
    ARCHIVE_READ_ONLY,
    ARCHIVE_REPLACED,
    ARCHIVE_TOO_NEW,
    ARCHIVE_UNUSABLE,
)
from ..core.causes.files import FOLDER_READ_ONLY
from ..core.causes.library import (
    LIBRARY_DAMAGED,
    LIBRARY_DISK_FULL,
    LIBRARY_LOCKED,
    LIBRARY_OVERWRITTEN,
    LIBRARY_READ_ONLY,
    LIBRARY_UNUSABLE,
)
from ..core.disk_errors import is_full
from ..core.errors import SuyuanError
from ..core.file_lock import file_lock
from ..core.kept_files import KeptFiles, Kind
from ..core.notices import Notices
from ..core.overwriting import OverwriteWatch, Stamp, Stamping, sound_stamp
from ..core.private_file import private_folder
from ..core.read_only import address_for_reading, is_read_only
from .address import address_key
from .archive_schema import VERSION, is_ours, took_place_of, upgrade

T = TypeVar("T")

# The archive is a cache: a reader of pages does not wait longer for it.
_BUSY_SECONDS = 1.0
_WAL_BYTES = 1_000_000
_PAGE_BYTES = 4096
_MEMORY = ":memory:"
# Releases before 0.3 know the version of the file by the number in which the store counts.
_STAMPING = Stamping(1 << 20, in_version=False)
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_FULL = {sqlite3.SQLITE_FULL}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_READ_ONLY = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}


# The library is a file like the archive, but what helps is different.
_OF_LIBRARY = {
    ARCHIVE_DAMAGED: LIBRARY_DAMAGED,
    ARCHIVE_FULL: LIBRARY_DISK_FULL,
    ARCHIVE_LOCKED: LIBRARY_LOCKED,
    ARCHIVE_OVERWRITTEN: LIBRARY_OVERWRITTEN,
    ARCHIVE_READ_ONLY: LIBRARY_READ_ONLY,
    ARCHIVE_UNUSABLE: LIBRARY_UNUSABLE,
}


class _Damage(Exception):
    """SQLite finds the file damaged."""


class ArchiveFile:
    """One connection to the file, opened when it is used, and opened anew after the file was replaced.

    The file is touched through SQLite only: if the process closed a descriptor of its own, the operating system would
    drop the locks of all its connections to the file, those of other archives in the process included.
    """

    def __init__(self, path: Path | str, notices: Notices | None = None, kind: Kind = "archive") -> None:
        self._path = str(path)
        self._kind = kind
        self._notices = notices or Notices(None if self._path == _MEMORY else Path(path).parent)
        self._db: sqlite3.Connection | None = None
        self._inode = 0
        self._content = OverwriteWatch(_STAMPING)
        self.read_only = False
        """Whether the open connection only reads, since the disk is mounted read-only."""

    def run(self, work: Callable[[sqlite3.Connection], T], *, write: bool = False) -> T:
        """Do ``work`` in one transaction; a damaged file is repaired, and the work is done then."""
        try:
            return self._attempt(work, write)
        except _Damage as damage:
            self._repair(damage, tables_too=False)
        try:
            return self._attempt(work, write)
        except _Damage as damage:
            self._repair(damage, tables_too=True)
        try:
            return self._attempt(work, write)
        except _Damage as damage:
            raise self._own(ARCHIVE_UNUSABLE)(where=self._path, why=damage) from None

    def check(self) -> str:
        """Look through the whole file and repair it where needed; ``ok``, or the problem that is left."""
        for tables_too in (False, True):
            found = self.run(_quick_check)
            if found == "ok" or self._path == _MEMORY:
                return found
            self.close()
            self._repair(_Damage(found), tables_too=tables_too)
        return self.run(_quick_check)

    def used_bytes(self) -> int:
        """The size of what is in the file, without its free parts."""

        def used(db: sqlite3.Connection) -> int:
            pages = _pragma(db, "page_count") - _pragma(db, "freelist_count")
            return pages * _pragma(db, "page_size")

        return self.run(used)

    def give_back(self, pages: int) -> None:
        """Give at most so many free parts of the file back to the disk."""
        # As a script, since a single step of it gives back a single page.
        self.run(lambda db: db.executescript(f"PRAGMA incremental_vacuum({pages})"))

    def shrink(self) -> None:
        """Give all free parts of the file back to the disk, however long it takes."""
        with self._translated():
            db = self._opened()
            if _pragma(db, "auto_vacuum") != 2:
                # A file of an older release: the option takes effect with the next VACUUM.
                db.execute("PRAGMA auto_vacuum=INCREMENTAL")
                db.execute("VACUUM")
            db.executescript("PRAGMA incremental_vacuum")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def finish(self) -> None:
        """Look once more whether the file is still what it was, and close the connection."""
        if self._db is not None and not self._was_replaced():
            with contextlib.suppress(SuyuanError):
                self.run(lambda db: None)
        self.close()

    def close(self) -> None:
        """Close the connection."""
        db, self._db = self._db, None
        if db is not None:
            with contextlib.suppress(sqlite3.Error):
                db.close()
        self._content.release()

    def _attempt(self, work: Callable[[sqlite3.Connection], T], write: bool) -> T:
        with self._translated():
            while True:
                db = self._opened()
                if write and self.read_only:
                    db = self._opened_for_writing()
                if self._is_overwritten():
                    self._rescue(db)
                    continue
                self._content.forget_in_memory(db)
                known, counted = self._content.known, None
                with db:
                    if write:
                        # Another process may write the same document at the same time.
                        db.execute("BEGIN IMMEDIATE")
                    usable = not self._was_replaced() and self._content.agrees(db, known)
                    if usable:
                        before = db.total_changes
                        result = work(db)
                        counted = _counted(db, before)
                if usable:
                    if counted is not None:
                        self._content.learn(counted)
                    return result
                # What is written to a file that has been set aside would be lost.
                self._open_present_file()

    def _is_overwritten(self) -> bool:
        """Whether something else than SQLite has written to the file that is open."""
        return self._db is not None and not self._was_replaced() and self._content.look()

    def _rescue(self, db: sqlite3.Connection) -> None:
        """Put what the connection can still read in the place of what the file was overwritten with."""
        path = Path(self._path)
        copy = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}.rescued")
        try:
            with contextlib.suppress(sqlite3.Error):
                _copy(db, copy)
            found = sound_stamp(copy, _STAMPING)
            if found is not None and not self._content.knows(found):
                # All that is there is a whole file of somebody else, or an older one.
                self._open_present_file()
                return
            if self._repair_from(copy, "overwritten", ARCHIVE_OVERWRITTEN, tables_too=True):
                self.close()
            else:
                self._open_present_file()
        finally:
            for suffix in ("", "-wal", "-shm"):
                copy.with_name(copy.name + suffix).unlink(missing_ok=True)

    def _was_replaced(self) -> bool:
        return self._path != _MEMORY and _inode(self._path) != self._inode

    def _open_present_file(self) -> None:
        """Go on with the file that is at the path now, and tell of it unless a repair has put it there."""
        before, found = self._inode, _inode(self._path)
        self.close()
        db = self._opened()
        if not found:
            # The record of what is there may be gone as well.
            KeptFiles(self._notices.folder).tell_lost(Path(self._path), self._kind)
        elif took_place_of(db) != before:
            self._notices.add(ARCHIVE_REPLACED(where=self._path), self._path)

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = self._open()
        return self._db

    def _opened_for_writing(self) -> sqlite3.Connection:
        """The connection where the disk is read-only no longer; raises the cause while it is."""
        if is_read_only(self._path):
            raise FOLDER_READ_ONLY(where=self._path)
        self.close()
        return self._opened()

    def _open(self) -> sqlite3.Connection:
        path = Path(self._path)
        if self._path == _MEMORY:
            return self._connect(path, in_memory=True)
        self.read_only = is_read_only(path)
        if self.read_only:
            return self._connect_read_only(path)
        private_folder(path.parent)
        with KeptFiles(self._notices.folder).opening(path, self._kind):
            return self._connect(path, in_memory=False)

    def _connect(self, path: Path, *, in_memory: bool) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, check_same_thread=False, timeout=_BUSY_SECONDS)
        try:
            if not in_memory:
                _make_private(path)
                self._inode = _inode(self._path)
            self._set_up(db)
            if not in_memory:
                self._content.open(path)
        except BaseException:
            db.close()
            raise
        return db

    def _connect_read_only(self, path: Path) -> sqlite3.Connection:
        """Open the file as it is; one of an older version cannot be brought to the present one here."""
        if not path.exists():
            raise FOLDER_READ_ONLY(where=path)
        db = sqlite3.connect(address_for_reading(path), uri=True, check_same_thread=False, timeout=_BUSY_SECONDS)
        try:
            self._inode = _inode(self._path)
            self._check_version(db)
            if _pragma(db, "user_version") != VERSION:
                raise FOLDER_READ_ONLY(where=path)
        except BaseException:
            db.close()
            raise
        return db

    def _check_version(self, db: sqlite3.Connection) -> int:
        """The version of what is in the file; raises the cause if it is none of ours."""
        found = _pragma(db, "user_version")
        if found > VERSION:
            raise ARCHIVE_TOO_NEW(where=self._path, found=found, known=VERSION)
        if not found and not is_ours(db):
            raise ARCHIVE_NOT_OURS(where=self._path)
        return found

    def _set_up(self, db: sqlite3.Connection) -> None:
        db.create_function("address_key", 1, address_key, deterministic=True)
        found = self._check_version(db)
        if _pragma(db, "page_count") == 0:
            db.execute("PRAGMA auto_vacuum=INCREMENTAL")
        # A commit is written to the log before put() returns; a kill loses only uncommitted documents.
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute(f"PRAGMA journal_size_limit={_WAL_BYTES}")
        db.execute(f"PRAGMA wal_autocheckpoint={_WAL_BYTES // _PAGE_BYTES}")
        if found == VERSION:
            return
        with db:
            db.execute("BEGIN IMMEDIATE")
            upgrade(db, _pragma(db, "user_version"))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn the errors of SQLite and of the file system into causes."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._cause(error) from None
        except OSError as error:
            self.close()
            if is_full(error):
                raise self._own(ARCHIVE_FULL)(where=self._path) from None
            if error.errno == errno.EROFS:
                raise FOLDER_READ_ONLY(where=self._path) from None
            raise self._own(ARCHIVE_UNUSABLE)(where=self._path, why=error.strerror or error) from None

    def _cause(self, error: sqlite3.Error) -> Exception:
        # The lowest byte is the kind of the error, the others say more about it.
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if self._is_overwritten():
            # The connection may have what the file has no more.
            return _Damage(str(error))
        if code in _LOCKED:
            return self._own(ARCHIVE_LOCKED)(where=self._path)
        self.close()
        if code in _DAMAGED or (code == sqlite3.SQLITE_ERROR and self._lacks_tables()):
            return _Damage(str(error))
        if code in _FULL:
            return self._own(ARCHIVE_FULL)(where=self._path)
        if code in (*_READ_ONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR) and is_read_only(self._path):
            return FOLDER_READ_ONLY(where=self._path)
        if code in _READ_ONLY:
            return self._own(ARCHIVE_READ_ONLY)(where=self._path, why=error)
        return self._own(ARCHIVE_UNUSABLE)(where=self._path, why=error)

    def _own(self, cause: Cause) -> Cause:
        """The cause that fits what the file is."""
        return _OF_LIBRARY[cause] if self._kind == "library" else cause

    def _lacks_tables(self) -> bool:
        """Whether a general error comes from tables that are gone or cannot be used."""
        if self._path == _MEMORY:
            return False
        try:
            with contextlib.closing(sqlite3.connect(self._path, timeout=_BUSY_SECONDS)) as db:
                db.execute("SELECT d.id FROM documents d, parts, meta, fulltext WHERE fulltext MATCH 'a' LIMIT 1")
        except sqlite3.Error:
            return True
        return False

    def _repair(self, damage: _Damage, *, tables_too: bool) -> None:
        if self.read_only:
            # What is readable stays where it is.
            raise FOLDER_READ_ONLY(where=self._path) from None
        if self._path == _MEMORY:
            raise self._own(ARCHIVE_UNUSABLE)(where=self._path, why=damage) from None
        if self._is_overwritten():
            # The next attempt begins with the rescue.
            return
        self._repair_from(Path(self._path), damage, ARCHIVE_DAMAGED, tables_too=tables_too)

    def _repair_from(self, source: Path, why: object, cause: Cause, *, tables_too: bool) -> bool:
        """Repair the file with what can be read of ``source``; False where another process was quicker."""
        from .archive_repair import repair

        path = Path(self._path)
        try:
            with file_lock(path.with_name(f".{path.name}.repair.lock")):
                # Another process may have replaced it while this one waited.
                if _inode(self._path) != self._inode:
                    return False
                told = repair(path, why, self._own(cause), source=source, tables_too=tables_too)
                self._notices.add(told, path)
        except (OSError, sqlite3.Error) as refused:
            raise self._own(ARCHIVE_UNUSABLE)(where=path, why=getattr(refused, "strerror", None) or refused) from None
        return True


def _counted(db: sqlite3.Connection, before: int) -> Stamp | None:
    """Count a transaction that has changed anything and is not committed yet."""
    if not db.in_transaction or db.total_changes == before:
        return None
    return _STAMPING.count(db)


def _copy(db: sqlite3.Connection, to: Path) -> None:
    # Not through SQLite: nothing is connected to a file that does not exist yet.
    os.close(os.open(to, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with contextlib.closing(sqlite3.connect(to)) as copy:
        db.backup(copy)


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])


def _quick_check(db: sqlite3.Connection) -> str:
    return str(db.execute("PRAGMA quick_check").fetchone()[0])


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _make_private(path: Path) -> None:
    """Let nobody else read the file; SQLite gives its log the same mode. A failure is left to SQLite."""
    with contextlib.suppress(OSError):
        if path.is_file() and path.stat().st_mode & 0o077:
            path.chmod(0o600)
