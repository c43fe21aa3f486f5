"""The tools for LangChain (``suyuan[langchain]``): ``web_tools()`` gives both, on a client that the process shares."""

from __future__ import annotations

from langchain_core.tools import BaseTool

from ..config.settings import Settings
from ..core.page_reading import Depth
from ..shared import acquire, default_client
from ..tools.langchain import FetchTool, SearchTool
from ..tools.session import SessionSearch
from ..tools.specs import Lang

__all__ = ["FetchTool", "SearchTool", "web_tools"]


def web_tools(
    *, lang: Lang = "en", engines: str = "", depth: Depth = "results", settings: Settings | None = None
) -> list[BaseTool]:
    """``web_search`` and ``web_fetch`` for one agent; the client behind them is closed at exit.

    With the depth ``passages``, ``web_search`` reads the first pages and returns the passages that answer the query.
    """
    client = acquire(settings) if settings else default_client()
    session = SessionSearch(client.search_service, engines=engines, reader=client.result_reader)
    search = SearchTool(session, lang=lang, depth=depth)
    return [search, FetchTool(client.read, client.bridge, lang=lang)]
