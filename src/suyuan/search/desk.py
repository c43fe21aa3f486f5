"""An engine at its desk: with its breaker, its limit and its usual time; asking it once leaves a receipt."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..contract.causes.engine import ENGINE_BUG, ENGINE_TIMEOUT, OWN_LIMIT, RESTING
from ..contract.engine import Engine, SearchEngine, Send, drive
from ..contract.errors import NetworkError, SuyuanError, Timeout, WebBlocked
from ..contract.secret import Secret
from ..contract.types import Attempt, Found, Outcome, SearchQuery
from .breaker import Breaker
from .limit import RateLimit
from .normalise import wanted

log = logging.getLogger("suyuan.search")

_PROBE_SECONDS = 0.5
_PROBE_KEPT = {True: 60.0, False: 15.0}


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking one engine once: the receipt, and what it found or why it failed."""

    attempt: Attempt
    found: Found | None = None
    error: SuyuanError | None = None


@dataclass(slots=True)
class Desk:
    """One engine, and what the house has learned about it."""

    engine: SearchEngine
    send: Send | None = None
    timeout: float | None = None
    """Its own longest time in seconds; None means all that the search has left."""
    breaker: Breaker = field(default_factory=Breaker)
    limit: RateLimit = field(default_factory=lambda: RateLimit(None))
    usual: float = 0.75
    """A moving estimate of how long it takes to answer, in seconds."""
    clock: Callable[[], float] = time.monotonic
    prepare: Callable[[], None] | None = None
    """Loads the network; done before the clock of a short check runs."""
    _probed: tuple[float, SuyuanError | None] | None = None

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.engine.name

    @property
    def patience(self) -> float:
        """How long to wait for it before the next engine is asked as well."""
        return min(max(2 * self.usual, 0.25), 1.5)

    async def ask(self, query: SearchQuery, seconds: float) -> Asked:
        """Ask the engine and give it ``seconds``; a failure is part of the outcome, never raised."""
        started = self.clock()
        allowed = min(seconds, self.timeout) if self.timeout else seconds
        try:
            found = await self._found(query, allowed)
        except asyncio.CancelledError:
            self.breaker.dropped()
            raise
        except SuyuanError as error:
            return self._failed(error, query, started)
        except Exception as error:
            # One engine of several: a fault in its code must not end the search.
            log.exception("engine %s failed inside", self.name)
            return self._failed(ENGINE_BUG(engine=self.name, what=f"{type(error).__name__}: {error}"), query, started)
        took = self.clock() - started
        self.usual += 0.2 * (took - self.usual)
        self.breaker.answered()
        # An engine that has nothing in the asked domains has found nothing: the next one is asked.
        found = replace(found, results=wanted(found.results, query))
        return Asked(self._receipt("ok" if found.results else "empty", query, took, found), found)

    async def probe(self, patience: float = 0.0) -> SuyuanError | None:
        """Check cheaply whether the engine is well, and remember the verdict; with ``patience``, anew and for so many seconds."""
        exchange = self.engine.probe() if isinstance(self.engine, Engine) else None
        if exchange is None or self.send is None:
            return None
        if not patience and self._probed and self._probed[0] > self.clock():
            return self._probed[1]
        seconds = patience or _PROBE_SECONDS
        if self.prepare is not None:
            self.prepare()
        verdict: SuyuanError | None = None
        try:
            async with asyncio.timeout(seconds):
                await drive(exchange, self.send)
        except TimeoutError:
            verdict = ENGINE_TIMEOUT(engine=self.name, seconds=round(seconds, 1))
        except SuyuanError as error:
            verdict = self._explained(error)
        self._probed = (self.clock() + _PROBE_KEPT[verdict is None], verdict)
        return verdict

    def skipped(self, error: SuyuanError, query: SearchQuery) -> Asked:
        """The receipt for an engine that was not asked, and why."""
        return Asked(self._receipt("skipped", query, 0.0, error=error), error=error)

    def resting(self, query: SearchQuery) -> Asked:
        """The receipt for an engine that was not asked because it rests."""
        why = self.breaker.why
        return self.skipped(RESTING(engine=self.name, seconds=self.breaker.rest_left(), why=why), query)

    def overtaken(self, query: SearchQuery, seconds: float) -> Attempt:
        """The receipt for an engine whose answer was no longer needed."""
        if seconds > self.patience:
            self.breaker.absent("slow")
        return self._receipt("cancelled", query, seconds)

    def ran_out(self, query: SearchQuery, seconds: float) -> Asked:
        """The receipt for an engine that was still silent when the time of the whole search was over."""
        error = ENGINE_TIMEOUT(engine=self.name, seconds=round(seconds, 1))
        self._learn(error)
        return Asked(self._receipt("timeout", query, seconds, error=error), error=error)

    async def _found(self, query: SearchQuery, allowed: float) -> Found:
        wait = self.limit.take()
        if wait >= allowed:
            self.limit.give_back()
            raise OWN_LIMIT(engine=self.name, rate=self.limit.per_minute or 0, seconds=wait)
        try:
            async with asyncio.timeout(allowed):
                if wait:
                    await asyncio.sleep(wait)
                self.breaker.begin()
                if isinstance(self.engine, Engine) and self.send is not None:
                    return await drive(self.engine.exchange(query), self.send)
                return Found(tuple(await self.engine.search(query, query.count)))
        except TimeoutError:
            raise ENGINE_TIMEOUT(engine=self.name, seconds=round(allowed, 1)) from None

    def _failed(self, error: SuyuanError, query: SearchQuery, started: float) -> Asked:
        error = self._explained(error)
        error.engine = error.engine or self.name
        self._learn(error)
        return Asked(self._receipt(outcome_of(error), query, self.clock() - started, error=error), error=error)

    def _explained(self, error: SuyuanError) -> SuyuanError:
        """The failure in the engine's own words, and without its secrets."""
        told = self.engine.explain(error) if isinstance(self.engine, Engine) else error
        return told.redacted(self._secrets())

    def _learn(self, error: SuyuanError) -> None:
        if error.detail_code == OWN_LIMIT.detail_code:
            return
        if isinstance(error, WebBlocked):
            self.breaker.refused(error.detail_code, error.retry_after)
        elif isinstance(error, Timeout | NetworkError):
            self.breaker.absent(error.detail_code)
        else:
            self.breaker.dropped()

    def _secrets(self) -> tuple[Secret, ...]:
        return (self.engine.settings.api_key,) if isinstance(self.engine, Engine) else ()

    def _receipt(
        self, outcome: Outcome, query: SearchQuery, seconds: float, found: Found | None = None, error: SuyuanError | None = None
    ) -> Attempt:
        honours: frozenset[str] = getattr(self.engine, "honours", frozenset())
        zh = error.say("zh") if error else ("", "")
        return Attempt(
            engine=self.name,
            outcome=outcome,
            count=len(found.results) if found else 0,
            latency_ms=round(seconds * 1000),
            code=error.code if error else "",
            detail_code=error.detail_code if error else "",
            message=error.message if error else "",
            cure=error.cure if error else "",
            message_zh=zh[0],
            cure_zh=zh[1],
            retryable=error.retryable if error else False,
            # Domains are filtered here whatever the engine does, so they are always honoured.
            unhonoured=tuple(n for n in query.asked() if n not in honours and not n.endswith("domains")) if found else (),
            notes=found.notes if found else (),
            request_id=found.request_id if found else "",
        )


def outcome_of(error: SuyuanError) -> Outcome:
    """The word on the receipt for a failure."""
    if isinstance(error, WebBlocked):
        return "blocked"
    return "timeout" if isinstance(error, Timeout) else "error"
