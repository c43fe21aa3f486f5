"""Open Library: books."""

from __future__ import annotations

from typing import Any

from .kit import Details, JsonEngine, Request, SearchQuery, SearchResult, plain_text, texts

_FIELDS = "key,title,author_name,first_publish_year,publisher,subject,first_sentence"


class OpenLibrary(JsonEngine):
    """Requests ``/search.json``."""

    name = "openlibrary"
    title = "Open Library"
    default_url = "https://openlibrary.org"
    redirect_hosts = ("openlibrary.org",)
    supported_params = frozenset({"lang", "page"})
    rate_per_minute = 60
    burst = 5
    live_web = False
    rows = "docs"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of works; the language is a preference."""
        params = {"q": text, "limit": str(query.count), "page": str(query.page), "fields": _FIELDS}
        if query.lang:
            params["lang"] = query.lang.partition("-")[0]
        return Request.get(f"{self.base_url}/search.json", params)

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A work."""
        details = Details(
            authors=texts(row.get("author_name")),
            venue=next(iter(texts(row.get("publisher"))), ""),
            topics=texts(row.get("subject"))[:8],
        )
        known = (", ".join(details.authors[:3]), str(row.get("first_publish_year") or ""))
        about = " · ".join(part for part in (*known, *texts(row.get("first_sentence"))[:1]) if part)
        return SearchResult(
            plain_text(row["title"]), f"https://openlibrary.org{row['key']}", about, self.name, details=details
        )
