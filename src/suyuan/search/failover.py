"""``Failover``: asks engines in order, and the next one early when the first is slow; the first results win."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..core.errors import SuyuanError
from ..core.extras import Extras
from ..core.query import SearchQuery
from ..core.result import ARCHIVE, LIBRARY, Attempt, EngineResults
from .runner import EngineReply, EngineRunner

_MAX_TRIES = 3
_MAX_TRIES_AT_A_CAPTCHA = 2
_OVER = 0.001
"""With so few seconds left the time of a search is over."""
_LAST_MOMENT = 0.05
"""How long those are waited for whose time ends as that of the search does."""
# A second try within the same search can help against these; the others will not change so soon.
_TRANSIENT = {
    "connection_broken", "http_5xx", "http_429", "captcha_required", "soft_block", "engines_dead", "engines_offline",
    "engine_timeout", "undecoded_body", "empty_body",
}  # fmt: skip
# A single engine is not asked again after a refusal: that is what makes a refusal last.
_TRANSIENT_ALONE = {"connection_broken", "http_5xx", "undecoded_body", "empty_body"}


@dataclass(slots=True)
class SearchOutcome:
    """What all engines did, before it becomes a page or an error."""

    attempts: list[Attempt] = field(default_factory=list)
    errors: list[SuyuanError] = field(default_factory=list)
    found: list[tuple[EngineRunner, EngineResults]] = field(default_factory=list)
    extras: list[Extras] = field(default_factory=list)
    empty: bool = False
    """Whether an engine said that there is nothing to find."""
    empty_here: bool = False
    """Whether what is known without the web has nothing; where the web failed, that is no answer."""
    ran_out: bool = False

    @property
    def answered(self) -> bool:
        """Whether any engine answered, be it with nothing."""
        if self.found or self.empty:
            return True
        return self.empty_here and not self.errors

    def add(self, runner: EngineRunner, reply: EngineReply) -> None:
        """Note what one engine did."""
        self.attempts.append(reply.attempt)
        if reply.error:
            self.errors.append(reply.error)
        elif reply.results and reply.results.results:
            self.found.append((runner, reply.results))
        elif runner.name in (ARCHIVE, LIBRARY):
            self.empty_here = True
        else:
            self.empty = True
        if reply.results and reply.results.extras:
            self.extras.append(reply.results.extras)

    def join(self, other: SearchOutcome) -> None:
        """Add what the engines did that were asked at the same time."""
        self.attempts += other.attempts
        self.errors += other.errors
        self.found += other.found
        self.extras += other.extras
        self.empty |= other.empty
        self.empty_here |= other.empty_here


async def run_alone(runner: EngineRunner, query: SearchQuery, deadline: float) -> SearchOutcome:
    """Ask the only engine: there is nothing to hedge with, and a second try only where it can help."""
    outcome = SearchOutcome()
    if runner.open:
        outcome.add(runner, runner.skipped_open(query))
        return outcome
    for tried in range(_MAX_TRIES):
        reply = await runner.run(query, max(0.0, deadline - time.monotonic()))
        outcome.add(runner, reply)
        left = deadline - time.monotonic()
        # Then the error names the time of the whole search, not what was left of it when the engine was asked.
        outcome.ran_out = reply.error is not None and left <= _OVER
        pause = 0.2 * 2**tried
        if not _is_transient(reply) or runner.open or pause >= left:
            break
        await asyncio.sleep(pause)
    return outcome


def _is_transient(reply: EngineReply) -> bool:
    """Whether the same request may succeed in a moment, also with nothing but this engine to ask."""
    return reply.error is not None and reply.error.detail_code in _TRANSIENT_ALONE


class Failover:
    """One search along a list of engines, up to a deadline (a moment of ``time.monotonic``)."""

    def __init__(self, runners: Sequence[EngineRunner], query: SearchQuery, deadline: float) -> None:
        self._runners = runners
        self._query = query
        self._deadline = deadline
        self._outcome = SearchOutcome()
        self._running: dict[asyncio.Task[EngineReply], tuple[EngineRunner, float]] = {}
        """Who is being asked, and since when."""
        self._tries: dict[str, int] = {}
        self._last: dict[str, EngineReply] = {}

    async def run(self) -> SearchOutcome:
        """Ask until one engine has results, all have failed, or the time is over."""
        try:
            queue = self._first_round()
            while not self._outcome.found:
                if not queue and not self._running:
                    queue = await self._next_round()
                    if not queue:
                        break
                if queue:
                    self._start(queue.pop(0))
                elif again := self._stalled():
                    self._start(again)
                if not await self._wait(len(queue)):
                    break
        finally:
            await self._stop()
        return self._outcome

    def _first_round(self) -> list[EngineRunner]:
        for runner in self._runners:
            if runner.open:
                self._outcome.add(runner, runner.skipped_open(self._query))
        able = [runner for runner in self._runners if not runner.open]
        # Those in a soft cooldown are asked last, not left out.
        return sorted(able, key=lambda runner: runner.cooling_down)

    async def _next_round(self) -> list[EngineRunner]:
        """The engines worth asking again, after a pause; none where an engine said that there is nothing."""
        able = [runner for runner in self._runners if self._worth_retrying(runner)]
        if not able or self._outcome.empty:
            return []
        pause = 0.1 * 2 ** max(self._tries.values())
        if pause >= self._left():
            return []
        await asyncio.sleep(pause)
        return sorted(able, key=lambda runner: runner.breaker.refusals)

    def _worth_retrying(self, runner: EngineRunner) -> bool:
        last, tries = self._last.get(runner.name), self._tries.get(runner.name, 0)
        if last is None or last.error is None or runner.open:
            return False
        detail_code = last.error.detail_code
        max_tries = _MAX_TRIES_AT_A_CAPTCHA if detail_code == "captcha_required" else _MAX_TRIES
        return detail_code in _TRANSIENT and tries < max_tries

    def _stalled(self) -> EngineRunner | None:
        """The engine to ask while a request is unusually slow: one worth a retry, else the slow one again."""
        now = time.monotonic()
        slow = [runner for runner, since in self._running.values() if now - since > runner.hedge_delay]
        if not slow:
            return None
        retried = self._retried_beside()
        if retried is not None:
            return retried
        return next((runner for runner in slow if self._may_be_asked_again(runner)), None)

    def _retried_beside(self) -> EngineRunner | None:
        """The engine with the fewest refusals that failed before and is worth a retry; none where one has nothing."""
        if self._outcome.empty:
            return None
        busy = {runner.name for runner, _ in self._running.values()}
        idle = [runner for runner in self._runners if runner.name not in busy]
        failed = [runner for runner in idle if self._worth_retrying(runner)]
        return min(failed, key=lambda runner: runner.breaker.refusals, default=None)

    def _may_be_asked_again(self, runner: EngineRunner) -> bool:
        return self._tries[runner.name] < _MAX_TRIES and not runner.open

    def _start(self, runner: EngineRunner) -> None:
        self._tries[runner.name] = self._tries.get(runner.name, 0) + 1
        task = asyncio.ensure_future(runner.run(self._query, self._left()))
        self._running[task] = (runner, time.monotonic())

    async def _wait(self, queued: int) -> bool:
        """Wait for a reply or until it is time to ask the next; False when the search's time is over."""
        left = self._left()
        hedge_delay = max((runner.hedge_delay for runner, _ in self._running.values()), default=0.0)
        # However slow the engines usually are, each one in the queue must still get its turn.
        pause = min(left, hedge_delay, left / (queued + 1))
        done, _ = await asyncio.wait(self._running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            runner, _ = self._running.pop(task)
            reply = task.result()
            self._last[runner.name] = reply
            self._outcome.add(runner, reply)
        self._outcome.ran_out = self._left() <= _OVER and not self._outcome.found
        return not self._outcome.ran_out

    async def _stop(self) -> None:
        if self._outcome.ran_out and self._running:
            # Their own time is over too, and they know what it was spent on.
            done, _ = await asyncio.wait(self._running, timeout=_LAST_MOMENT)
            for task in done:
                runner, _ = self._running.pop(task)
                self._outcome.add(runner, task.result())
        now = time.monotonic()
        for task, (runner, since) in self._running.items():
            task.cancel()
            if self._outcome.ran_out:
                self._outcome.add(runner, runner.ran_out(self._query, now - since))
            else:
                self._outcome.attempts.append(runner.overtaken(self._query, now - since))
        if self._running:
            # Wait for the cancellation itself, so that the sockets are closed when the search is over.
            await asyncio.wait(self._running, timeout=_LAST_MOMENT)

    def _left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())
