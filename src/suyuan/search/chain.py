"""Asking engines one after the other, and the next one early when the first is slow: the first good page wins."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..contract.errors import SuyuanError
from ..contract.types import Attempt, Found, SearchQuery
from .desk import Asked, Desk

_MOST_ASKS = 3
# A second try within the same search can help against these; the others will not change so soon.
_PASSING = {
    "connection_broken", "http_5xx", "http_429", "captcha_required", "soft_block", "engines_dead", "engine_timeout", "undecoded_body",
}  # fmt: skip
# A single engine is not asked again where it refused us: that is what makes a refusal last.
_PASSING_ALONE = {"connection_broken", "http_5xx", "undecoded_body"}


@dataclass(slots=True)
class Outcome:
    """What came of a search before it becomes a page or an error."""

    attempts: list[Attempt] = field(default_factory=list)
    errors: list[SuyuanError] = field(default_factory=list)
    good: list[tuple[Desk, Found]] = field(default_factory=list)
    empty: bool = False
    """Whether an engine said that there is nothing to find."""
    ran_out: bool = False

    def take(self, desk: Desk, asked: Asked) -> None:
        """Note what one engine did."""
        self.attempts.append(asked.attempt)
        if asked.error:
            self.errors.append(asked.error)
        elif asked.found and asked.found.results:
            self.good.append((desk, asked.found))
        else:
            self.empty = True


@dataclass(slots=True)
class _Running:
    desk: Desk
    since: float


class Chain:
    """One run along a chain of engines, up to a deadline (a moment of ``time.monotonic``)."""

    def __init__(self, desks: Sequence[Desk], query: SearchQuery, deadline: float) -> None:
        self._desks = desks
        self._query = query
        self._deadline = deadline
        self._outcome = Outcome()
        self._running: dict[asyncio.Task[Asked], _Running] = {}
        self._asks: dict[str, int] = {}
        self._last: dict[str, Asked] = {}

    async def run(self) -> Outcome:
        """Ask until one engine has results, all have failed, or the time is over."""
        if len(self._desks) == 1:
            return await self._alone(self._desks[0])
        try:
            queue = self._first_round()
            while not self._outcome.good:
                if not queue and not self._running:
                    queue = await self._next_round()
                    if not queue:
                        break
                if queue:
                    self._start(queue.pop(0))
                elif again := self._stalled():
                    self._start(again)
                if not await self._listen(len(queue)):
                    break
        finally:
            await self._stop()
        return self._outcome

    async def _alone(self, desk: Desk) -> Outcome:
        """Ask the only engine there is: nobody to hedge with, and a second try only where it can help."""
        if desk.breaker.open:
            self._outcome.take(desk, desk.resting(self._query))
            return self._outcome
        for turn in range(_MOST_ASKS):
            asked = await desk.ask(self._query, self._left())
            self._outcome.take(desk, asked)
            # Then the error names the time of the whole search, not what was left of it when the engine was asked.
            self._outcome.ran_out = asked.error is not None and self._left() <= 0.001
            pause = 0.2 * 2**turn
            if asked.error is None or asked.error.detail_code not in _PASSING_ALONE or desk.breaker.open or pause >= self._left():
                break
            await asyncio.sleep(pause)
        return self._outcome

    def _first_round(self) -> list[Desk]:
        for desk in self._desks:
            if desk.breaker.open:
                self._outcome.take(desk, desk.resting(self._query))
        able = [desk for desk in self._desks if not desk.breaker.open]
        # Those in a soft rest are asked last, not left out.
        return sorted(able, key=lambda desk: desk.breaker.resting)

    async def _next_round(self) -> list[Desk]:
        """The engines worth asking again, after a pause; none where an engine said that there is nothing."""
        able = [desk for desk in self._desks if self._worth_asking(desk)]
        if not able or self._outcome.empty:
            return []
        pause = 0.1 * 2 ** max(self._asks.values())
        if pause >= self._left():
            return []
        await asyncio.sleep(pause)
        return sorted(able, key=lambda desk: desk.breaker.refusals)

    def _worth_asking(self, desk: Desk) -> bool:
        last, asks = self._last.get(desk.name), self._asks.get(desk.name, 0)
        if last is None or last.error is None or desk.breaker.open:
            return False
        detail = last.error.detail_code
        return detail in _PASSING and asks < (2 if detail == "captcha_required" else _MOST_ASKS)

    def _stalled(self) -> Desk | None:
        """Whom to ask while a request hangs much longer than usual: one that failed in passing, else the silent one anew."""
        now = time.monotonic()
        silent = [running.desk for running in self._running.values() if now - running.since > running.desk.patience]
        if not silent:
            return None
        busy = {running.desk.name for running in self._running.values()}
        failed = [desk for desk in self._desks if desk.name not in busy and self._worth_asking(desk) and not self._outcome.empty]
        again = [desk for desk in silent if self._asks[desk.name] < _MOST_ASKS and not desk.breaker.open]
        return next(iter([*sorted(failed, key=lambda desk: desk.breaker.refusals), *again]), None)

    def _start(self, desk: Desk) -> None:
        self._asks[desk.name] = self._asks.get(desk.name, 0) + 1
        task = asyncio.ensure_future(desk.ask(self._query, self._left()))
        self._running[task] = _Running(desk, time.monotonic())

    async def _listen(self, waiting: int) -> bool:
        """Wait for an answer or until it is time to ask the next; False when the time of the search is over."""
        left = self._left()
        patience = max((running.desk.patience for running in self._running.values()), default=0.0)
        # Whatever the engines' habits, each that waits must still get its turn.
        pause = min(left, patience, left / (waiting + 1))
        done, _ = await asyncio.wait(self._running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            desk = self._running.pop(task).desk
            asked = task.result()
            self._last[desk.name] = asked
            self._outcome.take(desk, asked)
        self._outcome.ran_out = self._left() <= 0.001 and not self._outcome.good
        return not self._outcome.ran_out

    async def _stop(self) -> None:
        now = time.monotonic()
        for task, running in self._running.items():
            task.cancel()
            if self._outcome.ran_out:
                self._outcome.take(running.desk, running.desk.ran_out(self._query, now - running.since))
            else:
                self._outcome.attempts.append(running.desk.overtaken(self._query, now - running.since))
        if self._running:
            # Wait for the cancellation itself, so that the sockets are closed when the search is over.
            await asyncio.wait(self._running, timeout=0.05)

    def _left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())
