"""The page in a real browser: how soon it is ready, and how soon a switch is confirmed."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from suyuan.net.chrome import find_chrome

from ._report import Target, table

LOADS = 10


def run() -> list[Target]:
    """Load the page and toggle its switch, and return the targets."""
    with _server() as url:
        loads, toggles, size = asyncio.run(_measure(url))
    rows = [
        ("the first load after the start", f"{loads[0]:.0f}"),
        (f"the next {LOADS} loads, median (most)", f"{median(loads[1:]):.0f} ({max(loads[1:]):.0f})"),
        (f"a switch is confirmed, {LOADS} times, median (most)", f"{median(toggles):.0f} ({max(toggles):.0f})"),
        ("page, style and script on the wire, KB", f"{size / 1000:.1f}"),
    ]
    table("the page, in milliseconds", ("", "ms"), rows)
    return [
        Target("page ready, median", median(loads[1:]), 500, unit=" ms"),
        Target("switch confirmed, slowest", max(toggles), 500, unit=" ms"),
        Target("first load on the wire", size / 1000, 60, unit=" KB"),
    ]


async def _measure(url: str) -> tuple[list[float], list[float], int]:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chrome().path, args=["--no-sandbox"])
        page = await browser.new_page()
        sizes: dict[str, int] = {}
        page.on("requestfinished", lambda request: asyncio.ensure_future(_weigh(request, sizes)))
        loads = [await _load(page, url)]
        # The server loads what answers need right after its start; the browser has its own first time too.
        await asyncio.sleep(4)
        loads += [await _load(page, url) for _ in range(LOADS)]
        toggles = [await _toggle(page) for _ in range(LOADS + 1)][1:]
        await browser.close()
    return loads, toggles, sum(sizes.values())


async def _load(page: Any, url: str) -> float:
    await page.goto(url)
    await page.locator("html[data-ready]").wait_for()
    return float(await page.evaluate("performance.now()"))


async def _toggle(page: Any) -> float:
    """From the click until the switch shows what the server has confirmed."""
    before = await page.get_attribute(".switch", "data-state")
    clicked = await page.evaluate(
        "() => { const now = performance.now(); document.querySelector('#search').click(); return now; }"
    )
    await page.locator(f".switch:not([data-state='{before}'])").wait_for()
    return float(await page.evaluate("performance.now()")) - float(clicked)


async def _weigh(request: Any, sizes: dict[str, int]) -> None:
    if "/api/" not in request.url and request.url not in sizes:
        told = await request.sizes()
        sizes[request.url] = told["responseBodySize"] + told["responseHeadersSize"]


@contextmanager
def _server() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as home:
        folders = {f"SUYUAN_{name}_DIR": f"{home}/{name}" for name in ("CONFIG", "STATE", "DATA")}
        command = [sys.executable, "-m", "suyuan", "--ui", "en", "serve", "--port", "0", "--no-open"]
        process = subprocess.Popen(
            command, env={**os.environ, **folders, "HOME": home}, stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            found = re.search(r"http://[\w.:]+", process.stdout.readline())
            assert found, "the server does not say where it is"
            yield found[0]
        finally:
            process.terminate()
            process.wait(20)
