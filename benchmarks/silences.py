"""How long a server is silent while it works on hostile texts, which come in on each way: runs of every unit, to 2 MB.

A text has got through where the server did not answer somebody else for longer than ``MOST_SILENT``.
"""

from __future__ import annotations

import asyncio
import html
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from ._suyuan import Running, http, path_of, site, suyuan
from .hostile_texts import all_runs, run, units
from .watch import MOST_SILENT, MOST_TO_END, Silence, Watch, megabytes, seconds_to_end, watching

QUESTION = "What is the harbour made of?"
SENTENCE = "The harbour is made of granite, which was brought from the north."
MOST_MEGABYTES = 900
_PARTS = (300, 4_000, 20_000)
"""How long the run of each unit is where all of them stand in one text."""
_FOLLOWERS = 8


@dataclass(slots=True)
class _Outside:
    """The web and the model that the server sees: each says what is to be tried."""

    page: str = SENTENCE
    row: dict[str, str] = field(default_factory=dict)
    answer: str = SENTENCE

    async def __call__(self, target: str, writer: asyncio.StreamWriter) -> None:
        path = path_of(target)
        if path == "/search":
            found = {"title": "The harbour", "url": "https://harbour.example/", "content": SENTENCE} | self.row
            rows = {"query": "q", "results": [found], "unresponsive_engines": []}
            writer.write(http(json.dumps(rows).encode(), "application/json"))
        elif path.endswith("/chat/completions"):
            writer.write(http(self._spoken(), "text/event-stream"))
        else:
            writer.write(http(f"<!doctype html><title>x</title><article>{self.page}</article>".encode()))

    def _spoken(self) -> bytes:
        about: dict[str, Any] = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        pieces = [self.answer[at : at + 2_000] for at in range(0, len(self.answer), 2_000)]
        chunks: list[dict[str, Any]] = [
            about | {"choices": [{"index": 0, "delta": {"content": each}}]} for each in pieces
        ]
        chunks.append(about | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        return b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in chunks) + b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class _Scene:
    url: str
    """The address of the web."""
    outside: _Outside
    session: aiohttp.ClientSession

    async def sent(self, path: str, body: Any) -> Any:
        async with self.session.post(path, json=body) as answer:
            return await answer.json() if answer.content_type == "application/json" else await answer.read()

    async def answered(self, question: str, followers: int = 1, **conversation: Any) -> None:
        """Ask, and follow the answer to its end; then open the conversation, and the answer by a link."""
        id = (await self.sent("/api/conversations", conversation))["id"]
        started = await self.sent(f"/api/conversations/{id}/messages", {"text": question})
        if "run" not in started:
            return
        await asyncio.gather(*(self._follow(started["run"]) for _ in range(followers)))
        shared = await self.sent(f"/api/conversations/{id}/shares", {})
        opened = [f"/c/{id}", f"/api/conversations/{id}/export?format=html", str(shared.get("path") or "/")]
        for path in opened:
            async with self.session.get(path) as answer:
                await answer.read()

    async def _follow(self, run_id: str) -> None:
        async with self.session.get(f"/stream/{run_id}") as stream:
            async for _ in stream.content.iter_any():
                continue


Entry = Callable[[_Scene, str], Awaitable[None]]


async def _page(at: _Scene, text: str) -> None:
    at.outside.page = f"<p>{SENTENCE}</p><p>{html.escape(text)}</p>"
    await at.sent("/api/fetch", {"url": f"{at.url}/{len(text)}", "question": QUESTION, "fresh": True})


async def _style_sheet(at: _Scene, text: str) -> None:
    at.outside.page = f"<style>{text}</style><style>p {{ color: {text} }}</style><p>{SENTENCE}</p>"
    await at.sent("/api/fetch", {"url": f"{at.url}/{len(text)}", "question": QUESTION, "fresh": True})


