"""Serper: the results of Google by a paid API."""

from __future__ import annotations

from typing import Any

from .kit import JsonEngine, Request, SearchQuery, value_at
from .query_kit import google_locale, google_period


class Serper(JsonEngine):
    """Requests ``POST /search``."""

    name = "serper"
    title = "Serper"
    default_url = "https://google.serper.dev"
    auto_rank = 13
    api_key_env = "SERPER_API_KEY"
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains", "page"})
    operators = True
    longest_query = 2000
    rows = "organic"
    columns = ("title", "link", "snippet", "date")
    # With the status of a bad request.
    quota_words = ("credit",)

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request as many results as wanted."""
        data: dict[str, Any] = {"q": text, "num": query.count, "page": query.page, **google_locale(query)}
        if query.freshness:
            data["tbs"] = google_period(query.freshness)
        return Request.post_json(f"{self.base_url}/search", data, {"X-API-KEY": self.require_key()})

    def found_nothing(self, data: dict[str, Any]) -> bool:
        """Whether the answer has no list because nothing was found."""
        return bool(value_at(data, "searchParameters.q"))
