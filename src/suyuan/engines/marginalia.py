"""Marginalia: an index of small and old-fashioned websites. A key of one's own allows more requests."""

from __future__ import annotations

from .kit import JsonEngine, Request, SearchQuery, Secret

_SHARED_KEY = Secret("public")


class Marginalia(JsonEngine):
    """Requests ``/search``; without a key the one that everybody shares is used, which is often exhausted."""

    name = "marginalia"
    title = "Marginalia"
    default_url = "https://api2.marginalia-search.com"
    supported_params = frozenset({"allowed_domains", "blocked_domains", "page"})
    operators = True
    rate_per_minute = 20
    burst = 2
    rows = "results"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of results."""
        headers: dict[str, str | Secret] = {
            "API-Key": self.settings.api_key or _SHARED_KEY,
            "Accept": "application/json",
        }
        return Request.get(
            f"{self.base_url}/search", {"query": text, "count": str(query.count), "page": str(query.page)}, headers
        )
