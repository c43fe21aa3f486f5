"""What lasts as long as the client stays: event streams, and work that ends when nobody waits for it."""

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
from .errors import failure
from .limits import UNTAKEN_SECONDS, Streams, client_of
from .orjson_response import to_json

T = TypeVar("T")

# Proxies close connections on which nothing is sent.
HEARTBEAT = 15.0


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class EventStream(EventSourceResponse):
    """Server-sent events; the next message is taken when the client has taken the last, so a slow client holds no memory."""

    def __init__(
        self, messages: AsyncIterator[bytes], *, heartbeat: float = HEARTBEAT, patience: float = UNTAKEN_SECONDS
    ) -> None:
        super().__init__(messages, ping=heartbeat, ping_message_factory=_heartbeat, send_timeout=patience)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the messages end, the client goes, or it takes nothing for too long."""
        streams: Streams = scope["app"].state.streams
        try:
            with streams.taken(client_of(scope)):
                await super().__call__(scope, receive, send)
        except SendTimeoutError:
            return
        except SuyuanError as error:
            await failure(HTTPConnection(scope), error)(scope, receive, send)
        except asyncio.CancelledError:
            if not streams.closed:
                raise
            # The server ends: so does the stream, in good order.
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _heartbeat() -> ServerSentEvent:
    return ServerSentEvent(comment="still here", sep="\n")


def message(data: Mapping[str, Any] | str, *, event: str = "", id: str | int = "") -> bytes:
    """One message of an event stream."""
    head = (f"id: {id}\n" if id != "" else "") + (f"event: {event}\n" if event else "")
    # JSON has no line breaks of its own.
    lines = data.encode("utf-8", "replace").split(b"\n") if isinstance(data, str) else [to_json(data)]
    return head.encode() + b"".join(b"data: %b\n" % line for line in lines) + b"\n"


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do ``work``, but only as long as the client waits for it: when it goes, the work and its sockets end."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait([task, gone], return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return task.result()
    finally:
        for each in (task, gone):
            each.cancel()
        with contextlib.suppress(asyncio.CancelledError, SuyuanError):
            await task


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
