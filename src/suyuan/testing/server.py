"""``AnswerServer``: a server on loopback that gives every request the same answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """What the server answers; ``body`` may depend on the path that is asked for."""

    body: bytes | Callable[[str], bytes] = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    """Whether no answer comes as long as the server runs."""
    closes: bool = False
    """Whether the connection is closed without an answer."""


class AnswerServer:
    """Serves on a free port of loopback while its ``with`` block runs."""

    def __init__(self) -> None:
        self.answer = ServerAnswer()
        self.paths: list[str] = []
        """The paths that were asked for since they were last cleared."""
        self._released = Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        # A short poll, since the end of the block waits for it.
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                """Write nothing: the report of the check says what happened."""

            def respond(self) -> None:
                answer = outer.answer
                outer.paths.append(self.path)
                self.rfile.read(int(self.headers.get("content-length") or 0))
                if answer.hangs:
                    outer._released.wait()
                if answer.hangs or answer.closes:
                    self.close_connection = True
                    return
                body = answer.body(self.path) if callable(answer.body) else answer.body
                self.send_response(answer.status)
                for name, value in {"Content-Type": _kind(body), **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = respond

        return Handler


def _kind(body: bytes) -> str:
    return "application/json" if body.lstrip()[:1] in (b"{", b"[") else "text/html; charset=utf-8"