async def _result(at: _Scene, text: str) -> None:
    at.outside.row = {"title": text, "content": text, "publishedDate": text}
    await at.sent("/api/search", {"query": QUESTION})
    at.outside.row = {}


async def _query(at: _Scene, text: str) -> None:
    await at.sent("/api/search", {"query": text})


async def _question(at: _Scene, text: str) -> None:
    await at.answered(text, search=True)


async def _history(at: _Scene, text: str) -> None:
    said = [{"role": role, "content": text} for role in ("user", "assistant", "user")]
    await at.sent("/v1/chat/completions", {"model": "suyuan", "messages": said})


async def _answer(at: _Scene, text: str) -> None:
    at.outside.answer = f"{SENTENCE} [1] {text}"
    await at.answered(QUESTION, _FOLLOWERS, search=True)


_PLAIN: dict[str, tuple[Entry, int]] = {
    "a page": (_page, 2_000_000), "a style sheet": (_style_sheet, 2_000_000), "a result": (_result, 300_000),
    "a query": (_query, 2_000), "a question": (_question, 20_000), "a history": (_history, 20_000),
}  # fmt: skip
_MODELLED: dict[str, tuple[Entry, int]] = {f"an answer, {_FOLLOWERS} followers": (_answer, 200_000)}


async def silences() -> list[tuple[str, int, int, str, str]]:
    """What was tried on each way: name, texts, silences, nothing, and the longest of them."""
    common = {
        "WEB_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
        "WEB_SEARCH_BACKEND": "searxng",
        "WEB_SEARCH_CACHE_TTL_MINUTES": "0",
    }
    found = []
    for model, entries in ((False, _PLAIN), (True, _MODELLED)):
        outside = _Outside()
        async with site(outside) as url:
            environ = {**common, "SEARXNG_BASE_URL": url}
            if model:
                environ |= {"SUYUAN_MODEL": "m", "SUYUAN_MODEL_BASE_URL": f"{url}/v1", "SUYUAN_MODEL_API_KEY": "k"}
            async with suyuan(None, **environ) as server:
                found += await _tried(server, url, outside, entries)
                ended = seconds_to_end(server.process)
                note = f"{ended:.2f} s without what the machine took"
                found.append(("a server that is told to end", 1, int(ended > MOST_TO_END), "", note))
    return found


async def _tried(
    server: Running, url: str, outside: _Outside, entries: dict[str, tuple[Entry, int]]
) -> list[tuple[str, int, int, str, str]]:
    found = []
    timeout = aiohttp.ClientTimeout(None)
    with watching(server.url, server.process.pid) as watch:
        async with aiohttp.ClientSession(server.url, timeout=timeout) as session:
            at = _Scene(url, outside, session)
            for name, (entry, longest) in entries.items():
                found.append(await _on(at, watch, server, name, entry, longest))
    return found


async def _on(
    at: _Scene, watch: Watch, server: Running, name: str, entry: Entry, longest: int
) -> tuple[str, int, int, str, str]:
    texts = [run(unit, min(longest, 4_000)) for unit in units()]
    texts += [all_runs(longest, part) for part in _PARTS if part < longest]
    # What a first request loads is not the time of a text.
    await entry(at, "harbour")
    watch.silence()
    seen: list[tuple[Silence, str]] = []
    for text in texts:
        await entry(at, f" harbour {text} harbour "[:longest])
        seen.append((watch.silence(), text))
    worst, text = max(seen, key=lambda each: each[0].seconds)
    memory = megabytes(server.process.pid)
    through = sum(each.seconds > MOST_SILENT for each, _ in seen) + int(memory > MOST_MEGABYTES)
    clock = f"longest silence {1000 * worst.seconds:.0f} ms ({1000 * worst.by_the_clock:.0f} by the clock)"
    note = f"{clock}: {len(text):,} characters of {ascii(text[:8])}…; {memory:.0f} MB"
    return (f"silence: {name}", len(texts), through, "", note)
