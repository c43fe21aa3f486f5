"""An engine without a network: three fixed results, for first steps, tests and offline machines."""

from __future__ import annotations

# Not by the kit, which a search without a network need not load.
from ..core.engine import Engine, Exchange
from ..core.query import SearchQuery
from ..core.result import EngineResults, SearchResult
from ..core.wire import Response

_PAGES = (
    (
        "https://example.com/stub/1",
        "Example Domain",
        "A fixed result of the stub engine. No request was made for: {query}",
    ),
    ("https://example.org/stub/2", "Example Organisation", "The second fixed result for: {query}"),
    ("https://example.net/stub/3", "Example Network", "The third fixed result for: {query}"),
)


class Stub(Engine):
    """Returns the same three results for every query."""

    name = "stub"
    title = "Stub (offline)"
    default_url = "http://localhost"
    local = True
    hidden = True
    live_web = False

    def exchange(self, query: SearchQuery) -> Exchange:
        """Return the fixed results without a request."""
        return self._results(query)
        yield  # makes this a generator

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Return the fixed results, whatever the response."""
        return self._results(query)

    def _results(self, query: SearchQuery | None) -> EngineResults:
        text = query.text if query else ""
        return EngineResults(
            tuple(SearchResult(title, url, snippet.format(query=text), self.name) for url, title, snippet in _PAGES)
        )
