"""``SearchService``: a query in, a page with its receipt out."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from ..core.allowance import current_allowance
from ..core.cause import Cause
from ..core.causes.engine import ALL_FAILED, BUDGET_SPENT, OWN_RATE_LIMIT
from ..core.causes.network import NO_SUCH_HOST, OFFLINE
from ..core.errors import SuyuanError, Timeout
from ..core.extras import joined
from ..core.failure import Failures
from ..core.person import current_person, require
from ..core.query import SearchParams, SearchQuery
from ..core.result import Attempt, SearchPage, SearchResult
from ..core.spans import span
from ..core.sync_bridge import SyncBridge
from ..engines.registry import auto_order
from ..text.language import script_language
from .cache import SingleFlight, TtlCache
from .experience import learned_order
from .failover import Failover, SearchOutcome, run_alone
from .fanout import fan_out
from .focus import FOCUSES, Focus, focus_of
from .guarded import guarded
from .normalize import ranked, unique
from .page_json import dump_page, load_page
from .plan import AUTO, Plan, make_plan
from .runner import EngineRunner

if TYPE_CHECKING:
    from ..live.shared_cache import SharedCache

T = TypeVar("T")
_Search = Callable[[], Coroutine[Any, Any, SearchPage]]

log = logging.getLogger("suyuan.search")


class SearchService:
    """Searches through the engines of a pool, within one deadline, and reports what each of them did."""

    def __init__(
        self,
        engines: Mapping[str, EngineRunner],
        *,
        default: str = AUTO,
        seconds: float = 5.0,
        cache_seconds: float = 300.0,
        lang: str = "",
        bridge: SyncBridge | None = None,
        ready: Callable[[str], bool] | None = None,
        focuses: Mapping[str, Focus] = FOCUSES,
        shared: SharedCache | None = None,
    ) -> None:
        self.engines = engines
        self.focuses = focuses
        """The kinds of sources that a query may name."""
        self._ready = ready or self._configured
        self.default = default
        self._seconds = seconds
        self._cache_seconds = cache_seconds
        self._lang = lang
        self._bridge = bridge or SyncBridge()
        self._cache: TtlCache[SearchPage] = TtlCache()
        self._flights: SingleFlight[SearchPage] = SingleFlight()
        self._shared = shared
        """The cache of all workers; None where this process is alone."""

    def with_limits(self, *, seconds: float, cache_seconds: float) -> Self:
        """The same service, engines and cache with other limits."""
        other = copy(self)
        other._seconds, other._cache_seconds = seconds, cache_seconds
        return other

    @property
    def cache_seconds(self) -> float:
        """How long a page is kept; 0 where none is."""
        return self._cache_seconds

    async def search(
        self,
        query: SearchQuery | str,
        *,
        engines: str = "",
        most: int = 0,
        again: bool = False,
        max_age: float = math.inf,
        **params: Unpack[SearchParams],
    ) -> SearchPage:
        """Search for ``query``; ``engines`` is a plan such as ``auto``, ``brave,ddg_html`` or ``ddg_html+bing_html``.

        ``most`` is how many of the merged results to return, in place of the query's ``count``; ``again`` is another
        try of a search that was counted. A page that was kept is returned where it is younger than ``max_age`` seconds
        and than the configured limit.
        Returns a page, which may be empty. Raises a ``SuyuanError`` with ``attempts`` where no engine could answer.
        """
        full, plan = self._planned(SearchQuery.of(query, params), engines)
        if not again:
            await current_allowance.get().take("searches")
        most = most or full.count
        # What is found in somebody's own pages and documents is for nobody else.
        key = (full.key(), plan, most, current_person.get().id if plan.private else "")
        # The user's own files may have changed since.
        kept_seconds = 0.0 if plan.private else self._cache_seconds
        fresh = min(kept_seconds, max_age)
        if (kept := guarded("the cache", lambda: self._cache.get(key, fresh), None)) is not None:
            log.info(
                "search trace=%s engine=%s outcome=cached results=%d", full.trace_id, kept.engine, len(kept.results)
            )
            return replace(kept, query=full, cached=True, took_ms=0)
        # A caller who can wait longer must not be bound to the shorter wait of another.
        waits = (full.budget_ms, self._seconds)
        work = partial(self._search, full, plan, most, time.monotonic())
        if self._shared is not None and kept_seconds:
            work = partial(self._search_shared, self._shared, repr(key), full, plan, fresh, work)
        with span("search", trace_id=full.trace_id):
            page = await self._flights.run((key, waits), work)
        # What another worker kept has its age there.
        if page.results and kept_seconds and not page.cached:
            guarded("the cache", lambda: self._cache.put(key, page), None)
        return page if page.query is full else replace(page, query=full)

    def plan_for(self, query: SearchQuery, engines: str = "") -> Plan:
        """Which engines :meth:`search` would ask."""
        return self._planned(query, engines)[1]

    def _planned(self, query: SearchQuery, engines: str) -> tuple[SearchQuery, Plan]:
        asked, focused = self._focused(query)
        full = asked if asked.lang or not self._lang else replace(asked, lang=self._lang)
        # A plan that names engines takes precedence over a focus.
        named = (engines if engines != AUTO else focused or engines) or focused
        return full, _permitted(self._plan(named or self.default, full), chosen=bool(named))

    def _focused(self, query: SearchQuery) -> tuple[SearchQuery, str]:
        """The query and the plan that its focus stands for; the plan is empty for none."""
        if not query.focus:
            return query, ""
        focus = focus_of(query.focus, self.focuses)
        return focus.applied(query), focus.plan(self.engines, self._ready)

    def check_plan(self, engines: str) -> None:
        """Raise ``InvalidInput`` where ``engines`` is not a plan."""
        self._plan(engines, SearchQuery("x"))

    def search_sync(self, query: SearchQuery | str, *, engines: str = "", **params: Unpack[SearchParams]) -> SearchPage:
        """Like :meth:`search`, for synchronous callers."""
        return self.run_sync(self.search(query, engines=engines, **params))

    def run_sync(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine that searches, for synchronous callers."""
        return self._bridge.run(work)

    async def _search_shared(
        self, shared: SharedCache, name: str, query: SearchQuery, plan: Plan, fresh: float, search: _Search
    ) -> SearchPage:
        """Search, unless another worker has found the same in the last ``fresh`` seconds, or is about to."""
        seconds = self._time_for(query, plan)
        stored = await shared.get(name, fresh)
        mine = stored is None and await shared.claim(name, seconds)
        if stored is None and not mine:
            stored = await shared.await_other(name, fresh, seconds / 2)
        if stored is not None:
            try:
                return replace(load_page(stored, query), cached=True, took_ms=0)
            except ValueError as error:
                log.warning("a page in the shared cache cannot be read: %s", error)
        try:
            page = await search()
            if page.results:
                await shared.put(name, dump_page(page), self._cache_seconds)
            return page
        finally:
            if mine:
                await shared.release(name)

    async def _search(self, query: SearchQuery, plan: Plan, most: int, started: float) -> SearchPage:
        seconds = self._time_for(query, plan)
        deadline = started + seconds
        skipped = SearchOutcome()
        runners = [self.engines[name] for name in plan.names]
        if plan.probe:
            asked = runners
            runners = guarded("the experience", lambda: learned_order(asked, auto_order()), asked)
            runners = await self._healthy(runners, query, skipped)
        outcome = await self._ask(plan, runners, query, deadline)
        for runner in self._slow_to_be_healthy(skipped, runners):
            if not outcome.answered:
                await self._ask_slow(runner, query, outcome, deadline)
        if plan.last and not outcome.answered:
            await self._ask_last(self.engines[plan.last], query, outcome)
        attempts = (*skipped.attempts, *outcome.attempts)
        took_ms = round((time.monotonic() - started) * 1000)
        if not outcome.answered:
            error = _failure(outcome, skipped, seconds)
            error.attempts = attempts
            _log(query, attempts, "failed " + error.code, 0, took_ms)
            raise error
        results = ranked(_merged([found.results for _, found in outcome.found], query), most)
        searched_at = datetime.now(UTC) - timedelta(milliseconds=took_ms)
        page = SearchPage(query, results, attempts, took_ms, extras=joined(outcome.extras), searched_at=searched_at)
        outcome_name = "ok" if results else "empty"
        _log(query, attempts, outcome_name, len(results), took_ms)
        return page

    def _slow_to_be_healthy(self, skipped: SearchOutcome, asked: list[EngineRunner]) -> list[EngineRunner]:
        """The engines that were not asked because their health check timed out."""
        slow = [self.engines[error.engine] for error in skipped.errors if isinstance(error, Timeout)]
        return [runner for runner in slow if runner not in asked]

    async def _ask(self, plan: Plan, runners: list[EngineRunner], query: SearchQuery, deadline: float) -> SearchOutcome:
        if plan.beside:
            beside = [self.engines[name] for name in plan.beside]
            first = self._ask(replace(plan, beside=()), runners, query, deadline)
            outcome, other = await asyncio.gather(first, fan_out(beside, query, deadline))
            outcome.join(other)
            return outcome
        if plan.mode == "fanout":
            return await fan_out(runners, query, deadline)
        if len(runners) == 1:
            return await run_alone(runners[0], query, deadline)
        return await Failover(runners, query, deadline).run()

    async def _ask_last(self, runner: EngineRunner, query: SearchQuery, outcome: SearchOutcome) -> None:
        """Ask the archive; where it has nothing either, the failure of the others stands."""
        reply = await runner.run(query, 1.0)
        if reply.results and reply.results.results:
            outcome.add(runner, reply)

    async def _ask_slow(
        self, runner: EngineRunner, query: SearchQuery, outcome: SearchOutcome, deadline: float
    ) -> None:
        """Ask an engine whose first health check timed out, once it has passed a longer one."""
        left = deadline - time.monotonic()
        if left <= 0 or await runner.check_health(left) is not None:
            return
        outcome.add(runner, await runner.run(query, deadline - time.monotonic()))

    async def _healthy(
        self, runners: list[EngineRunner], query: SearchQuery, skipped: SearchOutcome
    ) -> list[EngineRunner]:
        """The engines that pass their health check, or all of them where none does."""
        healthy = []
        for runner in runners:
            if error := await runner.check_health():
                skipped.add(runner, runner.skipped(error, query))
            else:
                healthy.append(runner)
        return healthy or runners

    def auto_order(self, *, chinese: bool = False) -> list[EngineRunner]:
        """The engines that ``auto`` would ask now, in this order; empty where it has none."""
        try:
            plan = make_plan(AUTO, self.engines, self._ready, chinese=chinese)
        except SuyuanError:
            return []
        return learned_order([self.engines[name] for name in plan.names], auto_order())

    def _time_for(self, query: SearchQuery, plan: Plan) -> float:
        if query.budget_ms:
            return query.budget_ms / 1000
        # A single engine with a time of its own gets that time, even where it is longer than the common one.
        only = self.engines[plan.names[0]].timeout if len(plan.names) == 1 else None
        return only or self._seconds

    def _plan(self, spec: str, query: SearchQuery) -> Plan:
        if AUTO not in spec:
            return make_plan(spec, self.engines, self._ready)
        lang = query.lang or script_language(query.text)
        return make_plan(spec, self.engines, self._ready, chinese=lang.startswith("zh"))

    def _configured(self, name: str) -> bool:
        return self.engines[name].engine.configured


