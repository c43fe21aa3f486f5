"""Search and read before answering: what a message needs, as values for a responder or as a prompt for a model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from ..citations.registry import Source
from ..core.errors import SuyuanError
from ..core.query import SearchQuery
from ..core.result import ARCHIVE, GUIDES, SearchPage
from ..embedded.turn_input import TurnInput
from ..tools.text import shortened
from .context import earlier, find_context_query
from .prompts import with_results, without_results
from .steps import ReadPage, read_step, search_step
from .turn import Turn

# Engines take a few hundred characters; a long message is searched by its beginning.
_LONGEST_QUERY = 300
_MAX_PAGES = 4
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
        given = TurnInput(turn.message, earlier(turn), failed=self.error is not None)
        given.add_search(" ".join(self.queries), self.sources)
        for page in self.pages:
            given.add_page(page.source, page.text)
        return given


class Gathering:
    """One message: its searches, and the reading of pages that may go on while the answer is written."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._reading: list[asyncio.Task[None]] = []
        self.found = Gathered()

    async def gather(self) -> Gathered:
        """Search, and read the pages behind the best results as long as the settings allow."""
        await self._search()
        if seconds := self._turn.session.settings.read_seconds:
            # What is known without the web cannot be read from it either.
            on_the_web = [source for source in self.found.sources if source.engine not in (ARCHIVE, GUIDES)]
            self._reading = [asyncio.create_task(self._read(source)) for source in on_the_web[:_MAX_PAGES]]
            if self._reading:
                await asyncio.wait(self._reading, timeout=seconds)
        return self.found

    async def stop(self) -> None:
        """Stop reading; what arrived in the meantime counts when the answer is checked."""
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)

    async def _search(self) -> None:
        """Search the message, and what it leaves out where it leans on the conversation; both at the same time."""
        turn, found = self._turn, self.found
        pages = [
            page for page in await asyncio.gather(self._in_context(), self._searched(turn.message)) if page is not None
        ]
        if not pages:
            return
        found.error = None
        most = turn.session.settings.results
        for at, page in enumerate(pages):
            found.queries.append(page.query.text)
            # Two searches share the places: the one with the context is the better one.
            limit = most if len(pages) == 1 else most - most // 2 if at == 0 else most // 2
            known = {source.number for source in found.sources}
            found.sources += [each for each in turn.citations.add(page, limit) if each.number not in known]

    async def _in_context(self) -> SearchPage | None:
        query = await find_context_query(self._turn)
        return await self._searched(query) if query else None

    async def _searched(self, text: str) -> SearchPage | None:
        try:
            query = SearchQuery(shortened(" ".join(text.split()), _LONGEST_QUERY).rstrip("…"))
            return (await search_step(self._turn, query))[0]
        except SuyuanError as error:
            self.found.error = error
            return None

    async def _read(self, source: Source) -> None:
        try:
            self.found.pages.append(await read_step(self._turn, source.url, self._turn.message, _PAGE_TOKENS))
        except SuyuanError:
            return  # the step has said so
