"""``FileWatch``: whether the path of a database still leads to the file that is open, and what is done if not."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from ..core.causes.store import STORE_GONE, STORE_RESCUED
from ..core.errors import SuyuanError
from ..core.notices import Notices
from ..core.private_file import free_name, private_folder

log = logging.getLogger("suyuan.store")

_TRIES = 50
_PAUSE_SECONDS = 0.1
_RESCUE_SECONDS = 1.0
_UNKNOWN = (0, 0)


class FileWatch:
    """Notices when the open file is removed, moved or replaced.

    What is written then would be acknowledged and end with the process, so it is refused. What the open connections can
    still read is saved to a file with a name of its own.
    """

    def __init__(self, file: Path, engine: Engine) -> None:
        self._file = file
        self._engine = engine
        self._opened = _UNKNOWN
        self.gone = False
        """Whether it did not when it was last looked at."""
        self._lock = threading.Lock()
        self._rescuing: threading.Thread | None = None

    def remember(self) -> None:
        """The file at the path is the one that has been opened."""
        self._opened = _identity(self._file) or _UNKNOWN

    def look(self) -> None:
        """See where the path leads; if to another file, or to none, what can be read is rescued."""
        self.gone = self._opened != _UNKNOWN and _identity(self._file) not in (self._opened, _UNKNOWN)
        if self.gone:
            self._begin_rescue()

    def look_before_reading(self) -> None:
        """See where the path leads; a rescue needs one of the open connections for a moment, and so does a reader."""
        self.look()
        if self.gone and self._rescuing is not None:
            self._rescuing.join(_RESCUE_SECONDS)

    def check(self) -> None:
        """Raise the cause if the path leads to another file, or to none."""
        self.look()
        if self.gone:
            raise STORE_GONE(where=self._file)

    def close(self) -> None:
        """Rescue what has not been rescued, before the connections are closed."""
        self.look()
        if self._rescuing is not None:
            self._rescuing.join()

    def _begin_rescue(self) -> None:
        with self._lock:
            if self._rescuing is None:
                self._rescuing = threading.Thread(target=self._rescue, name="suyuan-store-rescue")
                self._rescuing.start()

    def _rescue(self) -> None:
        try:
            told = STORE_RESCUED(where=self._file, rescued=self._copied())
        except (OSError, sqlite3.Error, SuyuanError) as error:
            log.error("what was in %s could not be rescued: %s", self._file, error)
            told = STORE_GONE(where=self._file)
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
        return rescued

    def _open_connection(self) -> Any:
        """A connection from the pool, which makes no new one: others may have all of them for a moment."""
        for _ in range(_TRIES):
            try:
                return self._engine.raw_connection()
            except SuyuanError:
                threading.Event().wait(_PAUSE_SECONDS)
        raise STORE_GONE(where=self._file)


def _identity(file: Path) -> tuple[int, int] | None:
    """What tells a file from every other one; None where there is none, ``_UNKNOWN`` where it cannot be looked at."""
    try:
        status = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return _UNKNOWN
    return status.st_dev, status.st_ino
