"""What is done with a damaged archive: its index is made again, or all that can be read is moved to a new file."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from ..core.cause import Cause
from ..core.causes.archive import ARCHIVE_DAMAGED, ARCHIVE_INDEX_DAMAGED
from ..core.errors import SuyuanError
from ..core.salvage import copy_with_header, has_pages, passing_over_damage, readable_rows, swap
from .address import address_key
from .archive_index import begin_anew, mark_unindexed
from .archive_schema import TABLES, VERSION, take_place_of, upgrade
from .stored_document import document_from_json

_BUSY_SECONDS = 5.0


def repair(
    path: Path, why: object, damaged: Cause = ARCHIVE_DAMAGED, *, source: Path | None = None, tables_too: bool
) -> SuyuanError:
    """Make a damaged file usable, and return what was done as the cause for a notice.

    Where the tables are sound only the index is begun anew, unless that has been tried (``tables_too``). What can be
    read is that of ``source``, a copy of what an open connection has, or of the file itself.
    """
    if not tables_too and _tables_are_sound(path) and _index_begun_anew(path):
        return ARCHIVE_INDEX_DAMAGED(where=path, why=why)
    rebuilt = path.with_name(f"{path.name}.{os.getpid()}.rebuilt")
    kept = _salvage(source or path, rebuilt)
    if kept == 0 and has_pages(path):
        kept = _salvage_without_header(path, rebuilt)
    with closing(sqlite3.connect(rebuilt)) as new, new:
        take_place_of(new, path.stat().st_ino)
        # The product's own pages are nobody's, and written again when they are missing.
        own = "SELECT count(*) FROM documents WHERE page NOT IN (SELECT page FROM pinned)"
        kept = int(new.execute(own).fetchone()[0])
    aside = swap(path, rebuilt)
    return damaged(where=path, why=why, aside=aside, kept=kept)


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
        with passing_over_damage(), closing(_connect(path)) as old:
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
    with passing_over_damage():
        present = {row[1] for row in old.execute(f"PRAGMA table_info({table})")}
    columns = ", ".join(name for name in own if name in present)
    if not columns:
        return
    places = ", ".join("?" for _ in columns.split(", "))
    insert = f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({places})"
    for row in readable_rows(old, table, columns):
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


def _salvage_without_header(path: Path, rebuilt: Path) -> int:
    with copy_with_header(path, VERSION) as copy:
        return _salvage(copy, rebuilt)


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    # Damaged text is no reason to stop: the hash of a document tells whether it is whole.
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return db
