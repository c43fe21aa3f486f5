"""arXiv: preprints, by its Atom feed."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from ..core.causes.engine import API_SAID_NO, UNREADABLE
from ..core.http_status import check_status
from ..core.query import SearchQuery
from ..core.result import Details, EngineResults, SearchResult
from ..core.wire import Request, Response
from ..core.xml import read_xml
from ..text.dates import read_date
from .json_kit import plain_text, texts
from .query_kit import OneRequestEngine, skipped

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"


class Arxiv(OneRequestEngine):
    """Requests ``/api/query``; an error is an entry of the feed."""

    name = "arxiv"
    title = "arXiv"
    default_url = "https://export.arxiv.org"
    supported_params = frozenset({"freshness", "page"})
    # arXiv asks for at most one request in three seconds.
    rate_per_minute = 20
    live_web = False
    longest_query = 300

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of entries: all words must occur somewhere."""
        words = " AND ".join(f'all:"{word}"' for word in text.replace('"', " ").split())
        if query.freshness:
            since, until = (str(day).replace("-", "") for day in query.freshness.dates(self.today()))
            words += f" AND submittedDate:[{since}0000 TO {until}2359]"
        params = {"search_query": words, "max_results": str(query.count), "sortBy": "relevance"}
        params["start"] = str(skipped(query))
        return Request.get(f"{self.base_url}/api/query", params)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse the feed."""
        if response.status != 400:
            check_status(response, self.name)
        feed = self._feed(response)
        entries = feed.findall(f"{_ATOM}entry")
        if len(entries) == 1 and _text(entries[0], "title") == "Error":
            raise API_SAID_NO(engine=self.name, said=_text(entries[0], "summary")[:200])
        check_status(response, self.name)
        results = tuple(self._result(entry) for entry in entries if _text(entry, "id").startswith("http"))
        if entries and not results:
            raise UNREADABLE(engine=self.name)
        return EngineResults(results)

    def _feed(self, response: Response) -> Element:
        try:
            feed = read_xml(response.body)
        except ValueError:
            raise UNREADABLE(engine=self.name) from None
        if feed.tag != f"{_ATOM}feed":
            raise UNREADABLE(engine=self.name)
        return feed

    def _result(self, entry: Element) -> SearchResult:
        authors = [name.text for name in entry.findall(f"{_ATOM}author/{_ATOM}name")]
        venue = plain_text(entry.findtext(f"{_ARXIV}journal_ref"))
        topics = [category.get("term") for category in entry.findall(f"{_ATOM}category")]
        doi = plain_text(entry.findtext(f"{_ARXIV}doi"))
        return SearchResult(
            _text(entry, "title"),
            _text(entry, "id").replace("http://", "https://", 1),
            _text(entry, "summary"),
            self.name,
            published_at=read_date(_text(entry, "published")[:10]),
            details=Details(authors=texts(authors), venue=venue or "arXiv", doi=doi, topics=texts(topics)),
        )


def _text(entry: Element, name: str) -> str:
    return plain_text(entry.findtext(f"{_ATOM}{name}"))
