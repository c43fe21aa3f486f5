"""The health check of a SearXNG: reachable? its JSON interface usable? its engines alive? What is wrong, told apart."""

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
from ..core.wire import Request, Response
from ..engines.searxng import SearXNG
from ..net.transport import origin, restricted_send

RawSend = Callable[[Request, str], Awaitable[Response]]
"""How the house sends: the request, and for whom."""

NAME = "searxng"
SLOW_SECONDS = 3.0
_DOOR_SECONDS = 2.0
_QUERY = "wikipedia"
# Where people put it behind a proxy.
_PREFIXES = ("", "/searxng", "/searx")
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.I | re.S)


@dataclass(frozen=True, slots=True)
class SearxngVerdict:
    """How a SearXNG is. ``cause`` says why it cannot be used; ``remarks`` are what is worth mending all the same."""

    base_url: str
    cause: SuyuanError | None = None
    remarks: tuple[SuyuanError, ...] = ()
    engines: tuple[str, ...] = ()
    engines_dead: tuple[str, ...] = ()
    results: int = 0
    took_ms: int = 0
    version: str = ""

    @property
    def ok(self) -> bool:
        """Whether searches work."""
        return self.cause is None

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """The published shape of a verdict."""
        return {
            "ok": self.ok,
            "base_url": self.base_url,
            "version": self.version or None,
            "took_ms": self.took_ms,
            "results": self.results,
            "engines": list(self.engines),
            "engines_dead": list(self.engines_dead),
            "cause": self.cause.as_dict(lang) if self.cause else None,
            "remarks": [remark.as_dict(lang) for remark in self.remarks],
        }


async def check_searxng(
    base_url: str, send: RawSend, *, api_key: Secret | None = None, seconds: float = 5.5, limit: float = 5.0
) -> SearxngVerdict:
    """Examine the instance at ``base_url`` in at most ``seconds``; ``limit`` is the time that a search of the house has."""
    base_url = base_url.strip().rstrip("/")
    key = api_key or Secret("")
    if error := _bad_address(base_url):
        return SearxngVerdict(base_url, error.redacted([key]))
    check = _Check(base_url, send, key, limit, time.monotonic() + seconds)
    verdict = await check.run()
    for error in (verdict.cause, *verdict.remarks):
        if error is not None:
            error.redacted([key])
    return verdict


def _bad_address(base_url: str) -> SuyuanError | None:
    try:
        origin(base_url)
        parts = urlsplit(base_url)
    except ValueError:
        return SEARXNG_BAD_ADDRESS(
            engine=NAME, where=base_url[:100], why="it is not an http(s) address", why_zh="不是 http(s) 地址"
        )
    if any(c.isspace() for c in base_url):
        return SEARXNG_BAD_ADDRESS(engine=NAME, where=base_url[:100], why="it has a blank in it", why_zh="含有空格")
    if parts.query or parts.fragment or parts.path.endswith(("/search", "/healthz")):
        return SEARXNG_BAD_ADDRESS(
            engine=NAME,
            where=base_url[:100],
            why="it is the address of a page of it, not its base",
            why_zh="这是其中某个页面的地址,而不是根地址",
        )
    return None


