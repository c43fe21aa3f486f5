"""Check of the engines by one search each, all at once; SearXNG gets a check of its own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import chain

from ..client import AsyncClient
from ..core.causes.doctor import NO_ENGINE_ANSWERS, NO_NETWORK, PROXY_DOWN
from ..core.causes.engine import CIRCUIT_OPEN, KEY_MISSING
from ..core.engine import EngineSettings
from ..core.errors import SuyuanError
from ..core.query import SearchQuery
from ..core.result import ARCHIVE, LIBRARY
from ..engines import registry
from ..engines.searxng_diagnosis import NAME as SEARXNG
from ..messages.catalog import Text
from ..search.plan import AUTO, names_in
from ..search.runner import EngineRunner
from .finding import ERROR, OK, WARNING, Finding, Level
from .network import proxy_address
from .searxng import SearxngStatus, check_searxng

SECONDS = 5.5
UNUSED = "unused"
_QUERY = "wikipedia"


async def check(client: AsyncClient, *, offline: bool = False) -> list[Finding]:
    """Send a search to every engine in use; with ``offline`` only report how each is configured."""
    names = [name for name in client.engines if _in_use(client, name)]
    checks = [_check_engine(client, name, offline) for name in names]
    findings = list(chain.from_iterable(await asyncio.gather(*checks)))
    return findings if offline else [*findings, *_common_problem(client, findings)]


async def _check_engine(client: AsyncClient, name: str, offline: bool) -> list[Finding]:
    try:
        runner = client.engines[name]
        configured = runner.engine.configured
    except SuyuanError as error:
        level = ERROR if in_plan(client, name) else WARNING
        return [Finding.problem("engine", error, level, name)]
    if not configured:
        return [_without_key(client, runner)]
    if runner.engine.needs_browser and not in_plan(client, name):
        return [Finding.ok("engine", Text("doctor.ok.engine_unused", {"name": name}), name, UNUSED)]
    if offline:
        return [_configured(runner)]
    if name == SEARXNG:
        return await _searxng(client)
    return [await _search(runner)]


def _in_use(client: AsyncClient, name: str) -> bool:
    """Whether the engine is asked by itself, named in the plan, configured, or from another package."""
    if name in (ARCHIVE, LIBRARY):
        return False
    info = registry.BUILT_IN.get(name)
    if info is None:
        return True
    if info.local:
        return False
    own = client.settings.engines.get(name)
    is_configured = own is not None and own != EngineSettings()
    is_looked_for = info.auto_rank is not None or info.needs_browser
    return is_looked_for or is_configured or in_plan(client, name)


def in_plan(client: AsyncClient, name: str) -> bool:
    """Whether the configured plan names the engine ``name``."""
    return name in names_in(client.settings.search.default)


def searxng_configured(client: AsyncClient) -> bool:
    """Whether the configuration has an address of SearXNG, or a plan that names it."""
    own = client.settings.engines.get(SEARXNG)
    return bool(own and own.base_url) or in_plan(client, SEARXNG)


async def searxng_status(client: AsyncClient, seconds: float = SECONDS, *, searching: bool = True) -> SearxngStatus:
    """Check the SearXNG of the configuration."""
    own = client.settings.engines.get(SEARXNG)
    return await _status_of(client, client.engines[SEARXNG], own, seconds, searching=searching)


async def _status_of(
    client: AsyncClient,
    runner: EngineRunner,
    own: EngineSettings | None,
    seconds: float = SECONDS,
    *,
    searching: bool = True,
) -> SearxngStatus:
    client.network.prepare()
    key = own.api_key if own else None
    return await check_searxng(
        runner.engine.base_url,
        client.network.send,
        api_key=key,
        seconds=seconds,
        limit=client.settings.search.seconds,
        searching=searching,
    )


async def check_settings(client: AsyncClient, name: str, own: EngineSettings) -> list[Finding]:
    """Check an engine with settings that are not in use yet, by one search."""
    runner = client.engines.trial(name, own)
    if not runner.engine.configured:
        error = KEY_MISSING(engine=name, variable=runner.engine.api_key_env, setting=f"web.providers.{name}.apiKey")
        return [Finding.problem("engine", error, ERROR, name)]
    if name == SEARXNG:
        return searxng_findings(await _status_of(client, runner, own))
    found = await _search(runner)
    return [replace(found, level=ERROR) if found.level != OK else found]


def searxng_findings(status: SearxngStatus, level: Level = ERROR) -> list[Finding]:
    """Return the findings for a status; ``level`` is the one of its error."""
    warnings = [Finding.problem(SEARXNG, warning, WARNING, SEARXNG, SEARXNG) for warning in status.warnings]
    if status.error:
        return [Finding.problem(SEARXNG, status.error, level, SEARXNG, SEARXNG), *warnings]
    params = {
        "version": f" {status.version}" if status.version else "",
        "url": status.base_url,
        "count": status.results,
        "seconds": status.took_ms / 1000,
    }
    return [Finding.ok(SEARXNG, Text("doctor.ok.searxng", params), SEARXNG), *warnings]


async def _searxng(client: AsyncClient) -> list[Finding]:
    status = await searxng_status(client)
    if searxng_configured(client):
        return searxng_findings(status, ERROR)
    if status.error and status.error.detail_code in ("searxng_down", "not_searxng"):
        return [Finding.ok(SEARXNG, Text("doctor.ok.searxng_unused"), SEARXNG, UNUSED)]
    return searxng_findings(status, WARNING)


async def _search(runner: EngineRunner) -> Finding:
    outcome = await runner.run(SearchQuery(_QUERY, count=5), SECONDS)
    if outcome.error:
        return Finding.problem("engine", outcome.error, WARNING, runner.name)
    params = {"name": runner.name, "count": outcome.attempt.count, "seconds": outcome.attempt.latency_ms / 1000}
    return Finding.ok("engine", Text("doctor.ok.engine", params), runner.name)


def _without_key(client: AsyncClient, runner: EngineRunner) -> Finding:
    variable = runner.engine.api_key_env
    if in_plan(client, runner.name):
        error = KEY_MISSING(engine=runner.name, variable=variable, setting=f"web.providers.{runner.name}.apiKey")
        return Finding.problem("engine", error, ERROR, runner.name)
    text = Text("doctor.ok.engine_without_key", {"name": runner.name, "variable": variable})
    return Finding.ok("engine", text, runner.name, UNUSED)


def _configured(runner: EngineRunner) -> Finding:
    if left := runner.breaker.cooldown_left():
        error = CIRCUIT_OPEN(engine=runner.name, seconds=left, why=runner.breaker.reason, retry_after=left)
        return Finding.problem("engine", error, WARNING, runner.name)
    text = Text("doctor.ok.engine_configured", {"name": runner.name, "address": runner.engine.base_url})
    return Finding.ok("engine", text, runner.name, UNUSED)


def _common_problem(client: AsyncClient, findings: list[Finding]) -> list[Finding]:
    """Return the problem that explains why no engine works."""
    plan = client.settings.search.default
    if plan != AUTO:
        findings = [finding for finding in findings if in_plan(client, finding.name)]
    failed = [finding for finding in findings if finding.level != OK]
    if not failed or any(finding.code == "ok" for finding in findings):
        return []
    network_problem = _network_problem(client, failed)
    if network_problem:
        return [Finding.problem("network", network_problem)]
    return [Finding.problem("engine", NO_ENGINE_ANSWERS(plan=plan))]


def _network_problem(client: AsyncClient, failed: list[Finding]) -> SuyuanError | None:
    """The proxy that cannot be reached, or the network that is missing."""
    by_proxy = next((finding for finding in failed if finding.code == "proxy"), None)
    if by_proxy and client.settings.net.proxy:
        proxy, origin = proxy_address(client)
        return PROXY_DOWN(proxy=proxy, why=by_proxy.what, origin=origin)
    remote_codes = {finding.code for finding in failed if finding.area != SEARXNG}
    return NO_NETWORK() if remote_codes == {"dns"} else None
