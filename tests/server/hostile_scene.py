"""A server in a process of its own, the web that it sees, and its model: each says what a test wants to send through it."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.watch import Watch, watching

from live.workers import Worker
from server.serving import Client, client
from support.oai import EngineReply, Step, reply, serve_model
from support.site import Reply, Seen, json_reply, serve
from support.site import reply as page_reply

QUESTION = "What is the harbour made of?"
SENTENCE = "The harbour is made of granite, which was brought from the north."


@dataclass
class Said:
    """What the outside says."""

    url: str = ""
    """The address of the web."""
    pages: dict[str, str] = field(default_factory=dict)
    """The HTML of the pages, by their paths."""
    row: dict[str, Any] = field(default_factory=dict)
    """The one result of every search."""
    answer: str | Step = ""
    """What the model says: a text, or the stream itself."""
    asked: list[str] = field(default_factory=list)
    """The paths that were asked for."""


@dataclass
class Scene:
    """A running server, a client of it, and somebody who asks whether it is still there."""

    worker: Worker
    ask: Client
    watch: Watch
    said: Said

    @property
    def pid(self) -> int:
        """The process of the server."""
        assert self.worker.process is not None
        return self.worker.process.pid

    def publish(self, html: str) -> str:
        """Put a page on the web, which every search finds from now on; return its address."""
        path = f"/page/{len(self.said.pages)}"
        self.said.pages[path] = html
        self.find(url=self.said.url + path)
        return self.said.url + path

    def find(self, **row: str) -> None:
        """What every search finds from now on: a page on the web, with these values in place of the usual ones."""
        ordinary = {"title": "The harbour", "url": f"{self.said.url}/page", "content": SENTENCE, "engine": "x"}
        self.said.row = {**ordinary, **row}

    async def sent(self, method: str, path: str, body: Any = None) -> Any:
        """What the server answers to a request that it must be able to take."""
        status, content = await self.ask(method, path, body)
        # What a text is about may not be found; but it is worked on.
        assert status < 300 or status in (404, 422, 502), (status, content)
        return content

    async def answered(self, question: str, **conversation: Any) -> dict[str, Any]:
        """Ask in a new conversation, and follow the answer to its end."""
        id = await self.ask.conversation(**conversation)
        return await self.ask.answer(await self.ask.ask(id, question))


@asynccontextmanager
async def scene(home: Path, *, model: bool = False, **environ: str) -> AsyncIterator[Scene]:
    """Serve while the block lasts; without ``model`` the embedded one answers."""
    said = Said()
    async with serve(lambda seen: _web(said, seen)) as web:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "VIRTUAL_ENV", "PYTHONPATH")}
        kept |= {"HOME": str(home), "LANG": "C.UTF-8", "SEARXNG_BASE_URL": web.url, "WEB_SEARCH_BACKEND": "searxng"}
        kept |= {"WEB_FETCH_ALLOW_NETWORKS": "127.0.0.0/8"}
        # What was asked once must be worked on again.
        kept |= {"WEB_SEARCH_CACHE_TTL_MINUTES": "0", **environ}
        said.url = web.url
        with serve_model(lambda asked: _model(said, asked)) as model_server:
            if model:
                kept |= {"SUYUAN_MODEL": "m", "SUYUAN_MODEL_BASE_URL": model_server.url, "SUYUAN_MODEL_API_KEY": "k"}
            worker = Worker(kept)
            worker.start()
            try:
                assert worker.process is not None
                async with client(worker.url) as ask:
                    with watching(worker.url, worker.process.pid) as watch:
                        running = Scene(worker, ask, watch, said)
                        running.publish(SENTENCE)
                        yield running
            finally:
                worker.end()


def _web(said: Said, seen: Seen) -> Reply:
    """A SearXNG that finds one page, and that page."""
    said.asked.append(seen.path)
    if seen.path == "/search":
        return json_reply(json.dumps({"query": "q", "results": [said.row], "unresponsive_engines": []}))
    return json_reply("OK") if seen.path == "/healthz" else page_reply(said.pages.get(seen.path, SENTENCE))


def _model(said: Said, asked: EngineReply) -> Step:
    """A model that says this, whatever it is asked."""
    return said.answer if isinstance(said.answer, Step) else reply(said.answer)
