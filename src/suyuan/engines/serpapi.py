"""SerpApi: the results of Google by a paid API."""

from __future__ import annotations

from typing import Any

from .kit import API_SAID_NO, JsonEngine, Request, Response, SearchQuery, skipped, value_at
from .query_kit import google_locale, google_period


class SerpApi(JsonEngine):
    """Requests ``/search.json``; that nothing was found is an ``error`` in a successful answer."""

    name = "serpapi"
    title = "SerpApi"
    default_url = "https://serpapi.com"
    auto_rank = 14
    api_key_env = "SERPAPI_API_KEY"
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains", "page"})
    operators = True
    longest_query = 2000
    rows = "organic_results"
    columns = ("title", "link", "snippet", "date")
    # With the status of too many requests.
    quota_words = ("run out of searches",)

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request as many results as wanted."""
        params = {"engine": "google", "q": text, "num": str(query.count), **google_locale(query)}
        params["start"] = str(skipped(query))
        if query.freshness:
            params["tbs"] = google_period(query.freshness)
        return Request.get(f"{self.base_url}/search.json", params).with_secret("api_key", self.require_key())

    def found_nothing(self, data: dict[str, Any]) -> bool:
        """Whether the answer has no list because nothing was found."""
        return bool(value_at(data, "search_metadata.status") == "Success")

    def check_data(self, data: dict[str, Any], response: Response) -> None:
        """Raise if the search itself failed."""
        if value_at(data, "search_metadata.status") == "Error":
            raise API_SAID_NO(engine=self.name, said=str(data.get("error"))[:200])
