"""The Brave Search API, which needs a key."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from ..core.causes.engine import API_SAID_NO, KEY_REJECTED, RATE_LIMITED
from ..core.engine import Engine, Exchange
from ..core.freshness import Freshness
from ..core.query import SearchQuery
from ..core.result import EngineResults, SearchResult
from ..core.secret import Secret
from ..core.wire import Request, Response
from ..text.dates import read_date
from .kit import check_status, is_challenge, json_object, locale, parse_rows, plain_text, query_text, retry_after

_LONGEST_QUERY = 400
_TAGS = re.compile(r"</?(?:strong|b|em|i|mark|span)[^>]*>")
# Brave's language codes, where they differ from the common ones.
_LANGS = {
    "zh": "zh-hans", "zh-TW": "zh-hant", "zh-HK": "zh-hant", "zh-MO": "zh-hant", "zh-Hant": "zh-hant",
    "zh-Hant-TW": "zh-hant", "zh-Hant-HK": "zh-hant", "ja": "jp", "pt": "pt-br", "pt-PT": "pt-pt",
}  # fmt: skip


class Brave(Engine):
    """Requests ``/res/v1/web/search``; an answer without ``web`` means that nothing was found."""

    name = "brave"
    title = "Brave Search"
    default_url = "https://api.search.brave.com"
    api_key_env = "BRAVE_API_KEY"
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains", "page", "safe"})
    # The free plan allows one request a second.
    rate_per_minute = 60

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request ``count`` web results."""
        key = self.require_key()
        text, notes = query_text(query, _LONGEST_QUERY)
        params = {"q": text, "count": str(max(query.count, 10))}
        if query.page > 1:
            params["offset"] = str(query.page - 1)
        if query.safe:
            params["safesearch"] = "strict" if query.safe == 2 else "moderate"
        lang, _ = locale(query)
        if query.country:
            params["country"] = query.country
        if lang:
            params["search_lang"] = _LANGS.get(query.lang) or _LANGS.get(lang) or lang
        if query.freshness:
            params["freshness"] = _freshness(query.freshness, self.today())
        headers: dict[str, str | Secret] = {"X-Subscription-Token": key, "Accept": "application/json"}
        response = yield Request.get(f"{self.base_url}/res/v1/web/search", params, headers)
        return self.parse(response, query).with_notes(*notes)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse the JSON answer."""
        if response.status >= 500 or 300 <= response.status < 400:
            check_status(response, self.name)
        if response.status in (401, 403) and not is_challenge(response):
            raise KEY_REJECTED(engine=self.name, said=f"HTTP {response.status}")
        if response.status == 429:
            raise RATE_LIMITED(engine=self.name, retry_after=_reset(response))
        if response.status == 403:
            check_status(response, self.name)
        data = json_object(response, self.name)
        if isinstance(error := data.get("error"), dict) or data.get("type") == "ErrorResponse":
            self._raise_error(error if isinstance(error, dict) else {}, response)
        check_status(response, self.name)
        web = data.get("web")
        if web is None and data.get("type") == "search":
            return EngineResults()
        rows = web.get("results") if isinstance(web, dict) else None
        return EngineResults(*parse_rows(rows, _parse_row, self.name))

    def _raise_error(self, error: dict[str, Any], response: Response) -> None:
        code, said = str(error.get("code") or ""), str(error.get("detail") or error.get("code") or "unknown")[:200]
        token_missing = "x-subscription-token" in str(error.get("meta")).lower()
        if token_missing or code in ("SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND", "OPTION_NOT_IN_PLAN"):
            raise KEY_REJECTED(engine=self.name, said=said)
        if code in ("RATE_LIMITED", "QUOTA_LIMITED"):
            raise RATE_LIMITED(engine=self.name, retry_after=_reset(response))
        raise API_SAID_NO(engine=self.name, said=said)


def _parse_row(row: dict[str, Any]) -> SearchResult:
    shown, extra = row.get("page_age") or row.get("age"), row.get("extra_snippets")
    return SearchResult(
        plain_text(row.get("title"), _TAGS),
        str(row["url"]),
        plain_text(row.get("description"), _TAGS),
        "brave",
        published_at=read_date(shown) if isinstance(shown, str) else None,
        summary="\n".join(plain_text(text, _TAGS) for text in extra if isinstance(text, str))
        if isinstance(extra, list)
        else "",
    )


def _reset(response: Response) -> float | None:
    """The seconds to wait: ``Retry-After``, or the first number of Brave's own ``X-RateLimit-Reset``."""
    if (seconds := retry_after(response)) is not None:
        return seconds
    first = response.headers.get("x-ratelimit-reset", "").split(",")[0].strip()
    return min(float(first), 3600.0) if first.isdecimal() else None


def _freshness(fresh: Freshness, today: date) -> str:
    if fresh.period:
        return "p" + fresh.period[0]
    since, until = fresh.dates(today)
    return f"{since}to{until}"
