"""The page in a real browser: its weight, how soon it is ready, a slow connection, streaming into a long conversation."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from aiohttp import web

from suyuan.chat.events import Answer
from suyuan.citations.registry import Source
from suyuan.net.chrome import find_chrome
from suyuan.store.conversation import new_id
from suyuan.store.conversations import Store

from ._report import Target, table

LOADS = 10
MESSAGES = 200
FRAMES = 180
# A connection over a satellite: what the page was once unusable on.
SLOW = {"offline": False, "latency": 560, "downloadThroughput": 6250, "uploadThroughput": 6250}
# Measured once on a machine of this kind, in the same way: Open WebUI 0.12.
OPEN_WEBUI = ("2970", "236")
_TEXT = "The lighthouse is **41 metres** tall[1] and was built in 1862[2].\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"


def run() -> list[Target]:
    """Load the page, toggle its switch, ask on a slow connection, stream into a long conversation."""
    with _model() as model, _server(model) as (url, conversation):
        found = asyncio.run(_measure(url, conversation))
    loads, toggles, sizes = found["loads"], found["toggles"], found["sizes"]
    rows = [
        ("the first load after the start", f"{loads[0]:.0f}"),
        (f"the next {LOADS} loads, median (most)", f"{median(loads[1:]):.0f} ({max(loads[1:]):.0f})"),
        (f"a switch is confirmed, {LOADS} times, median (most)", f"{median(toggles):.0f} ({max(toggles):.0f})"),
        ("560 ms latency, 50 kbit/s: ready, switched, question shown", " / ".join(f"{t:.0f}" for t in found["slow"])),
        (f"{MESSAGES} messages, streaming: work a frame, mean", f"{found['frame']:.1f}"),
        (f"{MESSAGES} messages, streaming: time between frames, median", f"{found['between']:.1f}"),
    ]
    table("the page, in milliseconds", ("", "ms"), rows)
    total = sum(sizes.values()) / 1000
    weights = [("Suyuan", f"{total:.1f}", str(len(sizes))), ("Open WebUI 0.12, as measured once", *OPEN_WEBUI)]
    table("the first load on the wire", ("", "KB", "requests"), weights)
    return [
        Target("page ready, median", median(loads[1:]), 500, unit=" ms"),
        Target("switch confirmed, slowest", max(toggles), 500, unit=" ms"),
        Target("first load on the wire", total, 45, unit=" KB"),
        Target("work a frame while streaming", found["frame"], 16, unit=" ms"),
    ]


async def _measure(url: str, conversation: str) -> dict[str, Any]:
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chrome().path, args=["--no-sandbox"])
        page = await browser.new_page()
        sizes: dict[str, int] = {}
        page.on("requestfinished", lambda request: asyncio.ensure_future(_weigh(request, sizes)))
        loads = [await _load(page, url)]
        # The server loads what answers need right after its start; the browser has its own first time too.
        await asyncio.sleep(4)
        first = dict(sizes)
        loads += [await _load(page, url) for _ in range(LOADS)]
        toggles = [await _toggle(page) for _ in range(LOADS + 1)][1:]
        slow = await _slow(await browser.new_page(), url)
        frame, between = await _frames(await browser.new_page(), f"{url}/c/{conversation}")
        await browser.close()
    return {
        "loads": loads, "toggles": toggles, "sizes": first, "slow": slow, "frame": frame, "between": between
    }  # fmt: skip


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
    took = float(await page.evaluate("performance.now()")) - float(clicked)
    await page.locator("#form[aria-busy=false]").wait_for()
    return took


async def _slow(page: Any, url: str) -> tuple[float, float, float]:
    """On a slow connection: until the page is ready, until a switch is confirmed, until a question is shown."""
    network = await page.context.new_cdp_session(page)
    await network.send("Network.enable")
    await network.send("Network.emulateNetworkConditions", SLOW)
    page.set_default_timeout(60_000)
    ready = await _load(page, url)
    switched = await _toggle(page)
    await page.fill("#ask", "How tall is the lighthouse?")
    started = time.monotonic()
    await page.press("#ask", "Enter")
    await page.locator(".turn h2").wait_for()
    shown = 1000 * (time.monotonic() - started)
    await page.locator(".answer .md .block").first.wait_for()
    return ready, switched, shown


async def _frames(page: Any, url: str) -> tuple[float, float]:
    """Work of the page a frame, and the time between frames, while an answer is written below many others."""
    page.set_default_timeout(60_000)
    await _load(page, url)
    await page.fill("#ask", "How tall is the lighthouse?")
    await page.press("#ask", "Enter")
    await page.locator(".turn:last-child .md .block").nth(2).wait_for()
    metrics = await page.context.new_cdp_session(page)
    await metrics.send("Performance.enable")
    before = await _busy(metrics)
    times = await page.evaluate(
        f"""() => new Promise((done) => {{ const times = []; let last = performance.now();
            const step = (now) => {{ times.push(now - last); last = now;
                if (times.length < {FRAMES}) requestAnimationFrame(step); else done(times.slice(1)); }};
            requestAnimationFrame(step); }})"""
    )
    return (await _busy(metrics) - before) / FRAMES, float(median(times))


async def _busy(metrics: Any) -> float:
    found = {each["name"]: each["value"] for each in (await metrics.send("Performance.getMetrics"))["metrics"]}
    return 1000 * float(found["TaskDuration"])


async def _weigh(request: Any, sizes: dict[str, int]) -> None:
    if request.url not in sizes:
        told = await request.sizes()
        sizes[request.url] = told["responseBodySize"] + told["responseHeadersSize"]


@contextmanager
def _model() -> Iterator[str]:
    """A model server in a thread: it writes without end, a word every 20 ms."""
    loop, started, address = asyncio.new_event_loop(), threading.Event(), ""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            for word in itertools.cycle(re.findall(r"\S+\s*", _TEXT)):
                chunk = {"choices": [{"index": 0, "delta": {"content": word}}]}
                await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
                await asyncio.sleep(0.02)
        return response

    async def serve() -> None:
        nonlocal address
        app = web.Application()
        app.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        started.set()

    thread = threading.Thread(target=lambda: (loop.run_until_complete(serve()), loop.run_forever()), daemon=True)
    thread.start()
    started.wait()
    try:
        yield address
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)


def _conversation(folder: Path) -> str:
    """A stored conversation of many messages."""
    store = Store(f"sqlite:///{folder}/chat.sqlite")
    try:
        id = store.create(title="long", lang="en").id
        sources = tuple(Source(n, f"Page {n}", f"https://example{n}.org/", "What the page says. " * 5) for n in (1, 2))
        for n in range(MESSAGES // 2):
            run_id, text = new_id(), _TEXT * 4
            store.begin_turn(id, f"Question {n}", run_id)
            answer = Answer(text, text, "chat", "m", "en", sources, ((1, "q", (1, 2)),), (1, 2))
            store.finish(run_id, state="done", text=text, answer=answer.as_dict())
        return id
    finally:
        store.close()


@contextmanager
def _server(model: str) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as home:
        folders = {f"SUYUAN_{name}_DIR": f"{home}/{name}" for name in ("CONFIG", "STATE", "DATA")}
        Path(folders["SUYUAN_DATA_DIR"]).mkdir()
        conversation = _conversation(Path(folders["SUYUAN_DATA_DIR"]))
        command = [sys.executable, "-m", "suyuan", "--ui", "en", "serve", "--no-supervise", "--port", "0", "--no-open"]
        asked = {"SUYUAN_MODEL_BASE_URL": model, "SUYUAN_MODEL": "words", "SUYUAN_MODEL_PROVIDER": "openai"}
        process = subprocess.Popen(
            command, env={**os.environ, **folders, **asked, "HOME": home}, stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            found = re.search(r"http://[\w.:]+", process.stdout.readline())
            assert found, "the server does not say where it is"
            yield found[0], conversation
        finally:
            process.terminate()
            process.wait(20)
