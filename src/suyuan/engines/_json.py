"""Parsing JSON answers: what the engines with an API share."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

from ..core.causes.engine import NOT_JSON, UNDECODED, UNREADABLE
from ..core.result import SearchResult
from ..core.wire import Response
from ..messages.catalog import Text


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
