"""Crossref: publications with a DOI."""

from __future__ import annotations

from typing import Any

from ..text.dates import first_day
from .json_kit import TAGS, number_of, plain_text, texts, value_at
from .kit import Details, JsonEngine, Request, Response, SearchQuery, SearchResult, skipped


class Crossref(JsonEngine):
    """Requests ``/works?query=``."""

    name = "crossref"
    title = "Crossref"
    default_url = "https://api.crossref.org"
    supported_params = frozenset({"freshness", "page"})
    rate_per_minute = 60
    burst = 5
    live_web = False
    rows = "message.items"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of works."""
        params = {"query": text, "rows": str(query.count), "offset": str(skipped(query))}
        if query.freshness:
            since, until = query.freshness.dates(self.today())
            params["filter"] = f"from-pub-date:{since},until-pub-date:{until}"
        return Request.get(f"{self.base_url}/works", params)

    def object(self, response: Response) -> dict[str, Any]:
        """The answer without the files that are published along with papers, which have DOIs of their own."""
        data = super().object(response)
        rows = value_at(data, self.rows)
        if isinstance(rows, list):
            data["message"]["items"] = [row for row in rows if value_at(row, "type") != "component"]
        return data

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A publication."""
        doi, people = str(row["DOI"]), row.get("author")
        names = []
        if isinstance(people, list):
            names = [_name(person) for person in people if isinstance(person, dict)]
        venues = texts(row.get("container-title")) or texts([row.get("publisher")])
        venue = venues[0] if venues else ""
        cited_by = number_of(row.get("is-referenced-by-count"))
        details = Details(authors=texts(names), venue=venue, doi=doi, cited_by=cited_by)
        return SearchResult(
            " ".join(texts(row.get("title"))) or doi,
            str(row.get("URL") or f"https://doi.org/{doi}"),
            plain_text(row.get("abstract"), TAGS),
            self.name,
            published_at=_day(value_at(row, "published.date-parts") or value_at(row, "issued.date-parts")),
            details=details,
        )


def _name(person: dict[str, Any]) -> str:
    return plain_text(f"{person.get('given') or ''} {person.get('family') or person.get('name') or ''}")


def _day(parts: object) -> str | None:
    """A whole date; many publications have only a year."""
    first = parts[0] if isinstance(parts, list) and parts else None
    if isinstance(first, list) and len(first) == 3 and all(isinstance(part, int) for part in first):
        day = first_day("{:04d}-{:02d}-{:02d}".format(*first))
        return day.isoformat() if day else None
    return None
