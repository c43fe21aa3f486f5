"""Two engines that suyuan finds because this package is installed."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from suyuan import (
    Engine,
    EngineResults,
    EngineSettings,
    Request,
    Response,
    SearchQuery,
    SearchResult,
    WebParseError,
)
from suyuan.core.setting import Setting, whole


class ExampleWiki(Engine):
    """Searches a MediaWiki by its API; never opens a socket itself."""

    name = "example_wiki"
    title = "Example wiki"
    default_url = "https://en.wikipedia.org"
    options = (Setting("namespace", whole(0, 15), "The namespace that is searched.", env="NAMESPACE", default=0),)

    def exchange(self, query: SearchQuery) -> Generator[Request, Response, EngineResults]:
        """Request one page of results."""
        params = {
            "action": "query",
            "list": "search",
            "format": "json",
            "srsearch": query.text,
            "srlimit": str(query.count),
            "srnamespace": str(self.option("namespace")),
        }
        return self.parse((yield Request.get(f"{self.base_url}/w/api.php", params)), query)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse the JSON of the API."""
        try:
            rows = response.json()["query"]["search"]
            return EngineResults(tuple(self._result(row["title"]) for row in rows))
        except (ValueError, KeyError, TypeError):
            raise WebParseError("The wiki did not send search results.", detail_code="unreadable") from None

    def _result(self, title: str) -> SearchResult:
        return SearchResult(title, f"{self.base_url}/wiki/{title.replace(' ', '_')}", "", self.name)


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
