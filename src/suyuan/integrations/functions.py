"""The tools as plain functions, for frameworks that make tools of functions: pydantic-ai, openai-agents, and others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import date
from inspect import signature
from typing import Any, get_type_hints

from ..citations.registry import CitationRegistry
from ..config.settings import Settings
from ..config.ui import ui_language
from ..core.errors import SuyuanError
from ..pages.passages import select
from ..shared import acquire, default_client
from ..tools.session import SessionSearch, depth_from, query_from
from ..tools.specs import WEB_FETCH, WEB_SEARCH, Lang, ToolSpec
from ..tools.text import PAGE_TOKENS, compact, failure, page_text

AsyncTool = Callable[..., Coroutine[Any, Any, str]]
Tool = Callable[..., str]


class WebFunctions:
    """``web_search`` and ``web_fetch`` for one agent; both number their sources together.

    A failure comes back as text that says so, never as an exception. The functions carry descriptions and types, by
    which a framework tells the model how to call them. They do not see the conversation of the agent: what its model
    searches and opens is sent as it is, also where it has read own documents before.
    """

    def __init__(self, *, lang: Lang | None = None, engines: str = "", settings: Settings | None = None) -> None:
        self._client = acquire(settings) if settings else default_client()
        self._lang: Lang = lang or ("zh" if ui_language() == "zh" else "en")
        reader = self._client.result_reader
        self._session = SessionSearch(self._client.search_service, engines=engines, reader=reader)
        self.citations = CitationRegistry()
        """The sources by their numbers."""

    @property
    def functions(self) -> tuple[AsyncTool, AsyncTool]:
        """Both as coroutine functions."""

        async def web_search(
            query: str, count: int = 5, freshness: str = "", focus: str = "", allowed_domains: list[str] | None = None
        ) -> str:
            given = {"count": count, "freshness": freshness, "focus": focus, "allowed_domains": allowed_domains}
            return await self._search({"query": query, **given})

        async def web_fetch(url: str, question: str = "") -> str:
            return await self._fetch(url, question)

        return self._documented(web_search, WEB_SEARCH), self._documented(web_fetch, WEB_FETCH)

    @property
    def sync_functions(self) -> tuple[Tool, Tool]:
        """Both for frameworks that call functions and wait for them."""

        return tuple(map(self._waiting, self.functions))  # type: ignore[return-value]

    def _waiting(self, function: AsyncTool) -> Tool:
        """A function that waits for what ``function`` returns, with its name, types and documentation."""

        def call(*given: Any, **named: Any) -> str:
            return self._client.bridge.run(function(*given, **named))

        for name in ("__name__", "__qualname__", "__doc__", "__annotations__"):
            setattr(call, name, getattr(function, name))
        # Without a reference to the coroutine function, which frameworks would find and await.
        call.__signature__ = signature(function)  # type: ignore[attr-defined]
        return call

    async def _search(self, arguments: dict[str, Any]) -> str:
        try:
            query = query_from(arguments, count=5, most=self._client.settings.most_results)
            page, repeated = await self._session.search(query, *depth_from(arguments))
        except SuyuanError as error:
            return failure(error, self._lang)
        sources = self.citations.add(page, query.count)
        return compact(page, sources, lang=self._lang, today=date.today(), repeated=repeated)

    async def _fetch(self, url: str, question: str) -> str:
        try:
            document = await self._client.read(url)
        except SuyuanError as error:
            return failure(error, self._lang, "fetch")
        number = self.citations.add_page(url, document).number
        chosen = await asyncio.to_thread(select, document.text, question, PAGE_TOKENS)
        return page_text(document, chosen, self._lang, number)

    def _documented(self, function: Any, spec: ToolSpec) -> Any:
        """The function with the description of a tool as its documentation, in the form that frameworks read."""
        names = function.__annotations__
        texts = {p.name: p.zh if self._lang == "zh" else p.en for p in spec.parameters if p.name in names}
        today = date.today().isoformat() if spec is WEB_SEARCH else ""
        arguments = "\n".join(f"    {name}: {text}" for name, text in texts.items())
        function.__doc__ = f"{spec.description(self._lang, today)}\n\nArgs:\n{arguments}\n"
        # As real types: not every framework resolves those that are written as text.
        function.__annotations__ = get_type_hints(function)
        return function


def web_functions(
    *, lang: Lang | None = None, engines: str = "", settings: Settings | None = None
) -> tuple[AsyncTool, AsyncTool]:
    """``web_search`` and ``web_fetch`` as coroutine functions, for one agent."""
    return WebFunctions(lang=lang, engines=engines, settings=settings).functions


def sync_web_functions(
    *, lang: Lang | None = None, engines: str = "", settings: Settings | None = None
) -> tuple[Tool, Tool]:
    """Like :func:`web_functions`, for frameworks that call functions and wait for them."""
    return WebFunctions(lang=lang, engines=engines, settings=settings).sync_functions
