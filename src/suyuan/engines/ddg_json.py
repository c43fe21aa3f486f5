"""``DdgJson``: what DuckDuckGo's news and pictures share."""

from __future__ import annotations

import re
from typing import ClassVar

from .kit import UNREADABLE, Exchange, JsonEngine, Request, Response, SearchQuery
from .query_kit import ddg_region

_TOKEN = re.compile(r"vqd[\"']?\s*[=:]\s*[\"']?(\d[\d-]{4,})")


class DdgJson(JsonEngine):
    """Requests the page for a token, which the script of that page then sends for the JSON (``news.js``, ``i.js``)."""

    default_url = "https://duckduckgo.com"
    reads_pages = True
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains", "page", "safe"})
    rate_per_minute = 15
    burst = 4
    redirect_hosts = ("duckduckgo.com",)
    operators = True
    longest_query = 499
    periods = ("day", "week", "month")
    rows = "results"
    script: ClassVar[str]
    """The path of the JSON."""
    kind: ClassVar[str]
    """The name of this kind of results on the page."""
    per_page: ClassVar[int]
    """How many results a page of the JSON has."""

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request the token and then the results."""
        text, notes = self.search_text(query)
        page = yield Request.get(f"{self.base_url}/", {"q": text, "ia": self.kind, "iax": self.kind})
        response = yield self.with_token(self.request(query, text), page)
        return self.parse(response, query).with_notes(*notes)

    def with_token(self, request: Request, page: Response) -> Request:
        """The request with the token of ``page``; raises what the page is if it has none."""
        self.check(page)
        token = _TOKEN.search(page.text)
        if token is None:
            # Raised as what the status or a challenge says, where there is one.
            raise UNREADABLE(engine=self.name)
        return Request(f"{request.url}&vqd={token[1]}", headers=request.headers)

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of results."""
        params = {"q": text, "o": "json", "l": ddg_region(query) or "wt-wt", "p": {0: "", 1: "-1", 2: "1"}[query.safe]}
        params["s"] = str(self.per_page * (query.page - 1))
        if period := self.period(query):
            params |= self.period_params(period)
        return Request.get(f"{self.base_url}{self.script}", params, {"Referer": f"{self.base_url}/"})

    def period_params(self, period: str) -> dict[str, str]:
        """The parameter that limits results to a period."""
        return {"df": period[0]}
