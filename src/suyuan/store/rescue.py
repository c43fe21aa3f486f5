"""``FileWatch``: whether the file that is open is still what its path leads to, and what is done if not."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from ..core.causes.store import STORE_GONE, STORE_OVERWRITTEN, STORE_OVERWRITTEN_SAVED, STORE_RESCUED
from ..core.errors import SuyuanError
from ..core.notices import Notices
from ..core.private_file import free_name, private_folder
from .salvage import copy_readable

log = logging.getLogger("suyuan.store")

_TRIES = 50
_PAUSE_SECONDS = 0.1
_RESCUE_SECONDS = 1.0
_UNKNOWN = (0, 0)
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
WRITES = 1 << 31
"""Transactions are counted up to here, and from 0 again."""
_LOOKS = 4
_LOOK_PAUSE = 0.02


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the file was when it was looked at last."""

    size: int = 0
    modified: int = 0
    writes: int = 0
    """How many transactions have written to it; an older copy has fewer."""
    mark: int = 0
    """The number that a store is given once; 0 before."""
    pages: int = 0
    """The size by its own account, in bytes."""


class FileWatch:
    """Notices when the open file is removed, moved, replaced or overwritten.

    What is written then would be acknowledged and end with the process, so it is refused. What the open connections can
    still read is saved to a file with a name of its own.
    """

    def __init__(self, file: Path, engine: Engine) -> None:
        self._file = file
        self._engine = engine
        self._opened = _UNKNOWN
        self.gone = False
        """Whether the path did not lead to it when it was last looked at."""
        self.overwritten = False
        """Whether something else than SQLite has written to it."""
        self._seen: _Seen | None = None
        self._descriptor = -1
        self._looking = threading.Lock()
        self._lock = threading.Lock()
        self._rescuing: threading.Thread | None = None

    def remember(self) -> None:
        """The file at the path is the one that has been opened."""
        self._opened = _identity(self._file) or _UNKNOWN
        if os.name == "posix":
            with suppress(OSError):
                # Closed after all connections: they would lose their locks with it.
                self._descriptor = os.open(self._file, os.O_RDONLY | os.O_CLOEXEC)

    @property
    def is_lost(self) -> bool:
        """Whether what would be written now would be lost."""
        return self.gone or self.overwritten

    def look(self) -> None:
        """See where the path leads and what is there; if not to the open file, what can be read is rescued."""
        self.gone = self._opened != _UNKNOWN and _identity(self._file) not in (self._opened, _UNKNOWN)
        if not self.gone and self._descriptor >= 0:
            self._look_inside()
        if self.is_lost:
            self._begin_rescue()

    def _look_inside(self) -> None:
        """See whether only SQLite has written to the file since it was last looked at."""
        status = os.fstat(self._descriptor)
        seen = self._seen
        if self.overwritten or (
            seen is not None and (seen.size, seen.modified) == (status.st_size, status.st_mtime_ns)
        ):
            return
        with self._looking:
            for _ in range(_LOOKS):
                now = self._read()
                if now is not None and (self._seen is None or _may_follow(self._seen, now)):
                    self._seen = now
                    return
                if now is None and self._seen is None:
                    # Nothing was written to it yet.
                    return
                # It may be being written at this moment.
                threading.Event().wait(_LOOK_PAUSE)
            self.overwritten = True

    def _read(self) -> _Seen | None:
        """What the file is now; None if it is no database. SQLite itself would answer from its log."""
        status = os.fstat(self._descriptor)
        header = os.pread(self._descriptor, _HEADER_BYTES, 0)
        if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
            return None
        page = int.from_bytes(header[16:18], "big")
        pages, writes, mark = (int.from_bytes(header[start : start + 4], "big") for start in (28, 60, 68))
        return _Seen(status.st_size, status.st_mtime_ns, writes, mark, pages * page)

    def look_before_reading(self) -> None:
        """See where the path leads; a rescue needs one of the open connections for a moment, and so does a reader."""
        self.look()
        if self.is_lost and self._rescuing is not None:
            self._rescuing.join(_RESCUE_SECONDS)

    def check(self) -> None:
        """Raise the cause if the path leads to another file, or to none, or the file was overwritten."""
        self.look()
        if self.overwritten:
            raise STORE_OVERWRITTEN(where=self._file)
        if self.gone:
            raise STORE_GONE(where=self._file)

    def close(self) -> None:
        """Rescue what has not been rescued, before the connections are closed."""
        self.look()
        if self._rescuing is not None:
            self._rescuing.join()

    def release(self) -> None:
        """Give the file back, after its last connection was closed."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _begin_rescue(self) -> None:
        with self._lock:
            if self._rescuing is None:
                self._rescuing = threading.Thread(target=self._rescue, name="suyuan-store-rescue")
                self._rescuing.start()

    def _rescue(self) -> None:
        saved, lost = STORE_RESCUED, STORE_GONE
        if self.overwritten:
            saved, lost = STORE_OVERWRITTEN_SAVED, STORE_OVERWRITTEN
        try:
            told = saved(where=self._file, rescued=self._copied())
        except (OSError, sqlite3.Error, SuyuanError) as error:
            log.error("what was in %s could not be rescued: %s", self._file, error)
            told = lost(where=self._file)
        Notices(self._file.parent).add(told, self._file)

    def _copied(self) -> Path:
        """Copy everything through a connection that has the file open, and return the place of the copy."""
        private_folder(self._file.parent)
        raw = self._open_connection()
        try:
            rescued = free_name(self._file, "rescued")
            # Not through SQLite: nothing is connected to a file that does not exist yet.
            os.close(os.open(rescued, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with closing(sqlite3.connect(rescued)) as copy:
                raw.driver_connection.backup(copy)
        finally:
            raw.close()
        if self.overwritten:
            _leave_what_is_sound(rescued)
        return rescued

    def _open_connection(self) -> Any:
        """A connection from the pool, which makes no new one: others may have all of them for a moment."""
        for _ in range(_TRIES):
            try:
                # Where the file was overwritten, a new connection would read nothing but that.
                return self._engine.raw_connection()
            except SuyuanError:
                threading.Event().wait(_PAUSE_SECONDS)
        raise STORE_GONE(where=self._file)


def _may_follow(before: _Seen, now: _Seen) -> bool:
    """Whether SQLite can have made ``now`` of a file that was as ``before``."""
    if before.mark not in (0, now.mark):
        return False
    if (now.writes - before.writes) % WRITES >= WRITES // 2:
        return False
    # SQLite makes a file smaller only down to what it has.
    return now.size >= min(before.size, now.pages)


def _leave_what_is_sound(rescued: Path) -> None:
    """Keep the rows that can be read, where a copy has parts of something else."""
    with closing(sqlite3.connect(rescued)) as copy, suppress(sqlite3.DatabaseError):
        if copy.execute("PRAGMA quick_check").fetchall() == [("ok",)]:
            return
    rebuilt = rescued.with_name(f"{rescued.name}.{os.getpid()}.rebuilt")
    try:
        if not copy_readable(rescued, rebuilt):
            rescued.unlink()
            raise sqlite3.DatabaseError("nothing in it can be read")
        rebuilt.replace(rescued)
    finally:
        rebuilt.unlink(missing_ok=True)


def _identity(file: Path) -> tuple[int, int] | None:
    """What tells a file from every other one; None where there is none, ``_UNKNOWN`` where it cannot be looked at."""
    try:
        status = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return _UNKNOWN
    return status.st_dev, status.st_ino
