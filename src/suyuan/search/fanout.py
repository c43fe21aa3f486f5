"""Asking several engines at once; the slow ones are not waited for without end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from ..contract.types import SearchQuery
from .chain import Outcome
from .desk import Asked, Desk


async def fan_out(desks: Sequence[Desk], query: SearchQuery, deadline: float) -> Outcome:
    """Ask all; after the first good page the others get about as long again as it took."""
    outcome, started = Outcome(), time.monotonic()
    running: dict[asyncio.Task[Asked], Desk] = {}
    for desk in desks:
        if desk.breaker.open:
            outcome.take(desk, desk.resting(query))
        else:
            running[asyncio.ensure_future(desk.ask(query, deadline - started))] = desk
    end = deadline
    try:
        while running and (left := end - time.monotonic()) > 0:
            done, _ = await asyncio.wait(running, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                outcome.take(running.pop(task), task.result())
            if outcome.good and end == deadline:
                took = time.monotonic() - started
                end = min(deadline, time.monotonic() + min(max(took, 0.3), 1.5))
        outcome.ran_out = bool(running) and not outcome.good
    finally:
        await _stop(running, outcome, query, time.monotonic() - started)
    # Merge in the order in which the engines were named, not in which they happened to answer.
    outcome.good.sort(key=lambda pair: desks.index(pair[0]))
    return outcome


async def _stop(running: dict[asyncio.Task[Asked], Desk], outcome: Outcome, query: SearchQuery, seconds: float) -> None:
    for task, desk in running.items():
        task.cancel()
        # An engine that was left out of a merged page is a failure to say, not a detail.
        outcome.take(desk, desk.ran_out(query, seconds))
    if running:
        await asyncio.wait(running, timeout=0.05)
