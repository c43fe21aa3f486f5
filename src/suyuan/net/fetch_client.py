"""GET for any public address: each hop is checked by the guard, and only what was checked is connected to."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from socket import AF_INET, AF_INET6, AI_ADDRCONFIG, AI_NUMERICHOST, AI_NUMERICSERV, SOCK_STREAM, AddressFamily
from types import MappingProxyType

import aiohttp
from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from ..core.causes.network import BAD_URL, GUARD_REFUSED
from ..core.causes.page import PAGE_REDIRECTS, PAGE_TOO_LARGE, PAGE_UNDECODED
from ..core.errors import SuyuanError
from ..core.wire import Response
from ..messages.catalog import Text
from .decompress import ACCEPTED, DecompressionError, Decompressor
from .errors import translated
from .guard import Address, Guard
from .session_pool import SessionPool
from .transport import NetSettings

READER = "web.fetch"
"""Who is named in errors, where for a search it is the engine."""

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, for a port; raises ``OSError`` where there are none."""

_REDIRECTS = (301, 302, 303, 307, 308)
_PERSONAL = frozenset({"authorization", "cookie", "proxy-authorization"})
# With a proxy our own look-up is only a second opinion; it may not hold up the page.
_SECOND_OPINION_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Fetched:
    """The last response, all addresses on the way to it (the last included), and what is worth saying about the way."""

    response: Response
    hops: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Caps:
    wire: int
    body: int


async def system_lookup(host: str, port: int) -> Sequence[str]:
    """Ask this machine's resolver."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM, flags=AI_ADDRCONFIG)
    return [str(where[0]) for *_, where in found]


class CheckedResolver(AbstractResolver):
    """A resolver that gives only what the guard allows, to connect to that very address: a second answer is never asked for."""

    def __init__(self, guard: Guard, lookup: Lookup = system_lookup) -> None:
        self._guard = guard
        self._lookup = lookup

    async def resolve(self, host: str, port: int = 0, family: AddressFamily = AF_INET) -> list[ResolveResult]:
        """The allowed addresses of ``host``; raises ``GUARD_REFUSED`` where all of them are refused."""
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
        """There is nothing to close."""


class FetchClient:
    """GET for arbitrary addresses, with pools of connections for each event loop that uses it; no cookies."""

    def __init__(
        self, settings: NetSettings, guard: Guard, lookup: Lookup = system_lookup, tls: ssl.SSLContext | None = None
    ) -> None:
        self._settings = settings
        self._guard = guard
        self._lookup = lookup
        # The proxy itself may be on this machine, so its connections are kept apart from the checked ones.
        self._direct = _pool(
            settings,
            lambda: TCPConnector(resolver=CheckedResolver(guard, lookup), use_dns_cache=False, ssl=tls or True),
        )
        self._proxied = _pool(settings, lambda: TCPConnector(ssl=tls or True))

    async def get(
        self,
        url: str,
        *,
        headers: Mapping[str, str] = MappingProxyType({}),
        max_wire: int,
        max_bytes: int,
        max_redirects: int = 5,
    ) -> Fetched:
        """Fetch ``url``, checked at every hop; cancelling closes the socket."""
        address = self._guard.check_url(url)
        hops = [address.href]
        notes: tuple[str, ...] = ()
        while True:
            response = await self._ask(address, headers, _Caps(max_wire, max_bytes))
            location = _location(response)
            if location is None:
                return Fetched(response, tuple(hops), notes)
            onward = self._onward(address, location)
            if onward.href in hops or len(hops) > max_redirects:
                raise PAGE_REDIRECTS(engine=READER, where=address.netloc, count=len(hops))
            if (onward.scheme, onward.netloc) != (address.scheme, address.netloc):
                headers = {name: value for name, value in headers.items() if name.lower() not in _PERSONAL}
            if (address.scheme, onward.scheme) == ("https", "http"):
                notes += (f"redirected from https to http: {onward.href}",)
            address = onward
            hops.append(address.href)

    async def may_reach(self, url: str) -> bool:
        """Whether a browser may ask for ``url``; it chooses among the host's addresses itself, so all must be allowed."""
        try:
            address = self._guard.check_url(url)
            await self._check_all(address)
        except SuyuanError:
            return False
        except OSError:
            # Only a proxy can reach what has no address here.
            return self._settings.proxy_for(address.host) is not None
        return True

    async def close(self) -> None:
        """Close the connections of every loop that is still running."""
        await self._direct.close()
        await self._proxied.close()

    def _onward(self, address: Address, location: str) -> Address:
        try:
            return self._guard.check_url(location, base=address.href)
        except SuyuanError as error:
            if error.detail_code != BAD_URL.detail_code:
                raise
            # It is the page that asks for it, not the caller.
            why = Text("network.reason.redirects", {"why": error.failure.params["why"]})
            raise GUARD_REFUSED(where=address.netloc, why=why) from None

    async def _ask(self, address: Address, headers: Mapping[str, str], caps: _Caps) -> Response:
        url = URL(f"{address.scheme}://{address.netloc}{address.target}", encoded=True)
        if (url.raw_host, url.port) != (address.host, address.port):
            # Two parsers that disagree are how guards are tricked.
            raise BAD_URL(url=address.netloc, why=Text("network.reason.ambiguous"))
        proxy = self._settings.proxy_for(address.host)
        if proxy is not None:
            await self._second_opinion(address)
        outcome: Response | SuyuanError
        try:
            outcome = await self._exchange(address, url, proxy, headers, caps)
        except DecompressionError as error:
            outcome = PAGE_UNDECODED(engine=READER, where=address.netloc, what=error)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            outcome = translated(error, READER, url)
        if isinstance(outcome, SuyuanError):
            # Raised outside of the handler: the foreign error may hold the proxy's password.
            raise outcome
        return outcome

    async def _exchange(
        self, address: Address, url: URL, proxy: str | None, headers: Mapping[str, str], caps: _Caps
    ) -> Response:
        pool = self._direct if proxy is None else self._proxied
        async with pool.session().get(url, headers=headers, allow_redirects=False, proxy=proxy) as answer:
            found = {name.lower(): value for name, value in answer.headers.items()}
            response = Response(answer.status, b"", address.href, found, datetime.now(UTC))
            if _location(response) is not None:
                # The body of a redirect is not read.
                return response
            return Response(answer.status, await _body(answer, address, caps), address.href, found, response.at)

    async def _second_opinion(self, address: Address) -> None:
        """The proxy resolves names by itself; what this machine knows to be private is refused all the same."""
        try:
            async with asyncio.timeout(_SECOND_OPINION_SECONDS):
                await self._check_all(address)
        except OSError:
            # Unknown here, or too slow: then the proxy alone knows. TimeoutError is an OSError.
            return

    async def _check_all(self, address: Address) -> None:
        if address.ip is None:
            for ip in await self._lookup(address.host, address.port):
                self._guard.check_address(ip, address.host)


