"""Kagi: a paid search engine."""

from __future__ import annotations

from typing import Any

from .json_kit import TAGS
from .kit import JsonEngine, Request, SearchQuery, SearchResult, plain_text, read_date


class Kagi(JsonEngine):
    """Requests ``POST /api/v1/search``; an answer without ``search`` means that nothing was found."""

    name = "kagi"
    title = "Kagi"
    default_url = "https://kagi.com"
    auto_rank = 10
    api_key_env = "KAGI_API_KEY"
    supported_params = frozenset({"country", "freshness", "allowed_domains", "blocked_domains", "page", "safe"})
    operators = True
    longest_query = 1000
    rows = "data.search"
    quota_words = ("credit", "billing", "balance")

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of results."""
        filters: dict[str, str] = {}
        if query.freshness:
            since, until = query.freshness.dates(self.today())
            filters |= {"after": str(since), "before": str(until)} if query.freshness.until else {"after": str(since)}
        if query.country:
            filters["region"] = query.country.lower()
        data = {
            "query": text,
            "workflow": "search",
            "limit": query.count,
            "page": query.page,
            # On unless it is turned off, whatever the query says.
            **({"safe_search": True} if query.safe else {}),
            **({"filters": filters} if filters else {}),
        }
        return Request.post_json(f"{self.base_url}/api/v1/search", data, self.bearer())

    def found_nothing(self, data: dict[str, Any]) -> bool:
        """Whether the answer has no list because nothing was found."""
        return isinstance(data.get("data"), dict)

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A page."""
        day = read_date(str(row.get("time") or row.get("published") or "")[:10])
        snippet = plain_text(row.get("snippet"), TAGS)
        return SearchResult(plain_text(row["title"], TAGS), str(row["url"]), snippet, self.name, published_at=day)
