"""``SessionSearch``: the search of one session, with a cache of its own."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, Never, TypeVar

from ..core.causes.asked import BAD_ARGUMENT, SESSION_ENDED
from ..core.page_reading import Depth, tokens_for
from ..core.query import MAX_RESULTS, SearchQuery
from ..core.result import SearchPage
from ..messages.catalog import Text
from ..search.cache import SingleFlight, TtlCache, elapsed
from ..search.plan import Plan
from ..search.result_reader import ResultReader
from ..search.service import SearchService
from ..text.asked_anew import asked_anew

log = logging.getLogger("suyuan.tools")

SESSION_QUERIES = 20
# How long a session keeps a page where the service keeps none, and where the query asks for news.
_SESSION_SECONDS, _NEWS_SECONDS = 300.0, 60.0
T = TypeVar("T")


class SessionSearch:
    """Searches, and answers repeated queries from a cache of 20 queries (least recently used).

    The plan, the focus, and a query whose filters hold for all (``within``) are fixed when the session is made: where
    there is a focus, somebody has chosen it, and no query, which a model may have made, has another one. The cache is
    never shared; its entries age like those of the service, or after five minutes where that keeps none. A query that
    asks for news takes only what was found in the last minute.
    Closing the session clears it, and no query is answered any more.
    """

    def __init__(
        self,
        service: SearchService,
        *,
        engines: str = "",
        focus: str = "",
        reader: ResultReader | None = None,
        within: SearchQuery | None = None,
        clock: Callable[[], float] = elapsed,
    ) -> None:
        self._service = service
        self._reader = reader
        self._engines = engines
        self._focus = focus
        self._within = within
        self._cache: TtlCache[SearchPage] = TtlCache(SESSION_QUERIES, clock)
        self._flights: SingleFlight[SearchPage] = SingleFlight()
        self._closed = False

    def plan_for(self, query: SearchQuery) -> Plan:
        """Which engines a search for ``query`` would ask."""
        return self._service.plan_for(self._filled(query), self._engines)

    async def search(
        self,
        query: SearchQuery,
        depth: Depth = "results",
        max_tokens: int | None = None,
        *,
        engines: str = "",
        max_age: float = math.inf,
    ) -> tuple[SearchPage, bool]:
        """Search, or return the cached page; the second value tells which. Pages are read where there is a reader.

        ``engines`` is a plan for this search alone. With ``max_age`` only what was found in so many seconds is taken
        from any cache.
        """
        if self._closed:
            raise SESSION_ENDED()
        query = self._filled(query)
        plan = engines or self._engines
        tokens = tokens_for(depth, max_tokens)
        key = (query.key(), plan, depth, tokens)
        if _asks_for_news(query):
            max_age = min(max_age, _NEWS_SECONDS)
        cache_seconds = self._service.cache_seconds or _SESSION_SECONDS
        page = self._cache.get(key, min(max_age, cache_seconds))
        if page is not None:
            log.info("session cache hit trace=%s query=%r", query.trace_id, query.text)
            return replace(page, query=query, cached=True, took_ms=0), True
        page = await self._flights.run(key, lambda: self._search(query, plan, depth, tokens, max_age))
        if not self._closed:
            self._cache.put(key, page)
        return page, False

    def close(self) -> None:
        """End the session: what it found is forgotten, and it searches no more."""
        self._closed = True
        self._cache.clear()

    def _filled(self, query: SearchQuery) -> SearchQuery:
        """The query with what is fixed for the session."""
        if self._within is not None:
            query = replace(self._within, text=query.text, count=query.count, trace_id=query.trace_id)
        return replace(query, focus=self._focus) if self._focus else query

    async def _search(self, query: SearchQuery, plan: str, depth: Depth, tokens: int, max_age: float) -> SearchPage:
        page = await self._service.search(query, engines=plan, max_age=max_age)
        return await self._reader.read(page, depth, tokens) if self._reader else page

    def run_sync(self, work: Coroutine[Any, Any, T]) -> T:
        """The outcome of ``work`` with this search, for synchronous callers."""
        return self._service.run_sync(work)


def _asks_for_news(query: SearchQuery) -> bool:
    return query.freshness is not None or query.focus == "news" or asked_anew(query.text)


def query_from(arguments: dict[str, Any], *, count: int, most: int = MAX_RESULTS) -> SearchQuery:
    """The query for the arguments of a tool call, which a model may have wrong; empty values count as not given.

    A call that asks for more than ``most`` results gets so many.
    """
    given = {name: value for name, value in arguments.items() if value not in (None, "", [], ())}
    query = SearchQuery(
        _text(given, "query"),
        count=given.get("count", count),
        country=_text(given, "country"),
        lang=_text(given, "language"),
        freshness=_text(given, "freshness") or None,  # type: ignore[arg-type]
        allowed_domains=_texts(given, "allowed_domains"),
        blocked_domains=_texts(given, "blocked_domains"),
        focus=_text(given, "focus"),
    )
    return query if query.count <= most else replace(query, count=most)


def _text(given: dict[str, Any], name: str) -> str:
    value = given.get(name, "")
    return value if isinstance(value, str) else _wrong_type(name, "string", value)


def _texts(given: dict[str, Any], name: str) -> tuple[str, ...]:
    """The texts of a list; models often send one text in its place."""
    value = given.get(name, ())
    many = (value,) if isinstance(value, str) else value
    right = isinstance(many, list | tuple) and all(isinstance(one, str) for one in many)
    return tuple(many) if right else _wrong_type(name, "array of string", value)


def _wrong_type(name: str, wanted: str, value: object) -> Never:
    types = {"wanted": wanted, "given": type(value).__name__}
    raise BAD_ARGUMENT(name=name, why=Text("input.detail.wrong_type", types))


def depth_from(arguments: dict[str, Any], default: Depth = "results") -> tuple[Depth, int | None]:
    """How deep a tool call wants to search, and how long everything that is read may be."""
    return arguments.get("depth") or default, arguments.get("max_tokens") or None
