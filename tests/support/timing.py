"""Time in tests: how long they wait for what must come, and how a promise about time is measured."""

from __future__ import annotations

import asyncio
import gc
import math
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

PATIENCE = 120.0
"""Seconds that a test waits for what must come: it fails where that never comes, not where the machine is busy."""


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Whether ``condition`` comes true within ``seconds``."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


async def soon(condition: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Like :func:`until`, while the event loop goes on."""

    async def checked() -> bool:
        return condition()

    return await eventually(checked, seconds)


async def eventually(condition: Callable[[], Awaitable[bool]], seconds: float = PATIENCE) -> bool:
    """Like :func:`soon`, for a condition that has to be asked for."""
    deadline = time.monotonic() + seconds
    while not await condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.02)
    return True


async def seconds_of(work: Awaitable[object]) -> float:
    """How long ``work`` takes."""
    begun = time.monotonic()
    await work
    return time.monotonic() - begun


async def quickest(measure: Callable[[], Awaitable[float]], limit: float, tries: int = 5) -> float:
    """The least that ``measure`` gives, in seconds, in up to ``tries`` tries; the first below ``limit`` ends them.

    On a busy machine the time is that of an idle one, by how slow the machine is at that moment.
    """
    least = math.inf
    for _ in range(tries):
        took = await measure()
        least = min(least, took if took < limit else took / slowdown())
        if least < limit:
            break
    return least


def slowdown() -> float:
    """How many times longer than on an idle machine work takes at the moment: 1 where nothing else runs."""
    begun, used = time.monotonic(), time.process_time()
    while (spent := time.process_time() - used) < 0.1:
        pass
    return max(1.0, (time.monotonic() - begun) / spent)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Measure the work alone: a collection of what other tests have left takes longer than a small step of it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
