"""``OverwriteWatch``: whether something else than SQLite, or another content, has taken the place of what is open."""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_LOOKS = 4
_LOOK_PAUSE = 0.02
_MOST_IDLE = 32


@dataclass(frozen=True, slots=True)
class Stamp:
    """Which database it is, and how many transactions have written to it; an older copy has fewer."""

    mark: int = 0
    """The number that a database is given once; 0 before."""
    writes: int = 0


@dataclass(frozen=True, slots=True)
class Stamping:
    """Where the header of a database has its stamp; without ``in_version`` the user's version is not touched."""

    cycle: int
    """Transactions are counted up to here, and from 0 again."""
    in_version: bool

    def read(self, version: int, application: int) -> Stamp:
        """The stamp in the two numbers of a header that SQLite leaves to the program."""
        if self.in_version:
            return Stamp(application, version)
        return Stamp(*divmod(application, self.cycle))

    def of(self, db: sqlite3.Connection) -> Stamp:
        """The stamp as SQLite sees it, with what is only in its log."""
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        return self.read(version, int(db.execute("PRAGMA application_id").fetchone()[0]))

    def count(self, db: sqlite3.Connection) -> Stamp:
        """Count the present transaction: SQLite's own counter stands still while it writes a log."""
        before = self.of(db)
        writes = (before.writes + 1) % self.cycle
        if self.in_version:
            db.execute(f"PRAGMA user_version={writes}")
            return Stamp(before.mark, writes)
        mark = before.mark or self.new_mark()
        db.execute(f"PRAGMA application_id={mark * self.cycle + writes}")
        return Stamp(mark, writes)

    def new_mark(self) -> int:
        """A number for a database that has none."""
        largest = (1 << 31) - 1
        if not self.in_version:
            largest //= self.cycle
        return secrets.randbelow(largest - 1) + 1

    def may_follow(self, before: Stamp, now: Stamp) -> bool:
        """Whether transactions of ours can have made ``now`` of ``before``."""
        if before.mark not in (0, now.mark):
            return False
        ahead = (now.writes - before.writes) % self.cycle
        return ahead < self.cycle // 2


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the file was when it was looked at last."""

    size: int
    modified: int
    stamp: Stamp
    pages: int
    """The size by its own account, in bytes."""


class OverwriteWatch:
    """Compares a file, and what SQLite reads of it, with what this process knows of it.

    The header in the file and the stamp that SQLite sees differ while there is a log: the file must follow what it was,
    and the stamp must follow that of the last transaction of this process.
    """

    def __init__(self, stamping: Stamping) -> None:
        self._stamping = stamping
        self._descriptor: _Descriptor | None = None
        self._seen: _Seen | None = None
        self._looking = threading.Lock()
        self.known = Stamp()
        """The stamp after the last transaction that this process knows of."""
        self.overwritten = False
        self.changed = True
        """Whether the file has changed since SQLite was asked last: what it has in memory tells nothing then."""

    def open(self, file: Path) -> None:
        """Watch the file that has just been opened by SQLite."""
        self.release()
        self._seen, self.known, self.overwritten, self.changed = None, Stamp(), False, True
        if os.name == "posix":
            with suppress(OSError):
                self._descriptor = _acquired(file)

    def release(self) -> None:
        """Give the file back, after its last connection was closed."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            _release(descriptor)

    def look(self) -> bool:
        """See whether only SQLite has written to the file since it was last looked at; True if not."""
        if self._descriptor is None or self.overwritten:
            return self.overwritten
        status = os.fstat(self._descriptor.number)
        seen = self._seen
        if seen is not None and (seen.size, seen.modified) == (status.st_size, status.st_mtime_ns):
            return False
        with self._looking:
            self.overwritten = not self._can_be_ours(self._descriptor.number)
        return self.overwritten

    def _can_be_ours(self, descriptor: int) -> bool:
        for _ in range(_LOOKS):
            now = self._read(descriptor)
            if now is not None and self._may_follow(now):
                self._seen, self.changed = now, True
                return True
            if now is None and self._seen is None:
                # Nothing was written to it yet.
                return True
            # It may be being written at this moment.
            threading.Event().wait(_LOOK_PAUSE)
        return False

    def _may_follow(self, now: _Seen) -> bool:
        before = self._seen
        if before is None:
            return True
        # SQLite makes a file smaller only down to what it has.
        is_whole = now.size >= min(before.size, now.pages)
        return is_whole and self._stamping.may_follow(before.stamp, now.stamp)

    def _read(self, descriptor: int) -> _Seen | None:
        """What the file is now; None if it is no database. SQLite itself would answer from its log."""
        status = os.fstat(descriptor)
        header = os.pread(descriptor, _HEADER_BYTES, 0)
        if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
            return None
        page = int.from_bytes(header[16:18], "big")
        pages, version, application = (int.from_bytes(header[start : start + 4], "big") for start in (28, 60, 68))
        return _Seen(status.st_size, status.st_mtime_ns, self._stamping.read(version, application), pages * page)

    def forget_in_memory(self, db: sqlite3.Connection) -> None:
        """Before a transaction: let SQLite read anew what may have changed in the file."""
        if self.changed:
            self.changed = False
            db.execute("PRAGMA shrink_memory")

    def agrees(self, db: sqlite3.Connection, before: Stamp) -> bool:
        """Whether what SQLite sees in this transaction follows ``before``, which was known when it began."""
        now = self._stamping.of(db)
        if not self._stamping.may_follow(before, now):
            self.overwritten = True
            return False
        self.learn(now)
        return True

    def learn(self, stamp: Stamp) -> None:
        """Take note of a transaction that has been committed."""
        with self._looking:
            if self._stamping.may_follow(self.known, stamp):
                self.known = stamp

    def knows(self, stamp: Stamp) -> bool:
        """Whether a database with this stamp has, or follows, what this process knows."""
        return self._stamping.may_follow(self.known, stamp)


def sound_stamp(copy: Path, stamping: Stamping) -> Stamp | None:
    """The stamp of a copy that nobody else uses; None where it is damaged."""
    with closing(sqlite3.connect(copy)) as db, suppress(sqlite3.DatabaseError):
        if db.execute("PRAGMA quick_check").fetchall() == [("ok",)]:
            return stamping.of(db)
    return None


@dataclass(slots=True)
class _Descriptor:
    """A descriptor of a file; closing it would drop the locks of all connections of the process to the file."""

    number: int
    file: tuple[int, int]
    users: int = 1


_lock = threading.Lock()
_open: dict[tuple[int, int], _Descriptor] = {}


def _acquired(file: Path) -> _Descriptor:
    status = os.stat(file)
    key = (status.st_dev, status.st_ino)
    with _lock:
        known = _open.get(key)
        if known is not None:
            known.users += 1
            return known
        _open[key] = _Descriptor(os.open(file, os.O_RDONLY | os.O_CLOEXEC), key)
        return _open[key]


def _release(descriptor: _Descriptor) -> None:
    """Keep one that nobody needs for a while: others may have the file open through SQLite alone."""
    with _lock:
        descriptor.users -= 1
        idle = [each for each in _open.values() if each.users == 0]
        removed = [each for each in idle if os.fstat(each.number).st_nlink == 0]
        for each in {id(each): each for each in (*removed, *idle[:-_MOST_IDLE])}.values():
            del _open[each.file]
            os.close(each.number)
