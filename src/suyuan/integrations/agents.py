"""Agents by ``agents.json``: which of them have the search tool, and their sessions."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..client import AsyncClient
from ..config.agents import AgentWebSearch, agent_web_search
from ..config.load import load_settings
from ..config.settings import Settings
from ..tools.session import SessionSearch
from ..tools.specs import FOUR_INPUTS, Lang

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from ..tools.langchain import SearchTool


def load_agent_config(agent_id: str, settings: Settings | None = None) -> AgentWebSearch:
    """The resolved web search of one agent: enabled, provider, key, time, cache and number of results."""
    return agent_web_search(agent_id, settings or load_settings())[0]


def create_web_search_tool(options: AgentWebSearch, *, client: AsyncClient, lang: Lang = "zh") -> SearchTool | None:
    """The tool for an agent, with its provider fixed now; None where the agent may not search."""
    if not options.enabled:
        return None
    from ..tools.langchain import SearchTool

    search = SessionSearch(client.search_service, engines=options.provider)
    return SearchTool(search, lang=lang, inputs=FOUR_INPUTS, max_results=options.max_results)


@dataclass(slots=True)
class AgentSession:
    """One session of one agent, and the tools it has."""

    session_id: str
    tools: tuple[BaseTool, ...] = ()
    _client: AsyncClient | None = field(default=None, repr=False)

    def close(self) -> None:
        """End the session: its cache is gone and what it opened is closed."""
        if self._client is not None:
            self._client.close_sync()
            self._client = None
        self.tools = ()


class AgentManager:
    """Keeps the sessions of agents; a session has the search tool if and only if its agent may search."""

    def __init__(self, settings: Settings | None = None, *, lang: Lang = "zh") -> None:
        self._settings = settings or load_settings()
        self._lang: Lang = lang
        self._sessions: dict[str, AgentSession] = {}
        self._lock = threading.Lock()

    def get_or_create_session(
        self, session_id: str, *, web_search: AgentWebSearch | None = None, tools: tuple[BaseTool, ...] = ()
    ) -> AgentSession:
        """Return the session of that id; a new one gets ``tools``, and the search tool where it is enabled."""
        with self._lock:
            if session_id not in self._sessions:
                self._sessions[session_id] = self._create(session_id, web_search, tools)
            return self._sessions[session_id]

    def close_session(self, session_id: str) -> None:
        """End one session; one that is not there is no failure."""
        with self._lock:
            session = self._sessions.pop(session_id, None)
        if session:
            session.close()

    def close(self) -> None:
        """End all sessions."""
        for session_id in list(self._sessions):
            self.close_session(session_id)

    def _create(self, session_id: str, web_search: AgentWebSearch | None, tools: tuple[BaseTool, ...]) -> AgentSession:
        if web_search is None or not web_search.enabled:
            return AgentSession(session_id, tools)
        client = AsyncClient(self._for(web_search))
        tool = create_web_search_tool(web_search, client=client, lang=self._lang)
        return AgentSession(session_id, (*tools, tool) if tool else tools, client)

    def _for(self, web_search: AgentWebSearch) -> Settings:
        """The settings with the agent's own time, cache and key in their places."""
        search = replace(
            self._settings.search, seconds=web_search.timeout_seconds, cache_minutes=web_search.cache_ttl_minutes
        )
        engines = dict(self._settings.engines)
        if web_search.api_key and web_search.provider in engines:
            engines[web_search.provider] = replace(engines[web_search.provider], api_key=web_search.api_key)
        return replace(self._settings, search=search, engines=engines)
