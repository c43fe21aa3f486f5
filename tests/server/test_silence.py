"""Texts of others, by each way on which they come in: the server goes on to answer meanwhile, and ends when it is told to."""

from __future__ import annotations

import asyncio
import html
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from benchmarks.hostile_texts import run, units
from benchmarks.watch import MOST_SILENT, MOST_TO_END, megabytes, seconds_to_end

from server.hostile_scene import QUESTION, SENTENCE, Scene, scene
from server.openapi_bodies import bodies, made, properties
from support.timing import soon
from suyuan.chat.answering import MAX_MESSAGE
from suyuan.core.query import MAX_QUERY

pytestmark = pytest.mark.asyncio(loop_scope="module")

LONG = bool(os.environ.get("SUYUAN_TEST_LONG"))
"""Whether each unit is sent by itself, and in every length; otherwise all of them together."""
MOST_MEGABYTES = 800
MOST_TEXTS = 8
MOST_IN_TWO = 470_000
"""Bytes of each of two messages that are all that a request can be."""
WORD = " harbour "
LONGEST = {
    "page": 2_000_000,
    "found_page": 2_000_000,
    "question": MAX_MESSAGE,
    "foreign_question": MAX_MESSAGE,
    "foreign_history": 60_000,
    "sought": MAX_MESSAGE,
    "query": MAX_QUERY,
    "title": 1_000,
    "answer": 60_000,
}
"""How long a text can be that comes in on a way; 100,000 characters where nothing is said."""

Entry = Callable[[Scene, str], Awaitable[None]]
"""Sends a text in on one way, and waits until it has been worked on."""


async def page(at: Scene, text: str) -> None:
    """A page that is read."""
    await at.sent("POST", "/api/fetch", {"url": at.publish(_html(text)), "question": QUESTION, "fresh": True})


async def found_page(at: Scene, text: str) -> None:
    """A page that is found, read and answered from."""
    at.publish(_html(text))
    await at.answered(QUESTION)


async def found_row(at: Scene, text: str) -> None:
    """A result: its title, its address, its snippet, its date."""
    short = quote(text[:2000])
    at.find(title=text, content=text, url=f"https://{short}.example/{short}", publishedDate=text)
    await at.sent("POST", "/api/search", {"query": QUESTION})


async def query(at: Scene, text: str) -> None:
    """What is searched for."""
    await at.sent("POST", "/api/search", {"query": text})


async def question(at: Scene, text: str) -> None:
    """A question, which also gives the conversation its title."""
    at.publish(_html(SENTENCE))
    await at.answered(text)


async def title(at: Scene, text: str) -> None:
    """The title of a conversation."""
    id = await at.ask.conversation()
    await at.sent("PATCH", f"/api/conversations/{id}", {"title": text})
    await at.sent("GET", f"/api/conversations?text={quote(text[:200])}")


async def foreign_question(at: Scene, text: str) -> None:
    """A question with a history, as other programs send it."""
    said = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": text}]
    said.append({"role": "user", "content": text})
    await at.sent("POST", "/v1/chat/completions", {"model": "suyuan", "messages": said})


