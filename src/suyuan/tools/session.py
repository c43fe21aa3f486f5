"""``SessionSearch``: the search of one session, with a cache of its own."""

from __future__ import annotations

import logging
import math
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Never, TypeVar

from ..core.causes.asked import BAD_ARGUMENT
from ..core.page_reading import Depth, tokens_for
from ..core.query import SearchQuery
from ..core.result import SearchPage
from ..messages.catalog import Text
from ..search.cache import SingleFlight, TtlCache
from ..search.result_reader import ResultReader
from ..search.service import SearchService

log = logging.getLogger("suyuan.tools")

SESSION_QUERIES = 20
T = TypeVar("T")


class SessionSearch:
    """Searches, and answers repeated queries from a cache of 20 queries (least recently used).

    The plan, the focus of queries that name none, and a query whose filters hold for all (``within``)
    are fixed when the session is made. The cache ends with the object and is never shared.
    """

    def __init__(
        self,
        service: SearchService,
        *,
        engines: str = "",
        focus: str = "",
        reader: ResultReader | None = None,
        within: SearchQuery | None = None,
    ) -> None:
        self._service = service
        self._reader = reader
        self._engines = engines
        self._focus = focus
        self._within = within
        self._cache: TtlCache[SearchPage] = TtlCache(SESSION_QUERIES)
        self._flights: SingleFlight[SearchPage] = SingleFlight()

    async def search(
        self, query: SearchQuery, depth: Depth = "results", max_tokens: int | None = None
    ) -> tuple[SearchPage, bool]:
        """Search, or return the cached page; the second value tells which. Pages are read where there is a reader."""
        if self._within is not None:
            query = replace(self._within, text=query.text, count=query.count, trace_id=query.trace_id)
        if self._focus and not query.focus:
            query = replace(query, focus=self._focus)
        tokens = tokens_for(depth, max_tokens)
        key = (query.key(), depth, tokens)
        if (page := self._cache.get(key, math.inf)) is not None:
            log.info("session cache hit trace=%s query=%r", query.trace_id, query.text)
            return replace(page, query=query, cached=True, took_ms=0), True
        page = await self._flights.run(key, lambda: self._found(query, depth, tokens))
        self._cache.put(key, page)
        return page, False

    async def _found(self, query: SearchQuery, depth: Depth, tokens: int) -> SearchPage:
        page = await self._service.search(query, engines=self._engines)
        return await self._reader.read(page, depth, tokens) if self._reader else page

    def run_sync(self, work: Coroutine[Any, Any, T]) -> T:
        """The outcome of ``work`` with this search, for synchronous callers."""
        return self._service.run_sync(work)


def query_from(arguments: dict[str, Any], *, count: int) -> SearchQuery:
    """The query for the arguments of a tool call, which a model may have wrong; empty values count as not given."""
    given = {name: value for name, value in arguments.items() if value not in (None, "", [], ())}
    return SearchQuery(
        _text(given, "query"),
        count=given.get("count", count),
        country=_text(given, "country"),
        lang=_text(given, "language"),
        freshness=_text(given, "freshness") or None,  # type: ignore[arg-type]
        allowed_domains=_texts(given, "allowed_domains"),
        blocked_domains=_texts(given, "blocked_domains"),
        focus=_text(given, "focus"),
    )


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
