"""``ArchiveFile``: the SQLite file of the archive: its schema, its errors as causes, its size, and its replacement."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from ..core.causes.archive import ARCHIVE_DAMAGED, ARCHIVE_FULL, ARCHIVE_LOCKED, ARCHIVE_READ_ONLY, ARCHIVE_UNUSABLE
from ..core.errors import SuyuanError
from .address import address_key

T = TypeVar("T")

_VERSION = 3
# The archive is a cache: a reader of pages does not wait longer for it.
_BUSY_SECONDS = 1.0
_WAL_BYTES = 1_000_000
_PAGE_BYTES = 4096
_MEMORY = ":memory:"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY,
    page TEXT NOT NULL,              -- the address that was read, after all redirects
    sha256 TEXT NOT NULL,            -- of the text: both versions of a changed page are stored
    fetched_at TEXT NOT NULL,
    title TEXT NOT NULL,
    size INTEGER NOT NULL,
    document TEXT NOT NULL,          -- the whole document as JSON
    UNIQUE (page, sha256)
);
CREATE INDEX IF NOT EXISTS by_time ON documents (fetched_at);
CREATE TABLE IF NOT EXISTS addresses (
    address TEXT PRIMARY KEY,        -- an address that was requested and led to the page
    page TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS pinned (
    page TEXT PRIMARY KEY            -- the product's own pages, which are never removed
);
CREATE TABLE IF NOT EXISTS parts (
    id INTEGER PRIMARY KEY,          -- the row of the index
    document INTEGER NOT NULL,
    first INTEGER NOT NULL,          -- the characters of the text that the row has; a last of 0 is the end
    last INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS by_document ON parts (document);
CREATE TABLE IF NOT EXISTS roots (
    root TEXT PRIMARY KEY,           -- a folder, file or URL that the user has added to the library
    kind TEXT NOT NULL,
    added_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS files (
    id TEXT PRIMARY KEY,             -- a part of its address
    root TEXT NOT NULL,
    path TEXT NOT NULL UNIQUE,
    modified INTEGER NOT NULL,       -- the time of the file, in ns, and its size, when it was read
    size INTEGER NOT NULL,
    sha256 TEXT NOT NULL,            -- of the file
    read_at TEXT NOT NULL,
    problem TEXT NOT NULL            -- why it could not be read, as JSON
);
CREATE VIRTUAL TABLE IF NOT EXISTS fulltext USING fts5 (title, body, tokenize='unicode61');
"""

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA}
_FULL = {sqlite3.SQLITE_FULL}
_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_READ_ONLY = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}


