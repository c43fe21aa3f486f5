"""``Soundness``: looks in the background whether what is kept in a file of SQLite can be read, and tells if not."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from pathlib import Path

from sqlalchemy import Engine

from ..core.causes.store import STORE_DAMAGED
from ..core.errors import SuyuanError
from ..core.notices import Notices
from .tables import metadata

log = logging.getLogger("suyuan.store")

_LOOK_SECONDS = 20.0
"""A larger file is not looked through whole."""
_END_SECONDS = 2.0
_STEPS = 10_000
"""So many steps of SQLite take about a millisecond."""


class Soundness:
    """One look through the tables of a file, in a thread.

    The full-text index is left out: it is made again when it is damaged, which is a notice of its own.
    """

    def __init__(self, file: Path, engine: Engine) -> None:
        self._file = file
        self._engine = engine
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._suspected = False

    def look(self) -> None:
        """Look once, as far as there is time."""
        with self._lock:
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self._work, name="suyuan-store-check", daemon=True)
                self._thread.start()

    def suspect(self) -> None:
        """Look since SQLite has met damage; what is found is told before the process ends."""
        with self._lock:
            if self._suspected:
                return
            self._suspected = True
            # One that was begun before may have passed the place already.
            self._thread = None
        self.look()

    def close(self) -> None:
        """End the look, except for one that was caused by damage."""
        if not self._suspected:
            self._stopped.set()
        thread = self._thread
        if thread is not None:
            thread.join(_LOOK_SECONDS if self._suspected else _END_SECONDS)

    def _work(self) -> None:
        notices = Notices(self._file.parent)
        if notices.find(STORE_DAMAGED.detail_code, self._file):
            # It is known: a store that cannot be opened is tried again and again.
            return
        try:
            found = self._damage()
        except (sqlite3.Error, SuyuanError) as error:
            log.warning("%s could not be looked through: %s", self._file, error)
            # Not even a connection can be made where the list of the tables is damaged.
            found = str(error) if isinstance(error, sqlite3.DatabaseError) and not _is_no_damage(error) else ""
        if found:
            notices.add(STORE_DAMAGED(where=self._file, why=found), self._file)

    def _damage(self) -> str:
        """What is damaged first; empty where nothing is, or nothing was found in time."""
        deadline = time.monotonic() + _LOOK_SECONDS

        def is_over() -> bool:
            return self._stopped.is_set() or time.monotonic() > deadline

        raw = self._engine.raw_connection()
        db = raw.driver_connection
        assert db is not None, "a connection of the pool has one of the driver"
        db.set_progress_handler(is_over, _STEPS)
        try:
            for table in metadata.sorted_tables:
                if not is_over() and (found := _damage_of(db, table.name)):
                    return found
            return _damage_of_free_pages(db) if self._suspected and not is_over() else ""
        finally:
            db.set_progress_handler(None, 0)
            raw.close()


def _damage_of(db: sqlite3.Connection, table: str) -> str:
    try:
        rows = db.execute(f"PRAGMA quick_check({table})").fetchall()
    except sqlite3.DatabaseError as error:
        return "" if _is_no_damage(error) else f"{table}: {error}"
    return "" if rows == [("ok",)] else f"{table}: {_in_one_line(rows)}"


def _damage_of_free_pages(db: sqlite3.Connection) -> str:
    """The free pages belong to no table, and are where the next row would be written."""
    try:
        rows = db.execute("PRAGMA quick_check").fetchall()
    except sqlite3.DatabaseError as error:
        return "" if _is_no_damage(error) else str(error)
    return _in_one_line(rows) if "freelist" in _in_one_line(rows).lower() else ""


def _is_no_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the look was ended, or could not be done: in a file without the table, for example."""
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    return code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _in_one_line(rows: list[tuple[str]]) -> str:
    return " ".join(" ".join(row[0] for row in rows).split())[:200]
