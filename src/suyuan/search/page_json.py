"""A search page, and what one engine found, as JSON and back: for the cache that workers share, and other processes."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from ..core.document import cut_from
from ..core.extras import DirectAnswer, Extras, Infobox
from ..core.failure import Failure
from ..core.query import SearchQuery
from ..core.result import Attempt, Details, EngineResults, SearchPage, SearchResult, SkippedRow


def dump_page(page: SearchPage) -> bytes:
    """The page without its query."""
    searched_at = page.searched_at.isoformat() if page.searched_at else None
    data = {
        "results": [asdict(result) for result in page.results],
        "attempts": [_attempt_view(attempt) for attempt in page.attempts],
        "took_ms": page.took_ms,
        "searched_at": searched_at,
        "extras": asdict(page.extras),
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def load_page(data: bytes, query: SearchQuery) -> SearchPage:
    """What :func:`dump_page` wrote; raises ``ValueError`` where it is anything else."""
    try:
        read = json.loads(data.decode("utf-8", "surrogatepass"))
        searched_at = datetime.fromisoformat(read["searched_at"]) if read["searched_at"] else None
        return SearchPage(
            query,
            tuple(_result(row) for row in read["results"]),
            tuple(_attempt(row) for row in read["attempts"]),
            int(read["took_ms"]),
            extras=_extras(read["extras"]),
            searched_at=searched_at,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(str(error)) from None


def found_view(found: EngineResults) -> dict[str, Any]:
    """What one engine found, as JSON."""
    return asdict(found)


def found_from(data: dict[str, Any]) -> EngineResults:
    """What :func:`found_view` wrote; raises ``LookupError`` or ``TypeError`` where it is anything else."""
    return EngineResults(
        tuple(_result(row) for row in data["results"]),
        tuple(map(str, data["notes"])),
        str(data["request_id"]),
        _extras(data["extras"]),
        tuple(SkippedRow(**row) for row in data["skipped"]),
    )


def _attempt_view(attempt: Attempt) -> dict[str, Any]:
    data = {item.name: getattr(attempt, item.name) for item in fields(attempt)}
    return {**data, "failure": attempt.failure.as_dict() if attempt.failure else None}


def _attempt(data: dict[str, Any]) -> Attempt:
    failure = Failure.from_dict(data["failure"]) if data["failure"] else None
    return Attempt(**_tuples({**data, "failure": failure}))


def _result(data: dict[str, Any]) -> SearchResult:
    details = _details(data["details"]) if data["details"] else None
    # What was read of a page is read after the search, for the one who asked.
    return SearchResult(**_tuples({**data, "details": details, "reading": None}))


def _details(data: dict[str, Any]) -> Details:
    return Details(**_tuples({**data, "cut": cut_from(data["cut"])}))


def _extras(data: dict[str, Any]) -> Extras:
    boxes = tuple(Infobox(**_tuples(box)) for box in data["infoboxes"])
    answers = tuple(DirectAnswer(**answer) for answer in data["answers"])
    return Extras(answers, boxes, tuple(data["suggestions"]), tuple(data["corrections"]))


def _tuples(data: dict[str, Any]) -> dict[str, Any]:
    """JSON has lists where the values have tuples."""
    return {name: _tuple(value) for name, value in data.items()}


def _tuple(value: Any) -> Any:
    return tuple(_tuple(item) for item in value) if isinstance(value, list) else value
