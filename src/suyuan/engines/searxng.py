"""SearXNG: the JSON API of an instance that the user runs."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any
from urllib.parse import urljoin, urlsplit

from ..core.causes.engine import API_SAID_NO, CAPTCHA, KEY_REJECTED
from ..core.causes.searxng import (
    ENGINES_DEAD,
    NOT_SEARXNG,
    SEARXNG_BROKEN,
    SEARXNG_CLOSED,
    SEARXNG_DOWN,
    SEARXNG_FORBIDS,
    SEARXNG_LIMITER,
    SEARXNG_LOGIN,
    SEARXNG_NEEDS_HTTPS,
    SEARXNG_NO_HOST,
    SEARXNG_REDIRECTED,
)
from ..core.engine import Engine, Exchange
from ..core.errors import SuyuanError
from ..core.query import SearchQuery
from ..core.result import EngineResults, SearchResult
from ..core.setting import Setting, text
from ..core.wire import Request, Response
from ..text.dates import read_date
from .kit import check_status, json_object, locale, parse_rows, plain_text, query_text, retry_after

_LONGEST_QUERY = 1500


class SearXNG(Engine):
    """Requests ``/search?format=json``; dead engines, disabled JSON and the limiter are different errors."""

    name = "searxng"
    title = "SearXNG"
    default_url = "http://localhost:8080"
    options = (
        Setting("engines", text(), "The engines that SearXNG asks, separated by commas.", env="ENGINES"),
        Setting("categories", text(), "The categories that SearXNG searches, separated by commas.", env="CATEGORIES"),
    )
    supported_params = frozenset({"lang", "freshness", "allowed_domains", "blocked_domains"})

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request one page of results."""
        words, notes = query_text(query, _LONGEST_QUERY)
        params = {
            "q": words,
            "format": "json",
            "language": query.lang or locale(query)[0] or "auto",
            "pageno": "1",
            **self.settings.options,
        }
        if query.freshness and query.freshness.period:
            params["time_range"] = query.freshness.period
        elif query.freshness:
            notes += ("date range not supported by SearXNG: not filtered by date",)
        response = yield Request.get(f"{self.base_url}/search", params, self._headers())
        return self.parse(response, query).with_notes(*notes)

    def probe(self) -> Generator[Request, Response, None]:
        """Raise unless an instance answers at the base URL; one small request and no search."""
        response = yield Request.get(f"{self.base_url}/healthz", headers=self._headers())
        status, where = response.status, self.base_url
        if status == 429:
            raise SEARXNG_LIMITER(engine=self.name, where=where)
        if status == 401:
            if self.settings.api_key:
                raise KEY_REJECTED(engine=self.name, said="HTTP 401")
            raise SEARXNG_LOGIN(engine=self.name, where=where)
        if status == 403:
            raise SEARXNG_FORBIDS(engine=self.name, where=where)
        if status >= 500:
            raise SEARXNG_BROKEN(engine=self.name, where=where, status=status, retry_after=retry_after(response))
        if 300 <= status < 400 and (target := response.headers.get("location", "")):
            raise _redirect_error(where, urljoin(response.url or where, target), self.name)
        if status != 200 or response.body.strip() != b"OK":
            raise NOT_SEARXNG(engine=self.name, where=where)

    def explain(self, error: SuyuanError) -> SuyuanError:
        """Say how to start the instance, since the user runs it."""
        if error.detail_code == "connection_refused":
            return SEARXNG_DOWN(engine=self.name, where=self.base_url)
        if error.detail_code == "dns":
            return SEARXNG_NO_HOST(engine=self.name, host=urlsplit(self.base_url).hostname)
        return error

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse the JSON answer."""
        self._check(response)
        data = json_object(response, self.name)
        dead = _dead_engines(data.get("unresponsive_engines"))
        results, notes = parse_rows(data.get("results"), _parse_row, self.name)
        if dead and not results:
            raise ENGINES_DEAD(engine=self.name, which=", ".join(dead))
        return EngineResults(results, notes + tuple(f"not answering behind SearXNG: {name}" for name in dead))

    def _check(self, response: Response) -> None:
        body = response.body[:3000].lower()
        page = body.lstrip().startswith(b"<")
        if response.status == 429 or (body.strip() == b"too many requests" and response.status != 200):
            raise SEARXNG_LIMITER(engine=self.name, where=self.base_url, retry_after=retry_after(response))
        if response.status == 401:
            raise KEY_REJECTED(engine=self.name, said="HTTP 401")
        if response.status == 403 or (page and b"<title>403 forbidden</title>" in body):
            raise SEARXNG_CLOSED(engine=self.name, where=self.base_url)
        if page and b"verifying your request" in body:
            raise CAPTCHA(engine=self.name)
        if response.status == 400 and body.lstrip().startswith(b"{"):
            # A parameter was refused; the text says which.
            raise API_SAID_NO(engine=self.name, said=str(json_object(response, self.name).get("error"))[:200])
        check_status(response, self.name)

    def _headers(self) -> dict[str, Any]:
        key = self.settings.api_key
        return {"Accept": "application/json", **({"Authorization": key} if key else {})}


def _parse_row(row: dict[str, Any]) -> SearchResult:
    date = row.get("publishedDate")
    return SearchResult(
        plain_text(row.get("title")),
        str(row["url"]),
        plain_text(row.get("content")),
        "searxng",
        published_at=read_date(date) if isinstance(date, str) else None,
    )


def _redirect_error(base_url: str, target: str, engine: str) -> SuyuanError:
    """The error for a redirect: to https on the same host, or to another host."""
    here, there = urlsplit(base_url), urlsplit(target)
    if (here.scheme, there.scheme) == ("http", "https") and here.hostname == there.hostname:
        return SEARXNG_NEEDS_HTTPS(engine=engine, where=base_url, found=target.removesuffix("/healthz"))
    return SEARXNG_REDIRECTED(engine=engine, where=base_url, target=there.netloc or target[:80])


def _dead_engines(value: object) -> list[str]:
    rows = value if isinstance(value, list) else []
    return [": ".join(str(part) for part in row) if isinstance(row, list) else str(row) for row in rows][:12]
