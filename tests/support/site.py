"""A loopback HTTP server that does exactly what a test tells it to, also what no proper server would do."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import random
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from .timing import PATIENCE, soon


@dataclass
class Seen:
    """A request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def params(self) -> dict[str, str]:
        text = urlsplit(self.target).query or self.body.decode("utf-8", "replace")
        return {name: values[0] for name, values in parse_qs(text, keep_blank_values=True).items()}


Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]
Handler = Callable[[Seen], Reply]


@dataclass
class Site:
    """A running server: what it saw, and how many connections are open now."""

    handler: Handler
    seen: list[Seen] = field(default_factory=list)
    open: int = 0
    connections: int = 0
    url: str = ""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        # A task that is cancelled before it begins closes nothing itself.
        task.add_done_callback(lambda _: writer.close())

    async def until_idle(self, seconds: float = PATIENCE) -> bool:
        """Whether all connections are closed within ``seconds``."""
        return await soon(lambda: self.open == 0, seconds)

    async def until_asked(self, requests: int = 1) -> None:
        """Wait until so many requests have come."""
        assert await soon(lambda: len(self.seen) >= requests), "no request has come"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.connections += 1
        try:
            while (request := await _read(reader)) is not None:
                self.seen.append(request)
                answer = asyncio.ensure_future(self.handler(request)(writer))
                gone = asyncio.ensure_future(_gone(reader))
                await asyncio.wait([answer, gone], return_when=asyncio.FIRST_COMPLETED)
                gone.cancel()
                if not answer.done():
                    answer.cancel()
                    break
                answer.result()
                if writer.is_closing():
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open -= 1
            writer.close()


@asynccontextmanager
async def serve(handler: Handler) -> AsyncIterator[Site]:
    """Run a server on loopback for the length of an ``async with`` block."""
    site = Site(handler)
    server = await asyncio.start_server(site.accept, "127.0.0.1", 0)
    site.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield site
    finally:
        server.close()
        for connection in site.tasks:
            connection.cancel()
        await asyncio.gather(*site.tasks, return_exceptions=True)
        # The transports close in the next round of the loop.
        await asyncio.sleep(0)


def free_port() -> int:
    """A port on which nothing listens; not one of those that the system gives to servers that ask for any."""
    while True:
        port = random.SystemRandom().randrange(12_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def reply(
    body: bytes | str = b"",
    status: int = 200,
    headers: dict[str, str] | None = None,
    kind: str = "text/html; charset=utf-8",
) -> Reply:
    """A proper answer."""
    data = body.encode("utf-8") if isinstance(body, str) else body

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(_head(status, {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}) + data)
        await writer.drain()

    return send


def json_reply(text: str, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    """A proper JSON answer."""
    return reply(text, status, headers, "application/json")


async def stall(writer: asyncio.StreamWriter) -> None:
    """Never answer."""
    await asyncio.Event().wait()


def drip(body: bytes, gap: float = 0.05) -> Reply:
    """Answer one byte at a time."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(_head(200, {"Content-Type": "text/html", "Content-Length": str(len(body))}))
        for i in range(len(body)):
            writer.write(body[i : i + 1])
            await writer.drain()
            await asyncio.sleep(gap)

    return send


def half(body: bytes) -> Reply:
    """Promise all and send half, then close."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(
            _head(200, {"Content-Type": "text/html", "Content-Length": str(len(body))}) + body[: len(body) // 2]
        )
        await writer.drain()
        writer.close()

    return send


async def reset(writer: asyncio.StreamWriter) -> None:
    """Reset the connection (RST) in place of an answer."""
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def redirect(location: str, status: int = 302) -> Reply:
    """Send the client elsewhere."""
    return reply(b"", status, {"Location": location})


def bomb(megabytes: int = 200) -> Reply:
    """A small gzip body that unpacks to ``megabytes``."""
    return reply(gzip.compress(b"\0" * (megabytes << 20), 9), headers={"Content-Encoding": "gzip"})


def raw(data: bytes) -> Reply:
    """Any bytes at all, then close."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        writer.close()

    return send


def _head(status: int, headers: dict[str, str]) -> bytes:
    return (f"HTTP/1.1 {status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n").encode(
        "latin-1"
    )


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    try:
        first_byte = await reader.readexactly(1)
        if first_byte == b"\x16":
            # A TLS greeting: a plain server hangs up.
            return None
        head = (first_byte + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *rest = head.strip().split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Seen(method, target, headers, body)


async def _gone(reader: asyncio.StreamReader) -> None:
    """Return when the client has closed its end."""
    while not reader.at_eof():
        await asyncio.sleep(0.01)
