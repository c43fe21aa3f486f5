"""Reading large and hostile pages in reader processes: how long the event loop stands still, and what every page comes to."""

from __future__ import annotations

import asyncio
import time
from collections import Counter

from suyuan.core.errors import SuyuanError
from suyuan.core.wire import Response
from suyuan.pages.reader import PageReader
from suyuan.pages.reading import ReceivedPage

from ._report import Target, table
from .hostile_pages import HTML, hostile_page, names, pdf

_SECONDS = 15.0
_TICK = 0.005
_PARAGRAPH = "<p>Paragraph {n} of the page, with a comma and some more words about the harbour and its gates.</p>"


def run() -> list[Target]:
    """Print the stalls while large pages are read, and the outcome of every kind of hostile page."""
    return asyncio.run(_run())


async def _run() -> list[Target]:
    reader = PageReader()
    try:
        stalls, took = await _stalls(reader)
        outcomes = await _outcomes(reader)
    finally:
        reader.close()
    stalls.sort()
    longest, p99 = stalls[-1] * 1000, stalls[int(len(stalls) * 0.99)] * 1000
    table(
        "reading: eight pages of 5 MB and two PDFs of 300 pages at once",
        ("", "ms"),
        [
            ("longest stall of the event loop", f"{longest:.1f}"),
            ("99 % of the turns are late by at most", f"{p99:.1f}"),
            ("all read after", f"{took * 1000:.0f}"),
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
        Target("hostile pages that are neither a document nor a named error", counts["lost"], 0),
    ]


async def _stalls(reader: PageReader) -> tuple[list[float], float]:
    large = "".join(_PARAGRAPH.format(n=n) for n in range(50_000)).encode()[:5_000_000]
    pages = [_received(large, HTML)] * 8 + [_received(pdf(300), "application/pdf")] * 2
    begun = time.perf_counter()
    reading = asyncio.gather(*(reader.read(page) for page in pages))
    stalls = []
    while not reading.done():
        at = time.perf_counter()
        await asyncio.sleep(_TICK)
        stalls.append(time.perf_counter() - at - _TICK)
    await reading
    return stalls, time.perf_counter() - begun


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
