"""Limits for clients: size and time of a request body, open streams."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..config.settings import ServerSettings
from ..core.causes.web import BODY_TOO_LARGE, BODY_TOO_MANY, BODY_TOO_SLOW, SERVER_FULL, SHUTTING_DOWN, TOO_MANY_STREAMS
from ..core.person import current_person
from ..net.credentials import client_key
from .errors import Carried, failure

LARGEST_BODY = 1_000_000
SMALL_BODIES = {"/api/login": 10_000}
"""What is open to those who have not logged in: the largest body."""
MOST_VALUES = 20_000
"""A body has so many values: each that does not fit would be an error by itself, and each is made and looked at."""
_MOST_OWN_VALUES = 2_000
"""That of our own API, which tells of each unknown name."""
_OWN = "/api/"
BODY_SECONDS = 30.0
UPLOADS = {"/api/library": (120_000_000, 600.0)}
"""Where files are sent: the largest body, and the time for it."""
_RETRY_SECONDS = 5.0
_JSON_BEGINS = (b"{", b"[", b'"')


class OpenStreams:
    """The open event streams, counted by client: a person with an account, else an address."""

    def __init__(self, origin: ServerSettings) -> None:
        self._per_client = origin.streams_per_client
        self._total = origin.streams
        self._open: list[tuple[str, asyncio.Task[Any] | None]] = []
        """The client and the task of each."""
        self.closed = False
        """Whether the server is being stopped."""

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def slot(self, client: str) -> Iterator[None]:
        """Count one stream of ``client``; raises a cause if there are too many."""
        if self.closed:
            raise SHUTTING_DOWN()
        if sum(each == client for each, _ in self._open) >= self._per_client:
            raise TOO_MANY_STREAMS(limit=self._per_client, client=client, retry_after=_RETRY_SECONDS)
        if len(self) >= self._total:
            raise SERVER_FULL(limit=self._total, retry_after=_RETRY_SECONDS)
        stream = client, asyncio.current_task()
        self._open.append(stream)
        try:
            yield
        finally:
            self._open.remove(stream)

    def close(self) -> None:
        """End all streams, and accept no more."""
        self.closed = True
        for _, task in self._open:
            if task is not None:
                task.cancel()


def client_of(scope: Scope) -> str:
    """Whose stream it is: the person's who is logged in, wherever they are; else that of the address."""
    # A name has an @ before it: with accounts, somebody may be called like an address.
    return f"@{person.name}" if (person := current_person.get()).name else client_key(scope)


class BodyLimitMiddleware:
    """Refuses bodies that are too large or too slow, also those without a length."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and count its body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if path in UPLOADS:
            largest, seconds = UPLOADS[path]
        else:
            largest, seconds = SMALL_BODIES.get(path, LARGEST_BODY), BODY_SECONDS
        if _content_length(scope) > largest:
            await failure(HTTPConnection(scope), BODY_TOO_LARGE(limit=largest))(scope, receive, send)
            return
        limited = _limited(receive, largest, seconds)
        if path not in UPLOADS:
            limited = _counted(limited, _MOST_OWN_VALUES if path.startswith(_OWN) else MOST_VALUES)
        await self._app(scope, limited, send)


def _limited(receive: Receive, largest: int, seconds: float) -> Receive:
    size, complete, deadline = 0, False, asyncio.get_running_loop().time() + seconds

    async def limited() -> Message:
        nonlocal size, complete
        if complete:
            # What follows is the end of the connection, at any time.
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise Carried.of(BODY_TOO_SLOW(seconds=seconds)) from None
        size += len(message.get("body", b""))
        complete = not message.get("more_body", False)
        if size > largest:
            raise Carried.of(BODY_TOO_LARGE(limit=largest))
        return message

    return limited


def _counted(receive: Receive, most: int) -> Receive:
    """Refuse a body that has more than ``most`` values, before anything is made of it."""
    parts: list[bytes] = []
    complete = False

    async def counted() -> Message:
        nonlocal complete
        message = await receive()
        if complete or message["type"] != "http.request":
            return message
        parts.append(message.get("body", b""))
        complete = not message.get("more_body", False)
        if complete and _has_more(b"".join(parts), most):
            raise Carried.of(BODY_TOO_MANY(limit=most))
        if complete:
            parts.clear()
        return message

    return counted


def _has_more(body: bytes, most: int) -> bool:
    """Whether there are more than ``most`` values in JSON, or fields in a form."""
    if _marks(body) <= most and body.count(b"&") <= most:
        return False
    if body.lstrip()[:1] not in _JSON_BEGINS:
        return body.count(b"&") > most
    plain = body.replace(rb"\\", b"").replace(rb"\"", b"")
    # Between two texts there is a comma or a colon: of many texts at least every second one is a value.
    if plain.count(b'"') > 4 * most + 4:
        return True
    return _marks(b"".join(plain.split(b'"')[::2])) > most


def _marks(json: bytes) -> int:
    return json.count(b",") + json.count(b"[") + json.count(b"{")


def _content_length(scope: Scope) -> int:
    value = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    return int(value) if value.isdigit() else 0
