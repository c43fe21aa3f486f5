"""Check of the configuration: each problem with its file and line."""

from __future__ import annotations

from pathlib import Path

from ..client import AsyncClient
from ..config.agents import agent_web_search
from ..config.keys import KEYS, SAME, SEARCH, engine_keys
from ..config.load import read_json
from ..config.settings import ConfigProblem, Settings
from ..core.causes.asked import UNKNOWN_ENGINE
from ..core.causes.doctor import CONFIG_READABLE, CONFIG_UNKNOWN, CONFIG_UNREADABLE, CONFIG_VALUE, SERVER_OPEN
from ..core.causes.engine import KEY_MISSING
from ..core.secret import MASK
from ..engines import registry
from ..messages.catalog import Text
from .finding import WARNING, Finding
from .json_location import line_of

_DEFAULT = SEARCH + "defaultProvider"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


async def check(client: AsyncClient) -> list[Finding]:
    """Return the problems of the configuration, or one finding that there are none."""
    settings = client.settings
    findings = [_finding(problem) for problem in (*settings.problems, *_agents_problems(settings))]
    findings += _file_mode(settings)
    if settings.server.host not in _LOOPBACK and not settings.server.token:
        findings.append(Finding.problem("config", SERVER_OPEN(host=settings.server.host)))
    if not findings:
        file = settings.config_file
        where = str(file) if file else Text("doctor.ok.no_config_file")
        findings.append(Finding.ok("config", Text("doctor.ok.config", {"where": where})))
    return findings


def _agents_problems(settings: Settings) -> list[ConfigProblem]:
    path = settings.agents_file
    if path is None:
        return []
    data, problem = read_json(path)
    if problem:
        return [problem]
    agents = data.get("agents")
    names = [str(agent.get("id")) for agent in agents if isinstance(agent, dict)] if isinstance(agents, list) else [""]
    found = [problem for name in dict.fromkeys(names) for problem in agent_web_search(name, settings)[1]]
    return list({str(problem): problem for problem in found}.values())


def _finding(problem: ConfigProblem) -> Finding:
    where = _location(problem)
    if not problem.key:
        return Finding.problem("config", CONFIG_UNREADABLE(where=where, why=problem.why))
    if problem.key == _DEFAULT:
        name = registry.canonical(problem.value)
        if name not in registry.names():
            return Finding.problem(
                "config", UNKNOWN_ENGINE(name=problem.value, known=", ".join(("auto", *registry.names()))), name=where
            )
        variable = getattr(registry.load(name), "api_key_env", "")
        if variable:
            error = KEY_MISSING(engine=name, variable=variable, setting=f"web.providers.{name}.apiKey")
            return Finding.problem("config", error, name=where)
    if problem.key not in _known_settings() and not problem.key.startswith(("agents", "webSearch")):
        return Finding.problem("config", CONFIG_UNKNOWN(where=where, key=problem.key, why=problem.why), WARNING)
    error = CONFIG_VALUE(where=where, key=problem.key, value=problem.value or MASK, why=problem.why, used=problem.used)
    return Finding.problem("config", error, WARNING)


def _known_settings() -> set[str]:
    return {key.path for key in (*KEYS, *(key for name in registry.names() for key in engine_keys(name)))}


def _location(problem: ConfigProblem) -> str:
    """Return the file with the line of the setting, or the variable."""
    file = Path(problem.where)
    try:
        text = file.read_text(encoding="utf-8-sig") if file.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return problem.where
    leaf = problem.key.rpartition(".")[2]
    for path in (
        problem.key,
        *(other for other, same in SAME.items() if same == problem.key),
        f"agents.webSearch.{leaf}",
    ):
        if line := line_of(text, path):
            return f"{problem.where}:{line}"
    return problem.where


def _file_mode(settings: Settings) -> list[Finding]:
    """Return a warning where others may read a file that holds a key."""
    file = settings.config_file
    if file is None or not any(held.value == MASK and held.origin == str(file) for held in settings.held):
        return []
    try:
        open_to_others = bool(file.stat().st_mode & 0o077)
    except OSError:
        return []
    return [Finding.problem("config", CONFIG_READABLE(where=file), WARNING)] if open_to_others else []
