"""PubMed: publications in medicine and biology, by the E-utilities of the NCBI."""

from __future__ import annotations

from typing import Any

from .json_kit import TAGS, parse_rows, plain_text, texts, value_at
from .kit import Details, EngineResults, Exchange, JsonEngine, Request, Response, SearchQuery, SearchResult, read_date
from .query_kit import skipped

_PATH = "/entrez/eutils"


class PubMed(JsonEngine):
    """Requests ``esearch`` for the numbers of the publications, and ``esummary`` for what they are."""

    name = "pubmed"
    title = "PubMed"
    default_url = "https://eutils.ncbi.nlm.nih.gov"
    supported_params = frozenset({"freshness", "page"})
    # Without a key at most three requests a second are allowed, and a search needs two.
    rate_per_minute = 60
    live_web = False
    rows = "esearchresult.idlist"

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request the numbers and then their summaries."""
        text, notes = self.search_text(query)
        numbers = self._numbers((yield self.request(query, text)))
        if not numbers:
            return EngineResults(notes=notes)
        params = {"db": "pubmed", "retmode": "json", "id": ",".join(numbers)}
        response = yield Request.get(f"{self.base_url}{_PATH}/esummary.fcgi", params)
        return self.parse(response, query).with_notes(*notes)

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request the numbers of the most relevant publications."""
        params = {"db": "pubmed", "retmode": "json", "sort": "relevance", "term": text, "retmax": str(query.count)}
        params["retstart"] = str(skipped(query))
        if query.freshness:
            since, until = (str(day).replace("-", "/") for day in query.freshness.dates(self.today()))
            params |= {"datetype": "pdat", "mindate": since, "maxdate": until}
        return Request.get(f"{self.base_url}{_PATH}/esearch.fcgi", params)

    def _numbers(self, response: Response) -> tuple[str, ...]:
        self.check(response)
        found = value_at(self.object(response), self.rows)
        if not isinstance(found, list):
            # Raises, since this is no list of results.
            parse_rows(found, self.result, self.name)
        return texts(found)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse the summaries."""
        self.check(response)
        found = self.object(response).get("result")
        numbers = found.get("uids") if isinstance(found, dict) else None
        rows = [value_at(found, str(item)) for item in numbers] if isinstance(numbers, list) else None
        return parse_rows(rows, self.result, self.name)

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A publication."""
        ids = {one.get("idtype"): one.get("value") for one in row.get("articleids") or () if isinstance(one, dict)}
        details = Details(
            authors=texts(row.get("authors"), "name"),
            venue=plain_text(row.get("fulljournalname") or row.get("source")),
            doi=str(ids.get("doi") or ""),
        )
        shown = ", ".join((*details.authors[:3], details.venue, plain_text(row.get("pubdate"))))
        return SearchResult(
            plain_text(row["title"], TAGS),
            f"https://pubmed.ncbi.nlm.nih.gov/{row['uid']}/",
            shown,
            self.name,
            published_at=read_date(str(row.get("sortpubdate") or "")[:10]),
            details=details,
        )
