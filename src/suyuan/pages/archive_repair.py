"""What is done with a damaged archive: its index is made again, or all that can be read is moved to a new file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ..core.causes.archive import ARCHIVE_DAMAGED, ARCHIVE_INDEX_DAMAGED
from ..core.errors import SuyuanError
from ..core.private_file import free_name
from .address import address_key
from .archive_index import begin_anew, mark_unindexed
from .archive_schema import TABLES, VERSION, take_place_of, upgrade
from .stored_document import document_from_json

_BUSY_SECONDS = 5.0
_ROWS_AT_ONCE = 64
_LONGEST_SILENCE = 5_000
_PAGE_BYTES = 4096
_WRITTEN_BY = 3_040_000
_HEADER_BYTES = 100
_NOT_DAMAGE = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH,
}  # fmt: skip


def repair(path: Path, why: object, *, tables_too: bool) -> SuyuanError:
    """Make a damaged file usable, and return what was done as the cause for a notice.

    Where the tables are sound only the index is begun anew, unless that has been tried (``tables_too``).
    """
    if not tables_too and _tables_are_sound(path) and _index_begun_anew(path):
        return ARCHIVE_INDEX_DAMAGED(where=path, why=why)
    rebuilt = path.with_name(f"{path.name}.{os.getpid()}.rebuilt")
    kept = _salvage(path, rebuilt)
    if kept == 0 and _has_lost_its_header(path):
        kept = _salvage_without_header(path, rebuilt)
    with closing(sqlite3.connect(rebuilt)) as new, new:
        take_place_of(new, path.stat().st_ino)
    aside = _swap(path, rebuilt)
    return ARCHIVE_DAMAGED(where=path, why=why, aside=aside, kept=kept)


def _tables_are_sound(path: Path) -> bool:
    try:
        with closing(_connect(path)) as db:
            known = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not known.issuperset(TABLES):
                return False
            return all(db.execute(f"PRAGMA integrity_check({name})").fetchall() == [("ok",)] for name in TABLES)
    except sqlite3.Error:
        return False


def _index_begun_anew(path: Path) -> bool:
    try:
        with closing(_connect(path)) as db, db:
            db.execute("BEGIN IMMEDIATE")
            begin_anew(db)
    except sqlite3.Error:
        return False
    return True


def _salvage(path: Path, rebuilt: Path) -> int:
    """Copy every row that can be read to the new file ``rebuilt``, and return the number of documents."""
    rebuilt.unlink(missing_ok=True)
    # Not through SQLite: nothing is connected to a file that does not exist yet.
    os.close(os.open(rebuilt, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with closing(sqlite3.connect(rebuilt)) as new, new:
        new.create_function("address_key", 1, address_key, deterministic=True)
        new.execute("PRAGMA auto_vacuum=INCREMENTAL")
        new.execute("BEGIN")
        upgrade(new, VERSION)
        with _passing_over_damage(), closing(_connect(path)) as old:
            # The names and columns of the tables may be all that is damaged.
            old.execute("PRAGMA writable_schema=ON")
            for table in TABLES:
                _copy_rows(old, new, table)
        _leave_out_fragments(new)
        mark_unindexed(new)
        return int(new.execute("SELECT count(*) FROM documents").fetchone()[0])


def _copy_rows(old: sqlite3.Connection, new: sqlite3.Connection, table: str) -> None:
    own = [row[1] for row in new.execute(f"PRAGMA table_info({table})")]
    present: set[str] = set()
    with _passing_over_damage():
        present = {row[1] for row in old.execute(f"PRAGMA table_info({table})")}
    columns = ", ".join(name for name in own if name in present)
    if not columns:
        return
    places = ", ".join("?" for _ in columns.split(", "))
    insert = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})"
    for row in _readable_rows(old, table, columns):
        if table != "documents" or _is_whole(row):
            # What is missing where it must not be is a fragment too.
            with suppress(sqlite3.IntegrityError):
                new.execute(insert, row)


def _is_whole(row: tuple[object, ...]) -> bool:
    """Whether a document is what was stored: SQLite does not notice every damage, but the text has a hash."""
    _, _, sha256, *_, stored = row
    try:
        return document_from_json(str(stored)).sha256 == sha256
    except (ValueError, TypeError, KeyError):
        return False


def _readable_rows(db: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[object, ...]]:
    """The rows from both ends up to what is damaged, then those in between that can be read."""
    query = f"SELECT rowid, {columns} FROM {table} NOT INDEXED"
    above = -1
    with _passing_over_damage():
        for number, *row in db.execute(f"{query} ORDER BY rowid"):
            above = number
            yield tuple(row)
        return
    below: int | None = None
    with _passing_over_damage():
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
        with _passing_over_damage():
            rows = db.execute(f"{query} WHERE rowid >= ? AND rowid < ?", (start, stop)).fetchall()
        if not rows:
            for number in range(start, stop):
                with _passing_over_damage():
                    rows += db.execute(f"{query} WHERE rowid = ?", (number,)).fetchall()
        if rows:
            silent_since = stop
        yield from (tuple(row[1:]) for row in rows)
        start = stop


@contextmanager
def _passing_over_damage() -> Iterator[None]:
    """Go on where the file is damaged; whatever else fails must not be taken for damage."""
    try:
        yield
    except sqlite3.Error as error:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code in _NOT_DAMAGE:
            raise


def _leave_out_fragments(db: sqlite3.Connection) -> None:
    """Remove what belongs to documents that could not be read, and let the library read such files again."""
    db.execute("DELETE FROM parts WHERE document NOT IN (SELECT id FROM documents)")
    for table in ("cited", "cuts"):
        db.execute(f"DELETE FROM {table} WHERE document NOT IN (SELECT id FROM documents)")
    db.execute("INSERT INTO parts SELECT NULL, id, 0, 0 FROM documents WHERE id NOT IN (SELECT document FROM parts)")
    db.execute("INSERT OR IGNORE INTO addresses SELECT page, page FROM documents")
    db.execute("DELETE FROM addresses WHERE page NOT IN (SELECT page FROM documents)")
    files = "SELECT substr(page, 9, 16) FROM documents WHERE page LIKE 'library:%'"
    pages = "SELECT page FROM documents"
    lost = f"id NOT IN ({files}) AND address_key(path) NOT IN ({pages})"
    db.execute(f"UPDATE files SET sha256 = '', modified = 0, read_at = '' WHERE {lost}")


def _has_lost_its_header(path: Path) -> bool:
    return path.stat().st_size > _PAGE_BYTES


def _salvage_without_header(path: Path, rebuilt: Path) -> int:
    """Read a copy with a new header: the first hundred bytes say only what all our files have in common."""
    copy = rebuilt.with_suffix(".copy")
    try:
        # The locks that this drops are those of a file that nobody can use.
        body = path.read_bytes()
        copy.touch(0o600)
        copy.write_bytes(_header(len(body)) + body[_HEADER_BYTES:])
        return _salvage(copy, rebuilt)
    finally:
        for suffix in ("", "-wal", "-shm"):
            copy.with_name(copy.name + suffix).unlink(missing_ok=True)


def _header(size: int) -> bytes:
    """The header of a file with pages of 4096 bytes, UTF-8 and no free pages."""
    pages = size // _PAGE_BYTES
    start = b"SQLite format 3\0" + _PAGE_BYTES.to_bytes(2, "big") + bytes([1, 1, 0, 64, 32, 32])
    numbers = [1, pages, 0, 0, 1, 4, 0, 0, 1, VERSION, 0, 0, 0, 0, 0, 0, 0, 1, _WRITTEN_BY]
    return start + b"".join(number.to_bytes(4, "big") for number in numbers)


def _swap(path: Path, rebuilt: Path) -> Path:
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


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    # Damaged text is no reason to stop: the hash of a document tells whether it is whole.
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return db
