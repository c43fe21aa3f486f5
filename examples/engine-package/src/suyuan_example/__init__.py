"""Two engines that suyuan finds because this package is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suyuan.engines.kit import (
    EngineSettings,
    JsonEngine,
    Request,
    SearchQuery,
    SearchResult,
    Setting,
    plain_text,
    read_date,
    whole,
)


class ExampleWiki(JsonEngine):
    """Searches a MediaWiki by its API; never opens a socket itself."""

    name = "example_wiki"
    title = "Example wiki"
    default_url = "https://en.wikipedia.org"
    rate_per_minute = 60
    rows = "query.search"
    options = (Setting("namespace", whole(0, 15), "The namespace that is searched.", env="NAMESPACE", default=0),)

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of results."""
        params = {
            "action": "query",
            "list": "search",
            "format": "json",
            "srsearch": text,
            "srlimit": str(query.count),
            "srnamespace": str(self.option("namespace")),
        }
        return Request.get(f"{self.base_url}/w/api.php", params)

    def result(self, row: dict[str, Any]) -> SearchResult:
        """One row of the answer."""
        title = plain_text(row["title"])
        url = f"{self.base_url}/wiki/{title.replace(' ', '_')}"
        return SearchResult(title, url, "", self.name, published_at=read_date(str(row.get("timestamp") or "")))


class ExampleNotes:
    """The smallest engine: a name and a search."""

    name = "example_notes"

    def __init__(self, settings: EngineSettings | None = None) -> None:
        self._notes = {"receipt": "https://notes.example/receipt", "deadline": "https://notes.example/deadline"}

    async def search(self, query: SearchQuery, num_results: int) -> Sequence[SearchResult]:
        """Return the notes whose name is in the query."""
        found = [
            SearchResult(word, url, "A note.", self.name) for word, url in self._notes.items() if word in query.text
        ]
        return found[:num_results]
