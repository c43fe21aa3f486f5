"""The way out: the proxy that is in use, and a DNS that invents addresses."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlsplit

from ..client import AsyncClient
from ..core.causes.doctor import FAKE_IP
from .finding import WARNING, Finding

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]
_FAKE = ipaddress.ip_network("198.18.0.0/15")
_PROBED = "ddg_html"


async def examine(client: AsyncClient, *, offline: bool = False, lookup: Lookup | None = None) -> list[Finding]:
    """Which proxy is used, and whether the DNS tells the truth."""
    findings = [_proxy(client)]
    if not offline and not client.settings.pages.fake_ip and (fake := await _fake_address(client, lookup)):
        findings.append(Finding.ill("network", FAKE_IP(host=fake[0], address=fake[1]), WARNING))
    return findings


def _proxy(client: AsyncClient) -> Finding:
    # A proxy's address may hold a password: only host and port are shown.
    parts = urlsplit(client.settings.net.proxy.reveal())
    if not parts.hostname:
        return Finding.well("network", "No proxy: connections are direct.", "未使用代理:直接连接。")
    origin = next((value.origin for value in client.settings.values if value.path == "web.fetch.proxy"), "")
    named = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    return Finding.well("network", f"The proxy {named} is used ({origin}).", f"使用代理 {named}({origin})。")


async def _fake_address(client: AsyncClient, lookup: Lookup | None) -> tuple[str, str] | None:
    from ..net.fetch_client import system_lookup

    look = lookup or system_lookup
    host = urlsplit(getattr(client.engines[_PROBED].engine, "base_url", "")).hostname or ""
    try:
        async with asyncio.timeout(2):
            addresses = await look(host, 443)
    except (OSError, TimeoutError):
        return None
    for address in addresses:
        found = ipaddress.ip_address(address.partition("%")[0])
        if found.version == 4 and found in _FAKE:
            return host, address
    return None
