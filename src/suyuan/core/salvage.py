"""What can be read of a damaged file of SQLite, and how a new file takes its place."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .private_file import free_name

_ROWS_AT_ONCE = 64
_LONGEST_SILENCE = 5_000
_PAGE_BYTES = 4096
_WRITTEN_BY = 3_040_000
_HEADER_BYTES = 100
_NOT_DAMAGE = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH,
}  # fmt: skip


def readable_rows(db: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[object, ...]]:
    """The rows from both ends up to what is damaged, then those in between that can be read."""
    query = f"SELECT rowid, {columns} FROM {table} NOT INDEXED"
    above = -1
    with passing_over_damage():
        for number, *row in db.execute(f"{query} ORDER BY rowid"):
            above = number
            yield tuple(row)
        return
    below: int | None = None
    with passing_over_damage():
        for number, *row in db.execute(f"{query} WHERE rowid > ? ORDER BY rowid DESC", (above,)):
            below = number
            yield tuple(row)
    yield from _rows_between(db, query, above + 1, below)


def _rows_between(db: sqlite3.Connection, query: str, first: int, end: int | None) -> Iterator[tuple[object, ...]]:
    """The rows that can be read from ``first`` to ``end``, or to where nothing has been read for long."""
    start, silent_since = first, first
    while start < end if end is not None else start < silent_since + _LONGEST_SILENCE:
        stop = start + _ROWS_AT_ONCE if end is None else min(start + _ROWS_AT_ONCE, end)
        rows: list[tuple[object, ...]] = []
        with passing_over_damage():
            rows = db.execute(f"{query} WHERE rowid >= ? AND rowid < ?", (start, stop)).fetchall()
        if not rows:
            for number in range(start, stop):
                with passing_over_damage():
                    rows += db.execute(f"{query} WHERE rowid = ?", (number,)).fetchall()
        if rows:
            silent_since = stop
        yield from (tuple(row[1:]) for row in rows)
        start = stop


@contextmanager
def passing_over_damage() -> Iterator[None]:
    """Go on where the file is damaged; whatever else fails must not be taken for damage."""
    try:
        yield
    except sqlite3.Error as error:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code in _NOT_DAMAGE:
            raise


def has_pages(path: Path) -> bool:
    """Whether a file is large enough to have anything to read behind a header that is lost."""
    return path.stat().st_size > _PAGE_BYTES


@contextmanager
def copy_with_header(path: Path, version: int = 0) -> Iterator[Path]:
    """A copy with a new header: the first hundred bytes say only what all our files have in common."""
    copy = path.with_name(f"{path.name}.{os.getpid()}.copy")
    try:
        # The locks that this drops are those of a file that nobody can use.
        body = path.read_bytes()
        copy.unlink(missing_ok=True)
        copy.touch(0o600)
        copy.write_bytes(_header(len(body), version) + body[_HEADER_BYTES:])
        yield copy
    finally:
        for suffix in ("", "-wal", "-shm"):
            copy.with_name(copy.name + suffix).unlink(missing_ok=True)


def _header(size: int, version: int) -> bytes:
    """The header of a file with pages of 4096 bytes, UTF-8 and no free pages."""
    pages = size // _PAGE_BYTES
    start = b"SQLite format 3\0" + _PAGE_BYTES.to_bytes(2, "big") + bytes([1, 1, 0, 64, 32, 32])
    numbers = [1, pages, 0, 0, 1, 4, 0, 0, 1, version, 0, 0, 0, 0, 0, 0, 0, 1, _WRITTEN_BY]
    return start + b"".join(number.to_bytes(4, "big") for number in numbers)


def swap(path: Path, rebuilt: Path) -> Path:
    """Set the damaged file aside with its log, and put the new one in its place."""
    aside = free_name(path)
    try:
        # The place is never empty: a process that is ended here leaves the old file for the next one.
        os.link(path, aside)
    except OSError:
        path.rename(aside)
    log = path.with_name(path.name + "-wal")
    if log.exists():
        log.rename(aside.with_name(aside.name + "-wal"))
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    rebuilt.replace(path)
    return aside
