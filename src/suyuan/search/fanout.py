"""Asking several engines at once; slow ones are not waited for forever."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from ..core.query import SearchQuery
from .failover import SearchOutcome
from .runner import EngineReply, EngineRunner


async def fan_out(runners: Sequence[EngineRunner], query: SearchQuery, deadline: float) -> SearchOutcome:
    """Ask all, and wait for each about as long as it usually takes; without results until the deadline."""
    outcome, started = SearchOutcome(), time.monotonic()
    running: dict[asyncio.Task[EngineReply], EngineRunner] = {}
    for runner in runners:
        if runner.open:
            outcome.add(runner, runner.skipped_open(query))
        else:
            running[asyncio.ensure_future(runner.run(query, deadline - started))] = runner
    patience = {runner.name: runner.patience(deadline - started) for runner in running.values()}
    try:
        while running:
            longest = max(patience[runner.name] for runner in running.values())
            end = started + longest if outcome.found else deadline
            if (left := end - time.monotonic()) <= 0:
                break
            done, _ = await asyncio.wait(running, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                outcome.add(running.pop(task), task.result())
        outcome.ran_out = bool(running) and not outcome.found
    finally:
        await _stop(running, outcome, query, started, deadline)
    # Merge in the order in which the engines were named, not in which they happened to answer.
    outcome.found.sort(key=lambda pair: runners.index(pair[0]))
    return outcome


async def _stop(
    running: dict[asyncio.Task[EngineReply], EngineRunner],
    outcome: SearchOutcome,
    query: SearchQuery,
    started: float,
    deadline: float,
) -> None:
    now = time.monotonic()
    for task, runner in running.items():
        task.cancel()
        # An engine that is missing from a merged page is a failure to report, not a detail.
        reply = runner.late if outcome.found and now < deadline else runner.ran_out
        outcome.add(runner, reply(query, now - started))
    if running:
        await asyncio.wait(running, timeout=0.05)
