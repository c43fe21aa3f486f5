"""HTTP by aiohttp: connections reused, sizes capped, every failure in the words of our error tree."""

from __future__ import annotations

from datetime import UTC, datetime

import aiohttp
from aiohttp import TCPConnector
from yarl import URL

from ..core.causes.engine import TOO_LARGE
from ..core.causes.network import BAD_HTTP, BROKEN_OFF
from ..core.errors import SuyuanError
from ..core.secret import Secret
from ..core.wire import Request, Response
from .errors import translated
from .session_pool import SessionPool
from .transport import NetSettings


class HttpClient:
    """A ``Transport`` on aiohttp, with one pool of connections for each event loop that uses it."""

    def __init__(self, settings: NetSettings) -> None:
        self._settings = settings
        self._pool = SessionPool(settings.user_agent, lambda: TCPConnector(limit=200, ttl_dns_cache=120))

    async def send(self, request: Request, engine: str) -> Response:
        """Send one request; cancelling it closes its socket."""
        # The URL is parsed once: what decides about the proxy is what is connected to.
        try:
            url = URL(request.url, encoded=True)
        except ValueError:
            raise BAD_HTTP(engine=engine, where=request.url[:80]) from None
        outcome = await self._tried(request, url, engine)
        if (
            isinstance(outcome, SuyuanError)
            and outcome.detail_code == BROKEN_OFF.detail_code
            and request.method == "POST"
        ):
            # Most likely a kept connection that the server closed meanwhile; aiohttp itself tries again only for GET.
            outcome = await self._tried(request, url, engine)
        if isinstance(outcome, SuyuanError):
            # Raised outside of the handler: the foreign error may hold the proxy's password.
            raise outcome
        return outcome

    async def _tried(self, request: Request, url: URL, engine: str) -> Response | SuyuanError:
        try:
            return await self._exchange(request, url, engine)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return translated(error, engine, url)

    async def close(self) -> None:
        """Close the connections of every loop that is still running."""
        await self._pool.close()

    async def _exchange(self, request: Request, url: URL, engine: str) -> Response:
        headers = {
            name: value.reveal() if isinstance(value, Secret) else value for name, value in request.headers.items()
        }
        proxy = self._settings.proxy_for(url.host or "")
        async with self._pool.session().request(
            request.method, url, headers=headers, data=request.body or None, allow_redirects=False, proxy=proxy
        ) as answer:
            body = await self._body(answer, engine)
            found = {name.lower(): value for name, value in answer.headers.items()}
            return Response(answer.status, body, str(url), found, datetime.now(UTC))

    async def _body(self, answer: aiohttp.ClientResponse, engine: str) -> bytes:
        limit = self._settings.max_bytes
        pieces: list[bytes] = []
        size = 0
        # Piece by piece, so that neither a flood nor a compression bomb is ever held in memory as a whole.
        async for piece in answer.content.iter_any():
            size += len(piece)
            if size > limit:
                raise TOO_LARGE(engine=engine, limit=limit)
            pieces.append(piece)
        return b"".join(pieces)
