"""Where a server listens, and whether it may be open there; without what answers requests, which takes long to load."""

from __future__ import annotations

import errno
import socket
from urllib.parse import urlsplit

from ..config.settings import ServerSettings
from ..core.causes.web import CANNOT_LISTEN, PORT_TAKEN
from ..net.credentials import check_token, is_loopback

SEND_SECONDS = 30.0
"""How long a client may read nothing of what is sent to it."""
_BACKLOG = 512


def check_open(origin: ServerSettings) -> None:
    """Raise a cause if the server at ``origin`` would be open to the network without a token, or with a weak one."""
    public = urlsplit(origin.public_url).hostname or ""
    if origin.users:
        return
    check_token(public if public and is_loopback(origin.host) else origin.host, origin.token)


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A socket that listens on ``host`` and ``port`` (0: any free port); raises a cause if that fails.

    Several that are ``shared`` may listen on one port: the system gives each a part of the connections.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host or "0.0.0.0", port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CANNOT_LISTEN(host=host, port=port, why=error.strerror or error, other=port) from None
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            # Inherited by the connections: one whose client acknowledges nothing for this long is closed.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(SEND_SECONDS * 1000))
        sock.bind(address)
        sock.listen(_BACKLOG)
    except OSError as error:
        sock.close()
        cause = PORT_TAKEN if error.errno == errno.EADDRINUSE else CANNOT_LISTEN
        raise cause(
            host=host, port=port, why=error.strerror or error, other=port + 1 if port > 1023 else 8642
        ) from None
    sock.setblocking(False)
    return sock


def listen_shared(host: str, port: int, count: int) -> list[socket.socket]:
    """So many sockets that share one port, which no other program has; raises a cause if that fails."""
    # Without the option first: with it, another server of the same user would go unnoticed.
    listen(host, port).close()
    first = listen(host, port, shared=True)
    return [first, *(listen(host, first.getsockname()[1], shared=True) for _ in range(count - 1))]


def given_socket(descriptor: int) -> socket.socket:
    """The listening socket that another process has opened for this one."""
    sock = socket.socket(fileno=descriptor)
    sock.setblocking(False)
    return sock
