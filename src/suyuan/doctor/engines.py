"""The engines: each is asked, all at once, and what it did is told; SearXNG gets its own thorough check."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from ..client import AsyncClient
from ..core.causes.doctor import NO_ENGINE_ANSWERS, NO_NETWORK, PROXY_DOWN
from ..core.causes.engine import CIRCUIT_OPEN, KEY_MISSING
from ..core.errors import SuyuanError
from ..core.query import SearchQuery
from ..engines import registry
from ..messages.catalog import Text
from ..search.plan import ARCHIVE, AUTO
from ..search.runner import EngineRunner
from .finding import ERROR, OK, WARNING, Finding, Level
from .searxng import NAME as SEARXNG
from .searxng import SearxngVerdict, check_searxng

SECONDS = 5.5
UNUSED = "unused"
_QUERY = "wikipedia"
_NO_WEB = ("stub", ARCHIVE)


async def examine(client: AsyncClient, *, offline: bool = False) -> list[Finding]:
    """Ask every engine that can be asked; with ``offline`` only say how each is configured."""
    names = [name for name in client.engines if name not in _NO_WEB]
    looks = [_look(client, name, offline) for name in names]
    findings = [finding for found in await asyncio.gather(*looks) for finding in found]
    return findings if offline else [*findings, *_together(client, findings)]


async def _look(client: AsyncClient, name: str, offline: bool) -> list[Finding]:
    try:
        runner = client.engines[name]
    except SuyuanError as error:
        return [Finding.ill("engine", error, WARNING, name)]
    if not getattr(runner.engine, "configured", True):
        return [_without_key(client, runner)]
    if getattr(runner.engine, "via_browser", False) and not chosen(client, name):
        return [Finding.well("engine", Text("doctor.ok.engine_unused", {"name": name}), name, UNUSED)]
    if offline:
        return [_state(runner)]
    if name == SEARXNG:
        return await _searxng(client)
    return [await _asked(client, runner)]


def chosen(client: AsyncClient, name: str) -> bool:
    """Whether the configured plan names this engine."""
    plan = client.settings.search.default
    return plan != AUTO and name in {registry.canonical(part) for part in plan.replace("+", ",").split(",")}


def explicit(client: AsyncClient) -> bool:
    """Whether somebody has set up SearXNG: its address is configured, or the plan names it."""
    own = client.settings.engines.get(SEARXNG)
    return bool(own and own.base_url) or chosen(client, SEARXNG)


async def searxng_verdict(client: AsyncClient, seconds: float = SECONDS) -> SearxngVerdict:
    """The health check of the house's SearXNG."""
    engine = client.engines[SEARXNG].engine
    own = client.settings.engines.get(SEARXNG)
    limit = client.settings.search.seconds
    client.network.prepare()
    address = str(getattr(engine, "base_url", ""))
    return await check_searxng(
        address, client.network.send, api_key=own.api_key if own else None, seconds=seconds, limit=limit
    )


def searxng_findings(verdict: SearxngVerdict, level: Level = ERROR) -> list[Finding]:
    """What a verdict means for the user."""
    remarks = [Finding.ill(SEARXNG, remark, WARNING, SEARXNG, SEARXNG) for remark in verdict.remarks]
    if verdict.cause:
        return [Finding.ill(SEARXNG, verdict.cause, level, SEARXNG, SEARXNG), *remarks]
    params = {
        "version": f" {verdict.version}" if verdict.version else "",
        "url": verdict.base_url,
        "count": verdict.results,
        "seconds": verdict.took_ms / 1000,
    }
    return [Finding.well(SEARXNG, Text("doctor.ok.searxng", params), SEARXNG), *remarks]


async def _searxng(client: AsyncClient) -> list[Finding]:
    verdict = await searxng_verdict(client)
    absent = verdict.cause is not None and verdict.cause.detail_code in ("searxng_down", "not_searxng")
    if absent and not explicit(client):
        return [Finding.well(SEARXNG, Text("doctor.ok.searxng_unused"), SEARXNG, UNUSED)]
    return searxng_findings(verdict, ERROR if explicit(client) else WARNING)


async def _asked(client: AsyncClient, runner: EngineRunner) -> Finding:
    asked = await runner.run(SearchQuery(_QUERY, count=5), SECONDS)
    if asked.error:
        return Finding.ill("engine", asked.error, WARNING, runner.name)
    params = {"name": runner.name, "count": asked.attempt.count, "seconds": asked.attempt.latency_ms / 1000}
    return Finding.well("engine", Text("doctor.ok.engine", params), runner.name)


def _without_key(client: AsyncClient, runner: EngineRunner) -> Finding:
    variable = getattr(runner.engine, "api_key_env", "")
    if chosen(client, runner.name):
        error = KEY_MISSING(engine=runner.name, variable=variable, setting=f"web.providers.{runner.name}.apiKey")
        return Finding.ill("engine", error, ERROR, runner.name)
    text = Text("doctor.ok.engine_without_key", {"name": runner.name, "variable": variable})
    return Finding.well("engine", text, runner.name, UNUSED)


def _state(runner: EngineRunner) -> Finding:
    if left := runner.breaker.cooldown_left():
        error = CIRCUIT_OPEN(engine=runner.name, seconds=left, why=runner.breaker.reason, retry_after=left)
        return Finding.ill("engine", error, WARNING, runner.name)
    address = getattr(runner.engine, "base_url", "")
    text = Text("doctor.ok.engine_configured", {"name": runner.name, "address": address})
    return Finding.well("engine", text, runner.name, UNUSED)


def _together(client: AsyncClient, findings: list[Finding]) -> list[Finding]:
    """What the engines' failures have in common."""
    plan = client.settings.search.default
    tried = [f for f in findings if plan == AUTO or chosen(client, f.name)]
    well = [f for f in tried if f.code == "ok"]
    ill = [f for f in tried if f.level != OK]
    if well or not ill:
        return []
    proxy = client.settings.net.proxy.reveal()
    if proxy and any(f.code == "proxy" for f in ill):
        return [Finding.ill("network", _proxy_down(client, next(f for f in ill if f.code == "proxy")))]
    away = [f for f in ill if f.organ != SEARXNG]
    if away and all(f.code == "dns" for f in away):
        return [Finding.ill("network", NO_NETWORK())]
    return [Finding.ill("engine", NO_ENGINE_ANSWERS(plan=plan))]


def _proxy_down(client: AsyncClient, finding: Finding) -> SuyuanError:
    # The address without user and password.
    parts = urlsplit(client.settings.net.proxy.reveal())
    origin = next((held.origin for held in client.settings.held if held.path == "web.fetch.proxy"), "web.fetch.proxy")
    proxy = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    return PROXY_DOWN(proxy=proxy, why=finding.what, origin=origin)
