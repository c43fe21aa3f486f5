"""Indexes the texts that wait for it, in small steps beside everything else."""

from __future__ import annotations

import logging
import threading
import time

from ..core.errors import SuyuanError
from .database import Database

log = logging.getLogger("suyuan.store")

_AT_ONCE = 200
"""So many texts take about a tenth of a second, for which other writers wait."""
_LEAST_PAUSE = 0.005
_MANY_STEPS = 5


class IndexBuilder:
    """A thread that works while texts wait, at most half of the time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._mended = False
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to work if anything waits and nobody works yet."""
        with self._lock:
            if self._stopped.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            if self._waits():
                self._thread = threading.Thread(target=self._work, name="suyuan-index", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the work; what still waits goes on waiting."""
        self._stopped.set()
        with self._lock:
            if self._thread is not None:
                self._thread.join()

    def _waits(self) -> bool:
        try:
            with self._database.read() as connection:
                return self._database.index.waits(connection)
        except SuyuanError as error:
            return self._begun_anew(error)

    def _work(self) -> None:
        steps = 0
        while not self._stopped.is_set():
            begun = time.monotonic()
            if not self._step():
                self._end(steps)
                return
            steps += 1
            self._stopped.wait(max(_LEAST_PAUSE, time.monotonic() - begun))

    def _end(self, steps: int) -> None:
        """Let searches be planned for what has come: until then they are planned for empty tables."""
        if steps < _MANY_STEPS:
            return
        try:
            self._database.refresh_statistics()
        except SuyuanError as error:
            log.info("the statistics could not be refreshed: %s", error.message)

    def _step(self) -> bool:
        try:
            with self._database.write() as connection:
                return self._database.index.catch_up(connection, most=_AT_ONCE) > 0
        except SuyuanError as error:
            return self._begun_anew(error)

    def _begun_anew(self, error: SuyuanError) -> bool:
        """Whether an index that failed was begun anew, which is tried once."""
        try:
            if self._mended:
                raise error
            self._mended = True
            self._database.mend_index(error)
        except SuyuanError as why:
            # Nothing is lost: what waits is found by reading it.
            log.warning("conversations could not be indexed: %s", why.message)
            return False
        return True
