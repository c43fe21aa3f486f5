"""The engines: each is asked, all at once, and what it did is told; SearXNG gets its own thorough check."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from ..contract.causes.doctor import NO_ENGINE_ANSWERS, NO_NETWORK, PROXY_DOWN
from ..contract.causes.engine import KEY_MISSING, RESTING
from ..contract.errors import SuyuanError
from ..contract.types import SearchQuery
from ..engines import registry
from ..search.desk import Desk
from ..search.plan import ARCHIVE, AUTO
from ..wiring import House
from .finding import ERROR, OK, WARNING, Finding, Level
from .searxng import NAME as SEARXNG
from .searxng import Verdict, check_searxng

SECONDS = 5.5
UNUSED = "unused"
_QUERY = "wikipedia"
_NO_WEB = ("stub", ARCHIVE)


async def examine(house: House, *, offline: bool = False) -> list[Finding]:
    """Ask every engine that can be asked; with ``offline`` only say how each is configured."""
    names = [name for name in house.desks if name not in _NO_WEB]
    looks = [_look(house, name, offline) for name in names]
    findings = [finding for found in await asyncio.gather(*looks) for finding in found]
    return findings if offline else [*findings, *_together(house, findings)]


async def _look(house: House, name: str, offline: bool) -> list[Finding]:
    try:
        desk = house.desks[name]
    except SuyuanError as error:
        return [Finding.ill("engine", error, WARNING, name)]
    if not getattr(desk.engine, "configured", True):
        return [_without_key(house, desk)]
    if getattr(desk.engine, "via_browser", False) and not chosen(house, name):
        return [Finding.well("engine", f"{name}: not in use.", f"{name}:未使用。", name, UNUSED)]
    if offline:
        return [_state(desk)]
    if name == SEARXNG:
        return await _searxng(house)
    return [await _asked(house, desk)]


def chosen(house: House, name: str) -> bool:
    """Whether the configured plan names this engine."""
    plan = house.settings.search.default
    return plan != AUTO and name in {registry.canonical(part) for part in plan.replace("+", ",").split(",")}


def explicit(house: House) -> bool:
    """Whether somebody has set up SearXNG: its address is configured, or the plan names it."""
    own = house.settings.engines.get(SEARXNG)
    return bool(own and own.base_url) or chosen(house, SEARXNG)


async def searxng_verdict(house: House, seconds: float = SECONDS) -> Verdict:
    """The health check of the house's SearXNG."""
    engine = house.desks[SEARXNG].engine
    own = house.settings.engines.get(SEARXNG)
    limit = house.settings.search.seconds
    address = str(getattr(engine, "base_url", ""))
    return await check_searxng(address, house.network.send, api_key=own.api_key if own else None, seconds=seconds, limit=limit)


def searxng_findings(verdict: Verdict, level: Level = ERROR) -> list[Finding]:
    """What a verdict means for the user."""
    remarks = [Finding.ill(SEARXNG, remark, WARNING, SEARXNG, SEARXNG) for remark in verdict.remarks]
    if verdict.cause:
        return [Finding.ill(SEARXNG, verdict.cause, level, SEARXNG, SEARXNG), *remarks]
    version = f" {verdict.version}" if verdict.version else ""
    en = f"SearXNG{version} at {verdict.base_url}: {verdict.results} results in {verdict.took_ms / 1000:.1f} s."
    zh = f"SearXNG{version}({verdict.base_url}):{verdict.took_ms / 1000:.1f} 秒返回 {verdict.results} 条结果。"
    return [Finding.well(SEARXNG, en, zh, SEARXNG), *remarks]


async def _searxng(house: House) -> list[Finding]:
    verdict = await searxng_verdict(house)
    absent = verdict.cause is not None and verdict.cause.detail_code in ("searxng_down", "not_searxng")
    if absent and not explicit(house):
        en, zh = "SearXNG is not set up; it is optional (suyuan searxng init).", "未部署 SearXNG;它是可选的(suyuan searxng init)。"
        return [Finding.well(SEARXNG, en, zh, SEARXNG, UNUSED)]
    return searxng_findings(verdict, ERROR if explicit(house) else WARNING)


async def _asked(house: House, desk: Desk) -> Finding:
    asked = await desk.ask(SearchQuery(_QUERY, count=5), SECONDS)
    if asked.error:
        return Finding.ill("engine", asked.error, WARNING, desk.name)
    seconds = asked.attempt.latency_ms / 1000
    en = f"{desk.name}: {asked.attempt.count} results in {seconds:.1f} s."
    return Finding.well("engine", en, f"{desk.name}:{seconds:.1f} 秒返回 {asked.attempt.count} 条结果。", desk.name)


def _without_key(house: House, desk: Desk) -> Finding:
    variable = getattr(desk.engine, "key_variable", "")
    if chosen(house, desk.name):
        error = KEY_MISSING(engine=desk.name, variable=variable, setting=f"web.providers.{desk.name}.apiKey")
        return Finding.ill("engine", error, ERROR, desk.name)
    en, zh = f"{desk.name}: no key, not in use ({variable}).", f"{desk.name}:无密钥,未使用({variable})。"
    return Finding.well("engine", en, zh, desk.name, UNUSED)


def _state(desk: Desk) -> Finding:
    if left := desk.breaker.rest_left():
        return Finding.ill("engine", RESTING(engine=desk.name, seconds=left, why=desk.breaker.why), WARNING, desk.name)
    address = getattr(desk.engine, "base_url", "")
    en, zh = f"{desk.name}: configured ({address}), not asked.", f"{desk.name}:已配置({address}),未测试。"
    return Finding.well("engine", en, zh, desk.name, UNUSED)


def _together(house: House, findings: list[Finding]) -> list[Finding]:
    """What the engines' failures have in common."""
    plan = house.settings.search.default
    tried = [f for f in findings if plan == AUTO or chosen(house, f.name)]
    well = [f for f in tried if f.code == "ok"]
    ill = [f for f in tried if f.level != OK]
    if well or not ill:
        return []
    proxy = house.settings.net.proxy.reveal()
    if proxy and any(f.code == "proxy" for f in ill):
        return [Finding.ill("network", _proxy_down(house, next(f for f in ill if f.code == "proxy")))]
    away = [f for f in ill if f.organ != SEARXNG]
    if away and all(f.code == "dns" for f in away):
        return [Finding.ill("network", NO_NETWORK())]
    return [Finding.ill("engine", NO_ENGINE_ANSWERS(plan=plan))]


def _proxy_down(house: House, finding: Finding) -> SuyuanError:
    # The address without user and password.
    parts = urlsplit(house.settings.net.proxy.reveal())
    origin = next((held.origin for held in house.settings.held if held.path == "web.fetch.proxy"), "web.fetch.proxy")
    return PROXY_DOWN(proxy=f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname, why=finding.en, origin=origin)
