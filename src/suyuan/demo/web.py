"""``DemoWeb``: the server of the demo web, in a thread of this process, and clients that see nothing but it."""

from __future__ import annotations

import asyncio
import socket
import tempfile
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Self

from aiohttp import web

from ..client import AsyncClient
from ..config.settings import SearchSettings, ServerSettings, Settings
from ..core.engine import EngineSettings
from ..llm.settings import ModelSettings
from ..search.focus import FOCUSES, Focus
from .engine import ENGINES, Demo, DemoRefusing
from .network import LOOPBACK, DemoNetwork
from .site import REFUSING_HOST, SEARCH_HOST, DemoSite

PLAN = f"{DemoRefusing.name},{Demo.name}"
"""The engine that refuses comes first, so that the first receipt shows how another one takes over."""


class DemoWeb:
    """A web of its own on a free port of 127.0.0.1, until it is closed; nothing of it is kept."""

    def __init__(self) -> None:
        self.site = DemoSite()
        self._socket = socket.create_server((LOOPBACK, 0))
        self.port: int = self._socket.getsockname()[1]
        self.requests: list[str] = []
        """The addresses that were asked for."""
        self._folder = tempfile.TemporaryDirectory(prefix="suyuan-demo-", ignore_cleanup_errors=True)
        self._loop = asyncio.new_event_loop()
        self._closed = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="suyuan-demo", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def settings(self, server: ServerSettings | None = None) -> Settings:
        """Settings for a client of the demo web: its engines, the embedded model, and a folder that is removed."""
        engines = {
            Demo.name: EngineSettings(base_url=f"http://{SEARCH_HOST}:{self.port}"),
            DemoRefusing.name: EngineSettings(base_url=f"http://{REFUSING_HOST}:{self.port}"),
        }
        return Settings(
            search=SearchSettings(default=PLAN, focuses=dict.fromkeys(FOCUSES, Focus(PLAN))),
            engines=engines,
            server=server or ServerSettings(),
            data_dir=Path(self._folder.name),
            demo=True,
        )

    def client(self, settings: Settings | None = None) -> AsyncClient:
        """A client that sees the demo web and nothing else."""
        # A model on a server would be asked over the network.
        settings = replace(settings or self.settings(), model=ModelSettings())
        network = DemoNetwork(self.site.hosts, frozenset({SEARCH_HOST, REFUSING_HOST}), self.port)
        return AsyncClient(settings, network=network, engines=ENGINES)

    def close(self) -> None:
        """Stop the server and remove its files."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._closed.set)
            self._thread.join()
        self.site.close()
        self._folder.cleanup()

    def _run(self) -> None:
        with closing(self._loop):
            self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=0.5)
        await runner.setup()
        await web.SockSite(runner, self._socket).start()
        await self._closed.wait()
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        host = request.host.partition(":")[0]
        self.requests.append(f"{host}{request.path_qs}")
        answer = self.site.answer(host, request.path, request.query)
        if answer.headers.get("ETag") and request.headers.get("If-None-Match") == answer.headers["ETag"]:
            return web.Response(status=304, headers=answer.headers)
        headers = {"Content-Type": answer.kind, **answer.headers}
        return web.Response(body=answer.body, status=answer.status, headers=headers)
