"""A real ``suyuan serve`` in a process of its own, with engines, pages and models on loopback that misbehave."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import aiohttp

TOKEN = "benchmark-token-0123456789"
PATIENCE = 180.0


@dataclass(slots=True)
class Running:
    """A server that runs."""

    url: str
    port: int
    process: subprocess.Popen[bytes]
    folder: Path

    @property
    def megabytes(self) -> float:
        """The memory of the process."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@asynccontextmanager
async def suyuan(folder: Path | None = None, *words: str, **environ: str) -> AsyncIterator[Running]:
    """Serve while the block lasts; ``folder`` is its home."""
    with tempfile.TemporaryDirectory(prefix="suyuan-bench-") as made:
        home = folder or Path(made)
        running = await start(home, *words, **environ)
        try:
            yield running
        finally:
            running.process.terminate()
            try:
                await asyncio.to_thread(running.process.wait, 20)
            except subprocess.TimeoutExpired:
                running.process.kill()
                running.process.wait()


async def start(home: Path, *words: str, **environ: str) -> Running:
    """Start a server and wait until it answers."""
    port = free_port()
    own = {"HOME": str(home), "SUYUAN_DATA_DIR": str(home / "data"), "SUYUAN_STATE_DIR": str(home / "state")}
    command = [
        sys.executable,
        "-m",
        "suyuan",
        *(words or ("serve", "--no-supervise", "--no-open")),
        "--port",
        str(port),
    ]
    process = _spawn(command, home / "log.txt", {**os.environ, **own, **environ})
    running = Running(f"http://127.0.0.1:{port}", port, process, home)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError, aiohttp.ClientError):
            async with aiohttp.ClientSession() as session, session.get(running.url + "/healthz"):
                return running
        await asyncio.sleep(0.05)
    raise RuntimeError(f"the server does not start: {(home / 'log.txt').read_text()[-2000:]}")


def _spawn(command: list[str], log: Path, environ: dict[str, str]) -> subprocess.Popen[bytes]:
    with log.open("ab") as out:
        return subprocess.Popen(command, env=environ, stdout=out, stderr=out)


Answer = Callable[[str, asyncio.StreamWriter], Awaitable[None]]
"""Answers a request for a path."""


@asynccontextmanager
async def site(answer: Answer) -> AsyncIterator[str]:
    """A server that does exactly what ``answer`` does; gives its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # The last one: the block has ended while it was answering.
        with suppress(OSError, asyncio.IncompleteReadError, ValueError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                _, _, rest = head.lower().partition("content-length:")
                if rest:
                    await reader.readexactly(int(rest.split()[0]))
                await answer(head.split()[1], writer)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**20)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def http(body: bytes, kind: str = "text/html; charset=utf-8", status: str = "200 OK") -> bytes:
    """A whole answer."""
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def reset(writer: asyncio.StreamWriter) -> None:
    """End the connection by a reset."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def path_of(target: str) -> str:
    """The path of a request's target."""
    return unquote(urlsplit(target).path)
