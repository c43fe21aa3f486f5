"""Check of the configuration: each problem with its file and line."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ..client import AsyncClient
from ..config.agents import agent_web_search
from ..config.engine_settings import ALIASES, api_key_variable
from ..config.load import DEFAULT_PLAN
from ..config.reader import read_json
from ..config.settings import ConfigProblem, Settings
from ..core.causes.asked import UNKNOWN_ENGINE
from ..core.causes.doctor import CONFIG_READABLE, CONFIG_UNKNOWN, CONFIG_UNREADABLE, CONFIG_VALUE, SERVER_OPEN
from ..core.causes.engine import KEY_MISSING
from ..core.causes.web import TOKEN_WEAK
from ..core.errors import SuyuanError
from ..core.secret import MASK
from ..messages.catalog import Text
from ..net.credentials import check_token
from .accounts import check_accounts
from .finding import ERROR, WARNING, Finding, Level
from .json_location import line_of


async def check(client: AsyncClient) -> list[Finding]:
    """Return the problems of the configuration, or one finding that there are none."""
    settings = client.settings
    findings = [_finding(problem) for problem in (*settings.problems, *_agents_problems(settings))]
    findings += _file_mode(settings)
    findings += await asyncio.to_thread(_server, settings)
    if not findings:
        file = settings.config_file
        where = str(file) if file else Text("doctor.ok.no_config_file")
        findings.append(Finding.ok("config", Text("doctor.ok.config", {"where": where})))
    return findings


def _server(settings: Settings) -> list[Finding]:
    """Whether the server would not start as it is configured."""
    try:
        check_token(settings.server.host, settings.server.token)
    except SuyuanError as error:
        if error.detail_code != TOKEN_WEAK.detail_code:
            error = SERVER_OPEN(host=settings.server.host)
        return [Finding.problem("config", error)]
    try:
        check_accounts(settings)
    except SuyuanError as error:
        return [Finding.problem("config", error)]
    return []


def _agents_problems(settings: Settings) -> list[ConfigProblem]:
    path = settings.agents_file
    if path is None:
        return []
    data, problem = read_json(path)
    if problem:
        return [problem]
    agents = data.get("agents")
    names = [str(agent.get("id")) for agent in agents if isinstance(agent, dict)] if isinstance(agents, list) else [""]
    problems: dict[str, ConfigProblem] = {}
    for name in dict.fromkeys(names):
        problems.update((str(problem), problem) for problem in agent_web_search(name, settings)[1])
    return list(problems.values())


def _finding(problem: ConfigProblem) -> Finding:
    where = _location(problem)
    if not problem.path:
        return Finding.problem("config", CONFIG_UNREADABLE(where=where, why=problem.reason))
    why, value = problem.reason, problem.value
    # A server does not start with what may have been meant to guard it.
    level: Level = ERROR if problem.guards else WARNING
    if problem.path == DEFAULT_PLAN and why.key == "config.why.unknown_engine":
        return Finding.problem("config", UNKNOWN_ENGINE(name=value, known=why.params["known"]), name=where)
    if problem.path == DEFAULT_PLAN and why.key == "config.why.no_key":
        missing = KEY_MISSING(engine=value, variable=api_key_variable(value), setting=f"web.providers.{value}.apiKey")
        return Finding.problem("config", missing, name=where)
    if why.key in ("config.why.unknown", "config.why.similar"):
        return Finding.problem("config", CONFIG_UNKNOWN(where=where, key=problem.path, why=why), level)
    error = CONFIG_VALUE(where=where, key=problem.path, value=value or MASK, why=why, used=problem.fallback)
    return Finding.problem("config", error, level)


def _location(problem: ConfigProblem) -> str:
    """Return the file with the line of the setting, or the variable."""
    file = Path(problem.origin)
    try:
        text = file.read_text(encoding="utf-8-sig") if file.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return problem.origin
    leaf = problem.path.rpartition(".")[2]
    for path in (
        problem.path,
        *(other for other, same in ALIASES.items() if same == problem.path),
        f"agents.webSearch.{leaf}",
    ):
        if line := line_of(text, path):
            return f"{problem.origin}:{line}"
    return problem.origin


def _file_mode(settings: Settings) -> list[Finding]:
    """Return a warning where others may read a file that holds a key."""
    file = settings.config_file
    if file is None or not any(value.value == MASK and value.origin == str(file) for value in settings.values):
        return []
    try:
        open_to_others = bool(file.stat().st_mode & 0o077)
    except OSError:
        return []
    return [Finding.problem("config", CONFIG_READABLE(where=file), WARNING)] if open_to_others else []
