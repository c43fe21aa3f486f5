"""Firecrawl: a paid API for agents."""

from __future__ import annotations

from typing import Any

from .kit import API_SAID_NO, JsonEngine, Request, Response, SearchQuery, error_text
from .query_kit import google_period


class Firecrawl(JsonEngine):
    """Requests ``POST /v2/search`` without the pages themselves."""

    name = "firecrawl"
    title = "Firecrawl"
    default_url = "https://api.firecrawl.dev"
    auto_rank = 16
    api_key_env = "FIRECRAWL_API_KEY"
    supported_params = frozenset({"country", "freshness", "allowed_domains", "blocked_domains"})
    operators = True
    longest_query = 500
    rows = "data.web"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request as many results as wanted."""
        data: dict[str, Any] = {"query": text, "limit": query.count, "sources": ["web"]}
        if query.freshness:
            data["tbs"] = google_period(query.freshness)
        if query.country:
            data["country"] = query.country
        return Request.post_json(f"{self.base_url}/v2/search", data, self.bearer())

    def check_data(self, data: dict[str, Any], response: Response) -> None:
        """Raise if the answer says that the search failed."""
        if data.get("success") is False:
            raise API_SAID_NO(engine=self.name, said=error_text(response))

    def found_nothing(self, data: dict[str, Any]) -> bool:
        """Whether the answer has no list because nothing was found."""
        return data.get("success") is True and not data.get("data")
