"""The Brave Search API, which needs a key."""

from __future__ import annotations

import re
from typing import Any

from ..core.causes.engine import API_SAID_NO, KEY_REJECTED, RATE_LIMITED
from ..core.http_status import is_challenge, retry_after
from ..core.query import SearchQuery
from ..core.result import Details, SearchResult
from ..core.secret import Secret
from ..core.wire import Request, Response
from .json_kit import JsonEngine, day_of, plain_text, texts, value_at
from .query_kit import brave_period, locale

_TAGS = re.compile(r"</?(?:strong|b|em|i|mark|span)[^<>]*>")
# Brave's language codes, where they differ from the common ones.
_LANGS = {
    "zh": "zh-hans", "zh-TW": "zh-hant", "zh-HK": "zh-hant", "zh-MO": "zh-hant", "zh-Hant": "zh-hant",
    "zh-Hant-TW": "zh-hant", "zh-Hant-HK": "zh-hant", "ja": "jp", "pt": "pt-br", "pt-PT": "pt-pt",
}  # fmt: skip
_KEY_CODES = ("SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND", "OPTION_NOT_IN_PLAN")
_LIMIT_CODES = ("RATE_LIMITED", "QUOTA_LIMITED")


class Brave(JsonEngine):
    """Requests ``/res/v1/web/search``; an answer without ``web`` means that nothing was found."""

    name = "brave"
    title = "Brave Search"
    default_url = "https://api.search.brave.com"
    aliases = ("brave_search",)
    auto_rank = 2
    auto_rank_zh = 3
    api_key_env = "BRAVE_API_KEY"
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains", "page", "safe"})
    # The free plan allows one request a second.
    rate_per_minute = 60
    operators = True
    rows = "web.results"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request ``count`` web results."""
        params = {"q": text, "count": str(max(query.count, 10))}
        if query.page > 1:
            params["offset"] = str(query.page - 1)
        if query.safe:
            params["safesearch"] = "strict" if query.safe == 2 else "moderate"
        if query.country:
            params["country"] = query.country
        if lang := locale(query)[0]:
            params["search_lang"] = _LANGS.get(query.lang) or _LANGS.get(lang) or lang
        if query.freshness:
            params["freshness"] = brave_period(query.freshness, self.today())
        headers: dict[str, str | Secret] = {"X-Subscription-Token": self.require_key(), "Accept": "application/json"}
        return Request.get(f"{self.base_url}/res/v1/web/search", params, headers)

    def check(self, response: Response) -> None:
        """Raise what a status stands for; a code in the answer says more than its status."""
        if response.status == 429:
            raise RATE_LIMITED(engine=self.name, retry_after=_reset(response))
        if response.status in (401, 403) and not is_challenge(response):
            raise KEY_REJECTED(engine=self.name, said=f"HTTP {response.status}")
        if 400 <= response.status < 500 and response.status != 403:
            self.check_data(self.object(response), response)
        super().check(response)

    def check_data(self, data: dict[str, Any], response: Response) -> None:
        """Raise if the answer is an error."""
        error = data.get("error")
        if not isinstance(error, dict) and data.get("type") != "ErrorResponse":
            return
        code, said = str(value_at(error, "code") or ""), value_at(error, "detail") or value_at(error, "code")
        if code in _LIMIT_CODES:
            raise RATE_LIMITED(engine=self.name, retry_after=_reset(response))
        token_missing = "x-subscription-token" in str(value_at(error, "meta")).lower()
        cause = KEY_REJECTED if token_missing or code in _KEY_CODES else API_SAID_NO
        raise cause(engine=self.name, said=str(said or "unknown")[:200])

    def found_nothing(self, data: dict[str, Any]) -> bool:
        """Whether the answer has no list because nothing was found."""
        return data.get("web") is None and data.get("type") == "search"

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A page."""
        shown, image = row.get("page_age") or row.get("age"), value_at(row, "thumbnail.original")
        details = Details(image=image) if isinstance(image, str) else None
        return SearchResult(
            plain_text(row.get("title"), _TAGS),
            str(row["url"]),
            plain_text(row.get("description"), _TAGS),
            self.name,
            published_at=day_of(shown),
            summary="\n".join(plain_text(text, _TAGS) for text in texts(row.get("extra_snippets"))),
            details=details,
        )


def _reset(response: Response) -> float | None:
    """The seconds to wait: ``Retry-After``, or the first number of Brave's own ``X-RateLimit-Reset``."""
    if (seconds := retry_after(response)) is not None:
        return seconds
    first = response.headers.get("x-ratelimit-reset", "").split(",")[0].strip()
    return min(float(first), 3600.0) if first.isdecimal() else None
