"""The listening socket, and the uvicorn server on it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI

from ..core.causes.web import CANNOT_LISTEN, PORT_TAKEN
from ..net.http_server import server_config
from .app import drain
from .limits import SEND_SECONDS
from .prefix import with_prefix

_BACKLOG = 512
# New objects after which garbage is looked for: a question makes thousands, and nearly all of them go by themselves.
_GARBAGE = 20_000
_SHUTDOWN_SECONDS = 3


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


def serve(app: FastAPI, sock: socket.socket, started: Callable[[], None]) -> None:
    """Serve ``app`` on ``sock`` until a signal ends it; ``started`` is called when requests are answered."""
    with contextlib.closing(sock):
        make_server(app, started).run([sock])


def make_server(app: FastAPI, started: Callable[[], None]) -> Server:
    """The server of ``app``, not yet listening."""
    origin = app.state.origin
    below = with_prefix(app, urlsplit(origin.public_url).path)
    config = server_config(below, origin.trusted_proxies, timeout_graceful_shutdown=_SHUTDOWN_SECONDS)
    return Server(config, app, started)


class Server(uvicorn.Server):
    """A uvicorn server that stops its answers and streams before it waits for its connections."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._on_start = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call ``started``."""
        await super().startup(sockets)
        # What has been imported stays: to look for garbage in it takes longer than many a request.
        gc.freeze()
        gc.set_threshold(_GARBAGE)
        gc.enable()
        if not self.should_exit:
            asyncio.get_running_loop().call_soon(self._on_start)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop the answers and streams, then the rest."""
        await drain(self._app)
        await super().shutdown(sockets)
