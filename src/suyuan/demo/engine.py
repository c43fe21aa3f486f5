"""The engines of the demo web: ``demo`` searches its pages, ``demo_refusing`` asks for a CAPTCHA, as engines do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..engines.kit import EngineResults, JsonEngine, PageEngine, Request, Response, SearchQuery
from .site import REFUSING_HOST, SEARCH_HOST

NOTE = "demo: pages written for trying out Suyuan, on this machine; no request left it"


class Demo(JsonEngine):
    """Searches the pages of the demo web by its JSON API."""

    name = "demo"
    title = "Demo"
    default_url = f"http://{SEARCH_HOST}"
    live_web = False
    supported_params = frozenset({"freshness"})
    operators = True
    rows = "results"
    columns = ("title", "url", "snippet", "date")

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of results."""
        params = {"q": text}
        if query.freshness:
            first, last = query.freshness.dates(self.today())
            params |= {"from": first.isoformat(), "to": last.isoformat()}
        return Request.get(f"{self.base_url}/api/search", params)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse the JSON answer; the receipt says where it comes from."""
        return super().parse(response, query).with_notes(NOTE)


class DemoRefusing(PageEngine):
    """Requests results and gets a CAPTCHA, so that a receipt shows how the next engine takes over."""

    name = "demo_refusing"
    title = "Demo (refuses)"
    default_url = f"http://{REFUSING_HOST}"
    reads_pages = False
    captcha = "form#captcha"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of results."""
        return Request.get(f"{self.base_url}/search", {"q": text})


ENGINES: Mapping[str, Any] = {engine.name: engine for engine in (Demo, DemoRefusing)}
