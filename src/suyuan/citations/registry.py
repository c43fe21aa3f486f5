"""Numbers the sources of one answer; the numbers increase over its searches and are never reused."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ..core.document import Cut, Document
from ..core.result import SearchPage, SearchResult
from ..core.urls import page_key


@dataclass(frozen=True, slots=True)
class Source:
    """A page that an answer can cite by its number."""

    number: int
    title: str
    url: str
    snippet: str = ""
    engine: str = ""
    published_at: str | None = None
    round: int = 1
    """The number of the search that found it first."""
    fetched_at: str | None = None
    """When a page of the archive was read."""
    read_from: str = ""
    """The address that the text was read from; empty if only the snippet is known."""
    read_at: str = ""
    sha256: str = ""
    """The hash of the text that was read: what is cited is this text, whatever the page says later."""
    cut: Cut | None = None
    """How much of the document was read, where it was not all."""

    @property
    def domain(self) -> str:
        """The domain of the page."""
        return SearchResult(self.title, self.url, engine=self.engine).source


@dataclass(frozen=True, slots=True)
class Round:
    """One search of an answer: its query and the numbers of all sources it found, known ones included."""

    number: int
    query: str
    sources: tuple[int, ...]


Found = Callable[[Round, tuple[Source, ...]], None]


class CitationRegistry:
    """Assigns numbers to sources; safe for concurrent searches in threads and tasks.

    ``found`` is called with each search and its sources.
    """

    def __init__(self, found: Found = lambda round, sources: None) -> None:
        self._found = found
        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {}
        self._sources: dict[int, Source] = {}
        self._rounds: list[Round] = []

    def add(self, page: SearchPage, limit: int | None = None) -> tuple[Source, ...]:
        """Number the first ``limit`` results of one search; a known page keeps its number."""
        return self.add_results(page.results[:limit], page.query.text)

    def add_results(self, results: Iterable[SearchResult], query: str = "") -> tuple[Source, ...]:
        """Number the results of a search for ``query``; a known page keeps its number."""
        with self._lock:
            round_number = len(self._rounds) + 1
            found = tuple(self._number(result, round_number) for result in results)
            self._rounds.append(Round(round_number, query, tuple(source.number for source in found)))
            latest = self._rounds[-1]
        self._found(latest, found)
        return found

    def add_page(self, url: str, document: Document) -> Source:
        """Number a page that was read, with what was read; a known page keeps its number."""
        with self._lock:
            known = self._numbers.get(page_key(url))
            if known is not None:
                source = self._sources[known]
            else:
                round_number = len(self._rounds) + 1
                source = self._number(SearchResult(document.title, url), round_number)
                self._rounds.append(Round(round_number, url, (source.number,)))
            source = self._sources[source.number] = replace(
                source,
                read_from=document.final_url,
                read_at=document.fetched_at,
                sha256=document.sha256,
                published_at=source.published_at or document.published_at,
                cut=document.cut,
            )
            latest = self._rounds[-1]
        if known is None:
            self._found(latest, (source,))
        return source

    def by_number(self) -> dict[int, Source]:
        """All sources by their numbers."""
        with self._lock:
            return dict(self._sources)

    @property
    def sources(self) -> tuple[Source, ...]:
        """All sources, in the order of their numbers."""
        with self._lock:
            return tuple(self._sources.values())

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The searches, in the order in which they finished."""
        with self._lock:
            return tuple(self._rounds)

    def _number(self, result: SearchResult, round_number: int) -> Source:
        key = page_key(result.url)
        if key in self._numbers:
            known = self._sources[self._numbers[key]] = _as_read(self._sources[self._numbers[key]], result)
            # Another search may return another part of the same page: the snippet of that search is used here.
            return replace(known, snippet=result.snippet or known.snippet)
        number = len(self._numbers) + 1
        cut = result.details.cut if result.details else None
        source = Source(
            number,
            result.title,
            result.url,
            result.snippet,
            result.engine,
            result.published_at,
            round_number,
            result.fetched_at,
            cut=cut,
        )
        self._numbers[key] = number
        source = self._sources[number] = _as_read(source, result)
        return source


def _as_read(source: Source, result: SearchResult) -> Source:
    """The source with what its search has read of it."""
    read = result.reading
    if read is None or read.error is not None:
        return source
    return replace(source, read_from=read.final_url, read_at=read.read_at, sha256=read.sha256, cut=read.cut)
