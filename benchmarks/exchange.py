"""One exchange with an engine: CPU of our HTTP client beside aiohttp's, in turn, in one process, from a server in another."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median

from ._report import Target, table

ROUNDS, EXCHANGES = 9, 400
BODIES = {"page": ("text/html", b"<p>result</p>" * 2230), "json": ("application/json", b'{"title": "result"},' * 250)}

Ask = Callable[[str], Awaitable[int]]


def run() -> list[Target]:
    """Print milliseconds of CPU for one exchange."""
    server = subprocess.Popen([sys.executable, "-m", "benchmarks.exchange"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        figures = asyncio.run(_measure(f"http://127.0.0.1:{server.stdout.readline().strip()}"))
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    ratios = {name: ours / theirs for name, (ours, theirs) in figures.items()}
    rows = [
        (f"{name}, {len(BODIES[name][1]) / 1000:.0f} kB", f"{ours:.3f}", f"{theirs:.3f}", f"{ratios[name]:.2f}")
        for name, (ours, theirs) in figures.items()
    ]
    table("exchange: ms of CPU, kept connections, gzip not used", ("", "suyuan", "aiohttp", "ratio"), rows)
    return [Target(f"exchange: CPU against aiohttp, {name}", ratio, 0.85) for name, ratio in ratios.items()]


async def _measure(url: str) -> dict[str, tuple[float, float]]:
    import aiohttp

    from suyuan.core.wire import Request
    from suyuan.net.http import HttpClient
    from suyuan.net.settings import NetSettings

    client = HttpClient(NetSettings())
    async with aiohttp.ClientSession() as session:

        async def ours(address: str) -> int:
            return len((await client.send(Request(address), "bench")).body)

        async def theirs(address: str) -> int:
            async with session.get(address) as response:
                return len(await response.read())

        found: dict[str, tuple[float, float]] = {}
        for name, (_, body) in BODIES.items():
            address = f"{url}/{name}"
            spent: tuple[list[float], list[float]] = ([], [])
            for _ in range(ROUNDS):
                for at, ask in enumerate((ours, theirs)):
                    spent[at].append(await _cpu(ask, address, len(body)))
            found[name] = median(spent[0]), median(spent[1])
    await client.close()
    return found


async def _cpu(ask: Ask, address: str, size: int) -> float:
    assert await ask(address) == size
    started = time.process_time()
    for _ in range(EXCHANGES):
        await ask(address)
    return (time.process_time() - started) / EXCHANGES * 1000


async def _head(reader: asyncio.StreamReader) -> bytes:
    """The head of the next request; nothing where the client has gone."""
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


async def _serve() -> None:
    """Answer every request on a connection, without looking at more than its path."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await _head(reader):
            kind, body = BODIES[head.split(b" ", 2)[1].decode().strip("/")]
            writer.write(
                f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
            )

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve())
