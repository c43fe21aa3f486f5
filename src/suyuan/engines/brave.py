"""Brave Search API: a key, JSON, and few surprises."""

from __future__ import annotations

import html
import re
from datetime import UTC, date, datetime
from typing import Any

from ..core.causes.engine import API_SAID_NO, KEY_REJECTED, RATE_LIMITED
from ..core.engine import Engine, Exchange
from ..core.freshness import Freshness
from ..core.query import SearchQuery
from ..core.result import EngineResults, SearchResult
from ..core.secret import Secret
from ..core.wire import Request, Response
from ..text.dates import read_date
from ._json import json_of, results_of
from ._query import fitted, locale
from ._status import check_status, retry_after

_LONGEST_QUERY = 400
_TAGS = re.compile(r"</?(?:strong|b|em|i|mark|span)[^>]*>")
# Brave's language codes, where they differ from the common ones.
_LANGS = {
    "zh": "zh-hans", "zh-TW": "zh-hant", "zh-HK": "zh-hant", "zh-MO": "zh-hant", "zh-Hant": "zh-hant", "zh-Hant-TW": "zh-hant",
    "zh-Hant-HK": "zh-hant", "ja": "jp", "pt": "pt-br", "pt-PT": "pt-pt",
}  # fmt: skip


class Brave(Engine):
    """Asks ``/res/v1/web/search``; an answer without ``web`` means that nothing was found."""

    name = "brave"
    title = "Brave Search"
    default_url = "https://api.search.brave.com"
    api_key_env = "BRAVE_API_KEY"
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains"})
    # The free plan allows one request a second.
    rate_per_minute = 60

    def exchange(self, query: SearchQuery) -> Exchange:
        """Ask for ``count`` web results."""
        key = self.require_key()
        text, notes = fitted(query, _LONGEST_QUERY)
        params = {"q": text, "count": str(max(query.count, 10))}
        lang, _ = locale(query)
        if query.country:
            params["country"] = query.country
        if lang:
            params["search_lang"] = _LANGS.get(query.lang) or _LANGS.get(lang) or lang
        if query.freshness:
            params["freshness"] = _freshness(query.freshness, self.today())
        headers: dict[str, str | Secret] = {"X-Subscription-Token": key, "Accept": "application/json"}
        response = yield Request.get(f"{self.base_url}/res/v1/web/search", params, headers)
        found = self.read(response, query)
        return EngineResults(found.results, notes + found.notes)

    def read(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Read the JSON answer."""
        if response.status >= 500 or 300 <= response.status < 400:
            check_status(response, self.name)
        if response.status in (401, 403):
            raise KEY_REJECTED(engine=self.name, said=f"HTTP {response.status}")
        if response.status == 429:
            raise RATE_LIMITED(engine=self.name, retry_after=_reset(response))
        data = json_of(response, self.name)
        if isinstance(error := data.get("error"), dict) or data.get("type") == "ErrorResponse":
            self._refused(error if isinstance(error, dict) else {}, response)
        check_status(response, self.name)
        web = data.get("web")
        if web is None and data.get("type") == "search":
            return EngineResults()
        rows = web.get("results") if isinstance(web, dict) else None
        results, notes = results_of(rows, _result, self.name)
        return EngineResults(results, notes)

    def _refused(self, error: dict[str, Any], response: Response) -> None:
        code, said = str(error.get("code") or ""), str(error.get("detail") or error.get("code") or "unknown")[:200]
        token_missing = "x-subscription-token" in str(error.get("meta")).lower()
        if token_missing or code in ("SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND", "OPTION_NOT_IN_PLAN"):
            raise KEY_REJECTED(engine=self.name, said=said)
        if code in ("RATE_LIMITED", "QUOTA_LIMITED"):
            raise RATE_LIMITED(engine=self.name, retry_after=_reset(response))
        raise API_SAID_NO(engine=self.name, said=said)

    @staticmethod
    def today() -> date:
        """The day that an open date range ends on."""
        return datetime.now(UTC).date()


def _result(row: object) -> SearchResult | None:
    if not isinstance(row, dict) or not str(row.get("url") or "").startswith(("http://", "https://")):
        return None
    shown, extra = row.get("page_age") or row.get("age"), row.get("extra_snippets")
    return SearchResult(
        _plain(row.get("title")),
        str(row["url"]),
        _plain(row.get("description")),
        "brave",
        published_at=read_date(shown) if isinstance(shown, str) else None,
        summary="\n".join(_plain(text) for text in extra if isinstance(text, str)) if isinstance(extra, list) else "",
    )


def _plain(text: object) -> str:
    return " ".join(html.unescape(_TAGS.sub("", str(text or ""))).split())


def _reset(response: Response) -> float | None:
    """How long to wait: ``Retry-After``, or the first figure of Brave's own ``X-RateLimit-Reset``."""
    if (seconds := retry_after(response)) is not None:
        return seconds
    first = response.headers.get("x-ratelimit-reset", "").split(",")[0].strip()
    return min(float(first), 3600.0) if first.isdecimal() else None


def _freshness(fresh: Freshness, today: date) -> str:
    if fresh.period:
        return "p" + fresh.period[0]
    since, until = fresh.dates(today)
    return f"{since}to{until}"
