"""``FetchClient``: GET for any public address, with every redirect checked and only checked addresses connected to."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from socket import AF_INET, AF_INET6, AI_ADDRCONFIG, AI_NUMERICHOST, AI_NUMERICSERV, SOCK_STREAM, AddressFamily
from types import MappingProxyType
from typing import Any

import aiohttp
from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from ..core.causes.network import BAD_URL, GUARD_REFUSED
from ..core.causes.page import PAGE_REDIRECTS, PAGE_TOO_LARGE, PAGE_UNDECODED
from ..core.errors import SuyuanError
from ..core.wire import Response
from ..messages.catalog import Text
from .aiohttp_sessions import session_pool
from .decompress import ACCEPTED, DecompressionError, Decompressor
from .errors import network_error
from .guard import Address, Guard
from .loop_pool import PLACES, LoopPool
from .settings import NetSettings

FETCH = "web.fetch"
"""The name in errors, where a search has the name of its engine."""

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the IP addresses of a host, for a port; raises ``OSError`` if there are none."""

_REDIRECTS = (301, 302, 303, 307, 308)
_CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})
# Behind a proxy our own lookup is only an additional check, which must not delay the page.
_LOOKUP_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The last response, the URLs of all hops including the last, and notes on the redirects."""

    response: Response
    hops: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _SizeLimits:
    wire: int
    body: int


_POSTED = _SizeLimits(100_000, 100_000)
"""What is read of an answer that nobody looks at."""


async def system_lookup(host: str, port: int) -> Sequence[str]:
    """The addresses according to the resolver of this machine."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM, flags=AI_ADDRCONFIG)
    return [str(address[0]) for *_, address in found]


class CheckedResolver(AbstractResolver):
    """A resolver that returns only addresses the guard allows, which are connected to without another lookup."""

    def __init__(self, guard: Guard, lookup: Lookup = system_lookup) -> None:
        self._guard = guard
        self._lookup = lookup

    async def resolve(self, host: str, port: int = 0, family: AddressFamily = AF_INET) -> list[ResolveResult]:
        """The allowed addresses of ``host``; raises ``GUARD_REFUSED`` if all of them are refused."""
        allowed: list[str] = []
        refusal: Exception = OSError(f"no address for {host}")
        for ip in await self._lookup(host, port):
            try:
                self._guard.check_address(ip, host)
                allowed.append(ip)
            except SuyuanError as error:
                refusal = error
        if not allowed:
            raise refusal
        return [_resolved(host, ip, port) for ip in dict.fromkeys(allowed)]

    async def close(self) -> None:
        """Do nothing, since nothing is open."""


