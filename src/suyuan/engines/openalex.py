"""OpenAlex: scholarly works. A free key allows more searches a day."""

from __future__ import annotations

from typing import Any

from .json_kit import error_text, number_of, plain_text, texts, value_at
from .kit import RATE_LIMITED, Details, JsonEngine, Request, Response, SearchQuery, SearchResult, read_date, retry_after

_SNIPPET_WORDS = 80


class OpenAlex(JsonEngine):
    """Requests ``/works?search=``; abstracts come as an index of words."""

    name = "openalex"
    title = "OpenAlex"
    default_url = "https://api.openalex.org"
    supported_params = frozenset({"lang", "freshness", "page"})
    rate_per_minute = 60
    burst = 5
    live_web = False
    rows = "results"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of works."""
        filters = []
        if query.freshness:
            since, until = query.freshness.dates(self.today())
            filters = [f"from_publication_date:{since}", f"to_publication_date:{until}"]
        if query.lang:
            filters.append(f"language:{query.lang.partition('-')[0]}")
        params = {
            "search": text,
            "per_page": str(query.count),
            "page": str(query.page),
            **({"filter": ",".join(filters)} if filters else {}),
        }
        request = Request.get(f"{self.base_url}/works", params)
        return request.with_secret("api_key", self.settings.api_key)

    def check(self, response: Response) -> None:
        """Raise what a status stands for; too many requests in a second come with the status of a refusal."""
        if response.status == 403 and "rate limit" in error_text(response).lower():
            raise RATE_LIMITED(engine=self.name, retry_after=retry_after(response))
        super().check(response)

    def out_of_quota(self, said: str, status: int) -> bool:
        """Whether the day's requests are used up, which OpenAlex says with the status of too many requests."""
        text = said.lower()
        is_of_a_day = "limit" in text and "second" not in text
        return status == 429 and is_of_a_day

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A work; its address is its DOI, its page, or its entry at OpenAlex."""
        doi, page = str(row.get("doi") or ""), str(value_at(row, "primary_location.landing_page_url") or "")
        details = Details(
            authors=texts(row.get("authorships"), "author.display_name"),
            venue=plain_text(value_at(row, "primary_location.source.display_name")),
            doi=doi.removeprefix("https://doi.org/"),
            cited_by=number_of(row.get("cited_by_count")),
        )
        day = read_date(str(row.get("publication_date") or ""))
        abstract = _abstract(row.get("abstract_inverted_index"))
        title = plain_text(row.get("title") or row.get("display_name"))
        return SearchResult(
            title, doi or page or str(row["id"]), abstract, self.name, published_at=day, details=details
        )


def _abstract(index: object) -> str:
    """The first words of an abstract, which OpenAlex sends as the places of each word."""
    if not isinstance(index, dict):
        return ""
    words: dict[int, str] = {}
    for word, places in index.items():
        words |= dict.fromkeys(places, str(word))
    first = sorted(words)[:_SNIPPET_WORDS]
    return plain_text(" ".join(words[place] for place in first))