async def foreign_history(at: Scene, text: str) -> None:
    """A history that is as long as a request can be, in each of the forms in which programs send one."""
    text *= max(1, MOST_IN_TWO // len(json.dumps(text)))
    asked = {"role": "user", "content": QUESTION}
    said = [{"role": "user", "content": text}, {"role": "assistant", "content": text}, asked]
    instructed = [{"role": "system", "content": f"{text} {text}"}, asked]
    for messages in (said, instructed):
        await at.sent("POST", "/v1/chat/completions", {"model": "suyuan", "messages": messages})
        await at.sent("POST", "/v1/responses", {"model": "suyuan", "input": messages})
    model = {"model": "suyuan", "max_tokens": 9}
    await at.sent("POST", "/v1/messages", {**model, "messages": said})
    await at.sent("POST", "/v1/messages/count_tokens", {**model, "messages": said})


async def sought(at: Scene, text: str) -> None:
    """A question that is kept, and looked for among the conversations."""
    at.publish(_html(SENTENCE))
    await at.answered(text)
    for words in (text[:200], text[9:109], text[9:35]):
        await at.sent("GET", f"/api/conversations?text={quote(words)}")


async def answer(at: Scene, text: str) -> None:
    """What a model says about a page."""
    at.publish(_html(f"{SENTENCE} {text}"))
    at.said.answer = f"{SENTENCE} [1] {text}"
    await at.answered(QUESTION)


PLAIN: tuple[Entry, ...] = (
    page,
    found_page,
    found_row,
    query,
    question,
    title,
    sought,
    foreign_question,
    foreign_history,
)
MODELLED: tuple[Entry, ...] = (answer,)


def _html(text: str) -> str:
    paragraphs = "".join(f"<p>{html.escape(part)}</p>" for part in text.split("\f"))
    return f"<!doctype html><title>The harbour</title><body><article><p>{SENTENCE}</p>{paragraphs}</article>"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plain(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    async with scene(tmp_path_factory.mktemp("plain")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def modelled(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    async with scene(tmp_path_factory.mktemp("modelled"), model=True) as running:
        yield running


@pytest.mark.parametrize("entry", PLAIN, ids=lambda entry: entry.__name__)
async def test_a_server_is_not_silent(plain: Scene, entry: Entry) -> None:
    await _check(plain, entry)


@pytest.mark.parametrize("entry", MODELLED, ids=lambda entry: entry.__name__)
async def test_a_server_with_a_model_is_not_silent(modelled: Scene, entry: Entry) -> None:
    await _check(modelled, entry)


async def _check(at: Scene, entry: Entry) -> None:
    longest = LONGEST.get(entry.__name__, 100_000)
    at.watch.silence()
    silent = []
    for text in _texts(longest):
        await entry(at, text)
        seen = at.watch.silence()
        if seen.seconds > MOST_SILENT:
            silent.append((seen, ascii(text[:60]), len(text)))
    assert not silent
    assert megabytes(at.pid) < MOST_MEGABYTES


def _texts(longest: int) -> list[str]:
    """Runs of every unit: all of them in a few texts, or each in texts of its own."""
    # Words at both ends, so that nothing of it is taken off.
    room = longest - 2 * len(WORD)
    if LONG:
        sizes = (1_000, room // 8, room)
        return [f"{WORD}{run(unit, size)}{WORD}" for unit in units() for size in sizes]
    part = min(20_000, room // 2)
    runs = [run(unit, part - 1) for unit in units()]
    at_once = room // part
    groups = [runs[at : at + at_once] for at in range(0, len(runs), at_once)]
    # What is measured for each pattern is not repeated here for each unit.
    some = groups[:: len(groups) // MOST_TEXTS + 1]
    return [WORD + "\f".join(group) + WORD for group in some]


MANY: dict[str, Callable[[int], Any]] = {
    "numbers": lambda count: [1] * count,
    "objects": lambda count: [{}] * count,
    "lists": lambda count: [[]] * count,
    "names": lambda count: {str(at): 1 for at in range(count)},
    "names of lists": lambda count: {str(at): [] for at in range(count)},
}
MOST_BYTES = 900_000
"""As long as a body can be; below are the most values that one may have, without what is beside them."""
MOST_OWN, MOST_FOREIGN = 1_900, 19_000


@pytest.mark.parametrize("many", MANY.values(), ids=MANY)
async def test_a_server_is_not_silent_whatever_a_body_has_many_of(tmp_path: Path, many: Callable[[int], Any]) -> None:
    async with scene(tmp_path) as running:
        described = await running.sent("GET", "/api/openapi.json")
        silent: list[Any] = []
        running.watch.silence()
        for method, path, schema in bodies(described):
            most = MOST_OWN if path.startswith("/api/") else MOST_FOREIGN
            for body in _of_many(described, schema, many, most):
                await running.ask(method, path, body)
                seen = running.watch.silence()
                if seen.seconds > MOST_SILENT:
                    silent.append((seen, method, path, str(body)[:100]))
    assert not silent


def _of_many(described: Any, schema: Any, many: Callable[[int], Any], most: int) -> Iterator[Any]:
    """Bodies that would fit, but for one field that has many values; and one that is nothing else."""
    fits = made(described, schema)
    too_many = many(MOST_BYTES // len(json.dumps(many(10_000))) * 10_000)
    yield too_many
    for name in [*properties(described, schema), "of_no_name"]:
        yield {**fits, name: many(most)}
        yield {**fits, name: too_many}


async def test_a_server_ends_while_it_works_on_hostile_texts(tmp_path: Path) -> None:
    async with scene(tmp_path) as running:
        page_of_all = "\f".join(run(unit, 10_000) for unit in units())
        work = asyncio.ensure_future(found_page(running, page_of_all))
        assert await soon(lambda: any(path.startswith("/page/") for path in running.said.asked))
        assert running.worker.process is not None
        took = await asyncio.to_thread(seconds_to_end, running.worker.process)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        assert took < MOST_TO_END
