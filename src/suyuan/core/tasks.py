"""Tasks that go on by themselves, and how tasks end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

_RECANCEL_INTERVAL = 0.2
T = TypeVar("T")


class TaskSet(set[asyncio.Task[Any]]):
    """Tasks that nobody waits for; kept here until they end, since the event loop does not keep them."""

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin ``work``."""
        task = asyncio.get_running_loop().create_task(work)
        self.add(task)
        task.add_done_callback(self.discard)
        return task


async def in_thread(work: Callable[[], object]) -> None:
    """Do in a thread what takes its time; right here where the program ends and no thread can be started."""
    begun = False

    def done_there() -> None:
        nonlocal begun
        begun = True
        work()

    try:
        await asyncio.to_thread(done_there)
    except RuntimeError:
        if begun:
            raise
        work()


async def end_task(task: asyncio.Task[Any] | None) -> None:
    """Cancel a task and wait for its end; again where a library has caught the cancellation as its own time-out."""
    while task is not None and not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=_RECANCEL_INTERVAL)
