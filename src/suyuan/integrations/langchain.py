"""The tools for LangChain (``suyuan[langchain]``): ``web_tools()`` gives both, on a client that the process shares."""

from __future__ import annotations

from langchain_core.tools import BaseTool

from ..config.settings import Settings
from ..shared import acquire, default_client
from ..tools.langchain import FetchTool, SearchTool
from ..tools.session import SessionSearch
from ..tools.specs import Lang

__all__ = ["FetchTool", "SearchTool", "web_tools"]


def web_tools(*, lang: Lang = "en", engines: str = "", settings: Settings | None = None) -> list[BaseTool]:
    """``web_search`` and ``web_fetch`` for one agent; the client behind them is closed at exit."""
    client = acquire(settings) if settings else default_client()
    search = SearchTool(SessionSearch(client.search_service, engines=engines), lang=lang)
    return [search, FetchTool(client.read, client.bridge, lang=lang)]
