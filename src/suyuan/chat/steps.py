"""The steps of a turn, search and read: each emits events, counts against the limits and adds evidence."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace

from ..citations.registry import Source
from ..core.causes.chat import FETCH_LIMIT, FROM_ARCHIVE, FROM_GUIDES, PAGE_LATE, SEARCH_LIMIT
from ..core.document import Document
from ..core.errors import SuyuanError, WebProviderError
from ..core.query import SearchQuery
from ..core.result import ARCHIVE, GUIDES, SearchPage
from ..core.views import receipt
from ..pages.passages import Selection, select
from ..tools.text import page_text
from .events import PageFailed, PageRead, SearchFailed, SearchFinished, SearchStarted, StepFinished, StepStarted
from .turn import Turn

PAGE_TOKENS = 2000


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page that was read in a turn, and the passages of it that matter for the question."""

    source: Source
    document: Document
    chosen: Selection

    @property
    def text(self) -> str:
        """The passages."""
        return "\n\n".join(passage.text for passage in self.chosen.passages)

    def for_model(self, lang: str) -> str:
        """The passages as text for a language model, with the number of the source."""
        return f"[{self.source.number}] {page_text(self.document, self.chosen, lang)}"


async def search_step(turn: Turn, query: SearchQuery) -> tuple[SearchPage, bool]:
    """Search; the second value tells whether this conversation had searched the same before."""
    limit = turn.session.settings.limits.searches
    turn.web_policy.check_query(query.text)
    if turn.session.mode == "agent" and turn.usage.searches >= limit:
        raise SEARCH_LIMIT(limit=limit)
    turn.spend(searches=1)
    step, started = turn.next_step(), time.monotonic()
    turn.emit(StepStarted(step, "web_search", query.text))
    turn.emit(SearchStarted(step, query.text, turn.session.engine))
    try:
        page, repeated = await turn.session.search.search(replace(query, trace_id=turn.run or query.trace_id))
    except SuyuanError as error:
        if (recalled := await _recalled(turn, query, error)) is not None:
            _finished(turn, step, query, recalled, False, _since(started))
            return recalled, False
        turn.failed = error
        took = _since(started)
        notes = tuple(receipt(error.attempts))
        turn.receipts.append({"query": query.text, "engines": notes})
        turn.emit(SearchFailed(step, query.text, error.failure, took, notes))
        turn.emit(StepFinished(step, "web_search", False, took))
        raise
    _finished(turn, step, query, page, repeated, _since(started))
    return page, repeated


def _finished(turn: Turn, step: int, query: SearchQuery, page: SearchPage, repeated: bool, took: int) -> None:
    notes = tuple(receipt(page.attempts))
    turn.receipts.append({"query": query.text, "engines": notes})
    turn.emit(SearchFinished(step, query.text, page.engine, len(page.results), took, page.cached, repeated, notes))
    turn.emit(StepFinished(step, "web_search", True, took))


async def _recalled(turn: Turn, query: SearchQuery, error: SuyuanError) -> SearchPage | None:
    """What is known without the web when no engine could answer; the user is told that it is used."""
    recall = turn.session.recall
    page = await recall.search(query, error) if recall and isinstance(error, WebProviderError) else None
    if page is None:
        return None
    guide = page.results[0].engine == GUIDES
    days = sorted(result.fetched_at[:10] for result in page.results if result.fetched_at and result.engine == ARCHIVE)
    dates = " – ".join(dict.fromkeys((days[0], days[-1]))) if days else ""
    cause = (FROM_GUIDES if guide else FROM_ARCHIVE).failure(cause=error.failure, dates=dates)
    turn.notice("warning", cause, "searxng" if "searxng" in {a.engine for a in error.attempts} else "troubleshooting")
    return page


async def read_step(turn: Turn, url: str, question: str, budget: int) -> ReadPage:
    """Read a page and choose the passages for ``question`` within ``budget`` tokens."""
    limit = turn.session.settings.limits.fetches
    url = turn.web_policy.allowed_url(url)
    if turn.session.mode == "agent" and turn.usage.fetches >= limit:
        raise FETCH_LIMIT(limit=limit)
    turn.spend(fetches=1)
    step, started = turn.next_step(), time.monotonic()
    turn.emit(StepStarted(step, "web_fetch", url))
    try:
        document = await turn.session.fetch(url)
    except SuyuanError as error:
        took = _since(started)
        # It may repeat what the server said, and the model reads it.
        turn.web_policy.read(error.message)
        turn.emit(PageFailed(step, url, error.failure, took))
        turn.emit(StepFinished(step, "web_fetch", False, took))
        raise
    except asyncio.CancelledError:
        turn.emit(PageFailed(step, url, PAGE_LATE.failure(), _since(started)))
        turn.emit(StepFinished(step, "web_fetch", False, _since(started)))
        raise
    chosen = select(document.text, question or turn.message, budget)
    source = turn.citations.add_page(url, document)
    # All of it, not only what the model gets to see: "not found in the page" must be true.
    turn.add_page(source.number, document.text)
    turn.web_policy.found(link for _, link in document.links)
    turn.web_policy.read(f"{document.title}\n{document.text}", private=document.private)
    took = _since(started)
    turn.emit(PageRead(step, url, document.title, source.number, chosen.tokens, took))
    turn.emit(StepFinished(step, "web_fetch", True, took))
    return ReadPage(source, document, chosen)


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
