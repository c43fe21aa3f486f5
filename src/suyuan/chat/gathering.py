"""Search and read before answering: what a message needs, as values for a responder or as a prompt for a model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from ..citations.registry import Source
from ..core.errors import SuyuanError
from ..core.query import SearchQuery
from ..core.result import ARCHIVE, GUIDES, SearchPage
from ..core.urls import page_key
from ..embedded.turn_input import TurnInput
from ..search.result_reader import ParallelReads
from ..tools.text import shortened
from .context import resolved_message
from .prompts import with_results, without_results
from .steps import ReadPage, read_step, search_step
from .turn import Turn

# Engines take a few hundred characters; a long message is searched by its beginning.
_LONGEST_QUERY = 300
_MAX_PAGES = 4
_MAX_EARLIER = 2
_PAGE_TOKENS = 800


@dataclass(slots=True)
class Gathered:
    """The sources of a message and the pages of them that were read."""

    queries: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    pages: list[ReadPage] = field(default_factory=list)
    error: SuyuanError | None = None
    """Why there are no sources, where every search failed."""

    def prompt(self, turn: Turn) -> str:
        """The message with all of this, for a language model."""
        if self.error is not None:
            return without_results(turn.message, turn.lang)
        read = [page.for_model(turn.lang) for page in sorted(self.pages, key=lambda page: page.source.number)]
        query = "” · “".join(self.queries)
        found = with_results(turn.message, query, self.sources, turn.lang, turn.session.settings.snippet_length)
        return "\n\n".join([*read, found])

    def turn_input(self, turn: Turn) -> TurnInput:
        """The message with all of this, for a responder."""
        given = TurnInput(turn.message, turn.session.history, turn.session.length, failed=self.error is not None)
        given.add_search(" ".join(self.queries), self.sources)
        for page in self.pages:
            given.add_page(page.source, page.text)
        return given


class Gathering:
    """One message: its searches, and the reading of pages that may go on while the answer is written."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._reads = ParallelReads(())
        self._follows_up = False
        self._question = turn.message
        self.found = Gathered()

    async def gather(self) -> Gathered:
        """Search, and read the pages behind the best results as long as the settings allow."""
        await self._search()
        if seconds := self._turn.session.settings.read_seconds:
            self._reads = ParallelReads([self._read(url) for url in self._pages_to_read()])
            await self._reads.wait(seconds)
        return self.found

    async def stop(self) -> None:
        """Stop reading; what arrived in the meantime counts when the answer is checked."""
        await self._reads.stop()

    async def _search(self) -> None:
        """Search the message, and what it leaves out where it leans on the conversation; both at the same time."""
        turn = self._turn
        if turn.query:
            self._add([await self._searched(turn.query)])
            return
        (in_context, certain), own = await asyncio.gather(self._in_context(), self._searched(turn.message))
        self._add([in_context, own] if certain else [own, in_context])

    def _add(self, results: list[SearchPage | None]) -> None:
        """Number the sources of the searches, the more important first."""
        turn, found = self._turn, self.found
        pages = [page for page in results if page is not None]
        if not pages:
            return
        found.error = None
        most = turn.session.settings.results
        for at, page in enumerate(pages):
            found.queries.append(page.query.text)
            # Two searches share the places; the first has the more.
            limit = most if len(pages) == 1 else most - most // 2 if at == 0 else most // 2
            known = {source.number for source in found.sources}
            found.sources += [each for each in turn.citations.add(page, limit) if each.number not in known]

    async def _in_context(self) -> tuple[SearchPage | None, bool]:
        """The results for what the message leaves out, and whether it leaves out anything for certain."""
        resolved = await resolved_message(self._turn)
        self._follows_up = bool(resolved.query)
        self._question = f"{resolved.about} {resolved.question}".strip()
        return await self._searched(resolved.query) if resolved.query else None, resolved.certain

    async def _searched(self, text: str) -> SearchPage | None:
        try:
            query = SearchQuery(shortened(" ".join(text.split()), _LONGEST_QUERY).rstrip("…"))
            return (await search_step(self._turn, query))[0]
        except SuyuanError as error:
            self.found.error = error
            return None

    def _pages_to_read(self) -> list[str]:
        """The best results; for a follow-up also what the answer before was based on, which may say more."""
        # What is known without the web cannot be read from it either.
        found = [source.url for source in self.found.sources if source.engine not in (ARCHIVE, GUIDES)][:_MAX_PAGES]
        history = self._turn.session.history
        earlier_urls = [url for _, url in history[-1].sources][:_MAX_EARLIER] if found and self._follows_up else []
        return list({page_key(url): url for url in (*found, *earlier_urls)}.values())

    async def _read(self, url: str) -> None:
        try:
            self.found.pages.append(await read_step(self._turn, url, self._question, _PAGE_TOKENS))
        except SuyuanError:
            return  # the step has said so
