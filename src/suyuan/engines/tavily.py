"""Tavily: a paid API for agents."""

from __future__ import annotations

from typing import Any

from .kit import JsonEngine, Request, SearchQuery


class Tavily(JsonEngine):
    """Requests ``POST /search``."""

    name = "tavily"
    title = "Tavily"
    default_url = "https://api.tavily.com"
    auto_rank = 11
    api_key_env = "TAVILY_API_KEY"
    supported_params = frozenset({"freshness", "allowed_domains", "blocked_domains"})
    # 432 is the limit of the plan, 433 that of what is paid by use.
    quota_statuses = (402, 432, 433)
    rows = "results"
    columns = ("title", "url", "content", "published_date")

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request as many results as wanted."""
        data: dict[str, Any] = {"query": text, "max_results": query.count}
        if query.freshness:
            since, until = query.freshness.dates(self.today())
            data |= (
                {"time_range": query.freshness.period}
                if query.freshness.period
                else {"start_date": str(since), "end_date": str(until)}
            )
        if query.allowed_domains:
            data["include_domains"] = list(query.allowed_domains)
        if query.blocked_domains:
            data["exclude_domains"] = list(query.blocked_domains)
        return Request.post_json(f"{self.base_url}/search", data, self.bearer())
