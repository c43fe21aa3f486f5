"""The one bridge from synchronous callers to the asynchronous core: a thread with an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError as FutureCancelled
from typing import Any, TypeVar

T = TypeVar("T")


class SyncBridge:
    """Runs coroutines for synchronous callers on one background loop, so that connections are reused."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` to its end and return its result; Ctrl-C cancels it."""
        future = asyncio.run_coroutine_threadsafe(work, self._running_loop())
        try:
            return future.result()
        except (KeyboardInterrupt, FutureCancelled):
            future.cancel()
            raise

    def close(self) -> None:
        """Stop the loop and its thread; what still runs there is cancelled."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_cancel_all(), loop).result(timeout=5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=5)
        loop.close()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="suyuan-bridge", daemon=True)
                self._thread.start()
            return self._loop


async def _cancel_all() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
