"""Pages are converted in processes with limits: whatever a page does, the server and the deadline hold."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from benchmarks.hostile_pages import hostile_page, names, pdf

from support.processes import family
from support.timing import quickest, soon, until
from suyuan.core.errors import SuyuanError
from suyuan.core.wire import Response
from suyuan.pages.convert import read_page
from suyuan.pages.reader import PageReader
from suyuan.pages.reader_pool import ReaderPool, shared_readers
from suyuan.pages.reading import Reading, ReceivedPage

SLOW = b"<p>A short paragraph, with a comma.</p>" * 100_000
LARGE = b"<html><title>Large</title><body><p>" + b"Some words of a large page. " * 20_000


def received(body: bytes, kind: str = "text/html; charset=utf-8") -> ReceivedPage:
    return ReceivedPage("http://a.example/", Response(200, body, "http://a.example/", {"content-type": kind}))


@pytest.fixture
def pool() -> Iterator[ReaderPool]:
    opened = ReaderPool(2)
    yield opened
    opened.close()
    assert opened.pids == []


async def test_a_reader_returns_what_the_conversion_returns(pool: ReaderPool) -> None:
    html = (
        "<html lang=en><head><title>茶</title><link rel=canonical href='/tea'></head><body><article><h1>茶</h1>"
        + "<p>Tea is a drink, and 茶 is its name. <a href='/x'>More</a></p>" * 9
        + "</article></body></html>"
    )
    there, here = await pool.read(received(html.encode())), read_page(received(html.encode()))
    assert there.index == here.index and there.document.fetched_at
    assert there.document.text == here.document.text and there.document.links == here.document.links
    assert there.document.canonical_url == "http://a.example/tea" and there.document.language == "en"
    here_first = os.getpriority(os.PRIO_PROCESS, 0) < os.getpriority(os.PRIO_PROCESS, pool.pids[0])
    assert here_first, "where there are too few cores, the event loop comes first"


async def test_an_error_of_a_reader_is_the_error_itself(pool: ReaderPool) -> None:
    with pytest.raises(SuyuanError) as caught:
        await pool.read(received(b"\x89PNG", "image/png"))
    assert caught.value.code == "WebParseError" and caught.value.detail_code == "unsupported_type"
    assert "image/png" in caught.value.message and "PDF" in caught.value.hint and caught.value.say("zh")[0]
    with pytest.raises(SuyuanError) as caught:
        await pool.read(received(b"%PDF-1.4 broken", "application/pdf"))
    assert "encrypted" in caught.value.message, "a text within the text keeps its language open"


async def test_a_reading_that_is_given_up_ends_its_process(pool: ReaderPool) -> None:
    await pool.read(received(b"<p>A few words to begin with, so that a reader is there.</p>"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await pool.read(received(SLOW))
    assert await soon(lambda: pool.restarts["deadline"] == 1)
    assert isinstance(await pool.read(received(LARGE)), Reading), "the next page has a new reader"


async def test_many_small_pages_at_once_are_left_to_readers() -> None:
    page = received(b"<p>A few words of a small page, which alone is converted at once.</p>" * 20)
    reader = PageReader()
    await asyncio.gather(*(reader.read(page) for _ in range(5)))
    assert shared_readers.running == 0, "a few are quicker without"
    found = await asyncio.gather(*(reader.read(page) for _ in range(40)))
    assert shared_readers.running >= 1 and {each.document.text for each in found} == {found[0].document.text}
    reader.close()


async def test_a_reader_that_dies_is_an_error_and_is_replaced(pool: ReaderPool) -> None:
    reading = asyncio.create_task(pool.read(received(SLOW)))
    assert await soon(lambda: bool(pool.pids))
    os.kill(pool.pids[0], signal.SIGSEGV)
    with pytest.raises(SuyuanError) as caught:
        await reading
    assert caught.value.detail_code == "reader_failed" and "SIGSEGV" in caught.value.message and caught.value.hint
    assert pool.restarts["crash"] == 1
    assert (await pool.read(received(LARGE))).document.title == "Large"


async def test_a_page_that_takes_too_much_computing_time_is_an_error(
    pool: ReaderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suyuan.pages.reader_pool.MAX_CPU_SECONDS", 0.02)
    with pytest.raises(SuyuanError) as caught:
        await pool.read(received(SLOW))
    assert caught.value.detail_code == "page_too_slow" and pool.restarts["cpu"] == 1


async def test_large_pages_leave_a_reader_to_small_ones(pool: ReaderPool) -> None:
    slow = [asyncio.create_task(pool.read(received(SLOW))) for _ in range(6)]
    assert await soon(lambda: bool(pool.pids))
    await pool.read(received(b"<p>A few words that do not wait for the large pages before them.</p>"))
    assert not all(task.done() for task in slow)
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)


async def test_small_pages_are_read_without_a_process_and_large_ones_with_one() -> None:
    reader = PageReader()
    assert (await reader.read(received(b"<p>" + b"A few words of a page. " * 90))).document.text
    assert shared_readers.running == 0
    assert (await reader.read(received(LARGE))).document.title == "Large"
    assert shared_readers.running == 1
    reader.close()
    assert shared_readers.running == 0, "the last user ends the readers"


@pytest.mark.parametrize("name", names())
async def test_a_hostile_page_is_a_document_or_an_error(name: str) -> None:
    page = hostile_page(name, 0.02)
    reader = PageReader()
    try:
        reading = await reader.read(received(page.body, page.content_type))
        assert reading.document.text
    except SuyuanError as error:
        assert error.message and error.hint
    finally:
        # The readers are kept for the next page.
        reader._pool = None


@pytest.mark.parametrize(
    "name", ["div × 60,000", "attributes × 40,000", "div × 300,000", "JSON of 10 MB", "div, wrong end × 60,000"]
)
async def test_what_was_quadratic_is_linear(name: str) -> None:
    def cost(scale: float) -> float:
        page = hostile_page(name, scale)
        begun = time.process_time()
        with pytest.MonkeyPatch.context():
            try:
                read_page(received(page.body, page.content_type))
            except SuyuanError as error:
                assert error.detail_code == "empty_text"
        return time.process_time() - begun

    async def measure() -> float:
        return cost(1.0)

    assert await quickest(measure, 5.0, tries=2) < 5.0


async def test_the_event_loop_goes_on_while_large_pages_are_read(pool: ReaderPool) -> None:
    pages = [received(LARGE * 8), received(pdf(40), "application/pdf"), received(SLOW)]
    await pool.read(received(b"<p>A few words to begin with, so that a reader is there.</p>"))

    async def longest_stall() -> float:
        reading = [asyncio.create_task(pool.read(page)) for page in pages]
        longest = 0.0
        while not all(task.done() for task in reading):
            begun = time.perf_counter()
            await asyncio.sleep(0.005)
            longest = max(longest, time.perf_counter() - begun - 0.005)
        for task in reading:
            assert task.result().document.text
        return longest

    assert await quickest(longest_stall, 0.05) < 0.05


_PARENT = """
import asyncio, sys
from suyuan.core.wire import Response
from suyuan.pages.reader import PageReader
from suyuan.pages.reading import ReceivedPage
async def main():
    body = b"<p>" + b"Some words of a large page. " * 2000
    page = ReceivedPage("http://a.example/", Response(200, body, "http://a.example/", {"content-type": "text/html"}))
    reader = PageReader()
    await reader.read(page)
    print("read", flush=True)
    if sys.argv[1] == "wait":
        slow = b"<p>A short paragraph, with a comma.</p>" * 100_000
        await reader.read(ReceivedPage("", Response(200, slow, "", {"content-type": "text/html"})))
        await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.mark.parametrize("way", ["exit", "kill"])
def test_no_reader_is_left_behind(way: str) -> None:
    command = [sys.executable, "-c", _PARENT, "wait" if way == "kill" else "end"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None and parent.stdout.readline() == "read\n"
        readers = family(parent.pid)
        if way == "kill":
            assert readers
            parent.kill()
        parent.wait()
    assert until(lambda: not any(process.alive for process in readers))


async def test_the_memory_of_the_server_is_not_counted_as_that_of_its_readers(pool: ReaderPool) -> None:
    held = b"\1" * (450 << 20)
    for _ in range(2):
        await pool.read(received(LARGE))
    assert held and pool.pids and pool.restarts["memory"] == 0
