"""SearXNG: the JSON answer of an instance that the user runs."""

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
from ._dates import read_date
from ._json import json_of, results_of
from ._query import fitted, locale
from ._status import check_status, retry_after

_LONGEST_QUERY = 1500


class SearXNG(Engine):
    """Asks ``/search?format=json``. Its silent failures (dead engines, JSON off, limiter) are told apart."""

    name = "searxng"
    title = "SearXNG"
    default_url = "http://localhost:8080"
    options = (
        Setting("engines", text(), "The engines that SearXNG asks, separated by commas.", env="ENGINES"),
        Setting("categories", text(), "The categories that SearXNG searches, separated by commas.", env="CATEGORIES"),
    )
    supported_params = frozenset({"lang", "freshness", "allowed_domains", "blocked_domains"})

    def exchange(self, query: SearchQuery) -> Exchange:
        """Ask for one page of results."""
        words, notes = fitted(query, _LONGEST_QUERY)
        params = {
            "q": words,
            "format": "json",
            "language": query.lang or locale(query)[0] or "auto",
            "pageno": "1",
            **self.settings.options,
        }
        if query.freshness:
            period = query.freshness.period
            if period:
                params["time_range"] = period
            else:
                notes += ("date range not supported by SearXNG: not filtered by date",)
        response = yield Request.get(f"{self.base_url}/search", params, self._headers())
        found = self.read(response, query)
        return EngineResults(found.results, notes + found.notes)

    def probe(self) -> Generator[Request, Response, None]:
        """Raise unless an instance answers at the base URL; costs one small request and no search."""
        response = yield Request.get(f"{self.base_url}/healthz", headers=self._headers())
        status, where = response.status, self.base_url
        if status == 429:
            raise SEARXNG_LIMITER(engine=self.name, where=where)
        if status == 401:
            raise (
                KEY_REJECTED(engine=self.name, said="HTTP 401")
                if self.settings.api_key
                else SEARXNG_LOGIN(engine=self.name, where=where)
            )
        if status == 403:
            raise SEARXNG_FORBIDS(engine=self.name, where=where)
        if status >= 500:
            raise SEARXNG_BROKEN(engine=self.name, where=where, status=status, retry_after=retry_after(response))
        if 300 <= status < 400 and (target := response.headers.get("location", "")):
            raise _moved(where, urljoin(response.url or where, target), self.name)
        if status != 200 or response.body.strip() != b"OK":
            raise NOT_SEARXNG(engine=self.name, where=where)

    def explain(self, error: SuyuanError) -> SuyuanError:
        """The user runs this engine: say how to bring it up, and not only that nothing answers."""
        if error.detail_code == "connection_refused":
            return SEARXNG_DOWN(engine=self.name, where=self.base_url)
        if error.detail_code == "dns":
            return SEARXNG_NO_HOST(engine=self.name, host=urlsplit(self.base_url).hostname)
        return error

    def read(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Read the JSON answer."""
        self._check(response)
        data = json_of(response, self.name)
        rows, dead = data.get("results"), _dead_engines(data.get("unresponsive_engines"))
        results, notes = results_of(rows, _result, self.name)
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
            # A refused parameter; the text says which.
            raise API_SAID_NO(engine=self.name, said=str(json_of(response, self.name).get("error"))[:200])
        check_status(response, self.name)

    def _headers(self) -> dict[str, Any]:
        key = self.settings.api_key
        return {"Accept": "application/json", **({"Authorization": key} if key else {})}


def _result(row: object) -> SearchResult | None:
    if not isinstance(row, dict) or not str(row.get("url") or "").startswith(("http://", "https://")):
        return None
    date = row.get("publishedDate")
    return SearchResult(
        " ".join(str(row.get("title") or "").split()),
        str(row["url"]),
        " ".join(str(row.get("content") or "").split()),
        "searxng",
        published_at=read_date(date) if isinstance(date, str) else None,
    )


def _moved(base_url: str, target: str, engine: str) -> SuyuanError:
    """What a redirect means: the same host by https, or somebody else."""
    here, there = urlsplit(base_url), urlsplit(target)
    if (here.scheme, there.scheme) == ("http", "https") and here.hostname == there.hostname:
        return SEARXNG_NEEDS_HTTPS(engine=engine, where=base_url, found=target.removesuffix("/healthz"))
    return SEARXNG_REDIRECTED(engine=engine, where=base_url, target=there.netloc or target[:80])


def _dead_engines(value: object) -> list[str]:
    rows = value if isinstance(value, list) else []
    return [": ".join(str(part) for part in row) if isinstance(row, list) else str(row) for row in rows][:12]
