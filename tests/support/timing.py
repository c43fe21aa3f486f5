"""Time in tests: how long they wait for what must come, and how a promise about time is measured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

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


async def quickest(measure: Callable[[], Awaitable[float]], limit: float, tries: int = 6) -> float:
    """The least that ``measure`` gives, in seconds, in up to ``tries`` tries; the first below ``limit`` ends them.

    A machine that is busy delays some of the tries; a product that is too slow is too slow in all of them.
    """
    least = await measure()
    for _ in range(tries - 1):
        if least < limit:
            break
        least = min(least, await measure())
    return least
