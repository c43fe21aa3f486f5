"""What engines share: the query's text, HTTP statuses and JSON answers. Engines of other packages may use it too."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urljoin

from ..core.causes.engine import (
    BAD_STATUS,
    FORBIDDEN,
    KEY_REJECTED,
    NOT_JSON,
    RATE_LIMITED,
    UNDECODED,
    UNREADABLE,
    UPSTREAM_BROKEN,
)
from ..core.causes.network import REDIRECTED
from ..core.query import SearchQuery
from ..core.result import SearchResult
from ..core.urls import domain_of
from ..core.wire import Response
from ..messages.catalog import Text
from ..text.language import script_language

# The country for a language where the query names none.
COUNTRIES = {
    "zh": "CN", "en": "US", "ja": "JP", "ko": "KR", "de": "DE", "fr": "FR", "es": "ES", "it": "IT", "pt": "BR",
    "ru": "RU", "nl": "NL", "pl": "PL", "tr": "TR", "vi": "VN", "th": "TH", "id": "ID", "ar": "SA", "he": "IL",
    "uk": "UA", "cs": "CZ", "sv": "SE", "da": "DK", "fi": "FI", "el": "GR", "hu": "HU", "ro": "RO", "hi": "IN",
}  # fmt: skip


# --- requests ---------------------------------------------------------------------------------------------------------
def site_operators(allowed: Sequence[str], blocked: Sequence[str]) -> str:
    """The domains as ``site:`` operators."""
    either = " OR ".join(f"site:{domain}" for domain in allowed)
    words = [f"({either})" if len(allowed) > 1 else either] if allowed else []
    return " ".join(words + [f"-site:{domain}" for domain in blocked])


def query_text(query: SearchQuery, limit: int) -> tuple[str, tuple[str, ...]]:
    """The text to search, with operators, cut at a word to ``limit`` characters, and notes on what was cut."""
    text, dropped = query.text, 0
    allowed, blocked = list(query.allowed_domains), list(query.blocked_domains)
    operators = site_operators(allowed, blocked)
    # Half of the length is for the words. Without an allowed domain less is found, but nothing wrong, so they go last.
    while operators and len(operators) + 1 + min(len(text), limit // 2) > limit:
        (blocked or allowed).pop()
        operators, dropped = site_operators(allowed, blocked), dropped + 1
    notes: tuple[str, ...] = (f"query too long for {dropped} of its domains",) if dropped else ()
    length = limit - (len(operators) + 1 if operators else 0)
    if len(text) > length:
        cut = text[: length + 1]
        # Chinese has no blanks: cut at a word only if that does not lose most of the text.
        text = cut.rsplit(" ", 1)[0] if " " in cut[length // 2 :] else cut[:length]
        notes += (f"query cut to {len(text)} characters",)
    return (f"{text} {operators}" if operators else text), notes


def locale(query: SearchQuery) -> tuple[str, str]:
    """The language (``zh``) and country (``CN``) to ask for, by the query's script if it names none; may be empty."""
    lang, _, rest = (query.lang or script_language(query.text)).partition("-")
    region = rest.rpartition("-")[2]
    usual = "TW" if query.lang == "zh-Hant" else COUNTRIES.get(lang, "")
    return lang, query.country or (region if len(region) == 2 else "") or usual


def is_ordinary(query: SearchQuery) -> bool:
    """Whether any engine must have results for it: a few plain words, no operators, no quotes, no filters."""
    words = query.text.split()
    plain = not any(mark in query.text for mark in '":()|+*') and not any(word.startswith("-") for word in words)
    narrow = query.allowed_domains or query.blocked_domains or query.freshness
    several = 2 <= len(words) <= 8 or (len(words) == 1 and 2 <= len(query.text) <= 12 and not query.text.isascii())
    return plain and not narrow and several and max(map(len, words)) <= 20


# --- responses --------------------------------------------------------------------------------------------------------
def check_status(response: Response, engine: str) -> None:
    """Raise the error that the status stands for, unless it is 200 or 202."""
    status = response.status
    if status in (200, 202):
        return
    if 300 <= status < 400:
        raise REDIRECTED(engine=engine, where=redirect_domain(response) or Text("engine.detail.nowhere"))
    if status == 401:
        raise KEY_REJECTED(engine=engine, said="HTTP 401")
    if status == 403:
        raise FORBIDDEN(engine=engine, retry_after=retry_after(response))
    if status == 429:
        raise RATE_LIMITED(engine=engine, retry_after=retry_after(response))
    if status >= 500:
        raise UPSTREAM_BROKEN(engine=engine, status=status, retry_after=retry_after(response))
    raise BAD_STATUS(engine=engine, status=status)


def redirect_domain(response: Response) -> str:
    """The domain that a redirect points to; empty if the response is no redirect."""
    location = response.headers.get("location", "")
    try:
        return domain_of(urljoin(response.url, location)) if location else ""
    except ValueError:
        return ""


def retry_after(response: Response) -> float | None:
    """The seconds to wait according to the ``Retry-After`` header, at most an hour."""
    value = response.headers.get("retry-after", "").strip()
    if value.isdecimal():
        return min(float(value), 3600.0)
    try:
        moment = parsedate_to_datetime(value)
        seconds = (moment - (response.at or datetime.now(UTC))).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(seconds, 0.0), 3600.0)


def json_object(response: Response, engine: str) -> dict[str, Any]:
    """The body as a JSON object, or the error that says what came instead."""
    try:
        data = response.json()
    except ValueError:
        start = response.text[:200].lstrip().lower()
        if not start:
            raise NOT_JSON(engine=engine, what=Text("engine.detail.nothing")) from None
        if start.startswith("<"):
            raise NOT_JSON(engine=engine, what=Text("engine.detail.html_page")) from None
        if "\ufffd" in start or "\x00" in start:
            raise UNDECODED(engine=engine) from None
        raise NOT_JSON(engine=engine, what=Text("engine.detail.something_else")) from None
    if not isinstance(data, dict):
        raise NOT_JSON(engine=engine, what=Text("engine.detail.json_type", {"kind": type(data).__name__}))
    return data


def parse_rows(
    rows: object, parse: Callable[[dict[str, Any]], SearchResult], engine: str
) -> tuple[tuple[SearchResult, ...], tuple[str, ...]]:
    """The results in ``rows``, and a note on rows without an http(s) URL; an error if that is all of them."""
    if not isinstance(rows, list):
        raise UNREADABLE(engine=engine)
    results = tuple(parse(row) for row in rows if _has_url(row))
    if rows and not results:
        raise UNREADABLE(engine=engine)
    skipped = len(rows) - len(results)
    return results, (f"{skipped} malformed results skipped",) if skipped else ()


def plain_text(value: object, tags: re.Pattern[str] | None = None) -> str:
    """A text with white space collapsed; with ``tags``, these are removed and character references resolved."""
    text = str(value or "")
    return " ".join((html.unescape(tags.sub("", text)) if tags else text).split())


def _has_url(row: object) -> bool:
    return isinstance(row, dict) and str(row.get("url") or "").startswith(("http://", "https://"))
