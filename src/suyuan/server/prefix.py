"""``PrefixMiddleware``: serves everything below a path, for a proxy that gives this server a part of a host."""

from __future__ import annotations

import re
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# What pages and scripts link to; addresses of other hosts begin otherwise. Only in tags: an answer may show HTML.
_ATTRIBUTE = re.compile(rb'(<[a-z][^<>]*\s(?:href|src|action|data-url|content)=\\?["\'](?:0;url=)?)/(?![/\\])')
_ROOTS = "api|c|stream|source|static|settings|dialog|research|library|export|rail|login|guide|demo|s|sw\\.js|search"
_LITERAL = re.compile(rf"""(["'`]|location\.href = ["'])/(?=(?:{_ROOTS})[/?"'`$]|(?<=href = ./)["'])""".encode())
_SCRIPT, _PAGE, _STREAM = b"text/javascript", b"text/html", b"text/event-stream"


class PrefixMiddleware:
    """Takes the path away from requests, and puts it before the links of answers."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._prefix = prefix.rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if path == self._prefix or path.startswith(self._prefix + "/"):
            # A proxy may have taken it away itself.
            path = path[len(self._prefix) :] or "/"
        # What is compressed cannot be changed; proxies compress too.
        headers = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        inner = {**scope, "path": path, "raw_path": path.encode("utf-8", "replace"), "headers": headers}
        # Of which the framework makes the address by which the client knows the server.
        inner["app_root_path"] = self._prefix
        await self._app(inner, receive, _Answer(send, self._prefix.encode()).send)


class _Answer:
    """One answer on its way to the client."""

    def __init__(self, send: Send, prefix: bytes) -> None:
        self._send = send
        self._prefix = prefix
        self._kind = b""
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        """Change what has to be changed, and send it."""
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif message["type"] != "http.response.body" or not self._changes:
            await self._send(message)
        elif self._kind == _STREAM:
            # Every part is one whole event.
            await self._send({**message, "body": self._changed(message.get("body", b""))})
        else:
            await self._collect(message)

    @property
    def _changes(self) -> bool:
        return self._kind in (_PAGE, _SCRIPT, _STREAM)

    async def _begin(self, message: Message) -> None:
        given = message["headers"]
        headers = [(name, self._moved(value) if name.lower() == b"location" else value) for name, value in given]
        kind = next((value for name, value in headers if name.lower() == b"content-type"), b"")
        self._kind = kind.partition(b";")[0].strip().lower()
        message = {**message, "headers": headers}
        if self._changes and self._kind != _STREAM:
            self._start = message
        else:
            await self._send(message)

    async def _collect(self, message: Message) -> None:
        self._body += message.get("body", b"")
        if message.get("more_body", False):
            return
        assert self._start is not None, "an answer begins with its start"
        body = self._changed(self._body)
        size = (b"content-length", str(len(body)).encode())
        headers = [header for header in self._start["headers"] if header[0].lower() != b"content-length"]
        await self._send({**self._start, "headers": [*headers, size]})
        await self._send({**message, "body": body})

    def _changed(self, body: bytes) -> bytes:
        return (_LITERAL if self._kind == _SCRIPT else _ATTRIBUTE).sub(rb"\1" + self._prefix + b"/", body)

    def _moved(self, value: bytes) -> bytes:
        return self._prefix + value if value.startswith(b"/") and not value.startswith(b"//") else value


def with_prefix(app: Any, public_path: str) -> Any:
    """``app`` below ``public_path``; ``app`` itself where that is the root."""
    return PrefixMiddleware(app, public_path) if public_path.strip("/") else app
