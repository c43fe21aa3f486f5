"""Event streams, and work that ends when its client disconnects."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Mapping
from typing import Any, TypeVar

from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse, SendTimeoutError
from starlette.requests import HTTPConnection, Request
from starlette.types import Receive, Scope, Send

from ..core.errors import SuyuanError
from ..net.credentials import client_key
from .errors import failure
from .limits import SEND_SECONDS, OpenStreams
from .orjson_response import to_json

T = TypeVar("T")

# Proxies close connections on which nothing is sent.
HEARTBEAT = 15.0


class ClientDisconnected(Exception):
    """The client has gone before its answer."""


class EventStream(EventSourceResponse):
    """Server-sent events; each is made when the client has read the last one, so a slow client costs no memory."""

    def __init__(
        self, messages: AsyncIterator[bytes], *, heartbeat: float = HEARTBEAT, timeout: float = SEND_SECONDS
    ) -> None:
        super().__init__(messages, ping=heartbeat, ping_message_factory=_heartbeat, send_timeout=timeout)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the messages end, the client disconnects, or it reads nothing for too long."""
        streams: OpenStreams = scope["app"].state.streams
        try:
            with streams.slot(client_key(scope)):
                await super().__call__(scope, receive, send)
        except SendTimeoutError:
            return
        except SuyuanError as error:
            await failure(HTTPConnection(scope), error)(scope, receive, send)
        except asyncio.CancelledError:
            if not streams.closed:
                raise
            # The server stops: end the stream properly.
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _heartbeat() -> ServerSentEvent:
    return ServerSentEvent(comment="still here", sep="\n")


def message(data: Mapping[str, Any] | str, *, event: str = "", id: str | int = "") -> bytes:
    """One message of an event stream, as bytes."""
    head = (f"id: {id}\n" if id != "" else "") + (f"event: {event}\n" if event else "")
    # JSON has no line breaks of its own.
    lines = data.encode("utf-8", "replace").split(b"\n") if isinstance(data, str) else [to_json(data)]
    return head.encode() + b"".join(b"data: %b\n" % line for line in lines) + b"\n"


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of ``work``, which is cancelled with its sockets when the client disconnects."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait([task, gone], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnected
        return task.result()
    finally:
        for each in (task, gone):
            each.cancel()
        with contextlib.suppress(asyncio.CancelledError, SuyuanError):
            await task


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
