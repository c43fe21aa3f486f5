"""The browser room: how long Chrome takes to start, and what a page costs by it beside a plain fetch."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from suyuan.contract.errors import SuyuanError
from suyuan.contract.wire import Request
from suyuan.net.browser import BrowserClient
from suyuan.net.chrome import find_chrome
from suyuan.net.http import HttpClient
from suyuan.net.transport import BrowserSettings, NetSettings

from ._pages import origin, page
from ._report import spread, table
from ._server import Site, servers

STARTS = 5
PAGES = 20
AT_ONCE = 4


async def run() -> None:
    """Print the start-up time and the time a page takes, one at a time and several at once."""
    try:
        found = find_chrome()
    except SuyuanError as error:
        print(f"skipped: {error.message} {error.cure}")
        return
    print(f"{found.path}; one DuckDuckGo html page ({origin()}, {len(page('ddg')) / 1000:.0f} kB) from loopback")
    with servers(Site("ddg")) as ((url,), _):
        starts = [await _start(url) for _ in range(STARTS)]
        plain, alone, together = await _pages(url)
    overhead = [browser - fetch for browser, fetch in zip(alone, plain, strict=True)]
    rows = [
        ("first search, browser started (G5.1: start ≤ 3 s)", _seconds(starts)),
        ("later search, same browser (G5.2: < 2 s)", _seconds(alone)),
        (f"the same, {AT_ONCE} at once", _seconds(together)),
        ("plain fetch by aiohttp", _seconds(plain)),
        ("what the browser adds", _seconds(overhead)),
    ]
    table("seconds: median (least–most)", ("", "s"), rows)


async def _start(url: str) -> float:
    client = BrowserClient(BrowserSettings(), NetSettings())
    try:
        return await _timed(lambda: client.send(Request.get(url), "benchmark"))
    finally:
        await client.close()


async def _pages(url: str) -> tuple[list[float], list[float], list[float]]:
    browser, http = BrowserClient(BrowserSettings(max_pages=AT_ONCE), NetSettings()), HttpClient(NetSettings())
    plain: list[float] = []
    alone: list[float] = []
    together: list[float] = []
    try:
        for client in (browser, http):
            await client.send(Request.get(url), "benchmark")
        for _ in range(PAGES):
            plain.append(await _timed(lambda: http.send(Request.get(url), "benchmark")))
            alone.append(await _timed(lambda: browser.send(Request.get(url), "benchmark")))
        for _ in range(PAGES // AT_ONCE):
            together += await asyncio.gather(*(_timed(lambda: browser.send(Request.get(url), "benchmark")) for _ in range(AT_ONCE)))
    finally:
        await browser.close()
        await http.close()
    return plain, alone, together


async def _timed(call: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    await call()
    return time.perf_counter() - begun


def _seconds(values: list[float]) -> str:
    return spread(values, 3)
