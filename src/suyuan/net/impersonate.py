"""``ImpersonatingClient``: HTTP with curl_cffi, for engines that examine the TLS handshake; only if configured."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from ..core.cause import Cause
from ..core.causes.engine import TOO_LARGE, UNDECODED
from ..core.causes.network import BAD_HTTP, BROKEN_OFF, NO_SUCH_HOST, PROXY_FAILED, REFUSED, TLS_FAILED
from ..core.wire import Request, Response
from .settings import NetSettings

# libcurl's own error numbers.
_CAUSES: dict[int, Cause] = {
    5: PROXY_FAILED, 97: PROXY_FAILED, 6: NO_SUCH_HOST, 7: REFUSED, 35: TLS_FAILED, 51: TLS_FAILED, 60: TLS_FAILED,
    18: BROKEN_OFF, 52: BROKEN_OFF, 55: BROKEN_OFF, 56: BROKEN_OFF, 92: BROKEN_OFF, 61: UNDECODED,
}  # fmt: skip
# CURL_WRITEFUNC_ERROR of libcurl.
_STOP = 0xFFFFFFFF


class _LimitedBody:
    """Collects a body as curl delivers it, and stops the transfer when it is too large."""

    def __init__(self, limit: int) -> None:
        self.data = bytearray()
        self.full = False
        self._limit = limit

    def take(self, piece: bytes) -> int:
        """Add one piece, or tell curl to stop."""
        self.full = len(self.data) + len(piece) > self._limit
        if self.full:
            return _STOP
        self.data += piece
        return len(piece)


class ImpersonatingClient:
    """A ``Transport`` whose handshake and headers are those of the browser named in the settings."""

    def __init__(self, settings: NetSettings) -> None:
        self._settings = settings
        self._sessions: dict[asyncio.AbstractEventLoop, Any] = {}

    async def send(self, request: Request, engine: str) -> Response:
        """Send one request with the browser's own user agent, which must match the handshake."""
        from curl_cffi import CurlError

        host = urlsplit(request.url).hostname or ""
        body = _LimitedBody(self._settings.max_bytes)
        cause: Cause | None = None
        try:
            received = await self._session().request(
                request.method,
                request.url,
                headers=request.sent_headers(),
                data=request.body or None,
                allow_redirects=False,
                proxy=self._settings.proxy_for(host),
                # The caller sets the deadline; curl's own would end a longer one early.
                timeout=0,
                content_callback=body.take,
            )
        except CurlError as error:
            cause = TOO_LARGE if body.full else _CAUSES.get(int(error.code or 0), BAD_HTTP)
        if cause is not None:
            # Raised outside the handler, because curl's own error contains the request with its headers.
            raise cause(engine=engine, where=host, limit=self._settings.max_bytes)
        found = {name.lower(): value for name, value in received.headers.items() if value is not None}
        return Response(received.status_code, bytes(body.data), request.url, found, datetime.now(UTC))

    async def close(self) -> None:
        """Close all connections."""
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()

    def _session(self) -> Any:
        from curl_cffi import AsyncSession

        loop = asyncio.get_running_loop()
        if loop not in self._sessions:
            self._sessions[loop] = AsyncSession(impersonate=self._settings.impersonate)
        return self._sessions[loop]
