"""The tools for LangChain (``suyuan[langchain]``): ``web_tools()`` gives both, on a client that the process shares."""

from __future__ import annotations

from ..citations.registry import CitationRegistry
from ..config.settings import Settings
from ..config.ui import ui_language
from ..core.page_reading import Depth
from ..shared import acquire, default_client
from ..tools.session import SessionSearch
from ..tools.specs import AGENT_INPUTS, Lang
from .extras import needs

with needs("langchain"):
    from langchain_core.tools import BaseTool

    from ..tools.langchain import FetchTool, SearchTool

__all__ = ["FetchTool", "SearchTool", "web_tools"]


def web_tools(
    *,
    lang: Lang | None = None,
    engines: str = "",
    focus: str = "",
    depth: Depth = "results",
    settings: Settings | None = None,
) -> list[BaseTool]:
    """``web_search`` and ``web_fetch`` for one agent, numbering their sources together; closed at exit.

    ``lang`` is the language of their texts, by default that of the locale. With the depth ``passages``, ``web_search``
    reads the first pages and returns the passages that answer the query. The model may also say how many results it
    wants, how old they may be, of which domains and what kind of source.
    """
    client = acquire(settings) if settings else default_client()
    session = SessionSearch(client.search_service, engines=engines, focus=focus, reader=client.result_reader)
    citations = CitationRegistry()
    wanted: Lang = lang or ("zh" if ui_language() == "zh" else "en")
    search = SearchTool(session, citations, lang=wanted, inputs=AGENT_INPUTS, depth=depth)
    return [search, FetchTool(client.read, client.bridge, lang=wanted, citations=citations)]
