"""``DemoNetwork``: a network in which there are only the hosts of the demo web, all on one port of this machine.

It is made in code for a demo client and cannot be configured: no setting makes a name of the demo web reachable for
another client, and a demo client reaches nothing else.
"""

from __future__ import annotations

from functools import cached_property
from socket import AF_INET, SOCK_STREAM
from typing import Any

from ..core.causes.network import GUARD_REFUSED
from ..core.errors import SuyuanError
from ..messages.catalog import Text
from ..net.fetch_client import FetchClient
from ..net.guard import IP, Address, Guard, parse
from ..net.http import HttpClient
from ..net.network import Network, PageAccess, Transport
from ..net.settings import OFF, BrowserSettings, NetSettings

LOOPBACK = "127.0.0.1"


class DemoGuard(Guard):
    """Allows the pages of the demo web, and nothing else."""

    def __init__(self, hosts: frozenset[str]) -> None:
        super().__init__()
        self._demo_hosts = hosts

    def check_url(self, url: str, base: str = "") -> Address:
        """Parse ``url``; raises ``GUARD_REFUSED`` unless it is one of the demo web."""
        address = parse(url, base)
        if (address.scheme, address.port) != ("http", 80) or address.host not in self._demo_hosts:
            raise _refused(address.netloc)
        return address

    def check_address(self, ip: IP | str, host: str = "", port: int = 0) -> None:
        """Raise ``GUARD_REFUSED`` unless ``ip`` is this machine and ``host`` is one of the demo web."""
        if str(ip) != LOOPBACK or host not in self._demo_hosts:
            raise _refused(host or str(ip))


class DemoResolver:
    """Finds the hosts of the demo web at the port of its server; it knows no other, and asks nobody."""

    def __init__(self, hosts: frozenset[str], port: int) -> None:
        self._hosts = hosts
        self._port = port

    async def lookup(self, host: str, port: int) -> list[Any]:
        """The address of the server for each host of the demo web, as ``getaddrinfo`` gives it."""
        if host not in self._hosts:
            raise _refused(host)
        return [(AF_INET, SOCK_STREAM, 0, "", (LOOPBACK, self._port))]


class DemoNetwork(Network):
    """Sends requests to the server of the demo web only, without proxy; a browser prints, and reads no page."""

    def __init__(self, page_hosts: frozenset[str], engine_hosts: frozenset[str], port: int) -> None:
        super().__init__(NetSettings(impersonate=OFF), BrowserSettings(), PageAccess())
        self._page_hosts = page_hosts
        self._resolver = DemoResolver(page_hosts | engine_hosts, port)

    def browser_problem(self) -> SuyuanError | None:
        """The guard of the demo would refuse a browser every page; it can print what needs nothing."""
        return _refused("browser")

    @cached_property
    def guard(self) -> Guard:
        """Allows the pages of the demo web only."""
        return DemoGuard(self._page_hosts)

    @cached_property
    def fetch_client(self) -> FetchClient:
        """The client for the pages of the demo web."""
        return FetchClient(self._net, self.guard, resolve=self._resolver.lookup)

    def _http(self, profile: str) -> Transport:
        return HttpClient(self._net, resolve=self._resolver.lookup)


def _refused(where: str) -> SuyuanError:
    return GUARD_REFUSED(where=where, why=Text("network.reason.demo"))
