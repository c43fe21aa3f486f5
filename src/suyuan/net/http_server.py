"""The settings of uvicorn that all servers share: limits, time-outs, and whose forwarded addresses are believed."""

from __future__ import annotations

import sys
from collections.abc import Container, Sequence
from functools import partial
from ipaddress import ip_address, ip_network
from typing import Any

import uvicorn

from .connection_limits import ConnectionLimits
from .http_protocol import HttpProtocol

MOST_CONNECTIONS = 1000
CONNECTIONS_PER_CLIENT = 200
KEEP_ALIVE_SECONDS = 30
# For the store, engines, pages and models.
_OTHER_FILES = 256


def server_config(app: Any, trusted_proxies: Sequence[str] = (), **more: Any) -> uvicorn.Config:
    """The configuration of a server; ``trusted_proxies`` are addresses and networks."""
    limits = ConnectionLimits(_most_connections(), CONNECTIONS_PER_CLIENT)
    protocol: Any = partial(HttpProtocol, limits=limits, proxies=TrustedProxies(trusted_proxies))
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        # Anybody can send these headers: they are believed only where a proxy is known to set them.
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=list(trusted_proxies),
        **more,
    )


class TrustedProxies(Container[str]):
    """Addresses and networks of proxies."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = [ip_network(network, strict=False) for network in networks]

    def __contains__(self, host: object) -> bool:
        try:
            address = ip_address(str(host))
        except ValueError:
            return False
        return any(address in network for network in self._networks)


def _most_connections() -> int:
    """The number of connections to accept: files are needed for other things too."""
    if sys.platform == "win32":
        return MOST_CONNECTIONS
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(32, min(MOST_CONNECTIONS, soft - _OTHER_FILES))
