"""``ImpersonatingClient``: HTTP with curl_cffi (``suyuan[impersonate]``), with a browser's handshake and headers."""

from __future__ import annotations

import re
import ssl
from datetime import UTC, datetime
from typing import Any

from curl_cffi import AsyncCurl, AsyncSession, CurlError, CurlOpt
from curl_cffi.requests.exceptions import ImpersonateError

from ..core.cause import Cause
from ..core.causes.engine import TOO_LARGE, UNDECODED
from ..core.causes.network import (
    BAD_HTTP,
    BROKEN_OFF,
    NO_SUCH_HOST,
    PROFILE_UNKNOWN,
    PROXY_FAILED,
    REFUSED,
    TLS_FAILED,
)
from ..core.urls import origin
from ..core.wire import Request, Response
from .loop_pool import MAX_CONNECTIONS_PER_HOST, LoopPool
from .settings import NetSettings

# libcurl's own error numbers.
_CAUSES: dict[int, Cause] = {
    5: PROXY_FAILED, 97: PROXY_FAILED, 6: NO_SUCH_HOST, 7: REFUSED, 35: TLS_FAILED, 51: TLS_FAILED, 60: TLS_FAILED,
    18: BROKEN_OFF, 52: BROKEN_OFF, 55: BROKEN_OFF, 56: BROKEN_OFF, 92: BROKEN_OFF, 61: UNDECODED,
}  # fmt: skip
# CURL_WRITEFUNC_ERROR of libcurl.
_STOP = 0xFFFFFFFF
# Python and libcurl would read such a URL differently.
_AMBIGUOUS = re.compile(r"[\\\s\x00-\x1f\x7f]")


class _LimitedBody:
    """Collects a body as curl delivers it, and stops the transfer when it is too large."""

    def __init__(self, limit: int) -> None:
        self.data = bytearray()
        self.full = False
        self._limit = limit

    def write(self, piece: bytes) -> int:
        """Add one piece, or tell curl to stop."""
        self.full = len(self.data) + len(piece) > self._limit
        if self.full:
            return _STOP
        self.data += piece
        return len(piece)


class _Sessions:
    """The sessions of one event loop: one for each engine, since a session has a limited number of connections."""

    def __init__(self, profile: str) -> None:
        self._curl: Any = AsyncCurl()
        self._profile = profile
        self._sessions: dict[str, Any] = {}

    def of(self, engine: str) -> Any:
        """The session of ``engine``."""
        if engine not in self._sessions:
            self._sessions[engine] = AsyncSession(
                async_curl=self._curl,
                max_clients=MAX_CONNECTIONS_PER_HOST,
                impersonate=self._profile,
                discard_cookies=True,
                **_trusted_certificates(),
            )
        return self._sessions[engine]

    async def close(self) -> None:
        """Close all connections."""
        await self._curl.close()
        for session in self._sessions.values():
            await session.close()


class ImpersonatingClient:
    """A ``Transport`` whose handshake and headers are those of the browser ``profile``."""

    def __init__(self, settings: NetSettings, profile: str) -> None:
        self._settings = settings
        self._profile = profile
        self._pool = LoopPool(lambda: _Sessions(profile))

    async def send(self, request: Request, engine: str) -> Response:
        """Send one request; cancelling it closes its socket."""
        if _AMBIGUOUS.search(request.url):
            raise BAD_HTTP(engine=engine, where=request.url[:80])
        scheme, host, port = origin(request.url)
        proxy = self._settings.proxy_for(host) or ""
        body = _LimitedBody(self._settings.max_bytes)
        # Browsers do not offer HTTP/2 where there is no TLS.
        http_version = "v1" if scheme == "http" else None
        cause: Cause | None = None
        try:
            session = self._pool.get().of(engine)
            answer = await session.request(
                request.method,
                request.sent_url(),
                headers=_browser_headers(request),
                data=request.body or None,
                allow_redirects=False,
                # Empty, not None: then libcurl takes no proxy from the environment.
                proxies={"all": proxy},
                # The caller sets the deadline; curl's own would end a longer one early.
                timeout=0,
                content_callback=body.write,
                # The URL is already encoded.
                quote=False,
                http_version=http_version,
            )
        except ImpersonateError:
            cause = PROFILE_UNKNOWN
        except CurlError as error:
            cause = TOO_LARGE if body.full else _cause_of(error, proxy)
        if cause is not None:
            # Raised outside the handler, because curl's own error contains the request with its headers.
            where = host if port in (80, 443) else f"{host}:{port}"
            raise cause(engine=engine, where=where, limit=self._settings.max_bytes, profile=self._profile)
        headers = {name.lower(): value for name, value in answer.headers.items() if value is not None}
        return Response(answer.status_code, bytes(body.data), request.url, headers, datetime.now(UTC))

    async def close(self) -> None:
        """Close the connections of every loop that is still running."""
        await self._pool.close()


def _cause_of(error: CurlError, proxy: str) -> Cause:
    cause = _CAUSES.get(int(error.code or 0), BAD_HTTP)
    if proxy and (cause is REFUSED or "CONNECT" in str(error)):
        return PROXY_FAILED
    return cause


def _browser_headers(request: Request) -> dict[str, str]:
    """The engine's headers, and those that a browser adds when a form or a link of the same site is followed."""
    headers = request.sent_headers()
    scheme, host, port = origin(request.url)
    referer = next((value for name, value in headers.items() if name.lower() == "referer"), "")
    if referer and origin(referer) == (scheme, host, port):
        headers["Sec-Fetch-Site"] = "same-origin"
        if request.method == "POST":
            headers["Origin"] = referer[: referer.index("/", len(scheme) + 3)]
    return headers


def _trusted_certificates() -> dict[str, Any]:
    """The authorities that Python trusts, for libcurl, which would use a list of its own."""
    options: dict[Any, Any] = {CurlOpt.NOPROXY: ""}
    paths = ssl.get_default_verify_paths()
    if paths.cafile:
        return {"verify": paths.cafile, "curl_options": options}
    if paths.capath:
        options[CurlOpt.CAPATH] = paths.capath
    return {"curl_options": options}
