"""``FetchClient``: GET for any public address, with every redirect checked and only checked addresses connected to."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from socket import AF_INET, AF_INET6, AI_ADDRCONFIG, SOCK_STREAM
from types import MappingProxyType
from typing import Any

from ..core.causes.network import BAD_URL, GUARD_REFUSED
from ..core.causes.page import PAGE_REDIRECTS, PAGE_TOO_LARGE, PAGE_UNDECODED
from ..core.errors import SuyuanError
from ..core.urls import origin
from ..core.wire import Request, Response
from ..messages.catalog import Text
from .connection import REDIRECTS, Limits
from .guard import Address, Guard
from .http import HttpClient, Resolve
from .settings import NetSettings

FETCH = "web.fetch"
"""The name in errors, where a search has the name of its engine."""

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the IP addresses of a host, for a port; raises ``OSError`` if there are none."""

_CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})
# Behind a proxy our own lookup is only an additional check, which must not delay the page.
_LOOKUP_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The last response, the URLs of all hops including the last, and notes on the redirects."""

    response: Response
    hops: tuple[str, ...]
    notes: tuple[str, ...] = ()


_POSTED = Limits(100_000, 100_000)
"""What is read of an answer that nobody looks at."""


async def system_lookup(host: str, port: int) -> Sequence[str]:
    """The addresses according to the resolver of this machine."""
    addresses = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM, flags=AI_ADDRCONFIG)
    return [str(address[0]) for *_, address in addresses]


async def checked_addresses(guard: Guard, lookup: Lookup, host: str, port: int) -> list[Any]:
    """The addresses of a host that the guard allows, as ``getaddrinfo`` gives them: no other is connected to.

    Raises ``GUARD_REFUSED`` or ``OWN_ADDRESS`` if all of them are refused.
    """
    allowed: dict[str, None] = {}
    refusal: Exception = OSError(f"no address for {host}")
    for ip in (host,) if _is_ip(host) else await lookup(host, port):
        try:
            guard.check_address(ip, host, port)
            allowed[ip] = None
        except SuyuanError as error:
            refusal = error
    if not allowed:
        raise refusal
    return [(AF_INET6 if ":" in ip else AF_INET, SOCK_STREAM, 0, "", (ip, port)) for ip in allowed]


class _PageClient(HttpClient):
    too_large, undecoded = PAGE_TOO_LARGE, PAGE_UNDECODED


class FetchClient:
    """GET for any allowed address, without cookies; it has connections for each event loop that uses it."""

    def __init__(
        self,
        settings: NetSettings,
        guard: Guard,
        lookup: Lookup = system_lookup,
        tls: ssl.SSLContext | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        self._settings = settings
        self._guard = guard
        self._lookup = lookup

        async def checked(host: str, port: int) -> list[Any]:
            return await checked_addresses(guard, lookup, host, port)

        # Names are looked up for each connection: an address that was right is not trusted later.
        self._http = _PageClient(settings, resolve or checked, tls, address_seconds=0.0)

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
            response = await self._send_once(address, headers, Limits(max_wire, max_bytes))
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
        await self._http.close()

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
        self, address: Address, headers: Mapping[str, str], limits: Limits, body: bytes | None = None
    ) -> Response:
        url = f"{address.scheme}://{address.netloc}{address.target}"
        if origin(url) != (address.scheme, address.host, address.port):
            # Attacks on such checks use URLs that two parsers read differently.
            raise BAD_URL(url=address.netloc, why=Text("network.reason.ambiguous"))
        if self._settings.proxy_for(address.host) is not None:
            await self._check_before_proxy(address)
        request = Request(url, headers=headers)
        if body is not None:
            request = Request(url, "POST", headers, body)
        return replace(await self._http.send(request, FETCH, limits), url=address.href)

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
                self._guard.check_address(ip, address.host, address.port)


def _location(response: Response) -> str | None:
    """The target of a redirect; bytes that are not UTF-8 are percent-encoded, as in browsers."""
    value = response.headers.get("location", "")
    if response.status not in REDIRECTS or not value:
        return None
    return "".join(f"%{ord(char) & 0xFF:02X}" if "\udc80" <= char <= "\udcff" else char for char in value)


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
