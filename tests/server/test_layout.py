"""The layout of answers: once for all who follow, the same whatever the pieces, and plain where it cannot be done."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from support.timing import PATIENCE, soon
from suyuan.markup.blocks import LONGEST, Labels, MarkdownStream, render
from suyuan.markup.jobs import MarkdownJob, done_here, laid_out
from suyuan.server.layout import SMALL, Layout

LABELS = Labels("source", "copy", "csv", "as text", "the end is plain", "too slow")
SOURCES = {1: "https://one.example/", 2: "https://two.example/"}
LONG = "".join(f"- point **{n}** [1]\n" for n in range(60)) + "\n```py\nx = 1\n```\n\n$a^2$\n"
PARTS = [
    "text ", "**b** ", "[1] ", "\n", "\n\n", "- a\n", "  - b\n", "1. c\n", "> q\n", "```py\nx = 1\n```\n", "```\n", "|a|b|\n|-|-|\n",
    "|1|2|\n", "$x^2$ ", "$$\ny\n$$\n", "\\(z\\)", "# h\n", "---\n", "[a](https://a.example/) ", "`c` ", "\\", "\r\n", "\r", "中文。", "    d\n",
]  # fmt: skip


@pytest.fixture
def layout() -> Iterator[Layout]:
    opened = Layout()
    yield opened
    opened.close()


texts = st.lists(st.sampled_from(PARTS), max_size=30).map("".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=texts, cuts=st.lists(st.integers(0, 300), max_size=12))
def test_any_pieces_make_the_same_blocks_as_the_whole(text: str, cuts: list[int]) -> None:
    stream = MarkdownStream(lambda: SOURCES, LABELS)
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for start, end in zip(places, places[1:], strict=False):
        stream.feed(text[start:end])
    stream.close()
    assert stream.blocks == render(text, SOURCES, LABELS)


def test_a_job_that_was_sent_has_the_same_outcome() -> None:
    for job in (MarkdownJob(LONG, tuple(SOURCES.items()), LABELS), MarkdownJob(LONG, growing=True)):
        assert laid_out(done_here(job.as_bytes())) == job.run()


async def test_all_who_follow_a_text_share_its_layout(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, start = [], layout._start

    def counted(job: MarkdownJob) -> Any:
        begun.append(job)
        return start(job)

    monkeypatch.setattr(layout, "_start", counted)
    pieces = [LONG[at : at + 100] for at in range(0, len(LONG), 100)]

    async def follow() -> list[str]:
        live, text, blocks, complete = layout.live("run", 0, LABELS), "", [""], False
        for piece in pieces:
            text += piece
            blocks, complete = await live.up_to(0, text, SOURCES)
        while not complete:
            blocks, complete = await live.up_to(0, text, SOURCES)
            await asyncio.sleep(0.01)
        return blocks

    found = await asyncio.gather(*(follow() for _ in range(8)))
    assert all(blocks == found[0] for blocks in found)
    assert begun and len(begun) == len(set(begun)), "each state of the text is laid out once at most"
    assert layout.live("run", 1, LABELS) is not layout.live("run", 0, LABELS), "a text that begins anew is another"


async def test_a_whole_text_is_laid_out_once_and_as_if_it_were_done_here(layout: Layout) -> None:
    first, second = await asyncio.gather(*(layout.blocks(LONG, SOURCES, LABELS) for _ in range(2)))
    assert first == second == render(LONG, SOURCES, LABELS)
    assert await asyncio.to_thread(layout.blocks_in_thread, LONG, SOURCES, LABELS) == first


async def test_short_texts_start_no_process(layout: Layout) -> None:
    assert await layout.blocks("Short **text**.", {}, LABELS) == render("Short **text**.", {}, LABELS)
    assert layout._pool is None
    assert len("Short") < SMALL


async def ended_while_at_work(layout: Layout, text: str) -> list[str]:
    """The blocks of a text whose process is ended; where that was before it had the text, the next one has it."""
    assert layout._pool is not None
    readers = layout._pool.pids
    for reader in readers:
        os.kill(reader, signal.SIGSTOP)
    laying = asyncio.create_task(layout.blocks(text, SOURCES, LABELS))
    assert await soon(lambda: bool(layout._under_way))
    await asyncio.sleep(0.05)
    for reader in readers:
        os.kill(reader, signal.SIGKILL)
    async with asyncio.timeout(PATIENCE):
        return await laying


async def test_a_text_that_stops_its_process_is_shown_as_it_was_written(layout: Layout) -> None:
    await layout.blocks(LONG, SOURCES, LABELS)
    for attempt in range(20):
        found = await ended_while_at_work(layout, LONG + "<b>" * (attempt + 1))
        if len(found) == 1:
            break
    (block,) = found
    assert "too slow" in block and "**59**" in block and "&lt;b&gt;" in block
    assert await layout.blocks(LONG, SOURCES, LABELS) == render(LONG, SOURCES, LABELS), "the next one is laid out"


def test_the_end_of_a_very_long_text_is_plain() -> None:
    text = "A **paragraph**.\n\n" * (LONGEST // 10)
    *blocks, last = render(text, {}, LABELS)
    assert "<strong>" in blocks[0] and "the end is plain" in last and "A **paragraph**." in last
    stream = MarkdownStream(dict, LABELS)
    for at in range(0, len(text), 150_000):
        stream.feed(text[at : at + 150_000])
    stream.close()
    assert stream.blocks == [*blocks, last]
