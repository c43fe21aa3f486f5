"""The uvicorn server on a listening socket."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

import uvicorn
from fastapi import FastAPI

from ..net.http_server import server_config
from .app import drain
from .prefix import with_prefix

# New objects after which garbage is looked for: a question makes thousands, and nearly all of them go by themselves.
_GARBAGE = 20_000
_SHUTDOWN_SECONDS = 0.4
"""A request that was not answered by then, such as an upload that does not come to its end, was never acknowledged."""


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
