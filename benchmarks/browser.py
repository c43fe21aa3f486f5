"""The browser: how long Chrome takes to start, and what a page costs by it beside a plain fetch."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from suyuan.core.errors import SuyuanError
from suyuan.core.wire import Request
from suyuan.net.browser import BrowserClient
from suyuan.net.chrome import find_chrome
from suyuan.net.http import HttpClient
from suyuan.net.settings import BrowserSettings, NetSettings

from ._pages import origin, page
from ._report import spread, table
from ._server import Site, servers

STARTS = 5
PAGES = 50
AT_ONCE = 4


async def run() -> None:
    """Print the start-up time and the time a page takes, one at a time and several at once."""
    try:
        found = find_chrome()
    except SuyuanError as error:
        print(f"skipped: {error.message} {error.hint}")
        return
    print(f"{found.path}; one DuckDuckGo html page ({origin()}, {len(page('ddg')) / 1000:.0f} kB) from loopback")
    with servers(Site("ddg")) as ((url,), _):
        starts = [await _start(url) for _ in range(STARTS)]
        plain, alone, together, memory = await _pages(url)
    overhead = [browser - fetch for browser, fetch in zip(alone, plain, strict=True)]
    rows = [
        ("first search, browser started (G5.1: start ≤ 3 s)", _seconds(starts)),
        ("later search, same browser (G5.2: < 2 s)", _seconds(alone)),
        (f"the same, {AT_ONCE} at once", _seconds(together)),
        ("plain fetch by aiohttp", _seconds(plain)),
        ("what the browser adds", _seconds(overhead)),
    ]
    table(f"seconds: median (least–most); {PAGES} searches each", ("", "s"), rows)
    left = len(family())
    rows = [
        ("browser and driver, MB (shared memory counted once)", f"{memory[0]:.0f}"),
        ("this process, MB", f"{memory[1]:.0f}"),
        ("processes left behind after closing", str(left)),
    ]
    table("memory, and what stays", ("", ""), rows)


async def _start(url: str) -> float:
    client = BrowserClient(BrowserSettings(allow_unsandboxed=True), NetSettings())
    try:
        return await _timed(lambda: client.send(Request.get(url), "benchmark"))
    finally:
        await client.close()


async def _pages(url: str) -> tuple[list[float], list[float], list[float], tuple[float, float]]:
    browser, http = (
        BrowserClient(BrowserSettings(max_pages=AT_ONCE, allow_unsandboxed=True), NetSettings()),
        HttpClient(NetSettings()),
    )
    plain: list[float] = []
    alone: list[float] = []
    together: list[float] = []
    try:
        for client in (browser, http):
            await client.send(Request.get(url), "benchmark")
        for _ in range(PAGES):
            plain.append(await _timed(lambda: http.send(Request.get(url), "benchmark")))
            alone.append(await _timed(lambda: browser.send(Request.get(url), "benchmark")))
        # Rounded up: four at once do not divide fifty.
        for _ in range(-(-PAGES // AT_ONCE)):
            together += await asyncio.gather(
                *(_timed(lambda: browser.send(Request.get(url), "benchmark")) for _ in range(AT_ONCE))
            )
        memory = (sum(megabytes(pid) for pid in family()), megabytes(os.getpid()))
    finally:
        await browser.close()
        await http.close()
    return plain, alone, together, memory


def family() -> list[int]:
    """The processes below this one, those of the server excepted."""
    parents = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found, wanted = [], {os.getpid()}
    while wanted:
        children = [pid for pid, parent in parents.items() if parent in wanted]
        found += children
        wanted = set(children)
    return [pid for pid in found if b"benchmarks" not in Path(f"/proc/{pid}/cmdline").read_bytes()]


def megabytes(pid: int) -> float:
    """The memory of a process, what it shares with others divided among them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


async def _timed(call: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    await call()
    return time.perf_counter() - begun


def _seconds(values: list[float]) -> str:
    return spread(values, 3)
