"""The LangChain tools of one turn: every call is a step of the turn."""

from __future__ import annotations

from pydantic import PrivateAttr

from ..core.document import Document
from ..core.page_reading import Depth
from ..core.query import SearchQuery
from ..core.result import SearchPage
from ..core.sync_bridge import SyncBridge
from ..tools.langchain import SessionFetchTool, SessionSearchTool
from .steps import read_step, search_step
from .turn import Turn


class TurnSearchTool(SessionSearchTool):
    """``web_search`` within a turn."""

    _turn: Turn = PrivateAttr()

    def __init__(self, turn: Turn) -> None:
        session = turn.session
        super().__init__(
            session.search,
            turn.citations,
            lang=turn.lang,
            max_results=session.settings.results,
            snippet_length=session.settings.snippet_length,
        )
        self._turn = turn

    async def searched(
        self, query: SearchQuery, depth: Depth = "results", max_tokens: int | None = None
    ) -> tuple[SearchPage, bool]:
        """Search as a step of the turn; reading a page is a step of its own here."""
        return await search_step(self._turn, query)


class ReadTool(SessionFetchTool):
    """``web_fetch`` within a turn."""

    _turn: Turn = PrivateAttr()

    def __init__(self, turn: Turn) -> None:
        super().__init__(turn.session.fetch, SyncBridge(), lang=turn.lang)
        self._turn = turn

    async def read(self, url: str, question: str) -> tuple[str, Document]:
        """Read as a step of the turn."""
        page = await read_step(self._turn, url, question, self.max_tokens)
        return page.for_model(self.lang), page.document
