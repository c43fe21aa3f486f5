"""The health check of a SearXNG: whether it is reachable, whether its JSON API is on, whether its engines answer."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from html import unescape
from typing import Any
from urllib.parse import urljoin, urlsplit

from ..core.causes.searxng import (
    NOT_SEARXNG,
    SEARXNG_API_OFF,
    SEARXNG_BAD_ADDRESS,
    SEARXNG_BROKEN,
    SEARXNG_CLOSED,
    SEARXNG_DOWN,
    SEARXNG_EXPIRED,
    SEARXNG_LIMITER,
    SEARXNG_NEEDS_HTTPS,
    SEARXNG_NO_ENGINES,
    SEARXNG_NO_HOST,
    SEARXNG_OTHER_SERVER,
    SEARXNG_PLAIN,
    SEARXNG_SEARCH_SILENT,
    SEARXNG_SELF_SIGNED,
    SEARXNG_SILENT,
    SEARXNG_SLOW,
    SEARXNG_SOME_DEAD,
    SEARXNG_TLS,
    SEARXNG_WRONG_NAME,
    SEARXNG_WRONG_PATH,
)
from ..core.engine import EngineSettings, Send, drive
from ..core.errors import SuyuanError
from ..core.secret import Secret
from ..core.urls import origin
from ..core.wire import Request, Response
from ..engines.searxng import SearXNG
from ..messages.catalog import Text
from ..net.network import restricted_send

RawSend = Callable[[Request, str], Awaitable[Response]]
"""Sends a request; the text names the engine it is for."""

NAME = "searxng"
SLOW_SECONDS = 3.0
_REACH_SECONDS = 2.0
_QUERY = "wikipedia"
# The usual paths behind a reverse proxy.
_PREFIXES = ("", "/searxng", "/searx")
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.I | re.S)


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
            "took_ms": self.took_ms,
            "results": self.results,
            "engines": list(self.engines),
            "unresponsive_engines": list(self.unresponsive_engines),
            "error": self.error.as_dict(lang) if self.error else None,
            "warnings": [warning.as_dict(lang) for warning in self.warnings],
        }


async def check_searxng(
    base_url: str, send: RawSend, *, api_key: Secret | None = None, seconds: float = 5.5, limit: float = 5.0
) -> SearxngStatus:
    """Check the instance at ``base_url`` in at most ``seconds``; ``limit`` is the time limit of a search."""
    base_url = base_url.strip().rstrip("/")
    key = api_key or Secret("")
    if error := _bad_address(base_url):
        return SearxngStatus(base_url, error.redacted([key]))
    check = _Check(base_url, send, key, limit, time.monotonic() + seconds)
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
        return SEARXNG_BAD_ADDRESS(engine=NAME, where=base_url[:100], why=Text("searxng.detail.address_scheme"))
    if any(c.isspace() for c in base_url):
        return SEARXNG_BAD_ADDRESS(engine=NAME, where=base_url[:100], why=Text("searxng.detail.address_blank"))
    if parts.query or parts.fragment or parts.path.endswith(("/search", "/healthz")):
        return SEARXNG_BAD_ADDRESS(engine=NAME, where=base_url[:100], why=Text("searxng.detail.address_page"))
    return None


@dataclass(slots=True)
class _Check:
    """One check, step by step: reachable, JSON API, configuration, a search."""

    base_url: str
    raw: RawSend
    key: Secret
    limit: float
    deadline: float
    engine: SearXNG = field(init=False)
    send: Send = field(init=False)

    def __post_init__(self) -> None:
        self.engine = SearXNG(EngineSettings(self.base_url, self.key))
        self.send = restricted_send(self.raw, NAME, self.base_url)

    async def run(self) -> SearxngStatus:
        """Return the status."""
        started = time.monotonic()
        if error := await self._reach():
            return SearxngStatus(self.base_url, error)
        took_ms = round((time.monotonic() - started) * 1000)
        if error := await self._json_api():
            return SearxngStatus(self.base_url, error, took_ms=took_ms)
        engines, version = await self._configuration()
        status = replace(await self._search(), engines=engines, version=version)
        if status.ok and not status.results and not status.unresponsive_engines:
            return replace(status, error=SEARXNG_NO_ENGINES(engine=NAME, where=self.base_url))
        return status

    async def _reach(self) -> SuyuanError | None:
        """Return an error where no SearXNG answers."""
        try:
            async with asyncio.timeout(min(_REACH_SECONDS, self._left())):
                await drive(self.engine.probe(), self.send)
        except TimeoutError:
            return SEARXNG_SILENT(engine=NAME, where=self.base_url, seconds=_REACH_SECONDS)
        except SuyuanError as error:
            return await self._explain(error)
        return None

    async def _explain(self, error: SuyuanError) -> SuyuanError:
        """Return a more exact error for a failed connection."""
        _, host, port = origin(self.base_url)
        code = error.detail_code
        if code == "connection_refused":
            return SEARXNG_DOWN(engine=NAME, where=self.base_url)
        if code == "dns":
            return SEARXNG_NO_HOST(engine=NAME, host=host)
        if code == "tls":
            return await self._tls_error(host, port)
        if code in ("connection_broken", "bad_http"):
            return await self._other_server(Text("searxng.detail.not_http"))
        if code == NOT_SEARXNG.detail_code:
            return await self._other_address() or await self._other_server()
        return error

    async def _tls_error(self, host: str, port: int) -> SuyuanError:
        from ..net import tls as certificate

        where = f"{host}:{port}"
        verdict = await certificate.certificate_verdict(host, port)
        if verdict == certificate.NOT_TLS:
            return SEARXNG_PLAIN(engine=NAME, where=where, found=self.base_url.replace("https://", "http://", 1))
        causes = {
            certificate.SELF_SIGNED: SEARXNG_SELF_SIGNED,
            certificate.EXPIRED: SEARXNG_EXPIRED,
            certificate.WRONG_NAME: SEARXNG_WRONG_NAME,
        }
        if verdict in causes:
            return causes[verdict](engine=NAME, where=where)
        return SEARXNG_TLS(engine=NAME, where=where, why=verdict)

    async def _other_server(self, what: Text | str = "") -> SuyuanError:
        """Return an error that names the server that answers instead."""
        scheme, host, port = origin(self.base_url)
        if scheme == "http" and await _speaks_tls(host, port):
            return SEARXNG_NEEDS_HTTPS(
                engine=NAME, where=f"{host}:{port}", found=self.base_url.replace("http://", "https://", 1)
            )
        if not what:
            page = await self._get(self.base_url + "/")
            what = _page_name(page) if page else Text("searxng.detail.unknown_server")
        return SEARXNG_OTHER_SERVER(engine=NAME, where=self.base_url, what=what)

    async def _other_address(self) -> SuyuanError | None:
        """Return an error with the right address where the same server has SearXNG at another path."""
        scheme, host, port = origin(self.base_url)
        root = f"{scheme}://{urlsplit(self.base_url).netloc}"
        candidates = [root + prefix for prefix in _PREFIXES]
        if (page := await self._get(self.base_url + "/")) and (location := page.headers.get("location")):
            target = urljoin(self.base_url + "/", location).split("?")[0].rstrip("/")
            if _same_server(target, (scheme, host, port)):
                candidates.insert(0, target)
        for address in dict.fromkeys(candidates):
            if address == self.base_url:
                continue
            answer = await self._get(f"{address}/healthz")
            if answer and answer.status == 200 and answer.body.strip() == b"OK":
                return SEARXNG_WRONG_PATH(engine=NAME, where=self.base_url, found=address)
        return None

    async def _json_api(self) -> SuyuanError | None:
        """Return an error where JSON is off: an empty search, which reaches no engine, then gives 403, not 400."""
        answer = await self._get(self.base_url + "/search?q=&format=json")
        if answer is None:
            return None
        if answer.status in (403, 404, 405):
            page = await self._get(self.base_url + "/search?q=")
            if page is not None and page.status not in (403, 404, 405):
                return SEARXNG_CLOSED(engine=NAME, where=self.base_url)
            return SEARXNG_API_OFF(engine=NAME, where=self.base_url, status=answer.status)
        if answer.status == 429:
            return SEARXNG_LIMITER(engine=NAME, where=self.base_url)
        return None

    async def _configuration(self) -> tuple[tuple[str, ...], str]:
        """Return the enabled engines and the version, as far as the instance publishes them."""
        answer = await self._get(self.base_url + "/config")
        try:
            data = answer.json() if answer and answer.status == 200 else {}
        except ValueError:
            data = {}
        if not isinstance(data, dict):
            data = {}
        rows = [row for row in data.get("engines") or () if isinstance(row, dict)]
        return tuple(str(row.get("name")) for row in rows if row.get("enabled")), str(data.get("version") or "")

    async def _search(self) -> SearxngStatus:
        started = time.monotonic()
        allowed = round(max(0.5, self._left()), 1)
        try:
            async with asyncio.timeout(allowed):
                request = Request.get(f"{self.base_url}/search", {"q": _QUERY, "format": "json"}, self._headers())
                response = await self.send(request)
        except TimeoutError:
            error = SEARXNG_SEARCH_SILENT(engine=NAME, where=self.base_url, seconds=allowed)
            return SearxngStatus(self.base_url, error)
        except SuyuanError as error:
            return SearxngStatus(self.base_url, error)
        seconds = time.monotonic() - started
        unresponsive = _unresponsive(response)
        status = SearxngStatus(self.base_url, unresponsive_engines=unresponsive, took_ms=round(seconds * 1000))
        if response.status >= 500:
            return replace(status, error=SEARXNG_BROKEN(engine=NAME, where=self.base_url, status=response.status))
        try:
            found = self.engine.parse(response)
        except SuyuanError as error:
            other = error.detail_code in ("not_json", "layout_changed")
            return replace(status, error=await self._other_server() if other else error)
        return replace(status, results=len(found.results), warnings=self._warnings(unresponsive, seconds))

    def _warnings(self, unresponsive: tuple[str, ...], seconds: float) -> tuple[SuyuanError, ...]:
        warnings = []
        if unresponsive:
            warnings.append(SEARXNG_SOME_DEAD(engine=NAME, which=", ".join(unresponsive)))
        if seconds > SLOW_SECONDS:
            warnings.append(SEARXNG_SLOW(engine=NAME, seconds=seconds, limit=self.limit))
        return tuple(warnings)

    async def _get(self, url: str) -> Response | None:
        """Send one small request; None where it fails."""
        try:
            async with asyncio.timeout(min(1.5, self._left())):
                return await self.raw(Request.get(url, headers=self._headers()), NAME)
        except (SuyuanError, TimeoutError):
            return None

    def _headers(self) -> dict[str, str | Secret]:
        return {"Authorization": self.key} if self.key else {}

    def _left(self) -> float:
        return max(0.05, self.deadline - time.monotonic())


async def _speaks_tls(host: str, port: int) -> bool:
    from ..net import tls as certificate

    return await certificate.certificate_verdict(host, port, 1.0) not in (certificate.NOT_TLS, certificate.UNREACHABLE)


def _same_server(url: str, here: tuple[str, str, int]) -> bool:
    try:
        return origin(url) == here
    except ValueError:
        return False


def _page_name(page: Response) -> str:
    """Return the title of a page, its server, or its status."""
    title = _TITLE.search(page.text[:20_000])
    name = " ".join(unescape(title[1]).split())[:60] if title else ""
    server = page.headers.get("server", "")[:40]
    parts = [f"“{name}”" if name else "", f"({server})" if server and name else server]
    return " ".join(part for part in parts if part) or f"HTTP {page.status}"


def _unresponsive(response: Response) -> tuple[str, ...]:
    try:
        data = response.json()
    except ValueError:
        return ()
    rows = data.get("unresponsive_engines") if isinstance(data, dict) else None
    rows = rows if isinstance(rows, list) else []
    return tuple(": ".join(str(part) for part in row) if isinstance(row, list) else str(row) for row in rows)[:12]
