"""Event streams, and work that ends when its client disconnects."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Mapping
from typing import Any, TypeVar

from starlette.requests import HTTPConnection, Request
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from ..core.errors import SuyuanError
from ..net.credentials import client_key
from .errors import failure
from .limits import SEND_SECONDS, OpenStreams
from .orjson_response import to_json

T = TypeVar("T")

# Proxies close connections on which nothing is sent.
HEARTBEAT = 15.0
_STILL_HERE = b": still here\n\n"
_END: Message = {"type": "http.response.body", "body": b"", "more_body": False}


class ClientDisconnected(Exception):
    """The client has gone before its answer."""


class EventStream(StreamingResponse):
    """Server-sent events; each is made when the client has read the last one, so a slow client costs no memory."""

    def __init__(
        self, messages: AsyncIterator[bytes], *, heartbeat: float = HEARTBEAT, timeout: float = SEND_SECONDS
    ) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(messages, headers=headers, media_type="text/event-stream")
        self._messages = messages
        self._heartbeat = heartbeat
        self._timeout = timeout
        self._begun = False
        self._gone = False
        """Whether the client has gone, or reads nothing."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the messages end, the client disconnects, or it reads nothing for too long."""
        streams: OpenStreams = scope["app"].state.streams
        async with contextlib.aclosing(self._messages):  # type: ignore[type-var]
            try:
                with streams.slot(client_key(scope)):
                    await self._stream(scope["method"] == "HEAD", receive, send)
            except SuyuanError as error:
                answer = failure(HTTPConnection(scope), error)
                if not self._begun:
                    await answer(scope, receive, send)
                # The status is sent: the last event says why there are no more.
                elif await self._sent(message(bytes(answer.body).decode(), event="error"), send):
                    await send(_END)
            except asyncio.CancelledError:
                if self._gone:
                    return
                if not streams.closed:
                    raise
                # The server stops: end the stream properly.
                await send(_END)

    async def _stream(self, head_only: bool, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        self._begun = True
        if not head_only:
            streaming = asyncio.current_task()
            assert streaming is not None, "requests are answered in tasks"
            watching = asyncio.create_task(self._watch(streaming, receive, send))
            try:
                async for message in self._messages:
                    if not await self._sent(message, send):
                        return
            finally:
                watching.cancel()
        await send(_END)

    async def _sent(self, message: bytes, send: Send) -> bool:
        """Send a message; False where the client reads nothing for too long."""
        try:
            async with asyncio.timeout(self._timeout):
                await send({"type": "http.response.body", "body": message, "more_body": True})
        except TimeoutError:
            self._gone = True
        return not self._gone

    async def _watch(self, streaming: asyncio.Task[Any], receive: Receive, send: Send) -> None:
        """Send heartbeats, and end the stream when the client has gone."""
        waiting = asyncio.ensure_future(_disconnected(receive))
        try:
            while not (await asyncio.wait([waiting], timeout=self._heartbeat))[0]:
                if not await self._sent(_STILL_HERE, send):
                    break
        finally:
            waiting.cancel()
        self._gone = True
        streaming.cancel()


def message(data: Mapping[str, Any] | str, *, event: str = "", id: str | int = "") -> bytes:
    """One message of an event stream, as bytes."""
    head = (f"id: {id}\n" if id != "" else "") + (f"event: {event}\n" if event else "")
    # JSON has no line breaks of its own.
    lines = data.encode("utf-8", "replace").split(b"\n") if isinstance(data, str) else [to_json(data)]
    return head.encode() + b"".join(b"data: %b\n" % line for line in lines) + b"\n"


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of ``work``, which is cancelled with its sockets when the client disconnects."""
    working, gone = asyncio.current_task(), False
    assert working is not None, "requests are answered in tasks"

    async def watch() -> None:
        nonlocal gone
        await _disconnected(request.receive)
        gone = True
        working.cancel()

    watching = asyncio.create_task(watch())
    try:
        return await work
    except asyncio.CancelledError:
        if not gone:
            raise
        working.uncancel()
        raise ClientDisconnected from None
    finally:
        watching.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
