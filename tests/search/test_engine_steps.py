"""Large answers of engines are read in another process: with the same outcome, and never on the event loop."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from engines.answers import OPTIONS, sample
from support.timing import PATIENCE
from suyuan.core.engine import Engine, EngineSettings, ask
from suyuan.core.errors import SuyuanError, WebParseError
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.core.result import EngineResults, SearchResult
from suyuan.core.secret import Secret
from suyuan.core.wire import Request, Response
from suyuan.engines import registry
from suyuan.search.engine_steps import EngineSteps
from suyuan.search.normalize import bounded
from suyuan.search.runner import EngineRunner

pytestmark = pytest.mark.asyncio(loop_scope="module")

OTHERS = [name for name in registry.BUILT_IN if name != "stub"]
QUERY = SearchQuery("tea pots", freshness=Freshness.parse("2026-01-01.."))
KEY = "a-key-that-nobody-else-may-see"
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
# The most that the HTTP client lets through.
LARGEST = 4 * 1024 * 1024
MOST_HELD_UP = 0.1

NEED_KEY = {name for name in registry.BUILT_IN if registry.needs_key(name)}


class AllSteps(EngineSteps):
    """Takes small answers as well, so that samples will do."""

    def takes(self, response: Response) -> bool:
        return True


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def steps() -> AsyncIterator[EngineSteps]:
    made = AllSteps()
    yield made
    made.close()


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def large_steps() -> AsyncIterator[EngineSteps]:
    made = EngineSteps()
    yield made
    made.close()


def engine(name: str) -> Engine:
    options = OPTIONS.get(name) or {}
    made: Any = registry.load(name)
    found: Engine = made(
        EngineSettings(api_key=Secret(KEY) if registry.needs_key(name) else Secret(""), options=options)
    )
    return found


def answering(name: str, kind: str, status: int) -> Callable[[Request], Any]:
    async def send(request: Request) -> Response:
        body = sample(name, kind, urlsplit(request.url).path or "/")
        return Response(status, body, request.url, {"content-type": "text/html; charset=utf-8"}, NOW)

    return send


async def outcome(name: str, send: Any, elsewhere: EngineSteps | None) -> object:
    try:
        return await ask(engine(name), QUERY, send, elsewhere)
    except SuyuanError as error:
        return type(error), error.failure


@pytest.mark.parametrize("name", OTHERS)
async def test_an_answer_is_the_same_wherever_it_is_read(name: str, steps: EngineSteps) -> None:
    for kind, status in (("ok", 200), ("empty", 200), ("ok", 429)):
        send = answering(name, kind, status)
        assert await outcome(name, send, steps) == await outcome(name, send, None)


def repeated(piece: bytes, before: bytes = b"", after: bytes = b"") -> bytes:
    return before + piece * ((LARGEST - len(before) - len(after)) // len(piece)) + after


ROW = b'{"title":"Tea","url":"https://a.example/","content":"tea pots","publishedDate":"3 days ago"},'
TITLE = b"<div><h2><a href=https://a.example/>tea</a></h2>"
HOSTILE: dict[str, tuple[str, bytes]] = {
    "lists": ("searxng", repeated(b"[],", b'{"results":[', b"[]]}")),
    "rows": ("searxng", repeated(ROW, b'{"results":[', b"{}]}")),
    "keys": ("searxng", repeated(b'"k":{"a":[0]},', b"{", b'"k":0}')),
    "long texts": (
        "searxng",
        repeated(b"\\u202ea\\u200d", b'{"results":[{"url":"https://a.example/","title":"', b'"}]}'),
    ),
    "deep": ("searxng", repeated(b"[")),
    "elements": ("arxiv", repeated(b"<a/>", b"<feed>", b"</feed>")),
    "entries": ("arxiv", repeated(b"<entry/>", b'<feed xmlns="http://www.w3.org/2005/Atom">', b"</feed>")),
    "tags": ("bing_html", repeated(b"<br>", b"<body>")),
    "titles": ("mojeek", TITLE * 6_000),
    "nested": ("ecosia", b"<body>" + b"<div>" * 399 + TITLE * 3_000),
    "attributes": ("ddg_html", (b"<p " + b" ".join(b"a%d=b" % n for n in range(199)) + b">") * 1_000),
    "characters": ("google", repeated("<h3><a href=//a.example>\u202e\u200d".encode(), b"<meta charset=gb18030>")),
}


@asynccontextmanager
async def longest_pause() -> AsyncIterator[list[float]]:
    """How long the event loop was held up at most, of the computing time of its thread."""
    pauses = [0.0]

    async def watch() -> None:
        while True:
            begun = time.thread_time()
            await asyncio.sleep(0.005)
            pauses[0] = max(pauses[0], time.thread_time() - begun)

    watching = asyncio.create_task(watch())
    # It runs before the work begins, and once more behind it.
    await asyncio.sleep(0)
    try:
        yield pauses
        await asyncio.sleep(0.02)
    finally:
        watching.cancel()


@pytest.mark.parametrize("kind", HOSTILE)
async def test_no_answer_holds_up_the_event_loop(kind: str, large_steps: EngineSteps) -> None:
    name, body = HOSTILE[kind]

    async def send(request: Request) -> Response:
        return Response(200, body, request.url, {"content-type": "text/html; charset=utf-8"}, NOW)

    asked: Any = engine(name)
    runner = EngineRunner(asked, send, steps=large_steps)
    async with longest_pause() as pauses:
        reply = await runner.run(SearchQuery("tea pots"), PATIENCE)
    assert pauses[0] < MOST_HELD_UP
    # What could not be read is never nothing that was found.
    assert reply.error is not None or (reply.results is not None and reply.results.results)


async def test_a_process_that_dies_is_a_failure_and_the_next_answer_is_read(steps: EngineSteps) -> None:
    await outcome("bing_html", answering("bing_html", "ok", 200), steps)
    reading = asyncio.create_task(outcome("bing_html", answering("bing_html", "ok", 200), Stopped(steps)))
    died = await reading
    assert isinstance(died, tuple) and issubclass(died[0], WebParseError) and died[1].engine == "bing_html"
    assert isinstance(await outcome("bing_html", answering("bing_html", "ok", 200), steps), EngineResults)


class Stopped(EngineSteps):
    """Kills the process that it gives a step to."""

    def __init__(self, steps: EngineSteps) -> None:
        super().__init__()
        self._pool = steps._readers()

    def takes(self, response: Response) -> bool:
        pool = self._readers()
        for pid in pool.pids:
            os.kill(pid, signal.SIGSTOP)
        asyncio.get_running_loop().call_later(0.2, self._kill, pool.pids)
        return True

    def _kill(self, pids: list[int]) -> None:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


async def test_the_other_process_is_given_no_key(steps: EngineSteps, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bytes] = []
    read = steps._readers().read

    async def noted(page: Any) -> Any:
        sent.append(page.response.body)
        return await read(page)

    monkeypatch.setattr(steps._readers(), "read", noted)
    for name in NEED_KEY:
        await outcome(name, answering(name, "ok", 200), steps)
    assert len(sent) >= len(NEED_KEY) and not any(KEY.encode() in one for one in sent)


async def test_what_an_engine_found_has_bounds() -> None:
    long = SearchResult(
        "t" * 10**6, "https://a.example/", "s" * 10**6, "e", summary="u" * 10**6, published_at="p" * 10**6
    )
    endless = replace(long, url="https://a.example/" + "a" * 10**6)
    found = bounded(EngineResults((long, endless) * 1_000, ("n" * 10**6,) * 1_000))
    assert found.results and len(json.dumps([repr(found)])) < 600_000
    assert all(result.url == long.url for result in found.results)
    assert any("too many or too long" in note for note in found.notes)
    ordinary = EngineResults(tuple(SearchResult(f"t{n}", f"https://a.example/{n}", "s", "e") for n in range(98)))
    assert bounded(ordinary) == ordinary
    assert bounded(EngineResults()) == EngineResults()