@dataclass(slots=True)
class _Check:
    """One examination, step by step: the door, what it says of itself, the JSON setting, a search."""

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

    async def run(self) -> SearxngVerdict:
        """The verdict."""
        started = time.monotonic()
        if error := await self._door():
            return SearxngVerdict(self.base_url, error)
        door_ms = round((time.monotonic() - started) * 1000)
        if error := await self._json_setting():
            return SearxngVerdict(self.base_url, error, took_ms=door_ms)
        about = await self._about()
        verdict = await self._search()
        if not verdict.ok:
            return replace(verdict, engines=about.engines, version=about.version)
        if not verdict.results and not verdict.engines_dead:
            cause = SEARXNG_NO_ENGINES(engine=NAME, where=self.base_url)
            return replace(verdict, cause=cause, engines=about.engines, version=about.version)
        return replace(verdict, engines=about.engines, version=about.version)

    async def _door(self) -> SuyuanError | None:
        """Whether a SearXNG answers at all."""
        try:
            async with asyncio.timeout(min(_DOOR_SECONDS, self._left())):
                await drive(self.engine.probe(), self.send)
        except TimeoutError:
            return SEARXNG_SILENT(engine=NAME, where=self.base_url, seconds=_DOOR_SECONDS)
        except SuyuanError as error:
            return await self._told_apart(error)
        return None

    async def _told_apart(self, error: SuyuanError) -> SuyuanError:
        _, host, port = origin(self.base_url)
        code = error.detail_code
        if code == "connection_refused":
            return SEARXNG_DOWN(engine=NAME, where=self.base_url)
        if code == "dns":
            return SEARXNG_NO_HOST(engine=NAME, host=host)
        if code == "tls":
            return await self._tls_illness(host, port)
        if code in ("connection_broken", "bad_http"):
            return await self._stranger("something that does not speak HTTP", "不使用 HTTP 的程序")
        if code == NOT_SEARXNG.detail_code:
            return await self._other_address() or await self._stranger()
        return error

    async def _tls_illness(self, host: str, port: int) -> SuyuanError:
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

    async def _stranger(self, what: str = "", what_zh: str = "") -> SuyuanError:
        """Who it is that answers in its place."""
        scheme, host, port = origin(self.base_url)
        if scheme == "http" and await _speaks_tls(host, port):
            return SEARXNG_NEEDS_HTTPS(
                engine=NAME, where=f"{host}:{port}", found=self.base_url.replace("http://", "https://", 1)
            )
        if not what:
            page = await self._ask("/")
            what = what_zh = _likeness(page) if page else ""
        error = SEARXNG_OTHER_SERVER(engine=NAME, where=self.base_url, what=what or "another server")
        if (zh := what_zh or "其他服务器") != what:
            error.translations["zh"] = (
                SEARXNG_OTHER_SERVER.zh.format(where=self.base_url, what=zh),
                error.say("zh")[1],
            )
        return error

    async def _other_address(self) -> SuyuanError | None:
        """The same server's SearXNG at another path, if there is one."""
        scheme, host, port = origin(self.base_url)
        root = f"{scheme}://{urlsplit(self.base_url).netloc}"
        candidates = [root + prefix for prefix in _PREFIXES]
        if (page := await self._ask("/")) and (onward := page.headers.get("location")):
            target = urljoin(self.base_url + "/", onward).split("?")[0].rstrip("/")
            if _same_server(target, (scheme, host, port)):
                candidates.insert(0, target)
        for address in dict.fromkeys(candidates):
            if address == self.base_url:
                continue
            answer = await self._ask_at(f"{address}/healthz")
            if answer and answer.status == 200 and answer.body.strip() == b"OK":
                return SEARXNG_WRONG_PATH(engine=NAME, where=self.base_url, found=address)
        return None

    async def _json_setting(self) -> SuyuanError | None:
        """Whether JSON is on: an empty search is refused as such (400) where it is, and with 403 where it is not; no engine is asked."""
        answer = await self._ask("/search?q=&format=json")
        if answer is None:
            return None
        if answer.status in (403, 404, 405):
            page = await self._ask("/search?q=")
            if page is not None and page.status not in (403, 404, 405):
                return SEARXNG_CLOSED(engine=NAME, where=self.base_url)
            return SEARXNG_API_OFF(engine=NAME, where=self.base_url, status=answer.status)
        if answer.status == 429:
            return SEARXNG_LIMITER(engine=NAME, where=self.base_url)
        return None

    async def _about(self) -> SearxngVerdict:
        """What the instance says of itself; nothing where it says nothing."""
        answer = await self._ask("/config")
        try:
            data = answer.json() if answer and answer.status == 200 else {}
        except ValueError:
            data = {}
        if not isinstance(data, dict):
            data = {}
        rows = [row for row in data.get("engines") or () if isinstance(row, dict)]
        names = tuple(str(row.get("name")) for row in rows if row.get("enabled"))
        return SearxngVerdict(self.base_url, engines=names, version=str(data.get("version") or ""))

    async def _search(self) -> SearxngVerdict:
        started = time.monotonic()
        allowed = round(max(0.5, self._left()), 1)
        try:
            async with asyncio.timeout(allowed):
                request = Request.get(f"{self.base_url}/search", {"q": _QUERY, "format": "json"}, self._headers())
                response = await self.send(request)
        except TimeoutError:
            return SearxngVerdict(
                self.base_url, SEARXNG_SEARCH_SILENT(engine=NAME, where=self.base_url, seconds=allowed)
            )
        except SuyuanError as error:
            return SearxngVerdict(self.base_url, error)
        seconds = time.monotonic() - started
        verdict = SearxngVerdict(self.base_url, took_ms=round(seconds * 1000))
        if response.status >= 500:
            return replace(verdict, cause=SEARXNG_BROKEN(engine=NAME, where=self.base_url, status=response.status))
        dead = _dead(response)
        try:
            found = self.engine.parse(response)
        except SuyuanError as error:
            strange = error.detail_code in ("not_json", "layout_changed")
            return replace(verdict, cause=await self._stranger() if strange else error, engines_dead=dead)
        return replace(verdict, results=len(found.results), engines_dead=dead, remarks=self._remarks(dead, seconds))

    def _remarks(self, dead: tuple[str, ...], seconds: float) -> tuple[SuyuanError, ...]:
        remarks = []
        if dead:
            remarks.append(SEARXNG_SOME_DEAD(engine=NAME, which=", ".join(dead)))
        if seconds > SLOW_SECONDS:
            remarks.append(SEARXNG_SLOW(engine=NAME, seconds=seconds, limit=self.limit))
        return tuple(remarks)

    async def _ask(self, path: str) -> Response | None:
        return await self._ask_at(self.base_url + path)

    async def _ask_at(self, url: str) -> Response | None:
        """One small question on the side; its failure is no news."""
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


def _likeness(page: Response) -> str:
    """How the page introduces itself: its title, its server, or its status."""
    title = _TITLE.search(page.text[:20_000])
    named = " ".join(unescape(title[1]).split())[:60] if title else ""
    server = page.headers.get("server", "")[:40]
    both = [f"“{named}”" if named else "", f"({server})" if server and named else server]
    return " ".join(part for part in both if part) or f"HTTP {page.status}"


def _dead(response: Response) -> tuple[str, ...]:
    try:
        data = response.json()
    except ValueError:
        return ()
    rows = data.get("unresponsive_engines") if isinstance(data, dict) else None
    rows = rows if isinstance(rows, list) else []
    return tuple(": ".join(str(part) for part in row) if isinstance(row, list) else str(row) for row in rows)[:12]
