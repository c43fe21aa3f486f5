"""What the hosts of the demo web answer to a request; it opens no socket."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..core.document import Document
from ..pages.archive import Archive
from ..pages.archive_engine import plain_snippet
from ..text.language import script_language
from .html import captcha_html, gone_html, home_html, page_html
from .page import DemoPage, demo_pages
from .pdf import pdf

SEARCH_HOST = "search.example"
REFUSING_HOST = "refusing-search.example"

# Less of the query than this, and a page is about something else.
_MIN_COVERAGE = 0.3
_MAX_RESULTS = 10
_HTML, _JSON = "text/html; charset=utf-8", "application/json"


@dataclass(frozen=True, slots=True)
class SiteResponse:
    """An answer of the demo web."""

    body: bytes
    kind: str = _HTML
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class DemoSite:
    """All hosts of the demo web: the sites with their pages, an engine that searches them, and one that refuses."""

    def __init__(self) -> None:
        self._pages = {(page.host, page.path): page for page in demo_pages()}
        self._by_host: dict[str, list[DemoPage]] = {}
        for page in demo_pages():
            self._by_host.setdefault(page.host, []).append(page)

    @cached_property
    def _index(self) -> Archive:
        index = Archive(":memory:")
        for page in demo_pages():
            index.put(_indexed(page))
        return index

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that have pages."""
        return frozenset(self._by_host)

    def answer(self, host: str, path: str, params: Mapping[str, str]) -> SiteResponse:
        """Answer a GET request for ``path`` on ``host``."""
        if host == SEARCH_HOST:
            return self._results(params)
        if host == REFUSING_HOST:
            return SiteResponse(captcha_html(_lang(params.get("q", ""))).encode())
        pages = self._by_host.get(host)
        if pages is None:
            return SiteResponse(b"no such host", "text/plain", 421)
        if path == "/robots.txt":
            return SiteResponse(b"User-agent: *\nAllow: /\n", "text/plain")
        if path == "/":
            return SiteResponse(home_html([page for page in pages if page.kind != "gone"]).encode())
        page = self._pages.get((host, path))
        if page is None or page.kind == "gone":
            return SiteResponse(gone_html(pages[0].lang, pages[0].site).encode(), status=404)
        body, kind = self._body(page)
        return SiteResponse(body, kind, headers={"ETag": f'"{hashlib.sha256(body).hexdigest()[:16]}"'})

    def close(self) -> None:
        """Close the index."""
        if index := self.__dict__.pop("_index", None):
            index.close()

    def _body(self, page: DemoPage) -> tuple[bytes, str]:
        if page.kind == "pdf":
            return pdf(page.title, page.text), "application/pdf"
        others = [other for other in self._by_host[page.host] if other is not page and other.kind != "gone"]
        return page_html(page, others).encode(), _HTML

    def _results(self, params: Mapping[str, str]) -> SiteResponse:
        first, last = params.get("from", ""), params.get("to", "9999")
        rows = []
        for hit in self._index.search(params.get("q", ""), 2 * _MAX_RESULTS):
            document = hit.document
            date = document.published_at or ""
            if hit.coverage < _MIN_COVERAGE or not first <= date <= last:
                continue
            rows.append(
                {
                    "title": document.title,
                    "url": document.final_url,
                    "snippet": plain_snippet(hit.snippet),
                    "date": document.published_at,
                }
            )
        return SiteResponse(json.dumps({"demo": True, "results": rows[:_MAX_RESULTS]}).encode(), _JSON)


def _indexed(page: DemoPage) -> Document:
    return Document(
        page.url,
        page.url,
        page.marked_title,
        page.text,
        "text/html",
        f"{page.date}T00:00:00+00:00",
        author=page.author,
        site_name=page.site,
        published_at=page.date,
        language=page.lang,
    )


def _lang(text: str) -> str:
    return "zh" if script_language(text) == "zh" else "en"
