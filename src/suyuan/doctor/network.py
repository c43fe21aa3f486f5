"""Check of the proxy and of a DNS server that returns fake addresses."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

from ..client import AsyncClient
from ..core.causes.doctor import FAKE_IP
from ..messages.catalog import Text
from .finding import WARNING, Finding

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
_FAKE_RANGE = ipaddress.ip_network("198.18.0.0/15")
_PROBED_ENGINE = "ddg_html"


async def check(client: AsyncClient, *, offline: bool = False, lookup: Lookup | None = None) -> list[Finding]:
    """Report the proxy in use, and warn of a DNS server that returns fake addresses."""
    findings = [_proxy(client)]
    if not offline and not client.settings.pages.fake_ip and (fake := await _fake_address(client, lookup)):
        findings.append(Finding.problem("network", FAKE_IP(host=fake[0], address=fake[1]), WARNING))
    return findings


def proxy_address(client: AsyncClient) -> tuple[str, str]:
    """Return host and port of the proxy, without its password, and where it was set; empty without a proxy."""
    parts = urlsplit(client.settings.net.proxy.reveal())
    proxy = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or ""
    return proxy, client.settings.origin("web.fetch.proxy")


def _proxy(client: AsyncClient) -> Finding:
    proxy, origin = proxy_address(client)
    if not proxy:
        return Finding.ok("network", Text("doctor.ok.no_proxy"))
    return Finding.ok("network", Text("doctor.ok.proxy", {"proxy": proxy, "origin": origin}))


async def _fake_address(client: AsyncClient, lookup: Lookup | None) -> tuple[str, str] | None:
    from ..net.fetch_client import system_lookup

    host = urlsplit(client.engines[_PROBED_ENGINE].engine.base_url).hostname or ""
    try:
        async with asyncio.timeout(2):
            addresses = await (lookup or system_lookup)(host, 443)
    except (OSError, TimeoutError):
        return None
    for address in addresses:
        found = ipaddress.ip_address(address.partition("%")[0])
        if found.version == 4 and found in _FAKE_RANGE:
            return host, address
    return None
