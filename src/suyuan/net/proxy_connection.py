"""``ProxyConnection``: one side of a proxied connection, with a shared idle timer and limited buffering."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Sequence
from socket import AF_INET, AF_INET6, SOCK_STREAM
from typing import Any

from aiohappyeyeballs import start_connection

_CHUNK_BYTES = 64 * 1024
LINE_BYTES = 128 * 1024
_HEAD_BYTES = 256 * 1024
# Another address is tried if one is silent for this long, as in browsers.
_STAGGER_SECONDS = 0.25
# The time that the other side has to receive the response and to close.
_CLOSE_SECONDS = 1.0


class IdleTimer:
    """One time limit for both directions of a connection, which is idle only if both are."""

    def __init__(self, timeout: asyncio.Timeout, idle_seconds: float, total_seconds: float) -> None:
        self._timeout = timeout
        self._idle_seconds = idle_seconds
        self._now = asyncio.get_running_loop().time
        self._end = self._now() + total_seconds

    def reset(self) -> None:
        """Start the idle time again, up to the total time."""
        if not self._timeout.expired():
            self._timeout.reschedule(min(self._now() + self._idle_seconds, self._end))


class ProxyConnection:
    """One side of a proxied connection; it sends no faster than the other side receives."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, timer: IdleTimer) -> None:
        self._reader = reader
        self._writer = writer
        self._timer = timer

    async def read(self, limit: int = _CHUNK_BYTES) -> bytes:
        """The bytes that were received; empty at the end."""
        data = await self._reader.read(limit)
        self._timer.reset()
        return data

    async def read_line(self) -> bytes:
        """One line with its end; raises ``EOFError`` if it is incomplete, ``ValueError`` if it is too long."""
        line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise EOFError("it ended within a line")
        return line

    async def read_head(self) -> list[bytes]:
        """The start line and the header fields, each with its continuation lines; empty if nothing was sent."""
        lines: list[bytes] = []
        size = 0
        while (line := await self.read_line() if lines else await self._reader.readline()) not in (b"\r\n", b"\n", b""):
            size += len(line)
            if size > _HEAD_BYTES:
                raise ValueError("its head is too long")
            if line[:1] in b" \t" and len(lines) > 1:
                lines[-1] += line
            else:
                lines.append(line)
        self._timer.reset()
        return lines

    async def send(self, data: bytes) -> None:
        """Send ``data``, and wait until the buffer has space again."""
        self._writer.write(data)
        await self._writer.drain()
        self._timer.reset()

    async def forward(self, target: ProxyConnection, length: int | None = None) -> None:
        """Send everything that is received to ``target``, or ``length`` bytes of it."""
        if length is None:
            while data := await self.read(_CHUNK_BYTES):
                await target.send(data)
            return
        while length > 0:
            data = await self.read(min(_CHUNK_BYTES, length))
            if not data:
                raise EOFError("it ended within a body")
            await target.send(data)
            length -= len(data)

    async def finish(self) -> None:
        """Close after the other side has received everything; closing with unread input would discard the response."""
        self._writer.write_eof()
        # With this limit, drain waits until all is sent.
        self._writer.transport.set_write_buffer_limits(0)
        await self._writer.drain()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                while await self._reader.read(_CHUNK_BYTES):
                    continue

    def abort(self) -> None:
        """Close at once."""
        self._writer.transport.abort()


async def run_until_one_ends(up: Coroutine[Any, Any, None], down: Coroutine[Any, Any, None]) -> bool:
    """Run both until one of them ends, and cancel the other; return whether ``down`` has ended."""
    upward, downward = tasks = asyncio.create_task(up), asyncio.create_task(down)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        ended = downward if downward.done() else upward
        ended.result()
        return ended is downward
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def connect_first(addresses: Sequence[str], port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the first of the IP addresses that accepts; nothing is resolved again."""
    endpoints = [(AF_INET6 if ":" in ip else AF_INET, SOCK_STREAM, 0, "", (ip, port)) for ip in addresses]
    sock = await start_connection(endpoints, happy_eyeballs_delay=_STAGGER_SECONDS)
    return await asyncio.open_connection(sock=sock, limit=LINE_BYTES)
