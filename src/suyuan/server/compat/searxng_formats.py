"""The formats of SearXNG's search API: JSON, CSV and RSS, each with the fields of the original."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote

from fastapi.responses import Response

from ...core.extras import NO_EXTRAS, Extras
from ...core.file_names import attachment, file_stem
from ...core.result import SearchPage, SearchResult
from ...text.cells import cell
from ..answer_html import environment
from ..orjson_response import OrjsonResponse

_COLUMNS = ("title", "url", "content", "host", "engine", "score", "type")
# Characters that XML 1.0 does not allow.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class SearxngResults:
    """What is to be written: the query as it was sent, the page (None for none), and what did not answer."""

    query: str
    page: SearchPage | None
    unresponsive: list[list[str]]
    number: int = 1

    @property
    def results(self) -> tuple[SearchResult, ...]:
        """The results of the page."""
        return self.page.results if self.page else ()

    @property
    def extras(self) -> Extras:
        """What there is beside the results."""
        return self.page.extras if self.page else NO_EXTRAS


def as_json(found: SearxngResults) -> Response:
    """The answer as JSON, with every field that SearXNG has."""
    extras = found.extras
    return OrjsonResponse(
        {
            "query": found.query,
            "number_of_results": len(found.results),
            "results": [_row(result) for result in found.results],
            "answers": [
                {"answer": a.text, "url": a.url or None, "engine": a.engine, "template": "answer/legacy.html"}
                for a in extras.answers
            ],
            "corrections": list(extras.corrections),
            "infoboxes": [
                {
                    "infobox": box.title,
                    "id": box.url or None,
                    "content": box.text,
                    "urls": [{"title": title, "url": url} for title, url in box.links],
                    "attributes": [{"label": name, "value": value} for name, value in box.facts],
                    "engine": box.engine,
                    "engines": [box.engine],
                }
                for box in extras.infoboxes
            ],
            "suggestions": list(extras.suggestions),
            "unresponsive_engines": found.unresponsive,
        }
    )


def as_csv(found: SearxngResults) -> Response:
    """The answer as a table; answers, suggestions and corrections are rows of their own type."""
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(_COLUMNS)
    for r in found.results:
        table.writerow(_cells(r.title, r.url, r.snippet, _parsed(r.url)[1], r.engine, _score(r), "result"))
    for answer in found.extras.answers:
        table.writerow(_cells(answer.text, answer.url, "", "", answer.engine, "", "answer"))
    for kind, texts in (("suggestion", found.extras.suggestions), ("correction", found.extras.corrections)):
        for text in texts:
            table.writerow(_cells(text, "", "", "", "", "", kind))
    name = attachment(f"{file_stem(f'searx_-_{found.query}')}.csv")
    return Response(out.getvalue(), media_type="application/csv", headers={"Content-Disposition": name})


def _cells(*values: object) -> list[str]:
    return [cell(str(value)) for value in values]


def as_rss(found: SearxngResults) -> Response:
    """The answer as an RSS feed."""
    address = f"/search?q={quote(found.query, safe='')}"
    feed = environment().get_template("searxng.xml")
    text = feed.render(found=found, address=address, xml=_clean, rfc822=_rfc822)
    return Response(text, media_type="text/xml")


FORMATS: dict[str, Callable[[SearxngResults], Response]] = {"json": as_json, "csv": as_csv, "rss": as_rss}


def _row(result: SearchResult) -> dict[str, Any]:
    return {
        "url": result.url,
        "title": result.title,
        "content": result.snippet,
        "engine": result.engine,
        "template": "default.html",
        "parsed_url": _parsed(result.url),
        "img_src": "",
        "thumbnail": "",
        "priority": "",
        "engines": [result.engine, *(name for name in result.also_from if name != result.engine)],
        "positions": [result.rank],
        "score": _score(result),
        "category": "general",
        "publishedDate": result.published_at,
    }


def _score(result: SearchResult) -> float:
    return round(1 / result.rank, 4)


def _parsed(url: str) -> list[str]:
    """The parts of a URL as ``urlparse`` gives them; by hand, since every result of every search has them."""
    scheme, _, rest = url.partition("://")
    rest, _, fragment = rest.partition("#")
    rest, _, query = rest.partition("?")
    host, slash, path = rest.partition("/")
    return [scheme, host, slash + path, "", query, fragment]


def _rfc822(date: str | None) -> str:
    try:
        return format_datetime(datetime.fromisoformat(date)) if date else ""
    except ValueError:
        return ""


def _clean(text: str) -> str:
    return _NOT_XML.sub(" ", text)
