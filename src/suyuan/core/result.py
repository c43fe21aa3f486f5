"""``SearchResult``: one page that an engine found; ``EngineResults``: all that one engine found."""

from __future__ import annotations

from dataclasses import dataclass

from .urls import domain_of


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

    @property
    def source(self) -> str:
        """The domain of the page, without ``www.``."""
        return domain_of(self.url)

    def ranked(self, rank: int) -> SearchResult:
        """The same result at another rank."""
        # By hand: dataclasses.replace takes three times as long, for every result of every search.
        return SearchResult(
            self.title, self.url, self.snippet, self.engine, rank, self.published_at, self.summary, self.also_from
        )


@dataclass(frozen=True, slots=True)
class EngineResults:
    """What one engine found: results in its order, and remarks on what was left out or could not be honoured."""

    results: tuple[SearchResult, ...] = ()
    notes: tuple[str, ...] = ()
    request_id: str = ""

    def with_notes(self, *notes: str) -> EngineResults:
        """The same results with ``notes`` in front of their own."""
        return EngineResults(self.results, notes + self.notes, self.request_id)
