"""The engines of the demo web: ``demo`` searches its pages, ``demo_refusing`` asks for a CAPTCHA, as engines do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from ..core.causes.engine import CAPTCHA, UNREADABLE
from ..engines.json_kit import json_object, parse_rows, plain_text
from ..engines.kit import Engine, EngineResults, Exchange, Request, Response, SearchQuery, SearchResult, check_status
from ..engines.query_kit import query_text
from .site import REFUSING_HOST, SEARCH_HOST

NOTE = "demo: pages written for trying out Suyuan, on this machine; no request left it"
_LONGEST_QUERY = 500


class Demo(Engine):
    """Searches the pages of the demo web by its JSON API."""

    name = "demo"
    title = "Demo"
    default_url = f"http://{SEARCH_HOST}"
    live_web = False
    supported_params = frozenset({"freshness"})

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request one page of results."""
        words, notes = query_text(query, _LONGEST_QUERY)
        params = {"q": words}
        if query.freshness:
            first, last = query.freshness.dates(self.today())
            params |= {"from": first.isoformat(), "to": last.isoformat()}
        response = yield Request.get(f"{self.base_url}/api/search", params)
        return self.parse(response, query).with_notes(*notes)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse the JSON answer."""
        check_status(response, self.name)
        results, notes = parse_rows(json_object(response, self.name).get("results"), _row, self.name)
        return EngineResults(results, (NOTE, *notes))


class DemoRefusing(Engine):
    """Requests results and gets a CAPTCHA, so that a receipt shows how the next engine takes over."""

    name = "demo_refusing"
    title = "Demo (refuses)"
    default_url = f"http://{REFUSING_HOST}"

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request one page of results."""
        words, _ = query_text(query, _LONGEST_QUERY)
        return self.parse((yield Request.get(f"{self.base_url}/search", {"q": words})))

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Recognise the CAPTCHA by its form."""
        check_status(response, self.name)
        if LexborHTMLParser(response.text).css_first("form#captcha") is not None:
            raise CAPTCHA(engine=self.name)
        raise UNREADABLE(engine=self.name)


ENGINES: Mapping[str, Any] = {engine.name: engine for engine in (Demo, DemoRefusing)}


def _row(row: dict[str, Any]) -> SearchResult:
    return SearchResult(
        plain_text(row.get("title")), str(row["url"]), plain_text(row.get("snippet")), Demo.name,
        published_at=str(row.get("date") or "") or None,
    )  # fmt: skip