def _pool(settings: NetSettings, connector: Callable[[], TCPConnector]) -> SessionPool:
    return SessionPool(
        settings.user_agent,
        connector,
        headers={"Accept-Encoding": ACCEPTED},
        # What is on the wire is counted, so it is unpacked here.
        auto_decompress=False,
        # Long policies are common among pages; together with the number of headers it stays bounded.
        max_field_size=32 * 1024,
    )


async def _body(answer: aiohttp.ClientResponse, address: Address, caps: _Caps) -> bytes:
    if (answer.content_length or 0) > caps.wire:
        raise PAGE_TOO_LARGE(engine=READER, where=address.netloc, limit=caps.wire)
    unpacker = Decompressor(answer.headers.get("Content-Encoding", ""))
    pieces: list[bytes] = []
    wire = size = 0
    async for packed in answer.content.iter_any():
        wire += len(packed)
        if wire > caps.wire:
            raise PAGE_TOO_LARGE(engine=READER, where=address.netloc, limit=caps.wire)
        for piece in unpacker.feed(packed):
            size += len(piece)
            if size > caps.body:
                raise PAGE_TOO_LARGE(engine=READER, where=address.netloc, limit=caps.body)
            pieces.append(piece)
    unpacker.finish()
    return b"".join(pieces)


def _location(response: Response) -> str | None:
    """Where a redirect leads, as text; bytes that are not UTF-8 are escaped, as browsers do."""
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
