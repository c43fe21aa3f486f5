"""Pages are converted in processes with limits: whatever a page does, the server and the deadline hold."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from benchmarks.hostile_pages import hostile_page, names, pdf

from support.hostile_documents import cases
from support.processes import family
from support.timing import quickest, seconds_of, soon, until
from suyuan.core.errors import SuyuanError
from suyuan.core.wire import Response
from suyuan.pages import convert, reader_pool
from suyuan.pages.convert import read_page
from suyuan.pages.reader import PageReader
from suyuan.pages.reader_pool import ReaderPool, SharedReaders
from suyuan.pages.reading import PAGE_LIMITS, Reading, ReceivedPage

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


async def test_a_page_that_is_slow_in_its_first_turn_comes_after_the_others(
    pool: ReaderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_pool, "_FIRST_SECONDS", 0.05)
    slow = received(SLOW[:190_000])
    crowd = [asyncio.create_task(pool.read(slow)) for _ in range(5)]
    assert await soon(lambda: bool(pool.pids))
    await pool.read(received(b"<p>A few words that wait for the first turns of the others, and for no more.</p>"))
    assert not all(task.done() for task in crowd)
    found = await asyncio.gather(*crowd)
    assert pool.restarts["cpu"] == len(crowd) and all(each.document.text for each in found), "none of them is lost"


async def test_a_page_that_is_given_up_between_two_turns_is_not_read_again(
    pool: ReaderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_pool, "_FIRST_SECONDS", 0.02)
    ahead = [asyncio.create_task(pool.read(received(SLOW))) for _ in range(2)]
    assert await soon(lambda: bool(pool.pids))
    small = asyncio.create_task(pool.read(received(SLOW[:190_000])))
    assert await soon(lambda: pool.restarts["cpu"] == 1)
    for task in (small, *ahead):
        task.cancel()
    await asyncio.gather(small, *ahead, return_exceptions=True)
    assert not pool._waiting
    assert (await pool.read(received(LARGE))).document.title == "Large"


async def test_a_reader_that_dies_is_an_error_and_is_replaced(pool: ReaderPool) -> None:
    reading = asyncio.create_task(pool.read(received(SLOW)))
    assert await soon(lambda: bool(pool.pids))
    os.kill(pool.pids[0], signal.SIGSEGV)
    with pytest.raises(SuyuanError) as caught:
        await reading
    assert caught.value.detail_code == "reader_failed" and "SIGSEGV" in caught.value.message and caught.value.hint
    assert pool.restarts["crash"] == 1
    assert (await pool.read(received(LARGE))).document.title == "Large"


async def test_a_page_that_takes_too_much_computing_time_is_an_error(pool: ReaderPool) -> None:
    with pytest.raises(SuyuanError) as caught:
        await pool.read(replace(received(SLOW), limits=replace(PAGE_LIMITS, seconds=0.02)))
    assert caught.value.detail_code == "page_too_slow" and pool.restarts["cpu"] == 1


async def test_large_pages_leave_a_reader_to_small_ones(pool: ReaderPool) -> None:
    slow = [asyncio.create_task(pool.read(received(SLOW))) for _ in range(6)]
    assert await soon(lambda: bool(pool.pids))
    await pool.read(received(b"<p>A few words that do not wait for the large pages before them.</p>"))
    assert not all(task.done() for task in slow)
    for task in slow:
        task.cancel()
    await asyncio.gather(*slow, return_exceptions=True)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> SharedReaders:
    """Readers that only this test uses."""
    own = SharedReaders()
    monkeypatch.setattr(reader_pool, "shared_readers", own)
    return own


@pytest.mark.parametrize("body", [b"<p>A word.", b"Plain words", b"<p>" + b"A few words of a page. " * 90, LARGE])
async def test_every_page_is_read_by_a_process_however_small(
    shared: SharedReaders, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(page: ReceivedPage) -> Reading:
        raise AssertionError("converted in this process")

    monkeypatch.setattr(convert, "read_page", refuse)
    one, other = PageReader(), PageReader()
    with contextlib.suppress(SuyuanError):
        assert (await one.read(received(body))).document.text
    assert shared.running == 1
    other.warm()
    one.close()
    assert shared.running == 1
    other.close()
    assert shared.running == 0, "the last user ends the readers"


async def test_a_reader_is_started_while_the_page_is_loaded(shared: SharedReaders) -> None:
    reader = PageReader()
    reader.warm()
    assert await soon(lambda: shared.running == 1)
    reader.close()


async def test_a_reader_that_has_ended_is_replaced_before_it_is_needed(pool: ReaderPool) -> None:
    with pytest.raises(SuyuanError):
        await pool.read(replace(received(SLOW), limits=replace(PAGE_LIMITS, seconds=0.02)))
    assert await soon(lambda: len(pool.pids) == 1)


async def test_a_small_page_costs_a_few_milliseconds_more_than_its_conversion(pool: ReaderPool) -> None:
    page = received(b"<title>Tea</title>" + b"<p>Tea is a drink, and a word. <a href='/x'>More</a></p>" * 60)
    await pool.read(page)

    async def more() -> float:
        begun = time.perf_counter()
        read_page(page)
        here = time.perf_counter() - begun
        return await seconds_of(pool.read(page)) - here

    assert await quickest(more, 0.01, tries=40) < 0.01


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
        readers = family(parent.pid, kept=())
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


# --- whatever comes, and the others meanwhile ---------------------------------------------------------------------------
SIZES = (1_500, 30_000)
_REFUSED = (
    "empty_text", "page_too_slow", "page_too_complex", "styles_too_complex", "reader_failed", "unsupported_type",
    "pdf_without_text", "needs_scripts",
)  # fmt: skip


class _Watch:
    """The longest silence of the event loop."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def run(self) -> None:
        while True:
            begun = time.perf_counter()
            await asyncio.sleep(0.005)
            self.longest = max(self.longest, time.perf_counter() - begun - 0.005)


async def test_whatever_comes_is_read_or_refused_and_the_event_loop_goes_on(shared: SharedReaders) -> None:
    reader, outcomes = PageReader(), dict[str, str]()
    pages = [(f"{name}, {size}", kind, make(size)) for name, kind, make in cases() for size in SIZES]
    places = asyncio.Semaphore(4)

    async def read(name: str, kind: str, body: bytes) -> None:
        async with places:
            try:
                reading = await reader.read(received(body, kind))
                outcomes[name] = "read" if reading.document.text else "empty"
            except SuyuanError as error:
                outcomes[name] = error.detail_code
                assert error.message and error.hint

    async def silence() -> float:
        watch = _Watch()
        watching = asyncio.create_task(watch.run())
        await asyncio.gather(*(read(*page) for page in pages))
        watching.cancel()
        return watch.longest

    assert await quickest(silence, 0.1, tries=2) < 0.1
    reader.close()
    assert len(outcomes) == len(pages)
    strange = {name: outcome for name, outcome in outcomes.items() if outcome not in ("read", *_REFUSED)}
    assert not strange
    slow = [name for name, outcome in outcomes.items() if outcome in ("page_too_slow", "reader_failed")]
    assert not slow, "budgets end these before the limits of the reader do"
