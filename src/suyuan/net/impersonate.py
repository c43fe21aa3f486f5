"""HTTP by curl_cffi, for engines that look at the TLS handshake; used only where it is configured."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from ..contract.causes import BAD_HTTP, BROKEN_OFF, NO_SUCH_HOST, PROXY_FAILED, REFUSED, TLS_FAILED, TOO_LARGE, UNDECODED, Cause
from ..contract.secret import Secret
from ..contract.wire import Request, Response
from .transport import NetSettings

# libcurl's own error numbers.
_CAUSES: dict[int, Cause] = {
    5: PROXY_FAILED, 97: PROXY_FAILED, 6: NO_SUCH_HOST, 7: REFUSED, 35: TLS_FAILED, 51: TLS_FAILED, 60: TLS_FAILED,
    18: BROKEN_OFF, 52: BROKEN_OFF, 55: BROKEN_OFF, 56: BROKEN_OFF, 92: BROKEN_OFF, 61: UNDECODED,
}  # fmt: skip


class ImpersonatingClient:
    """A ``Transport`` whose handshake and headers look like those of the browser named in the settings."""

    def __init__(self, settings: NetSettings) -> None:
        self._settings = settings
        self._sessions: dict[asyncio.AbstractEventLoop, Any] = {}

    async def send(self, request: Request, engine: str) -> Response:
        """Send one request; the browser's own user agent is kept, since it must fit the handshake."""
        from curl_cffi import CurlError

        host = urlsplit(request.url).hostname or ""
        headers = {name: value.reveal() if isinstance(value, Secret) else value for name, value in request.headers.items()}
        try:
            answer = await self._session().request(
                request.method,
                request.url,
                headers=headers,
                data=request.body or None,
                allow_redirects=False,
                proxy=self._settings.proxy_for(host),
                stream=True,
            )
            try:
                body = await self._body(answer, engine)
            finally:
                await answer.aclose()
        except CurlError as error:
            raise _CAUSES.get(int(error.code or 0), BAD_HTTP)(engine=engine, where=host) from None
        found = {name.lower(): value for name, value in answer.headers.items() if value is not None}
        return Response(answer.status_code, body, request.url, found, datetime.now(UTC))

    async def close(self) -> None:
        """Close the connections of this loop."""
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()

    async def _body(self, answer: Any, engine: str) -> bytes:
        limit = self._settings.max_bytes
        body = bytearray()
        async for piece in answer.aiter_content():
            body += piece
            if len(body) > limit:
                raise TOO_LARGE(engine=engine, limit=limit)
        return bytes(body)

    def _session(self) -> Any:
        from curl_cffi import AsyncSession

        loop = asyncio.get_running_loop()
        if loop not in self._sessions:
            self._sessions[loop] = AsyncSession(impersonate=self._settings.impersonate)
        return self._sessions[loop]
