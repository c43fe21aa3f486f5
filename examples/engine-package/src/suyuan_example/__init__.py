"""Two engines that suyuan finds because this package is installed."""

from __future__ import annotations

from collections.abc import Sequence

from suyuan.core.causes.engine import UNREADABLE
from suyuan.core.engine import Engine, EngineSettings, Exchange
from suyuan.core.query import SearchQuery
from suyuan.core.result import EngineResults, SearchResult
from suyuan.core.setting import Setting, whole
from suyuan.core.wire import Request, Response


class ExampleWiki(Engine):
    """A MediaWiki as a search engine: requests its API and parses the JSON, without opening a socket."""

    name = "example_wiki"
    title = "Example wiki"
    default_url = "https://en.wikipedia.org"
    options = (Setting("namespace", whole(0, 15), "The namespace that is searched.", env="NAMESPACE", default=0),)

    def exchange(self, query: SearchQuery) -> Exchange:
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
        """Parse the API's answer."""
        try:
            rows = response.json()["query"]["search"]
            return EngineResults(tuple(self._result(row["title"]) for row in rows))
        except (ValueError, KeyError, TypeError):
            raise UNREADABLE(engine=self.name) from None

    def _result(self, title: str) -> SearchResult:
        return SearchResult(title, f"{self.base_url}/wiki/{title.replace(' ', '_')}", "", self.name)


class ExampleNotes:
    """The minimum an engine has: a name and a search."""

    name = "example_notes"

    def __init__(self, settings: EngineSettings | None = None) -> None:
        self._notes = {"receipt": "https://notes.example/receipt", "deadline": "https://notes.example/deadline"}

    async def search(self, query: SearchQuery, num_results: int) -> Sequence[SearchResult]:
        """Return the notes whose name is in the query."""
        found = [
            SearchResult(word, url, "A note.", self.name) for word, url in self._notes.items() if word in query.text
        ]
        return found[:num_results]
