"""``DemoServer``: the page of the demo beside the usual one, on a port of its own."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from ..config.settings import ServerSettings
from .app import create_app
from .listen import Server, make_server
from .sockets import listen

if TYPE_CHECKING:
    from ..demo.web import DemoWeb


class DemoServer:
    """A second server in this process, started when it is first wanted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._web: DemoWeb | None = None
        self._server: Server | None = None
        self._thread: threading.Thread | None = None
        self._url = ""

    def start(self) -> str:
        """Start the demo unless it runs, and return its address."""
        with self._lock:
            if self._web is None:
                from ..demo.web import DemoWeb

                self._web = DemoWeb()
                sock = listen("127.0.0.1", 0)
                origin = replace(ServerSettings(), port=sock.getsockname()[1])
                started = threading.Event()
                app = create_app(self._web.client(self._web.settings(origin)), origin=origin)
                self._server = make_server(app, started.set)
                self._thread = threading.Thread(target=self._server.run, args=([sock],), name="suyuan-demo-page")
                self._thread.start()
                started.wait()
                self._url = origin.url
            return self._url

    def close(self) -> None:
        """Stop the demo, if it runs."""
        if self._web is not None and self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join()
            self._web.close()
            self._web = None
