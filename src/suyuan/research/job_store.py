"""``JobStore``: the store of research jobs as an event loop uses it, with news of every change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from time import time_ns
from typing import Any, TypeVar

from ..core.at_work import NotedThreads
from ..core.causes.store import STORE_SLOW
from ..store.research import ResearchStore, Step

_THREADS = 4
_PATIENCE_SECONDS = 10.0
"""How long a request waits for a store that does not respond."""
_POLL_SECONDS = 1.0

T = TypeVar("T")


class JobStore:
    """Asks the store in threads of its own, and wakes those who wait for something to change."""

    def __init__(self, store: ResearchStore) -> None:
        self.store = store
        # SQLite has one writer; several threads would only wait for each other.
        threads = _THREADS if store.shared else 1
        self.pen = NotedThreads(threads, "suyuan-research")
        self.news = asyncio.Event()
        """Set at the next change."""

    async def stored(self, work: Callable[..., T], *args: Any) -> T:
        """Do ``work`` that waits for the store; raises a cause where that takes too long."""
        future = asyncio.get_running_loop().run_in_executor(self.pen, work, *args)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                return await future
        except TimeoutError:
            raise STORE_SLOW(seconds=_PATIENCE_SECONDS) from None

    def tell(self) -> None:
        """Wake those who wait for a change."""
        news, self.news = self.news, asyncio.Event()
        news.set()

    def close(self) -> None:
        """Close the store."""
        # A database that does not answer must not keep the process from ending.
        self.pen.shutdown(wait=not self.store.shared, cancel_futures=self.store.shared)
        self.store.close()


async def changed(news: asyncio.Event) -> None:
    """Wait for ``news`` of this process, or for as long as it takes until others may have some."""
    task = asyncio.ensure_future(news.wait())
    try:
        await asyncio.wait([task], timeout=_POLL_SECONDS)
    finally:
        task.cancel()


def state_step(state: str, data: Mapping[str, Any] | None = None) -> Step:
    """The step that tells readers of a change of state, in its order among the others."""
    return f"state:{time_ns()}", "state", {"state": state, **(data or {})}
