"""Semantic Scholar: scholarly works. A key is optional and allows more requests."""

from __future__ import annotations

from typing import Any

from .json_kit import number_of, plain_text, texts, value_at
from .kit import Details, JsonEngine, Request, SearchQuery, SearchResult, read_date, skipped

_FIELDS = "title,url,abstract,venue,publicationDate,authors,citationCount,externalIds"


class SemanticScholar(JsonEngine):
    """Requests ``/graph/v1/paper/search``."""

    name = "semantic_scholar"
    title = "Semantic Scholar"
    default_url = "https://api.semanticscholar.org"
    supported_params = frozenset({"freshness", "page"})
    rate_per_minute = 20
    live_web = False
    rows = "data"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of works."""
        params = {"query": text, "limit": str(query.count), "offset": str(skipped(query)), "fields": _FIELDS}
        if query.freshness:
            params["publicationDateOrYear"] = ":".join(map(str, query.freshness.dates(self.today())))
        key = self.settings.api_key
        return Request.get(f"{self.base_url}/graph/v1/paper/search", params, {"x-api-key": key} if key else {})

    def found_nothing(self, data: dict[str, Any]) -> bool:
        """Whether the answer has no list because nothing was found."""
        return data.get("total") == 0

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A work."""
        people = row.get("authors")
        details = Details(
            authors=texts([value_at(one, "name") for one in people] if isinstance(people, list) else []),
            venue=plain_text(row.get("venue")),
            doi=str(value_at(row, "externalIds.DOI") or ""),
            cited_by=number_of(row.get("citationCount")),
        )
        day = read_date(str(row.get("publicationDate") or ""))
        abstract = plain_text(row.get("abstract"))
        return SearchResult(
            plain_text(row["title"]), str(row["url"]), abstract, self.name, published_at=day, details=details
        )
