"""The steps of a turn, search and read: each emits events, counts against the limits and adds evidence."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..citations.matching import MAX_EVIDENCE
from ..citations.registry import Source
from ..core.causes.chat import FETCH_LIMIT, FROM_ARCHIVE, FROM_GUIDES, PAGE_LATE, SEARCH_LIMIT
from ..core.document import Document
from ..core.errors import SuyuanError, WebProviderError
from ..core.query import SearchQuery
from ..core.result import ARCHIVE, GUIDES, Attempt, SearchPage
from ..core.views import receipt
from ..engines import registry
from ..engines.engine_info import GENERAL_GUIDE
from ..pages.passages import Selection, select
from ..search.plan import Plan
from ..text.asked_anew import asked_anew
from ..tools.text import page_text
from .events import PageFailed, PageRead, SearchFailed, SearchFinished, SearchStarted, StepFinished, StepStarted, Tool
from .turn import Turn


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
        return page_text(self.document, self.chosen, lang, self.source.number)


@dataclass(frozen=True, slots=True)
class _Allowed:
    """What may be asked: the query as it is sent, and the engines where these are not all."""

    query: SearchQuery
    engines: str = ""
    refused: SuyuanError | None = None
    """Why the web is not asked, where only what is on this machine is."""


def used_up(turn: Turn) -> set[Tool]:
    """The tools whose limit is reached; all of them after the time of the turn."""
    limits, used = turn.session.settings.limits, turn.usage
    left: dict[Tool, int] = {"web_search": limits.searches - used.searches, "web_fetch": limits.fetches - used.fetches}
    return {tool for tool, more in left.items() if more <= 0 or turn.seconds() > limits.seconds}


def guide_for(error: SuyuanError) -> str:
    """The name of the guide that helps after this failure of a search."""
    for name in (error.engine, *(attempt.engine for attempt in error.attempts)):
        if name in registry.BUILT_IN and registry.BUILT_IN[name].guide != GENERAL_GUIDE:
            return registry.BUILT_IN[name].guide
    return GENERAL_GUIDE


async def search_step(turn: Turn, query: SearchQuery) -> tuple[SearchPage, bool]:
    """Search; the second value tells whether this conversation had searched the same before."""
    limit = turn.session.settings.limits.searches
    allowed = _allowed(turn, query)
    query = allowed.query
    if turn.session.mode == "agent" and turn.usage.searches >= limit:
        raise SEARCH_LIMIT(limit=limit)
    turn.spend(searches=1)
    step, started = turn.next_step(), time.monotonic()
    turn.emit(StepStarted(step, "web_search", query.text))
    turn.emit(SearchStarted(step, query.text, turn.session.engine))
    try:
        # Who asks to search again, or for news, gets what was found since.
        max_age = time.monotonic() - turn.started if asked_anew(turn.message) else math.inf
        asked = replace(query, trace_id=turn.run)
        page, repeated = await turn.session.search.search(asked, engines=allowed.engines, max_age=max_age)
    except SuyuanError as error:
        recalled = await _recalled(turn, query, error)
        if recalled is None:
            # Where the web would have been asked, that it was not is what matters.
            cause = turn.failed = allowed.refused or error
            notes = _receipt(turn, query, error.attempts)
            _ended(turn, "web_search", SearchFailed(step, query.text, cause.failure, _since(started), notes))
            raise cause from None
        page, repeated = recalled, False
    took, notes = _since(started), _receipt(turn, query, page.attempts)
    found = SearchFinished(step, query.text, page.engine, len(page.results), took, page.cached, repeated, notes)
    _ended(turn, "web_search", found)
    return page, repeated


def _allowed(turn: Turn, query: SearchQuery) -> _Allowed:
    """The query as it may be sent, and whom; raises where nobody may be asked."""
    plan = _plan(turn, query)
    if plan is not None and not plan.leaves:
        return _Allowed(query)
    try:
        return _Allowed(turn.web_policy.allowed_query(query))
    except SuyuanError as error:
        turn.refused(error)
        if plan is None or not plan.here:
            raise
        # What is asked on this machine may be asked anything.
        return _Allowed(query, "+".join(plan.here), error)


def _plan(turn: Turn, query: SearchQuery) -> Plan | None:
    """The engines that a search would ask; None where that cannot be told, and the search will say why."""
    try:
        return turn.session.search.plan_for(query)
    except SuyuanError:
        return None


def _receipt(turn: Turn, query: SearchQuery, attempts: tuple[Attempt, ...]) -> tuple[Mapping[str, Any], ...]:
    """What each engine did; the answer keeps it too."""
    notes = tuple(receipt(attempts))
    turn.receipts.append({"query": query.text, "engines": notes})
    return notes


def _ended(turn: Turn, tool: Tool, event: SearchFinished | SearchFailed | PageRead | PageFailed) -> None:
    turn.emit(event)
    turn.emit(StepFinished(event.step, tool, isinstance(event, SearchFinished | PageRead), event.took_ms))


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
    turn.notice("warning", cause, guide_for(error))
    return page


async def read_step(turn: Turn, url: str, question: str, budget: int) -> ReadPage:
    """Read a page and choose the passages for ``question`` within ``budget`` tokens."""
    limit = turn.session.settings.limits.fetches
    try:
        url = turn.web_policy.allowed_url(url)
    except SuyuanError as error:
        turn.refused(error)
        raise
    if turn.session.mode == "agent" and turn.usage.fetches >= limit:
        raise FETCH_LIMIT(limit=limit)
    turn.spend(fetches=1)
    step, started = turn.next_step(), time.monotonic()
    turn.emit(StepStarted(step, "web_fetch", url))
    try:
        document = await turn.session.fetch(url)
    except SuyuanError as error:
        # It may repeat what the server said, and the model reads it.
        turn.web_policy.read(error.message)
        _ended(turn, "web_fetch", PageFailed(step, url, error.failure, _since(started)))
        raise
    except asyncio.CancelledError:
        _ended(turn, "web_fetch", PageFailed(step, url, PAGE_LATE.failure(), _since(started)))
        raise
    # In a thread, since the text may be as long as a book.
    chosen = await asyncio.to_thread(select, document.text, question or turn.message, budget)
    source = turn.citations.add_page(url, document)
    read = _compared(document, chosen)
    turn.add_page(source.number, read)
    if not document.private:
        turn.web_policy.linked(link for _, link in document.links)
    turn.web_policy.read(f"{document.title}\n{read}", private=document.private)
    _ended(turn, "web_fetch", PageRead(step, url, document.title, source.number, chosen.tokens, _since(started)))
    return ReadPage(source, document, chosen)


def _compared(document: Document, chosen: Selection) -> str:
    """The text that sentences and queries are compared with.

    All of it, not only what the model gets to see: "not found in the page" must be true. Of a text that is longer than
    can be compared, what the model sees comes first.
    """
    if len(document.text) <= MAX_EVIDENCE:
        return document.text
    seen = "\n\n".join(passage.text for passage in chosen.passages)
    return f"{seen}\n\n{document.text}"[:MAX_EVIDENCE]


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
