"""``HttpClient``: HTTP with aiohttp, with reused connections (``SessionPool``) and limited sizes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from yarl import URL

from ..core.causes.engine import TOO_LARGE
from ..core.causes.network import BAD_HTTP, BROKEN_OFF
from ..core.wire import Request, Response
from .errors import network_error
from .settings import NetSettings


class SessionPool:
    """One session per event loop, all with the same settings; synchronous callers have a loop of their own."""

    def __init__(self, user_agent: str, connector: Callable[[], TCPConnector], **more: Any) -> None:
        self._connector = connector
        headers = {"User-Agent": user_agent, **more.pop("headers", {})}
        # No timeout beside the caller's deadline, no cookies, and no proxy but the configured one.
        self._settings = {"timeout": ClientTimeout(total=None), "trust_env": False, "headers": headers, **more}
        self._sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, ClientSession] = WeakKeyDictionary()

    def session(self) -> ClientSession:
        """The session of the running loop."""
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None or session.closed:
            session = self._sessions[loop] = ClientSession(
                connector=self._connector(), cookie_jar=DummyCookieJar(), **self._settings
            )
        return session

    async def close(self) -> None:
        """Close the session of every loop that is still running."""
        here = asyncio.get_running_loop()
        for loop, session in list(self._sessions.items()):
            if loop is here:
                await session.close()
            elif loop.is_running():
                # Limited, because that loop may be waiting for this one.
                closing = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(session.close(), loop))
                await asyncio.wait([closing], timeout=2)
        self._sessions.clear()


class HttpClient:
    """A ``Transport`` with aiohttp, which has a connection pool for each event loop that uses it."""

    def __init__(self, settings: NetSettings) -> None:
        self._settings = settings
        self._proxied = bool(settings.proxy)
        self._pool = SessionPool(settings.user_agent, lambda: TCPConnector(limit=200, ttl_dns_cache=120))

    async def send(self, request: Request, engine: str) -> Response:
        """Send one request; cancelling it closes its socket."""
        # The URL is parsed once, so that the proxy is chosen for the host that is connected to.
        try:
            url = URL(request.url, encoded=True)
        except ValueError:
            raise BAD_HTTP(engine=engine, where=request.url[:80]) from None
        # A reused connection may have been closed by the server; aiohttp itself retries only GET.
        for retry in (request.method == "POST", False):
            try:
                return await self._exchange(request, url, engine)
            except (aiohttp.ClientError, OSError, ValueError) as error:
                failure = network_error(error, engine, url)
            if not retry or failure.detail_code != BROKEN_OFF.detail_code:
                break
        # Raised outside the handler, because the original error may contain the proxy's password.
        raise failure

    async def close(self) -> None:
        """Close the connections of every loop that is still running."""
        await self._pool.close()

    async def _exchange(self, request: Request, url: URL, engine: str) -> Response:
        headers = request.sent_headers()
        proxy = self._settings.proxy_for(url.host or "") if self._proxied else None
        async with self._pool.session().request(
            request.method, url, headers=headers, data=request.body or None, allow_redirects=False, proxy=proxy
        ) as received:
            body = await self._body(received, engine)
            found = {name.lower(): value for name, value in received.headers.items()}
            return Response(received.status, body, str(url), found, datetime.now(UTC))

    async def _body(self, received: aiohttp.ClientResponse, engine: str) -> bytes:
        limit = self._settings.max_bytes
        pieces: list[bytes] = []
        size = 0
        # In pieces, so that neither an endless body nor a compression bomb fills the memory.
        async for piece in received.content.iter_any():
            size += len(piece)
            if size > limit:
                raise TOO_LARGE(engine=engine, limit=limit)
            pieces.append(piece)
        return b"".join(pieces)
