"""The tools for LangChain (``suyuan[langchain]``): ``SearchTool()`` and ``FetchTool()``, or both by ``web_tools()``."""

from __future__ import annotations

from typing import Any

from ..citations.registry import CitationRegistry
from ..client import AsyncClient
from ..config.settings import Settings
from ..core.page_reading import Depth
from ..search.service import SearchService
from ..shared import acquire, default_client
from ..tools.session import SessionSearch
from ..tools.specs import AGENT_INPUTS, ONE_INPUT, Lang
from .extras import needs

with needs("langchain"):
    from langchain_core.tools import BaseTool

    from ..tools.langchain import SessionFetchTool, SessionSearchTool

__all__ = ["DetailedSearchTool", "FetchTool", "SearchTool", "web_tools"]


class SearchTool(SessionSearchTool):
    """``web_search`` with one input, the query; everything else is configured.

    ``SearchTool()`` uses the client that the process shares, which is closed at exit; with a ``SearchService`` that one
    is asked. ``lang`` is the language of its texts, and ``engines`` a plan in place of
    the configured one. With the depth ``passages`` it reads the first pages and returns the passages that answer.
    """

    def __init__(
        self,
        service: SearchService | None = None,
        *,
        lang: Lang = "zh",
        engines: str = "",
        focus: str = "",
        depth: Depth = "results",
        settings: Settings | None = None,
        citations: CitationRegistry | None = None,
        inputs: tuple[str, ...] = ONE_INPUT,
    ) -> None:
        if service is not None and not isinstance(service, SearchService):
            raise TypeError(f"SearchTool takes a SearchService, such as client.search_service, not {service!r}")
        client = _client(settings)
        reader = None if service else client.result_reader
        search = SessionSearch(service or client.search_service, engines=engines, focus=focus, reader=reader)
        super().__init__(
            search,
            citations,
            lang=lang,
            inputs=inputs,
            max_results=client.settings.search.max_results,
            most_results=client.settings.most_results,
            snippet_length=client.settings.search.snippet_length,
            depth=depth,
        )


class DetailedSearchTool(SearchTool):
    """``web_search`` whose model may also choose how many results, how new, of what kind, from where and how deep."""

    def __init__(self, service: SearchService | None = None, **options: Any) -> None:
        super().__init__(service, inputs=AGENT_INPUTS, **options)


class FetchTool(SessionFetchTool):
    """``web_fetch``, on the client that the process shares."""

    def __init__(
        self,
        *,
        lang: Lang = "zh",
        settings: Settings | None = None,
        citations: CitationRegistry | None = None,
    ) -> None:
        client = _client(settings)
        super().__init__(client.read, client.bridge, lang=lang, citations=citations)


def web_tools(
    *,
    lang: Lang = "zh",
    engines: str = "",
    focus: str = "",
    depth: Depth = "results",
    detailed: bool = False,
    settings: Settings | None = None,
) -> list[BaseTool]:
    """``web_search`` and ``web_fetch`` for one agent, numbering their sources together; closed at exit.

    ``web_search`` is a ``SearchTool``, or with ``detailed`` a ``DetailedSearchTool``.

    The tools do not see the conversation of the agent: what its model searches and opens is sent as it is, also where
    it has read own documents (``library``) before. Only the chat holds the rule that these do not leave.
    """
    citations = CitationRegistry()
    kind = DetailedSearchTool if detailed else SearchTool
    search = kind(lang=lang, engines=engines, focus=focus, depth=depth, settings=settings, citations=citations)
    return [search, FetchTool(lang=lang, settings=settings, citations=citations)]


def _client(settings: Settings | None) -> AsyncClient:
    return acquire(settings) if settings else default_client()
