"""Reading large and hostile pages in reader processes: how long the event loop and a server stand still, and what every page comes to."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable

import aiohttp

from suyuan.core.errors import SuyuanError
from suyuan.core.wire import Response
from suyuan.pages.reader import PageReader
from suyuan.pages.reading import ReceivedPage

from ._report import Target, table
from ._suyuan import http, site, suyuan
from .hostile_pages import HTML, hostile_page, names, pdf

_SECONDS = 15.0
_TICK = 0.005
_IDLE_SECONDS = 5.0
_PARAGRAPH = "<p>Paragraph {n} of the page, with a comma and some more words about the harbour and its gates.</p>"


def run() -> list[Target]:
    """Print the stalls while large pages are read, and the outcome of every kind of hostile page."""
    return asyncio.run(_run())


async def _run() -> list[Target]:
    reader = PageReader()
    try:
        idle, _ = await _turns(asyncio.sleep(_IDLE_SECONDS))
        stalls, busy, took = await _stalls(reader)
        outcomes = await _outcomes(reader)
    finally:
        reader.close()
    answered = sorted(await _healthz())
    stalls.sort()
    health = answered[int(len(answered) * 0.99)] * 1000
    longest, p99 = stalls[-1] * 1000, stalls[int(len(stalls) * 0.99)] * 1000
    table(
        "reading: eight pages of 5 MB and two PDFs of 300 pages at once",
        ("", "ms"),
        [
            ("longest stall of the event loop", f"{longest:.1f}"),
            (
                "the same with nothing to do, just before: what other processes of this machine cause",
                f"{max(idle) * 1000:.1f}",
            ),
            ("most CPU time of its own process in one turn", f"{max(busy) * 1000:.1f}"),
            ("99 % of the turns are late by at most", f"{p99:.1f}"),
            ("all read after", f"{took * 1000:.0f}"),
            ("99 % of the answers of /healthz while a server reads them", f"{health:.1f}"),
        ],
    )
    counts = Counter(outcomes.values())
    table(
        f"hostile pages: {len(outcomes)} tried, {len(outcomes) - counts['lost']} survived",
        ("outcome", "pages"),
        [(name, str(count)) for name, count in counts.most_common()],
    )
    return [
        Target("longest stall of the event loop while large pages are read", longest, 50, unit=" ms"),
        Target("99 % of the answers of /healthz while large pages are read", health, 100, unit=" ms"),
        Target("hostile pages that are neither a document nor a named error", counts["lost"], 0),
    ]


def _large() -> bytes:
    return "".join(_PARAGRAPH.format(n=n) for n in range(50_000)).encode()[:5_000_000]


async def _turns(work: Awaitable[object]) -> tuple[list[float], list[float]]:
    """By how much each turn of the event loop is late until ``work`` is done, and the CPU time of this process in it."""
    late, busy = [], []
    task = asyncio.ensure_future(work)
    while not task.done():
        at, spent = time.perf_counter(), time.process_time()
        await asyncio.sleep(_TICK)
        late.append(time.perf_counter() - at - _TICK)
        busy.append(time.process_time() - spent)
    await task
    return late, busy


async def _stalls(reader: PageReader) -> tuple[list[float], list[float], float]:
    pages = [_received(_large(), HTML)] * 8 + [_received(pdf(300), "application/pdf")] * 2
    begun = time.perf_counter()
    late, busy = await _turns(asyncio.gather(*(reader.read(page) for page in pages)))
    return late, busy, time.perf_counter() - begun


async def _healthz() -> list[float]:
    """How long /healthz takes while a server reads the same pages."""
    answers = {"html": http(_large()), "pdf": http(pdf(300), "application/pdf")}

    async def answer(path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(answers[path.split("/")[1]])

    async with (
        site(answer) as pages,
        suyuan(WEB_FETCH_ALLOW_NETWORKS="127.0.0.0/8", WEB_FETCH_TIMEOUT_MS="120000") as server,
        aiohttp.ClientSession() as session,
    ):
        urls = [f"{pages}/html/{n}" for n in range(8)] + [f"{pages}/pdf/{n}" for n in range(2)]

        async def fetch(url: str) -> None:
            async with session.post(f"{server.url}/api/fetch", json={"url": url}) as response:
                assert response.status == 200, await response.text()

        took = []
        reading = asyncio.gather(*map(fetch, urls))
        while not reading.done():
            begun = time.perf_counter()
            async with session.get(f"{server.url}/healthz") as response:
                await response.read()
            took.append(time.perf_counter() - begun)
            await asyncio.sleep(_TICK)
        await reading
    return took


async def _outcomes(reader: PageReader) -> dict[str, str]:
    found = {}
    for name in names():
        page = hostile_page(name)
        try:
            async with asyncio.timeout(_SECONDS):
                await reader.read(_received(page.body, page.content_type))
            found[name] = "document"
        except TimeoutError:
            found[name] = "timeout"
        except SuyuanError as error:
            found[name] = error.detail_code
        except Exception as error:  # noqa: BLE001 - what must not happen is a result of the benchmark
            print(f"  {name}: {error!r}")
            found[name] = "lost"
    return found


def _received(body: bytes, content_type: str) -> ReceivedPage:
    url = "http://a.example/"
    return ReceivedPage(url, Response(200, body, url, {"content-type": content_type}))
