"""``EngineRunner``: runs one engine within its limits; every run leaves a receipt."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ..core.causes import engine as causes
from ..core.engine import Engine, Send, drive
from ..core.errors import NetworkError, SuyuanError, Timeout, WebBlocked
from ..core.failure import without_secrets
from ..core.query import SearchQuery
from ..core.result import Attempt, AttemptOutcome, EngineResults
from ..core.spans import span
from ..core.urls import is_page
from .breaker import Breaker
from .engine_state import EngineState
from .engine_steps import EngineSteps, small_only
from .guarded import guarded
from .normalize import bounded, normalized
from .rate_limit import RateLimiter
from .shared_engine import SharedEngine

log = logging.getLogger("suyuan.search")

# How much results that share no word with the query are worth less, and how well they fit where nobody can tell.
_OFF_TOPIC_COST, _UNJUDGED = 0.4, 0.8
_LEAST_PATIENCE, _UNKNOWN_PATIENCE = 0.3, 2.5
_PROBE_SECONDS = 0.5
_PROBE_KEPT = {True: 60.0, False: 15.0}
_LEAST_PAUSE = 1.0
"""The seconds after which a retry is worth while where nobody says how long to wait."""
# An engine that was healthy so lately and is slow to answer a health check is busy, not gone.
_PROBE_TRUSTED = 600.0
_DIAGNOSIS_SECONDS = 2.0
# An answer in another form than usual must not fill the log.
_MAX_SKIPPED_LOGGED, _MAX_REASON = 10, 200


@dataclass(frozen=True, slots=True)
class EngineReply:
    """The outcome of one run: the receipt, and the results or the error."""

    attempt: Attempt
    results: EngineResults | None = None
    error: SuyuanError | None = None


@dataclass(slots=True)
class EngineRunner:
    """One engine, how it is reached, and what is known about it."""

    engine: Engine
    send: Send | None = None
    timeout: float | None = None
    """Its own limit in seconds; None means all the time that the search has left."""
    state: EngineState = field(default_factory=EngineState)
    clock: Callable[[], float] = time.monotonic
    prepare: Callable[[], None] | None = None
    """Loads the network client; called before the clock of a short health check starts."""
    notes: tuple[str, ...] = ()
    """What is to be said on every receipt of this engine."""
    shared: SharedEngine | None = None
    """What all workers know about it; None where this process is alone."""
    steps: EngineSteps | None = None
    """Where its large answers are read; None for an engine that only this process knows."""

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.engine.name

    @property
    def breaker(self) -> Breaker:
        """Whether the engine may be asked."""
        return self.state.breaker

    @property
    def limiter(self) -> RateLimiter:
        """How often the engine may be asked."""
        return self.state.limiter

    @property
    def open(self) -> bool:
        """Whether the engine must not be asked now."""
        return guarded("the breaker", lambda: self.breaker.open, False)

    @property
    def cooling_down(self) -> bool:
        """Whether the engine is asked last."""
        return guarded("the breaker", lambda: self.breaker.cooling_down, False)

    @property
    def hedge_delay(self) -> float:
        """How long to wait for it before the next engine is asked as well."""
        return min(max(2 * self.state.latency, 0.25), 1.5)

    def patience(self, seconds: float) -> float:
        """How long a page that others have results for waits for this engine, of the ``seconds`` that there are.

        Twice its usual time; where that is not known, up to half of the time. One in a cooldown is hardly waited for.
        """
        if self.cooling_down:
            return min(_LEAST_PATIENCE, seconds)
        usual = 2 * self.state.latency if self.state.measured else min(seconds / 2, _UNKNOWN_PATIENCE)
        return min(max(usual, _LEAST_PATIENCE), seconds)

    async def run(self, query: SearchQuery, seconds: float) -> EngineReply:
        """Ask the engine and give it ``seconds``; a failure is part of the reply, never raised."""
        if query.page > 1 and "page" not in self.engine.supported_params:
            return self.skipped(causes.PAGE_UNSUPPORTED(engine=self.name, page=query.page), query)
        if self.prepare is not None:
            # Importing the network client is not the engine's time; neither is waiting for its rate limit.
            self.prepare()
        started = self.clock()
        allowed = min(seconds, self.timeout) if self.timeout else seconds
        end = started + allowed
        wait = 0.0
        try:
            if wait := await self._turn(allowed):
                await self._wait_for_turn(wait)
                started = self.clock()
            with span("engine", engine=self.name, trace_id=query.trace_id):
                results = await self._results(query, end - started)
            took = self.clock() - started
            guarded("the latency", lambda: self.state.learn_latency(took), None)
            fits = self._relevance(query, results)
            # An engine that has nothing in the requested domains has found nothing: the next one is asked.
            self._log_skipped(results, query)
            results = normalized(results, query, self.engine.opaque_links)
        except asyncio.CancelledError:
            guarded("the breaker", self.breaker.cancelled, None)
            raise
        except SuyuanError as error:
            took = self.clock() - started
            try:
                error = self._for_its_turn(await self._diagnosed(error, end - self.clock()), wait)
            except asyncio.CancelledError:
                self._learn(error)
                raise
            return self._failed(error, query, took)
        except Exception as error:
            # One engine of several: a fault in its code must not end the search.
            log.exception("engine %s failed inside", self.name)
            bug = causes.ENGINE_BUG(engine=self.name, what=f"{type(error).__name__}: {error}")
            return self._failed(self._explained(bug), query, self.clock() - started)
        return self._answered(results, query, took, fits)

    async def check_health(self, seconds: float = 0.0) -> SuyuanError | None:
        """Run the engine's cheap health check and remember the outcome; ``seconds`` forces a new, longer check."""
        exchange = self.engine.probe()
        if exchange is None or self.send is None:
            return None
        if not seconds and self.state.probed and self.state.probed[0] > self.clock():
            return self.state.probed[1]
        seconds = seconds or _PROBE_SECONDS
        if self.prepare is not None:
            self.prepare()
        problem: SuyuanError | None = None
        started = self.clock()
        try:
            async with asyncio.timeout(seconds):
                await drive(exchange, small_only(self.send, self.name))
            self.state.healthy = self.clock()
        except TimeoutError:
            if self.clock() - self.state.healthy > _PROBE_TRUSTED:
                problem = self._explained(causes.ENGINE_TIMEOUT(engine=self.name, seconds=round(seconds, 1)))
        except SuyuanError as error:
            problem = await self._diagnosed(error, started + seconds - self.clock())
        self.state.probed = (self.clock() + _PROBE_KEPT[problem is None], problem)
        return problem

    def skipped(self, error: SuyuanError, query: SearchQuery) -> EngineReply:
        """The receipt of an engine that was not asked, and why."""
        if error.retryable and error.retry_after is None:
            error.retry_after = _LEAST_PAUSE
        return EngineReply(self._receipt("skipped", query, 0.0, error=error), error=error)

    def skipped_open(self, query: SearchQuery) -> EngineReply:
        """The receipt of an engine that was not asked because its breaker is open."""
        seconds, reason = self.breaker.cooldown_left(), self.breaker.reason
        # While its trial request runs there is no cooldown left, but nothing to ask either.
        wait = max(seconds, _LEAST_PAUSE)
        return self.skipped(causes.CIRCUIT_OPEN(engine=self.name, seconds=seconds, why=reason, retry_after=wait), query)

    def overtaken(self, query: SearchQuery, seconds: float) -> Attempt:
        """The receipt of an engine whose answer was no longer needed."""
        if seconds > self.hedge_delay:
            guarded("the breaker", lambda: self.breaker.timed_out("slow"), None)
        return self._receipt("cancelled", query, seconds)

    def ran_out(self, query: SearchQuery, seconds: float) -> EngineReply:
        """The receipt of an engine that had not answered when the search's time was over."""
        error = causes.ENGINE_TIMEOUT(engine=self.name, seconds=round(seconds, 1), retry_after=_LEAST_PAUSE)
        self._learn(error)
        return EngineReply(self._receipt("timeout", query, seconds, error=error), error=error)

    def late(self, query: SearchQuery, seconds: float) -> EngineReply:
        """The receipt of an engine that a merged page did not wait for any longer; it is no absence."""
        guarded("the latency", lambda: self.state.learn_latency(max(seconds, self.state.latency)), None)
        error = causes.LATE(engine=self.name, seconds=round(seconds, 1), retry_after=_LEAST_PAUSE)
        return EngineReply(self._receipt("late", query, seconds, error=error), error=error)

    async def _turn(self, allowed: float) -> float:
        """The seconds to wait until the rate limit allows a request; raises where that is too long."""
        wait = await self.shared.turn(allowed) if self.shared is not None else None
        if alone := wait is None:
            wait = guarded("the rate limit", self.limiter.take, 0.0)
        if wait >= allowed:
            if alone:
                guarded("the rate limit", self.limiter.give_back, None)
            raise causes.OWN_RATE_LIMIT(
                engine=self.name, rate=self.limiter.per_minute or 0, seconds=wait, retry_after=wait
            )
        return wait

    def _for_its_turn(self, error: SuyuanError, waited: float) -> SuyuanError:
        """The failure, which is that of the rate limit where waiting for it has taken the time that was missing."""
        if not waited or error.detail_code != causes.ENGINE_TIMEOUT.detail_code:
            return error
        rate, left = self.limiter.per_minute or 0, error.failure.params.get("seconds", 0)
        return causes.TURN_CAME_LATE(engine=self.name, rate=rate, turn=waited, seconds=left)

    async def _results(self, query: SearchQuery, allowed: float) -> EngineResults:
        try:
            async with asyncio.timeout(allowed):
                if self.shared is not None and not await self.shared.may_try():
                    raise causes.CIRCUIT_OPEN(
                        engine=self.name, seconds=0.0, why=self.breaker.reason, retry_after=_LEAST_PAUSE
                    )
                guarded("the breaker", self.breaker.begin, None)
                if self.steps is not None and self.engine.reads_pages:
                    # Result pages are large: what reads them starts while they are loaded.
                    self.steps.warm()
                return bounded(await self.engine.results_of(query, self.send, self.steps))
        except TimeoutError:
            raise causes.ENGINE_TIMEOUT(engine=self.name, seconds=round(allowed, 1)) from None

    async def _wait_for_turn(self, seconds: float) -> None:
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            # Whoever leaves the queue must not make the others wait.
            if self.shared is not None and self.limiter.interval:
                await asyncio.shield(self.shared.leave())
            else:
                self.limiter.give_back()
            raise

    def _relevance(self, query: SearchQuery, results: EngineResults) -> float | None:
        """How well the results fit the query, where the engine searches the live web; raises where they do not."""
        # Further pages hold what fits less well.
        if query.page > 1 or not self.engine.live_web:
            return None
        from .relevance import check_relevance

        try:
            return check_relevance(self.name, query, results.results)
        except WebBlocked:
            raise
        except Exception:
            # Then the page is shown as it is.
            log.exception("the check of relevance failed inside")
            return None

    def _log_skipped(self, results: EngineResults, query: SearchQuery) -> None:
        """Log what of an answer is not used, row by row."""
        reasons = [f"row {row.number}: {row.reason}" for row in results.skipped]
        no_pages = [result for result in results.results if not is_page(result.url)]
        reasons += [f"{result.title!r}: not the address of a page: {result.url!r}" for result in no_pages]
        about = f"search trace={query.trace_id} engine={self.name}"
        for reason in reasons[:_MAX_SKIPPED_LOGGED]:
            log.warning("%s skipped a malformed result, %s", about, without_secrets(reason)[:_MAX_REASON])
        if left_out := len(reasons[_MAX_SKIPPED_LOGGED:]):
            log.warning("%s skipped %d more malformed results", about, left_out)

    def _answered(self, results: EngineResults, query: SearchQuery, took: float, fits: float | None) -> EngineReply:
        guarded("the breaker", self.breaker.succeeded, None)
        outcome: AttemptOutcome = "ok" if results.results else "empty"
        if results.results:
            # That there is nothing says little about the engine.
            worth = 1 - _OFF_TOPIC_COST * (1 - (_UNJUDGED if fits is None else fits))
            guarded("the experience", lambda: self.state.experience.learn(worth), None)
        return EngineReply(self._receipt(outcome, query, took, results, relevance=fits), results)

    def _failed(self, error: SuyuanError, query: SearchQuery, took: float) -> EngineReply:
        error.engine = error.engine or self.name
        self._learn(error)
        if error.retryable and error.retry_after is None:
            error.retry_after = max(guarded("the breaker", self.breaker.cooldown_left, 0.0), _LEAST_PAUSE)
        fits = None
        if error.detail_code == causes.OFF_TOPIC.detail_code:
            from .relevance import relevance_of

            fits = relevance_of(error)
        return EngineReply(self._receipt(outcome_of(error), query, took, error=error, relevance=fits), error=error)

    async def _diagnosed(self, error: SuyuanError, seconds: float) -> SuyuanError:
        """The failure with its cause, as far as the engine can find it in the time that is left."""
        exchange = self.engine.diagnose(error)
        if exchange is not None and self.send is not None and seconds > 0:
            with contextlib.suppress(TimeoutError, SuyuanError):
                async with asyncio.timeout(min(seconds, _DIAGNOSIS_SECONDS)):
                    error = await drive(exchange, small_only(self.send, self.name))
        return self._explained(error)

    def _explained(self, error: SuyuanError) -> SuyuanError:
        """The failure as the engine explains it, and without its secrets."""
        return self.engine.explain(error).redacted((self.engine.settings.api_key,))

    def _learn(self, error: SuyuanError) -> None:
        guarded("the breaker", lambda: self._note(error), None)

    def _note(self, error: SuyuanError) -> None:
        if error.detail_code == causes.OWN_RATE_LIMIT.detail_code:
            return
        self.state.experience.learn(0.0)
        if isinstance(error, WebBlocked):
            self.breaker.refused(error.detail_code, error.retry_after)
        elif isinstance(error, Timeout | NetworkError):
            self.breaker.timed_out(error.detail_code)
        else:
            self.breaker.cancelled()

    def _receipt(
        self,
        outcome: AttemptOutcome,
        query: SearchQuery,
        seconds: float,
        results: EngineResults | None = None,
        error: SuyuanError | None = None,
        relevance: float | None = None,
    ) -> Attempt:
        notes = self.notes if outcome != "skipped" else ()
        unsupported: tuple[str, ...] = ()
        count = 0
        request_id = ""
        if results is not None:
            count = len(results.results)
            request_id = results.request_id
            notes += tuple(map(without_secrets, results.notes))
            unsupported = tuple(name for name in query.params() if self._ignores(name))
        failure = error.failure if error else None
        return Attempt(
            engine=self.name,
            outcome=outcome,
            count=count,
            latency_ms=round(seconds * 1000),
            failure=failure,
            unsupported_params=unsupported,
            notes=notes,
            request_id=request_id,
            relevance=relevance,
        )

    def _ignores(self, parameter: str) -> bool:
        """Whether a parameter has no effect; domains always have one, since they are filtered here."""
        return parameter not in self.engine.supported_params and not parameter.endswith("domains")


def outcome_of(error: SuyuanError) -> AttemptOutcome:
    """The outcome on the receipt for a failure."""
    if isinstance(error, WebBlocked):
        return "blocked"
    return "timeout" if isinstance(error, Timeout) else "error"
