"""``SessionSearch``: the search of one session, with a cache of its own."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from ..core.query import SearchQuery
from ..core.result import SearchPage
from ..search.cache import SingleFlight
from ..search.service import SearchService

log = logging.getLogger("suyuan.tools")

SESSION_QUERIES = 20


class SessionSearch:
    """Searches, and answers repeated queries from a cache of 20 queries (least recently used).

    The plan is fixed when the session is made. The cache ends with the object and is never shared.
    """

    def __init__(self, service: SearchService, *, engines: str = "", size: int = SESSION_QUERIES) -> None:
        self._service = service
        self._engines = engines
        self._size = size
        self._kept: OrderedDict[object, SearchPage] = OrderedDict()
        self._lock = threading.Lock()
        self._flights: SingleFlight[SearchPage] = SingleFlight()

    async def search(self, query: SearchQuery) -> tuple[SearchPage, bool]:
        """Search, or return the cached page; the second value tells which."""
        key = query.key()
        if (page := self._get(key)) is not None:
            log.info("session cache hit trace=%s query=%r", query.trace_id, query.text)
            return replace(page, query=query, cached=True, took_ms=0), True
        page = await self._flights.run(key, lambda: self._service.search(query, engines=self._engines))
        self._put(key, page)
        return page, False

    def search_sync(self, query: SearchQuery) -> tuple[SearchPage, bool]:
        """Like :meth:`search`, for synchronous callers."""
        return self._service.run_sync(self.search(query))

    def __len__(self) -> int:
        return len(self._kept)

    def _get(self, key: object) -> SearchPage | None:
        with self._lock:
            page = self._kept.get(key)
            if page is not None:
                self._kept.move_to_end(key)
            return page

    def _put(self, key: object, page: SearchPage) -> None:
        with self._lock:
            self._kept[key] = page
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


def query_from(arguments: dict[str, Any], *, count: int) -> SearchQuery:
    """The query for the arguments of a tool call; empty values count as not given."""
    given = {name: value for name, value in arguments.items() if value not in (None, "", [], ())}
    return SearchQuery(
        str(given.get("query", "")),
        count=given.get("count", count),
        country=given.get("country", ""),
        lang=given.get("language", ""),
        freshness=given.get("freshness"),
        allowed_domains=tuple(given.get("allowed_domains", ())),
        blocked_domains=tuple(given.get("blocked_domains", ())),
        focus=given.get("focus", ""),
    )