class FetchClient:
    """GET for any allowed address, without cookies; it has connection pools for each event loop that uses it."""

    def __init__(
        self,
        settings: NetSettings,
        guard: Guard,
        lookup: Lookup = system_lookup,
        tls: ssl.SSLContext | None = None,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self._settings = settings
        self._guard = guard
        self._lookup = lookup
        # The proxy itself may be on this machine, so its connections are not checked and have their own pool.
        places: dict[str, Any] = {"limit": 0, "limit_per_host": PLACES, "ssl": tls or True}
        self._direct = _pool(
            settings,
            lambda: TCPConnector(resolver=resolver or CheckedResolver(guard, lookup), use_dns_cache=False, **places),
        )
        self._proxied = _pool(settings, lambda: TCPConnector(**places))

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] = MappingProxyType({}),
        max_wire: int,
        max_bytes: int,
        max_redirects: int = 5,
    ) -> FetchResult:
        """Fetch ``url``, checked at every hop; cancelling closes the socket."""
        address = self._guard.check_url(url)
        hops = [address.href]
        notes: tuple[str, ...] = ()
        while True:
            response = await self._send_once(address, headers, _SizeLimits(max_wire, max_bytes))
            location = _location(response)
            if location is None:
                return FetchResult(response, tuple(hops), notes)
            target = self._redirect_target(address, location)
            if target.href in hops or len(hops) > max_redirects:
                raise PAGE_REDIRECTS(engine=FETCH, where=address.netloc, count=len(hops))
            if (target.scheme, target.netloc) != (address.scheme, address.netloc):
                headers = {name: value for name, value in headers.items() if name.lower() not in _CREDENTIALS}
            if (address.scheme, target.scheme) == ("https", "http"):
                notes += (f"redirected from https to http: {target.href}",)
            address = target
            hops.append(address.href)

    async def post(self, url: str, body: bytes) -> Response:
        """Send JSON to ``url``, checked like a page; a redirect is not followed."""
        address = self._guard.check_url(url)
        return await self._send_once(address, {"Content-Type": "application/json"}, _POSTED, body)

    async def may_load(self, url: str) -> bool:
        """Whether a browser may request ``url``; all addresses of the host must be allowed, since it picks any."""
        try:
            address = self._guard.check_url(url)
            await self._check_all(address)
        except SuyuanError:
            return False
        except OSError:
            # A host without an address here can only be reached through a proxy.
            return self._settings.proxy_for(address.host) is not None
        return True

    async def close(self) -> None:
        """Close the connections of every loop that is still running."""
        await self._direct.close()
        await self._proxied.close()

    def _redirect_target(self, address: Address, location: str) -> Address:
        try:
            return self._guard.check_url(location, base=address.href)
        except SuyuanError as error:
            if error.detail_code != BAD_URL.detail_code:
                raise
            # The page is at fault, not the caller.
            why = Text("network.reason.redirects", {"why": error.failure.params["why"]})
            raise GUARD_REFUSED(where=address.netloc, why=why) from None

    async def _send_once(
        self, address: Address, headers: Mapping[str, str], limits: _SizeLimits, body: bytes | None = None
    ) -> Response:
        url = URL(f"{address.scheme}://{address.netloc}{address.target}", encoded=True)
        if (url.raw_host, url.port) != (address.host, address.port):
            # Attacks on such checks use URLs that two parsers read differently.
            raise BAD_URL(url=address.netloc, why=Text("network.reason.ambiguous"))
        proxy = self._settings.proxy_for(address.host)
        if proxy is not None:
            await self._check_before_proxy(address)
        outcome: Response | SuyuanError
        try:
            outcome = await self._exchange(address, url, proxy, headers, limits, body)
        except DecompressionError as error:
            outcome = PAGE_UNDECODED(engine=FETCH, where=address.netloc, what=error)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            outcome = network_error(error, FETCH, url)
        if isinstance(outcome, SuyuanError):
            # Raised outside the handler, because the original error may contain the proxy's password.
            raise outcome
        return outcome

    async def _exchange(
        self,
        address: Address,
        url: URL,
        proxy: str | None,
        headers: Mapping[str, str],
        limits: _SizeLimits,
        body: bytes | None,
    ) -> Response:
        session, method = (self._direct if proxy is None else self._proxied).get(), "GET" if body is None else "POST"
        async with session.request(
            method, url, headers=headers, data=body, allow_redirects=False, proxy=proxy
        ) as received:
            found = {name.lower(): value for name, value in received.headers.items()}
            response = Response(received.status, b"", address.href, found, datetime.now(UTC))
            if _location(response) is not None:
                # The body of a redirect is not read.
                return response
            return Response(received.status, await _body(received, address, limits), address.href, found, response.at)

    async def _check_before_proxy(self, address: Address) -> None:
        """Refuse hosts that this machine knows to be private, although the proxy resolves names itself."""
        try:
            async with asyncio.timeout(_LOOKUP_SECONDS):
                await self._check_all(address)
        except OSError:
            # Unknown here or too slow (a TimeoutError is an OSError), so only the proxy can tell.
            return

    async def _check_all(self, address: Address) -> None:
        if address.ip is None:
            for ip in await self._lookup(address.host, address.port):
                self._guard.check_address(ip, address.host)


def _pool(settings: NetSettings, connector: Callable[[], TCPConnector]) -> LoopPool[aiohttp.ClientSession]:
    return session_pool(
        settings.user_agent,
        connector,
        headers={"Accept-Encoding": ACCEPTED},
        # Decompressed here, because both sizes are limited.
        auto_decompress=False,
        # Pages often send long security policies; the number of headers is limited as well.
        max_field_size=32 * 1024,
    )


async def _body(received: aiohttp.ClientResponse, address: Address, limits: _SizeLimits) -> bytes:
    if (received.content_length or 0) > limits.wire:
        raise PAGE_TOO_LARGE(engine=FETCH, where=address.netloc, limit=limits.wire)
    decompressor = Decompressor(received.headers.get("Content-Encoding", ""))
    pieces: list[bytes] = []
    wire = size = 0
    async for compressed in received.content.iter_any():
        wire += len(compressed)
        if wire > limits.wire:
            raise PAGE_TOO_LARGE(engine=FETCH, where=address.netloc, limit=limits.wire)
        for piece in decompressor.feed(compressed):
            size += len(piece)
            if size > limits.body:
                raise PAGE_TOO_LARGE(engine=FETCH, where=address.netloc, limit=limits.body)
            pieces.append(piece)
    decompressor.finish()
    return b"".join(pieces)


def _location(response: Response) -> str | None:
    """The target of a redirect; bytes that are not UTF-8 are percent-encoded, as in browsers."""
    value = response.headers.get("location", "")
    if response.status not in _REDIRECTS or not value:
        return None
    return "".join(f"%{ord(char) & 0xFF:02X}" if "\udc80" <= char <= "\udcff" else char for char in value)


def _resolved(host: str, ip: str, port: int) -> ResolveResult:
    family = AF_INET6 if ":" in ip else AF_INET
    return {
        "hostname": host,
        "host": ip,
        "port": port,
        "family": family,
        "proto": 0,
        "flags": AI_NUMERICHOST | AI_NUMERICSERV,
    }
