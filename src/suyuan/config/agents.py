"""``agents.json``: which agents may search the web, and with which engine."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from ..core.causes.asked import BAD_ARGUMENT
from ..core.engine import EngineSettings
from ..core.errors import SuyuanError
from ..core.query import MAX_RESULTS
from ..core.secret import MASK, Secret
from ..core.setting import InvalidValue, ValueKind, flag, number, text, whole
from ..engines import registry
from ..messages.catalog import Text
from .engine_settings import plan_problem
from .load import FALLBACK_ENGINE, SEARCH_TIMEOUT
from .reader import read_json
from .settings import ConfigProblem, Settings

log = logging.getLogger("suyuan.config")

AGENT_SECONDS = 15.0
DEFAULT_RESULTS = 5

# The names that the published interface has for the fields, and what each of them may be.
_OPTIONS: dict[str, tuple[str, ValueKind]] = {
    "enabled": ("enabled", flag()),
    "provider": ("provider", text()),
    "apiKey": ("api_key", text()),
    "timeoutSeconds": ("timeout_seconds", number(0.05, 120)),
    "cacheTtlMinutes": ("cache_ttl_minutes", number(0, 1440)),
    "maxResults": ("max_results", whole(1, MAX_RESULTS)),
}


@dataclass(frozen=True, slots=True)
class AgentWebSearch:
    """The web search of one agent; an agent for which it is not enabled has no search tool at all."""

    enabled: bool = False
    provider: str = FALLBACK_ENGINE
    api_key: Secret = Secret("")
    timeout_seconds: float = AGENT_SECONDS
    cache_ttl_minutes: float = 5.0
    max_results: int = DEFAULT_RESULTS
    """How many results a call gets that does not say how many."""
    most_results: int = 0
    """The most that a call gets; 0 for ``max_results`` where that is not the default, else all there can be."""

    def __post_init__(self) -> None:
        if not self.most_results:
            is_default = self.max_results == DEFAULT_RESULTS
            limit = MAX_RESULTS if is_default else self.max_results
            object.__setattr__(self, "most_results", limit)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """The search that a mapping such as ``{"enabled": True, "maxResults": 3}`` describes."""
        if not isinstance(options, Mapping):
            raise _wrong_type("webSearch", "mapping", options)
        enabled = options.get("enabled")
        if enabled is not None and not isinstance(enabled, bool):
            # Nothing but true enables a search, here as in agents.json.
            raise _wrong_type("enabled", "bool", enabled)
        given: dict[str, Any] = {}
        for name, value in options.items():
            if name not in _OPTIONS:
                known = Text("input.detail.unknown_argument", {"known": ", ".join(_OPTIONS)})
                raise BAD_ARGUMENT(name=name, why=known)
            if value is None:
                continue
            field, kind = _OPTIONS[name]
            if isinstance(value, Secret):
                value = value.reveal()
            try:
                given[field] = kind.check(value)
            except InvalidValue as error:
                raise BAD_ARGUMENT(name=name, why=error.reason) from None
        given["api_key"] = Secret(given.get("api_key", ""))
        return cls(**given, most_results=given.get("max_results", 0))


def _wrong_type(name: str, wanted: str, value: object) -> SuyuanError:
    why = Text("input.detail.wrong_type", {"wanted": wanted, "given": type(value).__name__})
    return BAD_ARGUMENT(name=name, why=why)


def agent_web_search(agent_id: str, settings: Settings) -> tuple[AgentWebSearch, tuple[ConfigProblem, ...]]:
    """The web search of ``agent_id``, not enabled unless ``agents.json`` says so, and the problems found."""
    path = settings.agents_file
    data: dict[str, Any] = {}
    problems: list[ConfigProblem] = []
    if path:
        data, unreadable = read_json(path)
        if unreadable:
            problems.append(unreadable)
    entry = _entry(data, agent_id, str(path), problems)
    seconds = settings.search.seconds
    if settings.origin(SEARCH_TIMEOUT) == "default":
        seconds = AGENT_SECONDS
    search = AgentWebSearch(
        enabled=entry.get("enabled") is True,
        timeout_seconds=seconds,
        cache_ttl_minutes=settings.search.cache_minutes,
        max_results=settings.search.max_results,
        most_results=settings.most_results,
    )
    if search.enabled:
        provider = str(entry.get("provider") or settings.search.default)
        search = _with_provider(search, provider, settings, str(path), problems)
    for problem in problems:
        log.warning("%s", problem)
    return search, tuple(problems)


def with_usable_provider(search: AgentWebSearch, engines: Mapping[str, EngineSettings]) -> AgentWebSearch:
    """The same search, by DuckDuckGo where its provider is unknown or lacks its key, which is logged."""
    if problem := plan_problem(search.provider, engines):
        log.warning("%s", ConfigProblem("options", "provider", search.provider, problem[1], FALLBACK_ENGINE))
        return replace(search, provider=FALLBACK_ENGINE, api_key=Secret(""))
    return search


def _entry(data: dict[str, Any], agent_id: str, origin: str, problems: list[ConfigProblem]) -> dict[str, Any]:
    agents = data.get("agents", [])
    if not isinstance(agents, list):
        problems.append(ConfigProblem(origin, "agents", "", Text("config.why.list"), Text("config.used.no_agents")))
        return {}
    entry = next((agent for agent in agents if isinstance(agent, dict) and agent.get("id") == agent_id), {})
    own = entry.get("webSearch", {})
    at = f"agents[{agent_id}].webSearch"
    if not isinstance(own, dict):
        why, used = Text("config.why.object"), Text("config.used.disabled")
        problems.append(ConfigProblem(origin, at, str(own)[:50], why, used))
        return {}
    if "enabled" in own and not isinstance(own["enabled"], bool):
        shown = str(own["enabled"])[:50]
        problems.append(ConfigProblem(origin, f"{at}.enabled", shown, Text("config.why.flag"), "false"))
    if "apiKey" in own:
        why, used = Text("config.why.key_elsewhere"), Text("config.used.other_key")
        problems.append(ConfigProblem(origin, f"{at}.apiKey", MASK, why, used))
    return own


def _with_provider(
    search: AgentWebSearch, provider: str, settings: Settings, origin: str, problems: list[ConfigProblem]
) -> AgentWebSearch:
    if problem := plan_problem(provider, settings.engines):
        problems.append(ConfigProblem(origin, "webSearch.provider", provider, problem[1], FALLBACK_ENGINE))
        return replace(search, provider=FALLBACK_ENGINE)
    engine = settings.engines.get(registry.canonical(provider), EngineSettings())
    return replace(search, provider=provider, api_key=engine.api_key)
