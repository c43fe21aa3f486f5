"""Reading 200 pages at once from loopback, beside trafilatura and the HTTP client that its downloader uses."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ._report import table

PAGES = 200
AT_ONCE = 20
_TEXT = "Teapots are vessels for brewing tea; the first of them were made in China. "
_PAGE = (
    "<html><head><title>Page {n}</title></head><body><nav>" + "<a href='/'>Home</a>" * 30 + "</nav><article><h1>Page {n}</h1>"
    + "".join(f"<p>Paragraph {i} of the page. {_TEXT * 6}</p>" for i in range(20)) + "</article><footer>Imprint</footer></body></html>"
)  # fmt: skip


def run() -> None:
    """Print pages a second and peak memory of both, each in a process of its own."""
    rows, figures = [], {}
    for name in ("suyuan", "trafilatura"):
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
            return
        figures[name] = tuple(map(float, done.stdout.split()))
        rows.append((name, f"{figures[name][0]:.0f}", f"{figures[name][1]:.0f}"))
    head = ("", "pages a second", "peak RSS, MB")
    title = f"fetch: {PAGES} pages of {len(_PAGE) / 1000:.0f} kB from loopback, {AT_ONCE} at once, with extraction"
    table(f"{title}; suyuan also keeps them in its archive", head, rows)


async def _suyuan(url: str) -> float:
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
            begun = time.perf_counter()
            await asyncio.gather(*(read(n) for n in range(1, PAGES + 1)))
            return time.perf_counter() - begun


def _trafilatura(url: str) -> float:
    import trafilatura
    import urllib3

    # What its own downloader uses; that one refuses loopback.
    pool_manager = urllib3.PoolManager(maxsize=AT_ONCE)

    def read(n: int) -> None:
        page = pool_manager.request("GET", f"{url}/{n}").data.decode("utf-8")
        assert "made in China" in (trafilatura.extract(page) or "")

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(read, range(-AT_ONCE, 0)))
        begun = time.perf_counter()
        list(pool.map(read, range(1, PAGES + 1)))
    return time.perf_counter() - begun


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
        seconds = asyncio.run(_suyuan(address)) if sys.argv[1] == "suyuan" else _trafilatura(address)
        print(PAGES / seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
