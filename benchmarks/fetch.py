"""Reading 200 pages at once from loopback, beside trafilatura and the HTTP client that its downloader uses."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from ._machine import cpu_seconds, rss
from ._report import Target, table

Measured = tuple[float, float, float]

PAGES = 200
ROUNDS = 3
AT_ONCE = 20
_TEXT = "Teapots are vessels for brewing tea; the first of them were made in China. "
_PAGE = (
    "<html><head><title>Page {n}</title></head><body><nav>" + "<a href='/'>Home</a>" * 30 + "</nav><article><h1>Page {n}</h1>"
    + "".join(f"<p>Paragraph {i} of the page. {_TEXT * 6}</p>" for i in range(20)) + "</article><footer>Imprint</footer></body></html>"
)  # fmt: skip


def run() -> list[Target] | None:
    """Print pages a second, CPU time and memory of both, each in a process of its own, in turn."""
    figures: dict[str, list[tuple[float, ...]]] = {"suyuan": [], "trafilatura": []}
    for name in list(figures) * ROUNDS:
        server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.fetch", "serve"], stdout=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.fetch", name, port],
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
        server.kill()
        server.wait()
        server.stdout.close()
        if done.returncode:
            print(f"\nfetch: {name} could not be run: {done.stderr.strip().splitlines()[-1:]}")
            return None
        figures[name].append(tuple(map(float, done.stdout.split())))
    middle = {name: [median(column) for column in zip(*rounds, strict=True)] for name, rounds in figures.items()}
    title = f"fetch: {PAGES} pages of {len(_PAGE) / 1000:.0f} kB from loopback, {AT_ONCE} at once, with extraction"
    table(
        f"{title}; suyuan also keeps them in its archive; medians of {ROUNDS} rounds in turn",
        ("", "pages a second", "CPU of a page, ms", "RSS, MB"),
        [(name, f"{rate:.0f}", f"{cpu:.2f}", f"{rss:.0f}") for name, (rate, cpu, rss) in middle.items()],
    )
    ratio = middle["suyuan"][0] / middle["trafilatura"][0]
    return [Target("pages a second, against trafilatura", ratio, 1.8, at_least=True)]


class _Begun:
    """The clock and the CPU time of this process and its readers, when the reading began."""

    def __init__(self) -> None:
        self._cpu = cpu_seconds(os.getpid())
        self._at = time.perf_counter()

    def measured(self) -> Measured:
        """Pages a second, the CPU milliseconds of a page, and the memory of all processes."""
        seconds, me = time.perf_counter() - self._at, os.getpid()
        return PAGES / seconds, (cpu_seconds(me) - self._cpu) / PAGES * 1000, rss(me)


async def _suyuan(url: str) -> Measured:
    from suyuan.client import AsyncClient
    from suyuan.config.settings import PageSettings, Settings

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(pages=PageSettings(allow_networks=("127.0.0.1/32",)), data_dir=Path(folder))
        async with AsyncClient(settings) as client:
            gate = asyncio.Semaphore(AT_ONCE)

            async def read(n: int) -> None:
                async with gate:
                    assert "made in China" in (await client.fetcher.fetch(f"{url}/{n}")).text

            # Both have started what they need: here the readers, there the threads' own state.
            await asyncio.gather(*(read(-n) for n in range(AT_ONCE)))
            begun = _Begun()
            await asyncio.gather(*(read(n) for n in range(1, PAGES + 1)))
            return begun.measured()


def _trafilatura(url: str) -> Measured:
    import trafilatura
    import urllib3

    # What its own downloader uses; that one refuses loopback.
    pool_manager = urllib3.PoolManager(maxsize=AT_ONCE)

    def read(n: int) -> None:
        page = pool_manager.request("GET", f"{url}/{n}").data.decode("utf-8")
        assert "made in China" in (trafilatura.extract(page) or "")

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(read, range(-AT_ONCE, 0)))
        begun = _Begun()
        list(pool.map(read, range(1, PAGES + 1)))
        return begun.measured()


async def _serve() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while b"GET" in (head := await reader.read(4000)):
            body = _PAGE.replace("{n}", head.split(b" ")[1].decode()[1:]).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.sleep(170)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(_serve())
    else:
        address = f"http://127.0.0.1:{sys.argv[2]}"
        print(*(asyncio.run(_suyuan(address)) if sys.argv[1] == "suyuan" else _trafilatura(address)))
