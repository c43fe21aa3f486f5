"""``TtlCache`` and ``SingleFlight``: equal searches are made once, also at the same moment."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def elapsed() -> float:
    """Seconds that also pass while the machine sleeps, where the system counts them."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)


class TtlCache(Generic[T]):
    """Keeps the most recently used values; the reader says how old one may be. Safe for threads."""

    def __init__(self, size: int = 512, clock: Callable[[], float] = elapsed) -> None:
        self._size = size
        self._clock = clock
        self._values: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, max_age: float) -> T | None:
        """The value kept under ``key``, unless it is older than ``max_age`` seconds."""
        with self._lock:
            kept = self._values.get(key)
            if kept is None or self._clock() - kept[0] >= max_age:
                return None
            self._values.move_to_end(key)
            return kept[1]

    def put(self, key: Hashable, value: T) -> None:
        """Keep ``value`` under ``key``."""
        with self._lock:
            self._values[key] = (self._clock(), value)
            self._values.move_to_end(key)
            while len(self._values) > self._size:
                self._values.popitem(last=False)

    def clear(self) -> None:
        """Drop everything."""
        with self._lock:
            self._values.clear()


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    callers: int = 0


class SingleFlight(Generic[T]):
    """Coalesces concurrent calls with the same key."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    async def run(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the outcome of ``work``, started by the first caller; when all have left it is cancelled."""
        # A task belongs to its loop; synchronous and asynchronous callers do not share flights.
        key = (asyncio.get_running_loop(), key)
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.get_running_loop().create_task(work()))
        flight.callers += 1
        try:
            # shield: one caller who leaves must not end the work of the others.
            return await asyncio.shield(flight.task)
        finally:
            flight.callers -= 1
            if flight.task.done() or not flight.callers:
                if self._flights.get(key) is flight:
                    del self._flights[key]
                flight.task.cancel()
