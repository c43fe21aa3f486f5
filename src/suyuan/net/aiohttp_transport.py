"""Carries the requests of model libraries, which speak httpx, over the house's own aiohttp (``suyuan[chat]``).

A stream of many small pieces costs a third of what it costs by httpx's own transport, and pieces that have come in
while the house was busy are handed over in one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import httpx2
from aiohttp import ClientTimeout, TCPConnector
from yarl import URL

from .session_pool import SessionPool

# aiohttp sets these by itself.
_HOP = frozenset({"connection", "host", "transfer-encoding"})


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends by a pool of aiohttp, with the time-outs that each request asks for."""

    def __init__(self, proxy: str | None = None) -> None:
        self._proxy = proxy
        # The library unpacks what comes packed; nothing is unpacked twice.
        self._pool = SessionPool("suyuan", lambda: TCPConnector(limit=0, ttl_dns_cache=120), auto_decompress=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request, and return its answer as soon as its head has come."""
        failure = None
        try:
            answer = await self._send(request)
        except (aiohttp.ClientError, OSError) as error:
            failure = _in_httpx_words(error, request)
        if failure is not None:
            # Out of the handler: the foreign error would come along, and it may hold the proxy's password.
            raise failure
        headers = [(name, value) for name, value in answer.raw_headers if name.lower() != b"transfer-encoding"]
        return httpx2.Response(answer.status, headers=headers, stream=_Body(answer, request))

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.close()

    async def _send(self, request: httpx2.Request) -> aiohttp.ClientResponse:
        allowed: dict[str, Any] = request.extensions.get("timeout") or {}
        return await self._pool.session().request(
            request.method,
            URL(str(request.url), encoded=True),
            headers=[(name, value) for name, value in request.headers.items() if name.lower() not in _HOP],
            data=await request.aread() or None,
            allow_redirects=False,
            proxy=self._proxy,
            timeout=ClientTimeout(total=None, sock_connect=allowed.get("connect"), sock_read=allowed.get("read")),
        )


class _Body(httpx2.AsyncByteStream):
    """What is left to read of an answer."""

    def __init__(self, answer: aiohttp.ClientResponse, request: httpx2.Request) -> None:
        self._answer = answer
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        failure = None
        try:
            async for piece in self._answer.content.iter_any():
                yield piece
        except (aiohttp.ClientError, OSError) as error:
            failure = _in_httpx_words(error, self._request)
        if failure is not None:
            raise failure

    async def aclose(self) -> None:
        # Closed, not released: a stream that is left early must end at the server too.
        if self._answer.content.is_eof():
            self._answer.release()
        else:
            self._answer.close()


def _in_httpx_words(error: Exception, request: httpx2.Request) -> httpx2.TransportError:
    """What httpx would raise."""
    if isinstance(error, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError):
        return httpx2.ProxyError(type(error).__name__, request=request)
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return httpx2.ConnectTimeout(type(error).__name__, request=request)
    if isinstance(error, aiohttp.ClientConnectorError):
        told = httpx2.ConnectError(type(error).__name__, request=request)
        # The system's own error tells a wrong name and a wrong certificate from a server that is not there.
        told.__cause__ = getattr(error, "certificate_error", None) or error.os_error
        return told
    if isinstance(error, TimeoutError):
        return httpx2.ReadTimeout(type(error).__name__, request=request)
    if isinstance(error, aiohttp.InvalidURL):
        return httpx2.UnsupportedProtocol(type(error).__name__, request=request)
    # Its name only: the texts of these hold numbers that look like a status of the server's.
    return httpx2.RemoteProtocolError(type(error).__name__, request=request)
