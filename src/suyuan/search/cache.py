"""Pages found a short while ago, and one flight for equal searches."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class TtlCache(Generic[T]):
    """Keeps values for ``seconds`` (0 keeps nothing), the least recently used going first."""

    def __init__(self, seconds: float, size: int = 512, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._size = size
        self._clock = clock
        self._kept: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """The value kept under ``key``, unless it is too old."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept[0] <= self._clock():
            self._kept.pop(key, None)
            return None
        self._kept.move_to_end(key)
        return kept[1]

    def put(self, key: Hashable, value: T) -> None:
        """Keep ``value`` under ``key``."""
        if self._seconds <= 0:
            return
        self._kept[key] = (self._clock() + self._seconds, value)
        self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    passengers: int = 0


class SingleFlight(Generic[T]):
    """Lets callers who want the same thing at the same time share one run of the work."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    async def run(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the outcome of ``work``, begun by whoever came first; when all have gone away it is cancelled."""
        # A task belongs to its loop; synchronous and asynchronous callers do not share flights.
        key = (asyncio.get_running_loop(), key)
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.get_running_loop().create_task(work()))
        flight.passengers += 1
        try:
            # shield: one passenger who leaves must not end the flight of the others.
            return await asyncio.shield(flight.task)
        finally:
            flight.passengers -= 1
            if flight.task.done() or not flight.passengers:
                if self._flights.get(key) is flight:
                    del self._flights[key]
                flight.task.cancel()
