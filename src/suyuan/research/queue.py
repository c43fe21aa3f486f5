"""``StoredQueue``: the table of research jobs as the queue that all workers share."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from ..core.errors import SuyuanError
from ..store.research import ResearchStore

log = logging.getLogger("suyuan.research")

_POLL_SECONDS = 2.0
_SETTLING_SECONDS = 5.0
"""After the store was away, the others get so long to give their signs of life before their jobs count as left."""

Stored = Callable[..., Awaitable[Any]]
"""Does something that waits for the store, in a thread."""


class StoredQueue:
    """The jobs of the store that nobody works on, those of dead workers included; who gets one has to claim it."""

    def __init__(self, store: ResearchStore, stored: Stored, own: Callable[[], Collection[str]]) -> None:
        self._store = store
        self._stored = stored
        self._own = own
        self._news = asyncio.Event()
        self._one = asyncio.Lock()
        self._settled = 0.0

    async def put(self, job: str) -> None:
        """Look for jobs now: one was added, here or at another worker."""
        self._news.set()

    async def get(self) -> str:
        """Wait for the next job."""
        async with self._one:
            while (found := await self._next()) is None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_POLL_SECONDS):
                        await self._news.wait()
            return found

    async def _next(self) -> str | None:
        self._news.clear()
        try:
            if time.monotonic() >= self._settled:
                await self._stored(self._store.sweep, self._own())
            found: str | None = await self._stored(self._store.waiting)
        except SuyuanError as error:
            if self._settled < time.monotonic():
                log.warning("jobs cannot be looked for: %s", error.message)
            self._settled = time.monotonic() + _SETTLING_SECONDS
            return None
        return found
