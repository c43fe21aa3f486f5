"""Reading JSON answers, and ``JsonEngine``, the base class of engines with a JSON API."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar

from ..core.causes.engine import API_SAID_NO, KEY_REJECTED, NOT_JSON, QUOTA_SPENT, UNDECODED, UNREADABLE
from ..core.http_status import check_status, is_challenge, retry_after
from ..core.query import SearchQuery
from ..core.result import Details, EngineResults, SearchResult, SkippedRow
from ..core.secret import Secret
from ..core.wire import Response
from ..messages.catalog import Text
from ..text.dates import read_date
from .query_kit import OneRequestEngine

TAGS = re.compile(r"<[^<>]*>")
"""The tags in texts that are HTML, for ``plain_text``."""

_MAX_SECONDS = 4e9
_ERROR_PLACES = (
    "error.message", "error.info", "error.detail", "error", "error_message", "readableMessage", "message",
    "detail.error", "detail", "errors", "msg",
)  # fmt: skip


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


def any_json(response: Response) -> Any:
    """The body as JSON; None if it is none."""
    try:
        return response.json()
    except ValueError:
        return None


def parse_rows(rows: object, parse: Callable[[dict[str, Any]], SearchResult | None], engine: str) -> EngineResults:
    """The results in ``rows``, and which rows are malformed and why; an error if that is all of them."""
    if not isinstance(rows, list):
        raise UNREADABLE(engine=engine)
    results: list[SearchResult] = []
    skipped: list[SkippedRow] = []
    for number, row in enumerate(rows, 1):
        parsed = _parse_row(row, parse)
        if isinstance(parsed, SearchResult):
            results.append(parsed)
        else:
            skipped.append(SkippedRow(number, parsed))
    if rows and not results:
        raise UNREADABLE(engine=engine)
    notes = (f"{len(skipped)} malformed results skipped",) if skipped else ()
    return EngineResults(tuple(results), notes, skipped=tuple(skipped))


def _parse_row(row: object, parse: Callable[[dict[str, Any]], SearchResult | None]) -> SearchResult | str:
    """The result in a row, or why it is none."""
    if not isinstance(row, dict):
        return f"it is no object but {type(row).__name__}"
    try:
        result = parse(row)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        # A row without the usual fields, or with other types: one malformed row must not cost the others.
        return f"{type(error).__name__}: {error}"
    if result is None:
        return "the engine does not take it for a result"
    if not result.url.startswith(("http://", "https://")):
        return f"its address is not http(s): {result.url!r}"
    return result


def plain_text(value: object, tags: re.Pattern[str] | None = None) -> str:
    """A text with white space collapsed; with ``tags``, these are removed and character references resolved."""
    text = str(value or "")
    return " ".join((html.unescape(tags.sub("", text)) if tags else text).split())


def value_at(data: object, path: str) -> Any:
    """The value at ``path`` (``data.webPages.value``) in nested objects; None if there is none."""
    for name in path.split(".") if path else ():
        data = data.get(name) if isinstance(data, dict) else None
    return data


def texts(value: object, path: str = "") -> tuple[str, ...]:
    """The texts of a list, or at ``path`` in each item, with white space collapsed; what is no text is left out."""
    items = (value_at(item, path) for item in value) if isinstance(value, list) else ()
    return tuple(text for item in items if isinstance(item, str) and (text := plain_text(item)))


def day_of(value: object, now: datetime | None = None) -> str | None:
    """The day that a text shows, or that seconds since 1970 stand for; "3 days ago" needs ``now``."""
    if (seconds := number_of(value)) is not None:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat() if 0 < seconds < _MAX_SECONDS else None
    return read_date(value, now) if isinstance(value, str) else None


def number_of(value: object) -> int | None:
    """A whole number; None for anything else, since an API may send text or nothing."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class JsonEngine(OneRequestEngine):
    """An engine with a JSON API. An engine says what to request and how one row of the answer becomes a result.

    Statuses, keys, quotas, challenges and answers that are no JSON are dealt with here.
    """

    rows: ClassVar[str] = ""
    """The path of the list of results in the answer, such as ``data.webPages.value``."""
    columns: ClassVar[tuple[str, str, str, str]] = ("title", "url", "description", "")
    """Where a row has its title, address, text and date (empty for none)."""
    html: ClassVar[bool] = False
    """Whether titles and texts are HTML."""
    longest_snippet: ClassVar[int | None] = None
    """Most characters of a text, for engines that send whole pages."""
    quota_statuses: ClassVar[tuple[int, ...]] = (402,)
    """The statuses that mean that the account has no requests left."""
    quota_words: ClassVar[tuple[str, ...]] = ()
    """Words in a refusal, in lower case, each of which means that the account has no requests left."""
    error_at: ClassVar[str] = ""
    """The path of the text that says, in an answer with a good status, that the search failed."""

    def result(self, row: dict[str, Any]) -> SearchResult | None:
        """Return the result in one row, or None for a row that is none; for engines whose rows need more than this."""
        title, url, about, shown = self.columns
        tags = TAGS if self.html else None
        published_at = day_of(row.get(shown), self.now()) if shown else None
        return SearchResult(
            plain_text(row[title], tags),
            str(row[url]),
            plain_text(row.get(about), tags)[: self.longest_snippet],
            self.name,
            published_at=published_at,
            details=self.details(row),
        )

    def details(self, row: dict[str, Any]) -> Details | None:
        """Return what a row says beyond title, address, text and date."""
        return None

    def parse_row(self, row: dict[str, Any], response: Response) -> SearchResult | None:
        """Return the result in one row of ``response``; for engines whose addresses depend on who answered."""
        return self.result(row)

    def check_data(self, data: dict[str, Any], response: Response) -> None:
        """Raise if ``data``, sent with a status that says that all is well, is an error."""
        if self.error_at and (said := value_at(data, self.error_at)):
            raise API_SAID_NO(engine=self.name, said=str(said)[:200])

    def found_nothing(self, data: dict[str, Any]) -> bool:
        """Whether ``data``, which has no list, means that nothing was found."""
        return False

    def out_of_quota(self, said: str, status: int) -> bool:
        """Whether a refusal means that the account has no requests left."""
        return status in self.quota_statuses or any(word in said.lower() for word in self.quota_words)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse the JSON answer."""
        self.check(response)
        data = self.object(response)
        self.check_data(data, response)
        rows = value_at(data, self.rows)
        if rows is None and self.found_nothing(data):
            return EngineResults()
        return parse_rows(rows, lambda row: self.parse_row(row, response), self.name)

    def bearer(self) -> dict[str, str | Secret]:
        """The header with the API key that most APIs take."""
        return {"Authorization": Secret(f"Bearer {self.require_key().reveal()}")}

    @staticmethod
    def now() -> datetime:
        """The current time, to which "3 days ago" in an answer is relative."""
        return datetime.now(UTC)

    def object(self, response: Response) -> dict[str, Any]:
        """The answer as a JSON object."""
        return json_object(response, self.name)

    def check(self, response: Response) -> None:
        """Raise the error that a status stands for, with what the API says about it."""
        status = response.status
        if status in (200, 202):
            return
        said = error_text(response)
        if self.out_of_quota(said, status):
            raise QUOTA_SPENT(engine=self.name, said=said or f"HTTP {status}", retry_after=retry_after(response))
        if self.api_key_env and status in (401, 403) and not is_challenge(response):
            raise KEY_REJECTED(engine=self.name, said=said or f"HTTP {status}")
        is_bad_request = 400 <= status < 500 and status not in (401, 403, 429)
        if said and is_bad_request:
            raise API_SAID_NO(engine=self.name, said=said)
        check_status(response, self.name)


def error_text(response: Response, *places: str) -> str:
    """What an API says about a failure, at ``places`` or where APIs usually say it; empty if nowhere."""
    data = any_json(response)
    for path in places or _ERROR_PLACES:
        found = value_at(data, path)
        if isinstance(found, list) and found:
            found = value_at(found[0], "message") or value_at(found[0], "msg") or found[0]
        if isinstance(found, str) and found.strip():
            return plain_text(found)[:200]
    return ""
