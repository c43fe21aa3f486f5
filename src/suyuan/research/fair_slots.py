"""``FairSlots``: a number of places that several jobs share; a job that waits gets as many as the others."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FairSlots:
    """Places for work; where there are more who wait than places, the jobs take turns."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def slot(self, job: str) -> AsyncIterator[None]:
        """Hold a place for the length of an ``async with`` block."""
        await self._acquire(job)
        try:
            yield
        finally:
            self._release()

    async def _acquire(self, job: str) -> None:
        if self._free > 0:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(job, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release()
            raise

    def _release(self) -> None:
        while self._waiting:
            job, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                # To the end of the line.
                self._waiting[job] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
