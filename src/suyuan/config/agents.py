"""``agents.json``: which agents may search the web, and with which engine."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

from ..core.secret import MASK, Secret
from ..engines import registry
from ..messages.catalog import Text
from .engine_settings import plan_problem
from .load import FALLBACK_ENGINE, SEARCH_TIMEOUT
from .reader import read_json
from .settings import ConfigProblem, Settings

log = logging.getLogger("suyuan.config")

AGENT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class AgentWebSearch:
    """The web search of one agent; an agent for which it is not enabled has no search tool at all."""

    enabled: bool = False
    provider: str = FALLBACK_ENGINE
    api_key: Secret = Secret("")
    timeout_seconds: float = AGENT_SECONDS
    cache_ttl_minutes: float = 5.0
    max_results: int = 5


def agent_web_search(agent_id: str, settings: Settings) -> tuple[AgentWebSearch, tuple[ConfigProblem, ...]]:
    """The web search of ``agent_id``, not enabled unless ``agents.json`` says so, and the problems found."""
    path = settings.agents_file
    data, problem = read_json(path) if path else ({}, None)
    problems = [problem] if problem else []
    own = _entry(data, agent_id, str(path), problems)
    search = AgentWebSearch(
        enabled=own.get("enabled") is True,
        timeout_seconds=settings.search.seconds if settings.origin(SEARCH_TIMEOUT) != "default" else AGENT_SECONDS,
        cache_ttl_minutes=settings.search.cache_minutes,
        max_results=settings.search.max_results,
    )
    if search.enabled:
        wanted = str(own.get("provider") or settings.search.default)
        search = _with_provider(search, wanted, settings, str(path), problems)
    for found in problems:
        log.warning("%s", found)
    return search, tuple(problems)


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
    search: AgentWebSearch, wanted: str, settings: Settings, origin: str, problems: list[ConfigProblem]
) -> AgentWebSearch:
    if problem := plan_problem(wanted, settings.engines):
        problems.append(ConfigProblem(origin, "webSearch.provider", wanted, problem[1], FALLBACK_ENGINE))
        return replace(search, provider=FALLBACK_ENGINE)
    plan = registry.canonical(wanted)
    own = settings.engines.get(plan)
    return replace(search, provider=plan, api_key=own.api_key if own else Secret(""))