class ArchiveFile:
    """One connection to the file, opened when it is used, and opened anew after the file was replaced."""

    def __init__(self, path: Path | str) -> None:
        self._path = str(path)
        self._db: sqlite3.Connection | None = None
        self._inode = 0

    def run(self, work: Callable[[sqlite3.Connection], T], *, write: bool = False) -> T:
        """Do ``work`` in one transaction. A damaged file is set aside before ``ARCHIVE_DAMAGED`` is raised."""
        with self._causes():
            db = self._opened()
            with db:
                if write:
                    # Another process may write the same document at the same time.
                    db.execute("BEGIN IMMEDIATE")
                return work(db)

    @property
    def disk_bytes(self) -> int:
        """The size of the file and of its log."""
        with self._causes():
            log = Path(self._path + "-wal")
            size = log.stat().st_size if self._path != _MEMORY and log.exists() else 0
            return self._pragma("page_count") * self._pragma("page_size") + size

    def shrink(self) -> None:
        """Give free parts of the file back to the disk."""
        with self._causes():
            db = self._opened()
            if self._pragma("auto_vacuum") != 2:
                # A file of an older release: the option takes effect with the next VACUUM.
                db.execute("PRAGMA auto_vacuum=INCREMENTAL")
                db.execute("VACUUM")
            # As a script, since a single step of it gives back a single page.
            db.executescript("PRAGMA incremental_vacuum")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close the connection."""
        db, self._db = self._db, None
        if db is not None:
            with contextlib.suppress(sqlite3.Error):
                db.close()

    def _pragma(self, name: str) -> int:
        return int(self._opened().execute(f"PRAGMA {name}").fetchone()[0])

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = self._open()
        return self._db

    def _open(self) -> sqlite3.Connection:
        if self._path != _MEMORY:
            self._inode = _prepare(Path(self._path))
        db = sqlite3.connect(self._path, check_same_thread=False, timeout=_BUSY_SECONDS)
        try:
            self._set_up(db)
        except BaseException:
            db.close()
            raise
        return db

    def _set_up(self, db: sqlite3.Connection) -> None:
        db.create_function("address_key", 1, address_key, deterministic=True)
        if db.execute("PRAGMA page_count").fetchone()[0] == 0:
            db.execute("PRAGMA auto_vacuum=INCREMENTAL")
        # A commit is written to the log before put() returns; a kill loses only uncommitted documents.
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute(f"PRAGMA journal_size_limit={_WAL_BYTES}")
        db.execute(f"PRAGMA wal_autocheckpoint={_WAL_BYTES // _PAGE_BYTES}")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == _VERSION:
            return
        with db:
            db.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA.split(";\n"):
                db.execute(statement)
            if version < 2:
                # Older releases had keys without a scheme, and addresses that pages had claimed for themselves.
                db.execute("DELETE FROM addresses")
                db.execute("UPDATE OR REPLACE documents SET page = address_key(json_extract(document, '$.final_url'))")
                db.execute("INSERT OR REPLACE INTO addresses SELECT page, page FROM documents")
                db.execute("DELETE FROM pinned WHERE page NOT IN (SELECT page FROM documents)")
            # Before there were parts, the row of a document was that of its index.
            db.execute(
                "INSERT INTO parts SELECT id, id, 0, 0 FROM documents WHERE id NOT IN (SELECT document FROM parts)"
            )
            db.execute(f"PRAGMA user_version={_VERSION}")

    @contextmanager
    def _causes(self) -> Iterator[None]:
        """Turn the errors of SQLite and of the file system into causes."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._cause(error) from None
        except OSError as error:
            self.close()
            raise ARCHIVE_UNUSABLE(where=self._path, why=error.strerror or error) from None

    def _cause(self, error: sqlite3.Error) -> SuyuanError:
        # The lowest byte is the kind of the error, the others say more about it.
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code in _DAMAGED:
            return self._set_aside(error)
        if code in _LOCKED:
            return ARCHIVE_LOCKED(where=self._path)
        self.close()
        if code in _FULL:
            return ARCHIVE_FULL(where=self._path)
        if code in _READ_ONLY:
            return ARCHIVE_READ_ONLY(where=self._path, why=error)
        return ARCHIVE_UNUSABLE(where=self._path, why=error)

    def _set_aside(self, error: sqlite3.Error) -> SuyuanError:
        """Move the damaged file away; of several, only the latest is kept."""
        self.close()
        path = Path(self._path)
        aside = path.with_name(f"{path.name}.damaged")
        try:
            # Another process may have replaced it already.
            if path.stat().st_ino == self._inode:
                path.replace(aside)
                for suffix in ("-wal", "-shm"):
                    path.with_name(path.name + suffix).unlink(missing_ok=True)
        except FileNotFoundError:
            pass
        except OSError as refused:
            return ARCHIVE_UNUSABLE(where=path, why=refused.strerror or refused)
        return ARCHIVE_DAMAGED(where=path, why=error, aside=aside)


def _prepare(path: Path) -> int:
    """Create the file with rights for its owner only, and return its number; a failure is left to SQLite."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        if path.is_file() and path.stat().st_mode & 0o077:
            path.chmod(0o600)
    return path.stat().st_ino
