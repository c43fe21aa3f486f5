"""Hacker News: stories, by the search of Algolia."""

from __future__ import annotations

from typing import Any

from .json_kit import TAGS
from .kit import Details, JsonEngine, Request, SearchQuery, SearchResult, number_of, plain_text, read_date, texts

_MAX_SNIPPET = 400


class HackerNews(JsonEngine):
    """Requests ``/api/v1/search``; a story without a page of its own is the discussion."""

    name = "hackernews"
    title = "Hacker News"
    default_url = "https://hn.algolia.com"
    aliases = ("hn",)
    supported_params = frozenset({"freshness", "page"})
    rate_per_minute = 100
    burst = 10
    live_web = False
    rows = "hits"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of stories."""
        params = {"query": text, "tags": "story", "hitsPerPage": str(query.count), "page": str(query.page - 1)}
        if query.freshness:
            start, end = query.freshness.seconds(self.today())
            params["numericFilters"] = f"created_at_i>={start},created_at_i<{end}"
        return Request.get(f"{self.base_url}/api/v1/search", params)

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A story."""
        discussion = f"https://news.ycombinator.com/item?id={row['objectID']}"
        details = Details(
            authors=texts([row.get("author")]),
            venue="Hacker News",
            score=number_of(row.get("points")),
            comments=number_of(row.get("num_comments")),
        )
        shown = plain_text(row.get("story_text"), TAGS)[:_MAX_SNIPPET]
        snippet = shown or f"Points: {details.score or 0}, comments: {details.comments or 0}. {discussion}"
        day = read_date(str(row.get("created_at") or "")[:10])
        url = str(row.get("url") or discussion)
        return SearchResult(plain_text(row["title"]), url, snippet, self.name, published_at=day, details=details)