def _permitted(plan: Plan, *, chosen: bool) -> Plan:
    """What of a plan the person who asks may search; raises a cause where that is not what was ``chosen``."""
    may_own = current_person.get().may("chat")
    if not chosen and not may_own and plan.public is not None:
        # The plan is that of the server: whoever names no engine gets what of it is not private.
        plan = plan.public
    if plan.private:
        require("chat")
    if plan.public is not None:
        require("search")
    return plan


def _merged(lists: list[tuple[SearchResult, ...]], query: SearchQuery) -> tuple[SearchResult, ...]:
    # A single engine's list needs no merging, and the command line seldom has more.
    if len(lists) < 2:
        return unique(*lists)
    from .fusion import fuse

    return guarded("merging", lambda: fuse(lists, query.text), None) or unique(*lists)


def _failure(outcome: SearchOutcome, skipped: SearchOutcome, seconds: float) -> SuyuanError:
    """The error to raise: an engine's own where they agree, else one that names them all."""
    errors = outcome.errors
    engines = tuple(dict.fromkeys(error.engine for error in errors))
    detail_codes = {error.detail_code for error in errors}
    # That the time is over says less than what it was spent on.
    ran_out = outcome.ran_out and OWN_RATE_LIMIT.detail_code not in detail_codes
    if len(engines) == 1 and not ran_out:
        return errors[-1]
    names = ", ".join(engines)
    all_late = all(error.code == "Timeout" for error in errors)
    if ran_out and all_late:
        return BUDGET_SPENT(seconds=seconds, waited=names, retry_after=_soonest(errors))
    if detail_codes == {NO_SUCH_HOST.detail_code}:
        return OFFLINE(names=names, retry_after=_soonest(errors))
    cause = _common_cause(errors)
    latest = tuple({error.engine: error for error in [*skipped.errors, *errors]}.values())
    return cause(causes=Failures(tuple(error.failure for error in latest)), retry_after=_soonest(latest))


def _common_cause(errors: Sequence[SuyuanError]) -> Cause:
    """What happened where all failed alike (no network, say); else that all engines failed."""
    kinds = {type(error) for error in errors}
    if len(kinds) != 1:
        return ALL_FAILED
    detail_codes = {error.detail_code for error in errors}
    detail_code = errors[0].detail_code if len(detail_codes) == 1 else ALL_FAILED.detail_code
    return replace(ALL_FAILED, kind=type(errors[0]), detail_code=detail_code)


def _soonest(errors: Iterable[SuyuanError]) -> float:
    """The seconds after which the first of several engines can be asked again; a moment where none of them says."""
    return min((error.retry_after for error in errors if error.retry_after is not None), default=1.0)


def _log(query: SearchQuery, attempts: tuple[Attempt, ...], outcome: str, results: int, took_ms: int) -> None:
    level = logging.WARNING if outcome.startswith("failed") else logging.INFO
    if not log.isEnabledFor(level):
        return
    asked = " ".join(f"{a.engine}:{a.detail_code or a.outcome}" for a in attempts)
    message = "search trace=%s outcome=%s results=%d took_ms=%d asked=[%s]"
    log.log(level, message, query.trace_id, outcome, results, took_ms, asked)
