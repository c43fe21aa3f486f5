"""Event streams, and work that ends when its client disconnects."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from ..core.errors import SuyuanError
from .errors import failure
from .limits import OpenStreams, client_of
from .orjson_response import to_json
from .sockets import SEND_SECONDS

T = TypeVar("T")

# Proxies close connections on which nothing is sent.
HEARTBEAT = 15.0
_STILL_HERE = b": still here\n\n"
_END: Message = {"type": "http.response.body", "body": b"", "more_body": False}


ADMISSION = "suyuan.admission"
"""Where a request has its :data:`Admission`."""
Admission = Callable[[], Awaitable[SuyuanError | None]]
"""Looks whether what a request was let in by still counts; gives the reason where it does not."""
_LOOK_SECONDS = 2.0


async def _ends(admission: Admission) -> SuyuanError:
    """Wait until what a request was let in by counts no longer; return the reason."""
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        if (reason := await admission()) is not None:
            return reason


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
        self._ended: SuyuanError | None = None
        """Why the client may follow no longer."""
        self._gone = False
        """Whether the client has gone, or reads nothing."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream until the messages end, the client disconnects, or it reads nothing for too long."""
        streams: OpenStreams = scope["app"].state.streams
        async with contextlib.aclosing(self._messages):  # type: ignore[type-var]
            try:
                with streams.slot(client_of(scope)):
                    await self._stream(scope, receive, send)
            except SuyuanError as error:
                await self._fail(error, scope, receive, send)
            except asyncio.CancelledError:
                if self._gone:
                    return
                if self._ended is not None:
                    await self._fail(self._ended, scope, receive, send)
                    return
                if not streams.closed:
                    raise
                # The server stops: end the stream properly.
                await send(_END)

    async def _fail(self, error: SuyuanError, scope: Scope, receive: Receive, send: Send) -> None:
        """Say why there is no stream, or no more of it."""
        answer = failure(HTTPConnection(scope), error)
        if not self._begun:
            await answer(scope, receive, send)
        # The status is sent: the last event says it.
        elif await self._sent(message(bytes(answer.body).decode(), event="error"), send):
            await send(_END)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        self._begun = True
        if scope["method"] != "HEAD":
            streaming = asyncio.current_task()
            assert streaming is not None, "requests are answered in tasks"
            watching = asyncio.create_task(self._watch(streaming, scope, receive, send))
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

    async def _watch(self, streaming: asyncio.Task[Any], scope: Scope, receive: Receive, send: Send) -> None:
        """Send heartbeats, and end the stream when the client has gone, or its login has ended."""
        admission: Admission | None = scope.get(ADMISSION)
        waiting = asyncio.ensure_future(_disconnected(receive))
        beats = self._beats(send)
        looks = _ends(admission) if admission else asyncio.sleep(math.inf)
        watched = [waiting, asyncio.ensure_future(beats), asyncio.ensure_future(looks)]
        try:
            await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
            ended = watched[2]
            self._ended = ended.result() if ended.done() else None
        finally:
            for each in watched:
                each.cancel()
        self._gone = self._ended is None
        streaming.cancel()

    async def _beats(self, send: Send) -> None:
        """Send heartbeats, until the client reads nothing for too long."""
        while True:
            await asyncio.sleep(self._heartbeat)
            if not await self._sent(_STILL_HERE, send):
                return


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
        raise ClientDisconnect from None
    finally:
        watching.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
