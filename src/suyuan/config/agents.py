"""``agents.json``: which agents may search the web, and through which engine."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

from ..core.secret import MASK, Secret
from ..engines import registry
from ..messages.catalog import Text
from .load import FALLBACK, read_json
from .settings import ConfigProblem, Settings

log = logging.getLogger("suyuan.config")

AGENT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class AgentWebSearch:
    """The resolved web search of one agent; one that is not enabled has no such tool at all."""

    enabled: bool = False
    provider: str = FALLBACK
    api_key: Secret = field(default_factory=lambda: Secret(""))
    timeout_seconds: float = AGENT_SECONDS
    cache_ttl_minutes: float = 5.0
    max_results: int = 5


def agent_web_search(agent_id: str, settings: Settings) -> tuple[AgentWebSearch, tuple[ConfigProblem, ...]]:
    """Resolve ``agents[].webSearch`` of ``agent_id``; an agent that is not named, or does not ask for it, has none."""
    path = settings.agents_file
    data, problem = read_json(path) if path else ({}, None)
    problems = [problem] if problem else []
    own = _entry(data, agent_id, str(path), problems)
    wanted = own.get("provider") or settings.search.default
    search = AgentWebSearch(
        enabled=own.get("enabled") is True,
        timeout_seconds=settings.search.seconds if settings.timeout_given else AGENT_SECONDS,
        cache_ttl_minutes=settings.search.cache_minutes,
        max_results=settings.search.max_results,
    )
    if search.enabled:
        search = _with_provider(search, str(wanted), settings, str(path), problems)
    for found in problems:
        log.warning("%s", found)
    return search, tuple(problems)


def _entry(data: dict[str, Any], agent_id: str, where: str, problems: list[ConfigProblem]) -> dict[str, Any]:
    agents = data.get("agents", [])
    if not isinstance(agents, list):
        problems.append(ConfigProblem(where, "agents", "", Text("config.why.list"), Text("config.used.no_agents")))
        return {}
    entry = next((a for a in agents if isinstance(a, dict) and a.get("id") == agent_id), {})
    own = entry.get("webSearch", {})
    if not isinstance(own, dict):
        key, why, used = f"agents[{agent_id}].webSearch", Text("config.why.object"), Text("config.used.disabled")
        problems.append(ConfigProblem(where, key, str(own)[:50], why, used))
        return {}
    if "enabled" in own and not isinstance(own["enabled"], bool):
        key, why = f"agents[{agent_id}].webSearch.enabled", Text("config.why.flag")
        problems.append(ConfigProblem(where, key, str(own["enabled"])[:50], why, "false"))
    if "apiKey" in own:
        why, used = Text("config.why.key_elsewhere"), Text("config.used.other_key")
        problems.append(ConfigProblem(where, f"agents[{agent_id}].webSearch.apiKey", MASK, why, used))
    return own


def _with_provider(
    search: AgentWebSearch, wanted: str, settings: Settings, where: str, problems: list[ConfigProblem]
) -> AgentWebSearch:
    name = wanted if wanted == "auto" else registry.canonical(wanted)
    used, key = name, Secret("")
    if name != "auto" and name not in registry.names():
        why = Text("config.why.unknown_engine", {"known": ", ".join(registry.names())})
        problems.append(ConfigProblem(where, "webSearch.provider", wanted, why, FALLBACK))
        used = FALLBACK
    elif name != "auto" and (variable := getattr(registry.load(name), "api_key_env", "")):
        key = settings.engines[name].api_key
        if not key:
            why = Text("config.why.no_key", {"where": variable})
            problems.append(ConfigProblem(where, "webSearch.provider", name, why, FALLBACK))
            used = FALLBACK
    return AgentWebSearch(True, used, key, search.timeout_seconds, search.cache_ttl_minutes, search.max_results)
