"""Exa: a paid API that searches by meaning."""

from __future__ import annotations

from typing import Any

from .kit import Details, JsonEngine, Request, SearchQuery, SearchResult, plain_text, read_date, texts

_MAX_SNIPPET = 500


class Exa(JsonEngine):
    """Requests ``POST /search`` with the passages that fit the query."""

    name = "exa"
    title = "Exa"
    default_url = "https://api.exa.ai"
    auto_rank = 12
    api_key_env = "EXA_API_KEY"
    supported_params = frozenset({"country", "freshness", "allowed_domains", "blocked_domains"})
    longest_query = 1000
    rows = "results"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request as many results as wanted."""
        data: dict[str, Any] = {"query": text, "numResults": query.count, "contents": {"highlights": True}}
        if query.freshness:
            since, until = query.freshness.dates(self.today())
            data |= {"startPublishedDate": f"{since}T00:00:00.000Z", "endPublishedDate": f"{until}T23:59:59.999Z"}
        if query.allowed_domains:
            data["includeDomains"] = list(query.allowed_domains)
        if query.blocked_domains:
            data["excludeDomains"] = list(query.blocked_domains)
        if query.country:
            data["userLocation"] = query.country
        return Request.post_json(f"{self.base_url}/search", data, {"x-api-key": self.require_key()})

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A page."""
        snippet = " … ".join(texts(row.get("highlights"))) or plain_text(row.get("summary") or row.get("text"))
        author = row.get("author")
        details = Details(authors=texts([author])) if author else None
        return SearchResult(
            plain_text(row.get("title")) or str(row["url"]),
            str(row["url"]),
            snippet[:_MAX_SNIPPET],
            self.name,
            published_at=read_date(str(row.get("publishedDate") or "")[:10]),
            details=details,
        )
