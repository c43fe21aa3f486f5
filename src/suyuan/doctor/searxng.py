"""The health check of a SearXNG: whether it is reachable, whether its JSON API is on, whether its engines answer."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from ..core.causes import searxng as causes
from ..core.causes.engine import ENGINE_TIMEOUT
from ..core.engine import EngineSettings, Send, drive
from ..core.errors import SuyuanError
from ..core.secret import Secret
from ..core.urls import origin
from ..core.wire import Request, Response
from ..engines.json_kit import any_json, value_at
from ..engines.searxng import SearXNG
from ..engines.searxng_diagnosis import NAME, Diagnosis, unresponsive
from ..messages.catalog import Text
from ..net.network import restricted_send

RawSend = Callable[[Request, str], Awaitable[Response]]
"""Sends a request; the text names the engine it is for."""

SLOW_SECONDS = 3.0
BUSY_SECONDS = 1.0
# What is left for the search when the health check takes its time.
_SEARCH_SECONDS = 1.0
_SMALL_SECONDS = 1.5
_QUERY = "wikipedia"


@dataclass(frozen=True, slots=True)
class SearxngStatus:
    """The result of a check: ``error`` says why the instance cannot be used."""

    base_url: str
    error: SuyuanError | None = None
    warnings: tuple[SuyuanError, ...] = ()
    engines: tuple[str, ...] = ()
    unresponsive_engines: tuple[str, ...] = ()
    results: int = 0
    took_ms: int = 0
    version: str = ""
    limiter: bool | None = None
    """Whether its limiter runs, whatever its settings say; None where it does not tell."""

    @property
    def ok(self) -> bool:
        """Whether searches work."""
        return self.error is None

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """Return the published JSON of a status."""
        return {
            "ok": self.ok,
            "base_url": self.base_url,
            "version": self.version or None,
            "limiter": self.limiter,
            "took_ms": self.took_ms,
            "results": self.results,
            "engines": list(self.engines),
            "unresponsive_engines": list(self.unresponsive_engines),
            "error": self.error.as_dict(lang) if self.error else None,
            "warnings": [warning.as_dict(lang) for warning in self.warnings],
        }


async def check_searxng(
    base_url: str,
    send: RawSend,
    *,
    api_key: Secret | None = None,
    seconds: float = 5.5,
    limit: float = 5.0,
    searching: bool = True,
) -> SearxngStatus:
    """Check the instance at ``base_url`` in at most ``seconds``; ``limit`` is the time limit of a search.

    Without ``searching`` only small requests are sent, which reach no engine.
    """
    base_url = base_url.strip().rstrip("/")
    key = api_key or Secret("")
    if error := _bad_address(base_url):
        return SearxngStatus(base_url, error.redacted([key]))
    check = _Check(base_url, send, key, limit, time.monotonic() + seconds, searching)
    status = await check.run()
    for error in (status.error, *status.warnings):
        if error is not None:
            error.redacted([key])
    return status


def _bad_address(base_url: str) -> SuyuanError | None:
    try:
        origin(base_url)
        parts = urlsplit(base_url)
    except ValueError:
        return causes.SEARXNG_BAD_ADDRESS(engine=NAME, where=base_url[:100], why=Text("searxng.detail.address_scheme"))
    if any(c.isspace() for c in base_url):
        return causes.SEARXNG_BAD_ADDRESS(engine=NAME, where=base_url[:100], why=Text("searxng.detail.address_blank"))
    if parts.query or parts.fragment or parts.path.endswith(("/search", "/healthz")):
        return causes.SEARXNG_BAD_ADDRESS(engine=NAME, where=base_url[:100], why=Text("searxng.detail.address_page"))
    return None


@dataclass(slots=True)
class _Check:
    """One check, step by step: reachable, JSON API, configuration, a search."""

    base_url: str
    raw: RawSend
    key: Secret
    limit: float
    deadline: float
    searching: bool
    warnings: list[SuyuanError] = field(default_factory=list)
    engine: SearXNG = field(init=False)
    diagnosis: Diagnosis = field(init=False)
    send: Send = field(init=False)

    def __post_init__(self) -> None:
        self.engine = SearXNG(EngineSettings(self.base_url, self.key))
        self.diagnosis = Diagnosis(self.base_url, self.engine.headers())
        self.send = restricted_send(self.raw, NAME, self.base_url)

    async def run(self) -> SearxngStatus:
        """Return the status."""
        started = time.monotonic()
        if error := await self._reach():
            return SearxngStatus(self.base_url, error)
        seconds = time.monotonic() - started
        if seconds > BUSY_SECONDS:
            self.warnings.append(causes.SEARXNG_BUSY(engine=NAME, where=self.base_url, seconds=seconds))
        if error := await drive(self.diagnosis.json_api(), self._small):
            return SearxngStatus(self.base_url, error, took_ms=round(seconds * 1000))
        if not self.searching:
            return SearxngStatus(self.base_url, took_ms=round(seconds * 1000))
        return await self._configured_search()

    async def _configured_search(self) -> SearxngStatus:
        """Return the status of an instance that answers, by its configuration and a search."""
        configuration = await self._configuration()
        engines = tuple(str(row.get("name")) for row in _rows(configuration.get("engines")) if row.get("enabled"))
        limiter = _limiter(configuration)
        if limiter is False and not self.key and _is_public(urlsplit(self.base_url).hostname or ""):
            self.warnings.append(causes.SEARXNG_UNPROTECTED(engine=NAME, where=self.base_url))
        version = str(configuration.get("version") or "")
        status = replace(await self._search(), engines=engines, version=version, limiter=limiter)
        if status.ok and not status.results and not status.unresponsive_engines:
            status = replace(status, error=causes.SEARXNG_NO_ENGINES(engine=NAME, where=self.base_url))
        return replace(status, warnings=(*self.warnings, *status.warnings))

    async def _reach(self) -> SuyuanError | None:
        """Return an error where no SearXNG answers."""
        # A busy instance answers late, one that hangs never does: only time can tell them apart.
        allowed = round(max(0.5, self._left() - _SEARCH_SECONDS), 1)
        try:
            async with asyncio.timeout(allowed):
                await drive(self.engine.probe(), self.send)
        except TimeoutError:
            return causes.SEARXNG_SILENT(engine=NAME, where=self.base_url, seconds=allowed)
        except SuyuanError as error:
            return await drive(self.diagnosis.exchange(error), self._small)
        return None

    async def _configuration(self) -> dict[str, Any]:
        """Return what the instance publishes about itself: its engines, its version, its limiter."""
        try:
            answer = await self._small(Request.get(self.base_url + "/config", headers=self.engine.headers()))
        except SuyuanError:
            return {}
        data = any_json(answer) if answer.status == 200 else {}
        return data if isinstance(data, dict) else {}

    async def _search(self) -> SearxngStatus:
        started = time.monotonic()
        allowed = round(max(0.5, self._left()), 1)
        try:
            async with asyncio.timeout(allowed):
                request = Request.get(f"{self.base_url}/search", {"q": _QUERY, "format": "json"}, self.engine.headers())
                response = await self.send(request)
        except TimeoutError:
            cause = causes.SEARXNG_BUSY if self.warnings else causes.SEARXNG_SEARCH_SILENT
            return SearxngStatus(self.base_url, cause(engine=NAME, where=self.base_url, seconds=allowed))
        except SuyuanError as error:
            return SearxngStatus(self.base_url, error)
        seconds = time.monotonic() - started
        data = any_json(response)
        dead = unresponsive(data) if isinstance(data, dict) else ()
        status = SearxngStatus(self.base_url, unresponsive_engines=dead, took_ms=round(seconds * 1000))
        try:
            found = self.engine.parse(response)
        except SuyuanError as error:
            return replace(status, error=await drive(self.diagnosis.exchange(error), self._small))
        return replace(status, results=len(found.results), warnings=self._slow_or_dead(dead, seconds))

    def _slow_or_dead(self, dead: tuple[str, ...], seconds: float) -> tuple[SuyuanError, ...]:
        warnings = []
        if dead:
            warnings.append(causes.SEARXNG_SOME_DEAD(engine=NAME, which=", ".join(dead)))
        if seconds > SLOW_SECONDS:
            warnings.append(causes.SEARXNG_SLOW(engine=NAME, seconds=seconds, limit=self.limit))
        return tuple(warnings)

    async def _small(self, request: Request) -> Response:
        """Send one small request, with little time."""
        seconds = min(_SMALL_SECONDS, self._left())
        try:
            async with asyncio.timeout(seconds):
                # Redirects are what is to be seen here, so they are not followed.
                return await self.raw(request, NAME)
        except TimeoutError:
            raise ENGINE_TIMEOUT(engine=NAME, seconds=round(seconds, 1)) from None

    def _left(self) -> float:
        return max(0.05, self.deadline - time.monotonic())


def _limiter(configuration: dict[str, Any]) -> bool | None:
    enabled = value_at(configuration, "limiter.enabled")
    return enabled if isinstance(enabled, bool) else None


def _is_public(host: str) -> bool:
    """Whether a host is one that anybody may reach: not this machine, its network, or a name that only they know."""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith((".internal", ".local", ".lan", ".home.arpa", ".localhost"))


def _rows(value: object) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
