"""What lasts as long as the client stays: event streams, and work that ends when nobody waits for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Mapping
from typing import Any, TypeVar

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..core.errors import SuyuanError
from .errors import failure
from .limits import UNTAKEN_SECONDS, Streams, client_of
from .orjson_response import to_json

T = TypeVar("T")

# Proxies close connections on which nothing is said.
HEARTBEAT = 15.0
_COMMENT = b": still here\n\n"
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class EventStream(Response):
    """Server-sent events. It takes the next message only when the client has taken the last, so a slow client holds no memory."""

    media_type = "text/event-stream"

    def __init__(
        self, messages: AsyncIterator[bytes], *, heartbeat: float = HEARTBEAT, patience: float = UNTAKEN_SECONDS
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers(_HEADERS)
        self._messages = messages
        self._heartbeat = heartbeat
        self._patience = patience
        self._sending = 0.0
        """Since when a message waits to be taken; 0 where none does."""
        self._sent = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the messages end, the client goes, or it takes nothing for too long."""
        streams: Streams = scope["app"].state.streams
        try:
            with streams.taken(client_of(scope)):
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                await self._stream(receive, send)
        except SuyuanError as error:
            await failure(HTTPConnection(scope), error)(scope, receive, send)
        except asyncio.CancelledError:
            if not streams.closed:
                raise
            # The server ends: so does the stream, in good order.
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _stream(self, receive: Receive, send: Send) -> None:
        work = [asyncio.ensure_future(part) for part in (self._pump(send), self._listen(receive), self._beat(send))]
        try:
            await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for part in work:
                part.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            if close := getattr(self._messages, "aclose", None):
                await close()
        if work[0].done() and not work[0].cancelled():
            work[0].result()

    async def _pump(self, send: Send) -> None:
        now = asyncio.get_running_loop().time
        async for message in self._messages:
            self._sending = now()
            await send({"type": "http.response.body", "body": message, "more_body": True})
            self._sent, self._sending = now(), 0.0
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _listen(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    async def _beat(self, send: Send) -> None:
        now = asyncio.get_running_loop().time
        pause = min(self._heartbeat, self._patience) / 3
        self._sent = now()
        while True:
            await asyncio.sleep(pause)
            if self._sending and now() - self._sending > self._patience:
                return
            if not self._sending and now() - self._sent > self._heartbeat - pause:
                self._sending = now()
                await send({"type": "http.response.body", "body": _COMMENT, "more_body": True})
                self._sent, self._sending = now(), 0.0


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
