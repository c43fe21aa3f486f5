"""Agents by ``agents.json``: which of them have the search tool, and their sessions."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..client import AsyncClient, needs_browser
from ..config.agents import AgentWebSearch, agent_web_search, with_usable_provider
from ..config.load import load_settings
from ..config.settings import Settings
from ..core.engine import EngineSettings
from ..engines.registry import canonical, names
from ..shared import acquire, release
from ..tools.session import SessionSearch
from ..tools.specs import FOUR_INPUTS, Lang

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from ..tools.langchain import SessionSearchTool


def load_agent_config(agent_id: str, settings: Settings | None = None) -> AgentWebSearch:
    """The resolved web search of one agent: enabled, provider, key, time, cache and number of results."""
    return agent_web_search(agent_id, settings or load_settings())[0]


def create_web_search_tool(
    options: AgentWebSearch | Mapping[str, Any], *, client: AsyncClient | None = None, lang: Lang = "zh"
) -> SessionSearchTool | None:
    """The tool for an agent, with its provider fixed now; None where the agent may not search.

    The options are those that ``load_agent_config`` returns, or a mapping such as ``{"enabled": True, "provider":
    "brave", "apiKey": "…", "timeoutSeconds": 15, "cacheTtlMinutes": 5, "maxResults": 5}``.
    Without a ``client`` the tool uses the one that the process shares, which is closed at exit.
    """
    options = _options(options)
    if not options.enabled:
        return None
    from ..tools.langchain import SessionSearchTool

    settings = client.settings if client else _with_key(load_settings(), options)
    options = with_usable_provider(options, settings.engines)
    client = client or acquire(settings)
    client.warn_without_browser(needs_browser(options.provider))
    service = client.search_service.with_limits(
        seconds=options.timeout_seconds, cache_seconds=options.cache_ttl_minutes * 60
    )
    search = SessionSearch(service, engines=options.provider)
    return SessionSearchTool(
        search, lang=lang, inputs=FOUR_INPUTS, max_results=options.max_results, most_results=options.most_results
    )


@dataclass(slots=True)
class AgentSession:
    """One session of one agent, and the tools it has."""

    session_id: str
    tools: tuple[BaseTool, ...] = ()
    _client: AsyncClient | None = field(default=None, repr=False)
    _search_tool: SessionSearchTool | None = field(default=None, repr=False)

    def close(self) -> None:
        """End the session: its cache is gone, a tool of it that somebody still holds answers that it has ended.

        The last session closes the connections and the browser.
        """
        if self._search_tool is not None:
            self._search_tool.close()
            self._search_tool = None
        if self._client is not None:
            release(self._client)
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
        self,
        session_id: str,
        *,
        web_search: AgentWebSearch | Mapping[str, Any] | None = None,
        tools: tuple[BaseTool, ...] = (),
    ) -> AgentSession:
        """Return the session of that id; a new one gets ``tools``, and the search tool where it is enabled.

        ``web_search`` is what ``create_web_search_tool`` takes.
        """
        with self._lock:
            if session_id not in self._sessions:
                self._sessions[session_id] = self._create(session_id, web_search, tools)
            return self._sessions[session_id]

    def close_session(self, session_id: str) -> None:
        """End one session; an id without a session is not an error."""
        with self._lock:
            session = self._sessions.pop(session_id, None)
        if session:
            session.close()

    def close(self) -> None:
        """End all sessions."""
        for session_id in list(self._sessions):
            self.close_session(session_id)

    def _create(
        self, session_id: str, web_search: AgentWebSearch | Mapping[str, Any] | None, tools: tuple[BaseTool, ...]
    ) -> AgentSession:
        options = _options(web_search or {})
        if not options.enabled:
            return AgentSession(session_id, tools)
        client = acquire(_with_key(self._settings, options))
        tool = create_web_search_tool(options, client=client, lang=self._lang)
        if tool:
            tools = (*tools, tool)
        return AgentSession(session_id, tools, client, tool)


def _options(options: AgentWebSearch | Mapping[str, Any]) -> AgentWebSearch:
    return options if isinstance(options, AgentWebSearch) else AgentWebSearch.of(options)


def _with_key(settings: Settings, options: AgentWebSearch) -> Settings:
    """The settings with the agent's key; equal to ``settings`` where the key came from there."""
    name = canonical(options.provider)
    if not options.api_key or name not in names():
        return settings
    own = replace(settings.engines.get(name, EngineSettings()), api_key=options.api_key)
    return replace(settings, engines={**settings.engines, name: own})
