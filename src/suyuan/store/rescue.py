"""``FileWatch``: whether the file that is open is still what its path leads to, and what is done if not."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from ..core.causes.store import STORE_GONE, STORE_OVERWRITTEN, STORE_OVERWRITTEN_SAVED, STORE_RESCUED
from ..core.errors import SuyuanError
from ..core.notices import Notices
from ..core.overwriting import OverwriteWatch, Stamp, Stamping, sound_stamp
from ..core.private_file import free_name, private_folder
from .salvage import copy_readable

log = logging.getLogger("suyuan.store")

_TRIES = 50
_PAUSE_SECONDS = 0.1
_RESCUE_SECONDS = 1.0
_UNKNOWN = (0, 0)
STAMPING = Stamping(1 << 31, in_version=True)


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
        self.content = OverwriteWatch(STAMPING)
        self._lock = threading.Lock()
        self._rescuing: threading.Thread | None = None

    def remember(self) -> None:
        """The file at the path is the one that has been opened."""
        self._opened = _identity(self._file) or _UNKNOWN
        self.content.open(self._file)

    @property
    def is_lost(self) -> bool:
        """Whether what would be written now would be lost."""
        return self.gone or self.content.overwritten

    def look(self) -> None:
        """See where the path leads and what is there; if not to the open file, what can be read is rescued."""
        self.gone = self._opened != _UNKNOWN and _identity(self._file) not in (self._opened, _UNKNOWN)
        if not self.gone:
            self.content.look()
        if self.is_lost:
            self._begin_rescue()

    def look_before_reading(self) -> None:
        """See where the path leads; a rescue needs one of the open connections for a moment, and so does a reader."""
        self.look()
        if self.is_lost and self._rescuing is not None:
            self._rescuing.join(_RESCUE_SECONDS)

    def check(self) -> None:
        """Raise the cause if the path leads to another file, or to none, or the file was overwritten."""
        self.look()
        if self.content.overwritten:
            raise STORE_OVERWRITTEN(where=self._file)
        if self.gone:
            raise STORE_GONE(where=self._file)

    def before_transaction(self, db: sqlite3.Connection) -> Stamp:
        """What the transaction that begins now must follow."""
        if not self.is_lost:
            self.content.forget_in_memory(db)
        return self.content.known

    def confirm(self, db: sqlite3.Connection, before: Stamp) -> bool:
        """Whether a transaction sees what it must follow; if not, what can be read is rescued."""
        if self.is_lost or self.content.agrees(db, before):
            return True
        self._begin_rescue()
        return False

    def _confirm_last(self) -> None:
        """See before the end whether what was written is still there, where a connection is free."""
        if self.is_lost or self._opened == _UNKNOWN:
            return
        with suppress(sqlite3.Error, SuyuanError):
            raw = self._engine.raw_connection()
            try:
                db = raw.driver_connection
                assert db is not None, "a connection of the pool has one of the driver"
                self.confirm(db, self.before_transaction(db))
            finally:
                raw.close()

    def close(self, *, idle: bool) -> None:
        """Rescue what has not been rescued, before the connections are closed; ``idle`` says that nobody uses one."""
        self.look()
        if idle:
            self._confirm_last()
        if self._rescuing is not None:
            self._rescuing.join()

    def release(self) -> None:
        """Give the file back, after its last connection was closed."""
        self.content.release()

    def _begin_rescue(self) -> None:
        with self._lock:
            if self._rescuing is None:
                self._rescuing = threading.Thread(target=self._rescue, name="suyuan-store-rescue")
                self._rescuing.start()

    def _rescue(self) -> None:
        saved, lost = STORE_RESCUED, STORE_GONE
        if self.content.overwritten:
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
        if self.content.overwritten:
            self._leave_what_is_ours(rescued)
        return rescued

    def _leave_what_is_ours(self, rescued: Path) -> None:
        """Remove a copy that is nothing but what was written over the store, and repair one that has parts of it."""
        found = sound_stamp(rescued, STAMPING)
        if found is None:
            _leave_what_is_sound(rescued)
        elif found.mark not in (0, self.content.known.mark):
            rescued.unlink()
            raise STORE_OVERWRITTEN(where=self._file)

    def _open_connection(self) -> Any:
        """A connection from the pool, which makes no new one: others may have all of them for a moment."""
        for _ in range(_TRIES):
            try:
                # Where the file was overwritten, a new connection would read nothing but that.
                return self._engine.raw_connection()
            except SuyuanError:
                threading.Event().wait(_PAUSE_SECONDS)
        raise STORE_GONE(where=self._file)


def _leave_what_is_sound(rescued: Path) -> None:
    """Keep the rows that can be read, where a copy has parts of something else."""
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
