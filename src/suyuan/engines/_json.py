"""Reading JSON answers: the few words the engines with an interface share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.causes.engine import NOT_JSON, UNDECODED, UNREADABLE
from ..core.result import SearchResult
from ..core.wire import Response
from ..messages.catalog import Text


def json_of(response: Response, engine: str) -> dict[str, Any]:
    """The answer as a JSON object, or the error that says what came in its place."""
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


def results_of(
    rows: object, read: Callable[[object], SearchResult | None], engine: str
) -> tuple[tuple[SearchResult, ...], tuple[str, ...]]:
    """The results in ``rows``, and a note on those that could not be read; where none can, the whole answer cannot."""
    if not isinstance(rows, list):
        raise UNREADABLE(engine=engine)
    results = tuple(result for row in rows if (result := read(row)))
    if rows and not results:
        raise UNREADABLE(engine=engine)
    left_out = len(rows) - len(results)
    return results, (f"{left_out} malformed results skipped",) if left_out else ()
