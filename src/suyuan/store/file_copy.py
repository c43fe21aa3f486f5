"""Copies a database file of SQLite as it is at one moment, while others write to it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ..core.causes import backup as causes
from ..core.causes.store import STORE_INCOMPLETE
from ..core.read_only import address_for_reading, is_read_only
from .connections import BUSY_SECONDS
from .database import sqlite_cause

_PAGES_AT_ONCE = 2_000

Step = Callable[[int, int], None]
"""Told how much is done, and of how much."""


def no_step(done: int, total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class FileCopy:
    """What is in a copy."""

    rows: dict[str, int]
    """How many there are of each table."""
    schema: str
    """The revision of a store, or the version of another database; empty where it has none."""


def copy_database(source: Path, target: Path, step: Step = no_step) -> FileCopy:
    """Copy a database to a new file, and check the copy; raises the cause if it is not sound.

    Both files are opened by SQLite alone: its locks end where anything else in the process closes them.
    """
    with _translated(source, target), closing(_opened(source)) as before:
        # Everything is read in one transaction: another writer would make SQLite begin again, and never end.
        before.execute("BEGIN")
        counted = count_rows(before)
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(_opened(target)) as after:
            after.execute("PRAGMA synchronous=OFF")
            after.execute("PRAGMA journal_mode=OFF")
            before.backup(after, pages=_PAGES_AT_ONCE, progress=lambda _, left, total: step(total - left, total))
            copy = _checked(source, after)
            differing = [name for name in counted if copy.rows.get(name) != counted[name]]
            if differing:
                raise STORE_INCOMPLETE(where=target, table=differing[0])
            return copy


def check_copy(file: Path) -> FileCopy:
    """Check a database that was made by other means, and count."""
    with _translated(file, file), closing(_opened(file)) as db:
        return _checked(file, db)


def _checked(source: Path, db: sqlite3.Connection) -> FileCopy:
    problem = str(db.execute("PRAGMA integrity_check(1)").fetchone()[0])
    if problem != "ok":
        raise causes.BACKUP_SOURCE_DAMAGED(where=source, why=problem)
    return FileCopy(count_rows(db), _schema(db))


def count_rows(db: sqlite3.Connection) -> dict[str, int]:
    """The rows of each table; those in which SQLite keeps an index of words are no tables of their own."""
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    tables = dict(db.execute(query).fetchall())
    virtual = tuple(name for name, sql in tables.items() if sql.upper().startswith("CREATE VIRTUAL"))
    own = [name for name in tables if not name.startswith(virtual)]
    return {name: db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in own}


def _schema(db: sqlite3.Connection) -> str:
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table, column in (("suyuan_revision", "version_num"), ("suyuan_schema", "version")):
        row = db.execute(f"SELECT {column} FROM {table}").fetchone() if table in tables else None
        if row is not None:
            return row[0] if isinstance(row[0], str) else f"{row[0]:04}"
    version = db.execute("PRAGMA user_version").fetchone()[0]
    return str(version) if version else ""


def _opened(file: Path) -> sqlite3.Connection:
    # Never created: a file that is gone is no empty database.
    address = f"file:{quote(str(file.absolute()))}?mode=rw"
    if is_read_only(file):
        address = address_for_reading(file)
    return sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


@contextmanager
def _translated(source: Path, target: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "") or ""
        if name.startswith("SQLITE_IOERR"):
            # On a full disk SQLite cannot even map what it needs to read.
            raise causes.BACKUP_NOT_WRITTEN(where=source, why=error) from None
        is_written = name.startswith("SQLITE_FULL")
        raise sqlite_cause(name, str(target if is_written else source), str(error)) from None
