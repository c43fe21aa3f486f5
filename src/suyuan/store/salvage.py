"""A store whose file is no database any more: all rows that can be read are moved to a new file."""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from ..core.causes.store import STORE_SALVAGED
from ..core.errors import SuyuanError
from ..core.file_lock import file_lock
from ..core.salvage import copy_with_header, has_pages, passing_over_damage, readable_rows, swap
from .tables import metadata

log = logging.getLogger("suyuan.store")


def salvage_store(file: Path) -> SuyuanError | None:
    """Put what can be read in the place of a file that SQLite does not take for a database; return what to tell.

    None where nothing can be read of it: then it stays as it is.
    """
    if not file.is_file() or not has_pages(file):
        return None
    rebuilt = file.with_name(f"{file.name}.{os.getpid()}.rebuilt")
    try:
        with file_lock(file.with_name(f".{file.name}.repair.lock")):
            if _is_a_database(file):
                # Another process was quicker.
                return None
            with copy_with_header(file) as copy:
                kept = copy_readable(copy, rebuilt)
            if not kept:
                return None
            aside = swap(file, rebuilt)
    except (OSError, sqlite3.Error) as error:
        log.warning("%s could not be salvaged: %s", file, error)
        return None
    finally:
        rebuilt.unlink(missing_ok=True)
    return STORE_SALVAGED(where=file, aside=aside, kept=kept)


def copy_readable(damaged: Path, new_file: Path) -> int:
    """Copy every row that can be read to a new file with the same tables; return how many there are."""
    new_file.unlink(missing_ok=True)
    # Not through SQLite: nothing is connected to a file that does not exist yet.
    os.close(os.open(new_file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with closing(sqlite3.connect(damaged, isolation_level=None)) as old, closing(sqlite3.connect(new_file)) as new, new:
        # A damaged text is better than none.
        old.text_factory = lambda raw: raw.decode("utf-8", "replace")
        # The names and columns of the tables may be damaged as well.
        old.execute("PRAGMA writable_schema=ON")
        new.execute("PRAGMA auto_vacuum=INCREMENTAL")
        new.execute("BEGIN")
        return sum(_copy_table(old, new, name) for name in metadata.tables)


def _copy_table(old: sqlite3.Connection, new: sqlite3.Connection, name: str) -> int:
    """Copy a table of ours, as it was made, with its indexes; return the number of rows."""
    made: list[tuple[str]] = []
    with passing_over_damage():
        # Triggers belong to the index of the texts, which is made anew.
        types = "type IN ('table', 'index') AND sql IS NOT NULL"
        query = f"SELECT sql FROM sqlite_master WHERE tbl_name = ? AND {types} ORDER BY type = 'index'"
        made = old.execute(query, (name,)).fetchall()
    for (statement,) in made:
        with suppress(sqlite3.Error):
            new.execute(statement)
    columns = [row[1] for row in new.execute(f"PRAGMA table_info({name})")]
    if not columns:
        return 0
    quoted = ", ".join(f'"{column}"' for column in columns)
    insert = f"INSERT OR IGNORE INTO {name} ({quoted}) VALUES ({', '.join('?' * len(columns))})"
    kept = 0
    for row in readable_rows(old, name, quoted):
        # What is missing where it must not be is a fragment.
        with suppress(sqlite3.IntegrityError):
            kept += new.execute(insert, row).rowcount
    return kept


def _is_a_database(file: Path) -> bool:
    try:
        with closing(sqlite3.connect(file)) as db:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        return (getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF != sqlite3.SQLITE_NOTADB
    return True
