"""``ResultReader``: reads the pages behind search results, several at once, until a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from ..core.causes.page import READ_LATE
from ..core.document import Document
from ..core.errors import SuyuanError
from ..core.page_reading import Depth, PageReading, tokens_for
from ..core.person import require
from ..core.result import SearchPage
from ..pages.passages import Selection, select, select_among

MOST_PAGES = 5
"""How many pages are read for one search; what engines rank lower seldom says more."""


class ParallelReads:
    """Reads that run at the same time; those that are not done in time may go on, or be stopped."""

    def __init__(self, reads: Sequence[Coroutine[Any, Any, None]]) -> None:
        self._tasks = [asyncio.create_task(read) for read in reads]

    async def wait(self, seconds: float) -> None:
        """Wait until all are done, for at most ``seconds``."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    async def stop(self) -> None:
        """Cancel what still runs, with its sockets."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class ResultReader:
    """Adds to search results what their pages say, as deep as the caller asks."""

    def __init__(self, fetch: Callable[[str], Awaitable[Document]], *, seconds: float) -> None:
        self._fetch = fetch
        self._seconds = seconds

    async def read(
        self, page: SearchPage, depth: Depth, max_tokens: int | None = None, *, most: int = MOST_PAGES
    ) -> SearchPage:
        """The same results; the first ``most`` have passages or pages of ``max_tokens`` together, or say why not.

        The deadline is what the search has left of the query's ``budget_ms``, or as long as a search may take.
        """
        budget = tokens_for(depth, max_tokens)
        if depth != "results":
            require("read")
        if depth == "results" or not page.results:
            return page
        urls = [result.url for result in page.results[:most]]
        read = await self._documents(urls, self._time_for(page))
        documents = [each for each in read if isinstance(each, Document)]
        chosen = iter(await asyncio.to_thread(_chosen, documents, page.query.text, depth, budget))
        readings = [
            _reading(each, next(chosen), depth) if isinstance(each, Document) else PageReading(error=each.failure)
            for each in read
        ]
        found = [replace(result, reading=reading) for result, reading in zip(page.results, readings, strict=False)]
        return replace(page, results=(*found, *page.results[most:]))

    def _time_for(self, page: SearchPage) -> float:
        budget = page.query.budget_ms
        return self._seconds if budget is None else max(0.0, (budget - page.took_ms) / 1000)

    async def _documents(self, urls: Sequence[str], seconds: float) -> list[Document | SuyuanError]:
        """The page at each address, or why there is none."""
        done: dict[int, Document | SuyuanError] = {}

        async def read(number: int, url: str) -> None:
            try:
                done[number] = await self._fetch(url)
            except SuyuanError as error:
                done[number] = error

        reads = ParallelReads([read(number, url) for number, url in enumerate(urls)])
        try:
            await reads.wait(seconds)
        finally:
            await reads.stop()
        return [done.get(number) or READ_LATE(seconds=seconds) for number in range(len(urls))]


def _chosen(documents: list[Document], query: str, depth: Depth, max_tokens: int) -> list[Selection]:
    if depth == "passages":
        return select_among([document.text for document in documents], query, max_tokens)
    chosen, left = [], max_tokens
    for document in documents:
        # Whole pages as long as there is room; the last one may lack its end.
        chosen.append(select(document.text, "", left))
        left -= chosen[-1].tokens
    return chosen


def _reading(document: Document, chosen: Selection, depth: Depth) -> PageReading:
    passages, text = chosen.passages, ""
    if depth == "pages" and passages:
        end = passages[-1].end if chosen.cut else len(document.text)
        text = document.text[:end]
    if depth == "pages":
        passages = ()
    return PageReading(
        passages,
        text,
        document.final_url,
        document.fetched_at,
        document.sha256,
        document.title,
        chosen.tokens,
        chosen.total_tokens,
        cut=document.cut,
    )
