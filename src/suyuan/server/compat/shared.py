"""What all foreign APIs share: reading a request, searching and reading pages for it, and saying what was left out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, Self, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from ...client import AsyncClient
from ...core.causes.engine import PAGE_UNSUPPORTED
from ...core.causes.page import READ_LATE
from ...core.causes.web import ONE_ANSWER
from ...core.document import Document
from ...core.errors import SuyuanError
from ...core.page_reading import Depth, PageReading
from ...core.person import require
from ...core.query import MAX_RESULTS, SearchQuery
from ...core.result import SearchPage, SearchResult
from ...core.views import receipt
from ...core.wire import Response as PageResponse
from ...pages.passages import select
from ...search.result_reader import ParallelReads
from ...store.conversation import new_id
from .. import errors
from ..metrics import Metrics
from ..sse import while_connected

M = TypeVar("M")

# So much is told of the parameters that have no effect.
_MOST_NAMES, _LONGEST_NAME = 50, 100
PASSAGES_BETWEEN = "\n[...]\n"
"""What stands between passages that are sent as one text."""
MOST_URLS = 20
_AT_ONCE = 8


def checked(make: Callable[[], M]) -> M:
    """What ``make`` reads; raises a cause for what does not fit its model."""
    try:
        return make()
    except ValidationError as error:
        details = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        raise errors.of_validation(details) from None


class Wanted(BaseModel):
    """The body of a foreign request: what is null counts as not given, and what is not known is kept by its name."""

    model_config = ConfigDict(extra="allow", populate_by_name=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        return {name: value for name, value in given.items() if value is not None} if isinstance(given, dict) else given

    def refuse(self, wanted: Mapping[str, object]) -> None:
        """Raise a cause for the first parameter that asks for what would be another answer than the wanted one."""
        for name in (name for name, asked in wanted.items() if asked):
            raise ONE_ANSWER(name=name)

    def not_honoured(self, known: Iterable[str] = (), ignored: Iterable[str] = ()) -> list[str]:
        """The names of the parameters that were sent and have no effect here.

        ``known`` are those of the API that cannot be honoured, ``ignored`` those that ask for nothing.
        """
        fields, extra = type(self).model_fields, self.model_extra or {}
        unknown = (name[:_LONGEST_NAME] for name, value in extra.items() if name not in ignored and _asks(value))
        names = chain((fields[name].alias or name for name in known if getattr(self, name)), unknown)
        return list(islice(names, _MOST_NAMES))

    @classmethod
    async def of(cls, request: Request) -> Self:
        """The body of ``request``; raises a cause for one that does not fit."""
        body = await request.body()
        return checked(lambda: cls.model_validate_json(body))


def _asks(value: Any) -> bool:
    """Whether a parameter with this value asks for anything."""
    return value not in (False, "", [])


@dataclass(slots=True)
class ForeignCall:
    """One request of a foreign client, and what its answer has to say besides the data."""

    request: Request
    id: str = field(default_factory=new_id)
    started: float = field(default_factory=time.monotonic)
    attempts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def client(self) -> AsyncClient:
        """The client that the server works with."""
        client: AsyncClient = self.request.app.state.client
        return client

    @property
    def lang(self) -> str:
        """The language that the caller prefers."""
        return errors.language_of(self.request)

    @property
    def seconds(self) -> float:
        """How long it took so far."""
        return round(time.monotonic() - self.started, 3)

    async def search(
        self,
        query: SearchQuery,
        most: int,
        *,
        depth: Depth = "results",
        max_tokens: int | None = None,
        pages: int | None = None,
    ) -> SearchPage:
        """Up to ``most`` results, from a second page of the engines where the first has too few."""
        if depth != "results":
            # Told before anything is searched in vain.
            require("read")
        page = await self.counted(replace(query, count=min(most, MAX_RESULTS)), most)
        if MAX_RESULTS <= len(page.results) < most:
            page = await self._with_more(page, query, most)
        reading = self.client.result_reader.read(page, depth, max_tokens, most=pages or len(page.results))
        return await while_connected(self.request, reading)

    async def _with_more(self, page: SearchPage, query: SearchQuery, most: int) -> SearchPage:
        try:
            more = await self.counted(replace(query, page=query.page + 1), most)
        except SuyuanError:
            # Many engines have no second page; what the first has is an answer all the same.
            return page
        known = {result.url for result in page.results}
        results = (*page.results, *(result for result in more.results if result.url not in known))[:most]
        return replace(page, results=tuple(result.ranked(at) for at, result in enumerate(results, 1)))

    async def counted(self, query: SearchQuery, most: int, engines: str = "") -> SearchPage:
        """One search, which is counted; a page that no engine has is an empty one, with what each of them said."""
        metrics: Metrics = self.request.app.state.metrics
        searching = self.client.search_service.search(query, engines=engines, most=most)
        try:
            page = await while_connected(self.request, metrics.counted(searching))
        except SuyuanError as error:
            if error.detail_code == PAGE_UNSUPPORTED.detail_code and query.page > 1:
                return SearchPage(query, (), error.attempts, 0)
            raise
        self.attempts += receipt(page.attempts, self.lang)
        return page

    async def documents(
        self,
        urls: Sequence[str],
        *,
        seconds: float | None = None,
        fresh: bool = False,
        render: bool = False,
        seen: Callable[[PageResponse], None] | None = None,
    ) -> list[Document | SuyuanError]:
        """The page at each address, or why it cannot be read; a few at the same time."""
        # Not once for each page, as why it cannot be read.
        require("read")
        limit = seconds or self.client.settings.pages.timeout_ms / 1000
        slots, done = asyncio.Semaphore(_AT_ONCE), dict[int, Document | SuyuanError]()

        async def read(at: int, url: str) -> None:
            async with slots:
                try:
                    done[at] = await self.client.fetcher.fetch(url, fresh=fresh, render=render, seen=seen)
                except SuyuanError as error:
                    done[at] = error

        reads = ParallelReads([read(at, url) for at, url in enumerate(urls)])
        try:
            await while_connected(self.request, reads.wait(limit))
        finally:
            await reads.stop()
        return [done.get(at) or READ_LATE(seconds=limit) for at in range(len(urls))]

    async def document(self, url: str, **how: Any) -> Document:
        """The page at one address; raises a cause where it cannot be read."""
        (read,) = await self.documents([url], **how)
        if isinstance(read, Document):
            return read
        raise read

    def said(self, not_honoured: Sequence[str] = (), **more: Any) -> dict[str, Any]:
        """What foreign forms have no field for: the receipt, and the parameters that had no effect."""
        return {"not_honoured": list(not_honoured), "receipt": self.attempts, **more}


def passages_text(result: SearchResult) -> str:
    """What was read of a result as one text, else its snippet."""
    passages = result.reading.passages if result.reading else ()
    return PASSAGES_BETWEEN.join(passage.text for passage in passages) or result.snippet


def document_of(result: SearchResult, reading: PageReading) -> Document:
    """The page of a result as it was read."""
    return Document(
        result.url, reading.final_url, reading.title or result.title, reading.text, "", reading.read_at, cut=reading.cut
    )


async def best_text(text: str, question: str, max_tokens: int) -> str:
    """The passages of ``text`` that answer ``question``, as one text."""
    chosen = await asyncio.to_thread(select, text, question, max_tokens)
    return PASSAGES_BETWEEN.join(passage.text for passage in chosen.passages)
