"""Semantic Scholar: scholarly works. A key is optional and allows more requests."""

from __future__ import annotations

from typing import Any

from .json_kit import number_of, plain_text, texts, value_at
from .kit import Details, JsonEngine, Request, SearchQuery, skipped

_FIELDS = "title,url,abstract,venue,publicationDate,authors,citationCount,externalIds"


class SemanticScholar(JsonEngine):
    """Requests ``/graph/v1/paper/search``."""

    name = "semantic_scholar"
    title = "Semantic Scholar"
    default_url = "https://api.semanticscholar.org"
    aliases = ("s2",)
    supported_params = frozenset({"freshness", "page"})
    rate_per_minute = 20
    live_web = False
    rows = "data"
    columns = ("title", "url", "abstract", "publicationDate")

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of works."""
        params = {"query": text, "limit": str(query.count), "offset": str(skipped(query)), "fields": _FIELDS}
        if query.freshness:
            params["publicationDateOrYear"] = ":".join(map(str, query.freshness.dates(self.today())))
        key = self.settings.api_key
        headers = {"x-api-key": key} if key else {}
        return Request.get(f"{self.base_url}/graph/v1/paper/search", params, headers)

    def found_nothing(self, data: dict[str, Any]) -> bool:
        """Whether the answer has no list because nothing was found."""
        return data.get("total") == 0

    def details(self, row: dict[str, Any]) -> Details:
        """What is known about a work."""
        return Details(
            authors=texts(row.get("authors"), "name"),
            venue=plain_text(row.get("venue")),
            doi=str(value_at(row, "externalIds.DOI") or ""),
            cited_by=number_of(row.get("citationCount")),
        )
