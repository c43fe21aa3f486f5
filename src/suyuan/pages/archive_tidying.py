"""Keeps the archive within its limits, in steps of a few milliseconds, and says what was removed."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path

from ..core.causes.archive import ARCHIVE_PRUNED
from ..core.clock import ClockRecord, look_at_clock
from ..core.errors import SuyuanError
from ..core.notices import Notices
from . import archive_index
from .archive_file import ArchiveFile

Cited = Callable[[str], Iterable[str]]
"""Return the hashes of the texts that answers and reports cite which were stored since a moment, all for ``""``."""

_DROPPED_AT_ONCE = 20
_STEP_SECONDS = 0.02
_INDEXED_AT_ONCE = 20
_GIVEN_BACK_PAGES = 256
_ROOM = 0.98
"""Some room is made, so that not every new document removes another one."""
_LOOK_AGAIN_SECONDS = 3600.0
_CITED_SECONDS = 10.0
_TOLD_EVERY = 1000
_FREE = "page NOT IN (SELECT page FROM pinned) AND id NOT IN (SELECT document FROM cited)"
"""The documents that may be removed: neither the product's own pages nor those that an answer cites."""


_DAYS = "SELECT DISTINCT substr(fetched_at, 1, 10) AS day FROM documents ORDER BY day DESC LIMIT 60"


def is_believed(moment: datetime, days: Iterable[str]) -> bool:
    """Whether this clock may say what is old, by the days on which pages were read: it may have jumped since."""
    record: ClockRecord | None = None
    for day in sorted(days):
        with suppress(ValueError):
            seen = datetime.fromisoformat(day).replace(tzinfo=UTC)
            if seen <= moment:
                record = look_at_clock(record, seen.timestamp())
    return look_at_clock(record, moment.timestamp()).believed


