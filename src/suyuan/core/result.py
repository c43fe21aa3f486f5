"""What a search gives: ``SearchResult`` and ``EngineResults``, ``Attempt`` (an engine's receipt) and ``SearchPage``."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal

from .document import Cut
from .extras import NO_EXTRAS, Extras
from .failure import Failure
from .page_reading import PageReading
from .query import SearchQuery
from .urls import domain_of

AttemptOutcome = Literal["ok", "empty", "blocked", "timeout", "late", "error", "skipped", "cancelled"]


@dataclass(frozen=True, slots=True)
class Details:
    """What some engines know about a page beyond its text: a paper, a repository, a question, a book."""

    authors: tuple[str, ...] = ()
    venue: str = ""
    """The journal, publisher or site where it appeared."""
    doi: str = ""
    cited_by: int | None = None
    """How often other works cite it."""
    stars: int | None = None
    score: int | None = None
    """Votes or points of a question or a story."""
    comments: int | None = None
    """Comments on a story, answers to a question."""
    accepted: bool | None = None
    """Whether a question has an accepted answer."""
    topics: tuple[str, ...] = ()
    """Tags, subjects, programming languages."""
    image: str = ""
    """The address of a picture."""
    file: str = ""
    """The path of a document of the library, from the folder on that was added."""
    page: int | None = None
    """The page of a PDF."""
    cut: Cut | None = None
    """How much of the document was read, where it was not all."""

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """The fields that are known, as JSON."""
        known = {item.name: getattr(self, item.name) for item in fields(self)}
        if self.cut is not None:
            known["cut"] = self.cut.published(lang)
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in known.items()
            if value not in ((), "", None)
        }


ARCHIVE, GUIDES, LIBRARY = "archive", "guides", "library"
"""What answers without the web: pages that were read before, the product's own guides, the user's own documents."""
_FAILED = ("blocked", "timeout", "late", "error")


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One page that an engine found. ``rank`` is 0 until normalisation writes it."""

    title: str
    url: str
    snippet: str = ""
    engine: str = ""
    rank: int = 0
    published_at: str | None = None
    summary: str = ""
    also_from: tuple[str, ...] = ()
    details: Details | None = None
    fetched_at: str | None = None
    """When a page of the archive was read."""
    reading: PageReading | None = None
    """What was read of the page, where the search was asked to read."""

    @property
    def source(self) -> str:
        """The domain of the page, without ``www.``; ``library`` for a document of the user."""
        return LIBRARY if self.engine == LIBRARY else domain_of(self.url)

    def joined(self, other: SearchResult) -> SearchResult:
        """The same page as two engines found it, with the text that the first of them lacks."""
        return replace(
            self,
            title=self.title or other.title,
            snippet=self.snippet or other.snippet,
            published_at=self.published_at or other.published_at,
            summary=self.summary or other.summary,
            also_from=tuple(dict.fromkeys((*self.also_from, other.engine))),
            details=self.details or other.details,
            fetched_at=self.fetched_at or other.fetched_at,
            reading=self.reading or other.reading,
        )

    def ranked(self, rank: int) -> SearchResult:
        """The same result at another rank."""
        # dataclasses.replace takes three times as long, for every result of every search.
        values = list(_values(self))
        values[_RANK] = rank
        return SearchResult(*values)


_RESULT_FIELDS = [field.name for field in fields(SearchResult)]
_RANK = _RESULT_FIELDS.index("rank")
_values = attrgetter(*_RESULT_FIELDS)


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row of an engine's answer that is no result."""

    number: int
    """Its place in the answer, from 1."""
    reason: str


@dataclass(frozen=True, slots=True)
class EngineResults:
    """What one engine found: results in its order, and remarks on what was left out or could not be honoured."""

    results: tuple[SearchResult, ...] = ()
    notes: tuple[str, ...] = ()
    request_id: str = ""
    extras: Extras = NO_EXTRAS
    skipped: tuple[SkippedRow, ...] = ()
    """The rows that could not be read; whoever runs the engine logs them."""

    def with_notes(self, *notes: str) -> EngineResults:
        """The same results with ``notes`` in front of their own."""
        return replace(self, notes=notes + self.notes)


@dataclass(frozen=True, slots=True)
class Attempt:
    """The receipt of one engine: what it did, how long it took, and why it failed if it did."""

    engine: str
    outcome: AttemptOutcome
    count: int = 0
    latency_ms: int = 0
    failure: Failure | None = None
    unsupported_params: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    request_id: str = ""
    relevance: float | None = None
    """The share of the query's words that the best results hold, where it can be judged."""

    @property
    def code(self) -> str:
        """The code of the failure, or an empty text."""
        return self.failure.code if self.failure else ""

    @property
    def detail_code(self) -> str:
        """The detail code of the failure, or an empty text."""
        return self.failure.detail_code if self.failure else ""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The answer to a search: results ranked from 1, and the receipt of every engine that was asked."""

    query: SearchQuery
    results: tuple[SearchResult, ...]
    attempts: tuple[Attempt, ...]
    took_ms: int
    cached: bool = False
    extras: Extras = NO_EXTRAS
    """Direct answers, infoboxes and suggestions of the engines that have them."""
    searched_at: datetime | None = None
    """When the engines were asked, which is earlier where the page was kept; None where none was asked."""

    @property
    def engine(self) -> str:
        """The engine, or engines joined by ``+``, that the results came from."""
        return "+".join(dict.fromkeys(a.engine for a in self.attempts if a.outcome in ("ok", "empty")))

    @property
    def from_archive(self) -> bool:
        """Whether results come from what was read before, not from the web."""
        return any(result.engine in (ARCHIVE, GUIDES) for result in self.results)

    @property
    def degraded(self) -> bool:
        """Whether an engine that was asked failed or was late, or the archive answered in place of the web."""
        return self.from_archive or any(attempt.outcome in _FAILED for attempt in self.attempts)
