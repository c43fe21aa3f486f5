"""The search tool for LangChain (``suyuan[langchain]``)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import date
from typing import Any, ClassVar, Literal

from langchain_core.callbacks import AsyncCallbackManagerForToolRun, CallbackManagerForToolRun
from langchain_core.tools import BaseTool
from pydantic import ConfigDict, PrivateAttr

from ..citations.registry import CitationRegistry
from ..core.causes.asked import BAD_ARGUMENT
from ..core.document import Document
from ..core.errors import SuyuanError
from ..core.page_reading import Depth
from ..core.query import MAX_RESULTS, SearchQuery
from ..core.result import SearchPage
from ..core.sync_bridge import SyncBridge
from ..messages.catalog import Text
from ..pages.passages import select
from .session import SessionSearch, depth_from, query_from
from .specs import ONE_INPUT, WEB_FETCH, WEB_SEARCH, Lang
from .text import PAGE_TOKENS, compact, failure, page_text

MOST_RESULTS = 5
_EMPTY: tuple[object, ...] = (None, "", [], ())
"""What counts as not given."""

Fetch = Callable[[str], Coroutine[Any, Any, Document]]


class _WebTool(BaseTool):
    """Common to both tools: text and artifact as output; a wrong call is answered by text."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    description: str = ""
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_validation_error: bool | str | Callable[..., str] | None = True
    lang: Lang = "zh"

    text_input: ClassVar[str] = "query"
    """The input that a text alone is: ``tool.invoke("tea")``."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)

    def run(self, tool_input: str | dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Run the tool."""
        return super().run(self._named(tool_input), *args, **kwargs)

    async def arun(self, tool_input: str | dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Run the tool asynchronously."""
        return await super().arun(self._named(tool_input), *args, **kwargs)

    def _named(self, tool_input: str | dict[str, Any]) -> dict[str, Any]:
        return {self.text_input: tool_input} if isinstance(tool_input, str) else tool_input


class SessionSearchTool(_WebTool):
    """``web_search`` over a session's search: compact text with global numbers, and the ``SearchPage`` as artifact.

    A failure comes back as text, never as an exception: the agent lives on, and knows that it must not pretend.
    """

    name: str = WEB_SEARCH.name
    max_results: int = MOST_RESULTS
    """How many results a call gets that does not say how many."""
    most_results: int = MAX_RESULTS
    """The most that a call may ask for."""
    snippet_length: int = 200
    depth: Depth = "results"
    """How deep it searches where the model does not say; reading needs a session with a reader."""

    _search: SessionSearch = PrivateAttr()
    _inputs: frozenset[str] = PrivateAttr()
    _citations: CitationRegistry = PrivateAttr()
    _today: Callable[[], date] = PrivateAttr()

    def __init__(
        self,
        search: SessionSearch,
        citations: CitationRegistry | None = None,
        *,
        lang: Lang = "zh",
        inputs: tuple[str, ...] = ONE_INPUT,
        max_results: int = MOST_RESULTS,
        most_results: int = MAX_RESULTS,
        snippet_length: int = 200,
        depth: Depth = "results",
        today: Callable[[], date] = date.today,
    ) -> None:
        super().__init__(
            description=WEB_SEARCH.description(lang, today().isoformat()),
            args_schema=WEB_SEARCH.schema(lang, inputs, most_results),
            lang=lang,
            max_results=min(max_results, most_results, MOST_RESULTS),
            most_results=most_results,
            snippet_length=min(snippet_length, 200),
            depth=depth,
        )
        self._search = search
        self._inputs = frozenset(inputs)
        self._citations = citations or CitationRegistry()
        self._today = today

    @property
    def citations(self) -> CitationRegistry:
        """The numbering of the sources of this answer."""
        return self._citations

    def close(self) -> None:
        """End the session of this tool: from now on it answers that the session has ended."""
        self._search.close()

    def _run(
        self, run_manager: CallbackManagerForToolRun | None = None, **arguments: Any
    ) -> tuple[str, SearchPage | None]:
        return self._search.run_sync(self._arun(**arguments))

    async def _arun(
        self, run_manager: AsyncCallbackManagerForToolRun | None = None, **arguments: Any
    ) -> tuple[str, SearchPage | None]:
        try:
            given = self._offered(arguments)
            query = query_from(given, count=self.max_results, most=self.most_results)
            page, repeated = await self.searched(query, *depth_from(given, self.depth))
        except SuyuanError as error:
            return failure(error, self.lang), None
        # As many as the model asked for, and else as many as are usual.
        sources = self._citations.add(page, page.query.count)
        today, length = self._today(), self.snippet_length
        return compact(page, sources, lang=self.lang, today=today, snippet=length, repeated=repeated), page

    def _offered(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call; raises where one has a value that the tool would have to leave out."""
        for name, value in arguments.items():
            if name not in self._inputs and value not in _EMPTY:
                known = Text("input.detail.unknown_argument", {"known": ", ".join(sorted(self._inputs))})
                raise BAD_ARGUMENT(name=name, why=known)
        return {name: value for name, value in arguments.items() if name in self._inputs}

    async def searched(
        self, query: SearchQuery, depth: Depth = "results", max_tokens: int | None = None
    ) -> tuple[SearchPage, bool]:
        """Search; the second value tells whether the session had searched the same before."""
        return await self._search.search(query, depth, max_tokens)


class SessionFetchTool(_WebTool):
    """``web_fetch``: the relevant passages of a page, and the ``Document`` as artifact; failures are text."""

    name: str = WEB_FETCH.name
    text_input: ClassVar[str] = "url"
    max_tokens: int = PAGE_TOKENS

    _fetch: Fetch = PrivateAttr()
    _citations: CitationRegistry | None = PrivateAttr()
    _bridge: SyncBridge = PrivateAttr()

    def __init__(
        self,
        fetch: Fetch,
        bridge: SyncBridge,
        *,
        lang: Lang = "zh",
        max_tokens: int = PAGE_TOKENS,
        citations: CitationRegistry | None = None,
    ) -> None:
        super().__init__(
            description=WEB_FETCH.description(lang),
            args_schema=WEB_FETCH.schema(lang),
            lang=lang,
            max_tokens=max_tokens,
        )
        self._fetch = fetch
        self._citations = citations
        self._bridge = bridge

    def _run(
        self, url: str, question: str = "", run_manager: CallbackManagerForToolRun | None = None
    ) -> tuple[str, Document | None]:
        return self._bridge.run(self._arun(url, question))

    async def _arun(
        self, url: str, question: str = "", run_manager: AsyncCallbackManagerForToolRun | None = None
    ) -> tuple[str, Document | None]:
        try:
            return await self.read(url, question)
        except SuyuanError as error:
            return failure(error, self.lang, "fetch"), None

    async def read(self, url: str, question: str) -> tuple[str, Document]:
        """Read a page; its text for the model, and the whole of it."""
        document = await self._fetch(url)
        number = self._citations.add_page(url, document).number if self._citations is not None else None
        chosen = await asyncio.to_thread(select, document.text, question, self.max_tokens)
        return page_text(document, chosen, self.lang, number), document
