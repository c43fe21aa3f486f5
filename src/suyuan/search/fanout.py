"""Asking several engines at once; slow ones are not waited for forever."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from ..core.query import SearchQuery
from .failover import SearchOutcome
from .runner import EngineReply, EngineRunner


async def fan_out(runners: Sequence[EngineRunner], query: SearchQuery, deadline: float) -> SearchOutcome:
    """Ask all; after the first results the others get about as long again as these took."""
    outcome, started = SearchOutcome(), time.monotonic()
    running: dict[asyncio.Task[EngineReply], EngineRunner] = {}
    for runner in runners:
        if runner.breaker.open:
            outcome.add(runner, runner.skipped_open(query))
        else:
            running[asyncio.ensure_future(runner.run(query, deadline - started))] = runner
    end = deadline
    try:
        while running and (left := end - time.monotonic()) > 0:
            done, _ = await asyncio.wait(running, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                outcome.add(running.pop(task), task.result())
            if outcome.found and end == deadline:
                took = time.monotonic() - started
                end = min(deadline, time.monotonic() + min(max(took, 0.3), 1.5))
        outcome.ran_out = bool(running) and not outcome.found
    finally:
        await _stop(running, outcome, query, time.monotonic() - started)
    # Merge in the order in which the engines were named, not in which they happened to answer.
    outcome.found.sort(key=lambda pair: runners.index(pair[0]))
    return outcome


async def _stop(
    running: dict[asyncio.Task[EngineReply], EngineRunner], outcome: SearchOutcome, query: SearchQuery, seconds: float
) -> None:
    for task, runner in running.items():
        task.cancel()
        # An engine that is missing from a merged page is a failure to report, not a detail.
        outcome.add(runner, runner.ran_out(query, seconds))
    if running:
        await asyncio.wait(running, timeout=0.05)
