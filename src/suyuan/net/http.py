"""``HttpClient``: HTTP with aiohttp, with reused connections (``session_pool``) and limited sizes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

import aiohttp
from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from aiohttp.abc import AbstractResolver
from yarl import URL

from ..core.causes.engine import TOO_LARGE
from ..core.causes.network import BAD_HTTP, BROKEN_OFF
from ..core.wire import Request, Response
from .errors import network_error
from .settings import NetSettings

PLACES = 100
"""Most connections to one host at the same time: they are not shared, so a host that hangs holds up no other."""


class Closable(Protocol):
    """What a pool keeps: a client that belongs to one event loop."""

    async def close(self) -> None:
        """Close its connections."""
        ...


C = TypeVar("C", bound=Closable)


class LoopPool(Generic[C]):
    """One client per event loop, made when it is first used; synchronous callers have a loop of their own."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, C] = WeakKeyDictionary()

    def get(self) -> C:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._make()
        return client

    async def close(self) -> None:
        """Close the client of every loop that is still running."""
        here = asyncio.get_running_loop()
        for loop, client in list(self._clients.items()):
            if loop is here:
                await client.close()
            elif loop.is_running():
                # Limited, because that loop may be waiting for this one.
                closing = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(client.close(), loop))
                await asyncio.wait([closing], timeout=2)
        self._clients.clear()


def session_pool(user_agent: str, connector: Callable[[], TCPConnector], **more: Any) -> LoopPool[ClientSession]:
    """Sessions of aiohttp that all have the same settings."""
    headers = {"User-Agent": user_agent, **more.pop("headers", {})}
    # No timeout beside the caller's deadline, no cookies, and no proxy but the configured one.
    settings = {"timeout": ClientTimeout(total=None), "trust_env": False, "headers": headers, **more}
    return LoopPool(lambda: ClientSession(connector=connector(), cookie_jar=DummyCookieJar(), **settings))


class HttpClient:
    """A ``Transport`` with aiohttp, which has a connection pool for each event loop that uses it."""

    def __init__(self, settings: NetSettings, resolver: AbstractResolver | None = None) -> None:
        self._settings = settings
        self._proxied = bool(settings.proxy)
        self._pool = session_pool(
            settings.user_agent,
            lambda: TCPConnector(limit=0, limit_per_host=PLACES, ttl_dns_cache=120, resolver=resolver),
        )

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
        async with self._pool.get().request(
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