class ArchiveTidying:
    """What is removed from one archive, and when."""

    def __init__(
        self, file: ArchiveFile, where: Path | str, notices: Notices, *, max_bytes: int, max_days: int, cited: Cited
    ) -> None:
        self._file = file
        self._where = str(where)
        self._notices = notices
        self._max_bytes = max_bytes
        self._max_days = max_days
        self._cited = cited
        self._cited_until = ""
        self._cited_at = 0.0
        self._knows_cited = False
        self._too_large = False
        self._looked_for_old = float("-inf")
        self._untold = 0
        self.removed = 0
        """How many documents were removed since the archive was opened."""

    def step(self, now: datetime | None = None) -> bool:
        """Do one small step of what there is to do; return whether there may be more."""
        if self._file.read_only:
            return False
        if self._index() or self._merge() or self._remove_old(now) or self._remove_too_much():
            return True
        self.tell()
        return False

    def tell(self) -> None:
        """Record how many documents were removed, together with those that are already told."""
        count, self._untold = self._untold, 0
        if not count:
            return
        known = self._notices.find(ARCHIVE_PRUNED.detail_code, self._where)
        told = known.failure.params.get("count", 0) if known is not None else 0
        total = count + (told if isinstance(told, int) else 0)
        limit = self._max_bytes // 1_000_000
        self._notices.add(
            ARCHIVE_PRUNED(where=self._where, count=total, megabytes=limit, days=self._max_days), self._where
        )

    def _index(self) -> bool:
        if self._file.run(archive_index.is_whole):
            return False
        self._file.run(lambda db: archive_index.index_more(db, _INDEXED_AT_ONCE), write=True)
        return True

    def _remove_old(self, now: datetime | None) -> bool:
        if now is None and time.monotonic() - self._looked_for_old < _LOOK_AGAIN_SECONDS:
            return False
        moment = now or datetime.now(UTC)
        oldest = (moment - timedelta(days=self._max_days)).isoformat()
        days = self._file.run(lambda db: [row[0] for row in db.execute(_DAYS)])
        if is_believed(moment, days) and self._drop(f"{_FREE} AND fetched_at < ?", oldest):
            return True
        self._looked_for_old = time.monotonic()
        return False

    def _remove_too_much(self) -> bool:
        used = self._file.used_bytes()
        if used <= self._max_bytes * _ROOM:
            self._too_large = False
            return False
        documents, cited = self._file.run(_counts)
        each = used / max(1, documents)
        # What is cited is kept beside what the limit is for.
        excess = used - cited * each - self._max_bytes * (_ROOM if self._too_large else 1.0)
        self._too_large = excess > 0
        needed = min(_DROPPED_AT_ONCE, ceil(excess / each))
        return self._too_large and self._drop(_FREE, count=needed)

    def _drop(self, which: str, *values: str, count: int = _DROPPED_AT_ONCE) -> bool:
        """Remove some of the oldest of these documents; return whether there were any."""
        if not self._learn_what_is_cited():
            return False
        chosen = f"SELECT id FROM documents WHERE {which} ORDER BY fetched_at, id LIMIT {count}"

        def remove(db: sqlite3.Connection) -> int:
            ids = [row[0] for row in db.execute(chosen, values)]
            began, removed = time.monotonic(), 0
            while removed < len(ids) and time.monotonic() - began < _STEP_SECONDS:
                remove_documents(db, "id = ?", [(ids[removed],)])
                removed += 1
            return removed

        removed = self._file.run(remove, write=True)
        self._file.give_back(_GIVEN_BACK_PAGES)
        self.removed += removed
        self._untold += removed
        if self._untold >= _TOLD_EVERY:
            self.tell()
        return removed > 0

    def _learn_what_is_cited(self) -> bool:
        """Mark the documents that answers cite; return False where that cannot be known, and nothing is removed."""
        if self._knows_cited and time.monotonic() - self._cited_at < _CITED_SECONDS:
            return True
        now, began = datetime.now(UTC).isoformat(), time.monotonic()
        try:
            hashes = [(sha256,) for sha256 in self._cited(self._cited_until)]
        except SuyuanError:
            return False

        def mark(db: sqlite3.Connection) -> None:
            if not self._knows_cited:
                # What cited them may be gone since.
                db.execute("DELETE FROM cited")
            db.executemany("INSERT OR IGNORE INTO cited SELECT id FROM documents WHERE sha256 = ?", hashes)

        self._file.run(mark, write=True)
        self._knows_cited, self._cited_until, self._cited_at = True, now, began
        return True

    def _merge(self) -> bool:
        """Merge the index: until then, it takes as much as if nothing had been removed."""
        # It is asked before every other step, and nearly always there is nothing to do.
        if not self._file.run(archive_index.needs_merging):
            return False
        self._file.run(archive_index.merge_step, write=True)
        self._file.give_back(_GIVEN_BACK_PAGES)
        return True


def _counts(db: sqlite3.Connection) -> tuple[int, int]:
    """How many documents there are, and how many of them are cited."""
    documents = db.execute("SELECT count(*) FROM documents").fetchone()[0]
    return documents, db.execute("SELECT count(*) FROM cited").fetchone()[0]


def remove_documents(db: sqlite3.Connection, which: str, values: Iterable[tuple[str | int, ...]]) -> int:
    """Remove documents with their parts, and the addresses that led to them where no other version is left."""
    removed = 0
    for each in values:
        pages = {row[0] for row in db.execute(f"SELECT page FROM documents WHERE {which}", each)}
        archive_index.drop_parts(db, f"SELECT id FROM documents WHERE {which}", each)
        for table in ("cited", "cuts"):
            db.execute(f"DELETE FROM {table} WHERE document IN (SELECT id FROM documents WHERE {which})", each)
        removed += db.execute(f"DELETE FROM documents WHERE {which}", each).rowcount
        for page in pages:
            unused = "DELETE FROM addresses WHERE page = ? AND NOT EXISTS (SELECT 1 FROM documents WHERE page = ?)"
            db.execute(unused, (page, page))
    if removed:
        archive_index.note_dropped(db, removed)
    return removed
