"""A real server on loopback, in its own thread, with engines on loopback."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
from fastapi import FastAPI

from support.site import Handler, Reply, Seen, json_reply, serve
from support.timing import PATIENCE
from suyuan.chat.settings import ChatSettings
from suyuan.client import AsyncClient, Connect
from suyuan.config.settings import SearchSettings, ServerSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.secret import Secret
from suyuan.llm.settings import ModelSettings
from suyuan.server.app import create_app
from suyuan.server.listen import Server, make_server
from suyuan.server.sockets import listen

NOWHERE = "http://127.0.0.1:9"
ROWS = [
    {
        "title": "Python 3.14",
        "url": "https://python.example/314",
        "content": "Python 3.14 was released on October 7, 2025.",
        "engine": "x",
    },
    {
        "title": "Python",
        "url": "https://python.example/",
        "content": "Python is a programming language.",
        "engine": "x",
    },
]
QUESTION = "When was Python 3.14 released?"


def searxng(rows: list[dict[str, Any]] | None = None, dead: list[list[str]] | None = None) -> Handler:
    """A SearXNG that always finds ``rows``."""
    body = json.dumps({"query": "q", "results": ROWS if rows is None else rows, "unresponsive_engines": dead or []})

    def answer(seen: Seen) -> Reply:
        return json_reply("OK") if seen.path == "/healthz" else json_reply(body)

    return answer


def settings_of(
    searxng_url: str = NOWHERE, *, data: Path | None = None, model: ModelSettings | None = None, **chat: Any
) -> Settings:
    """Settings with SearXNG at that address; all other engines lead nowhere."""
    names = ("searxng", "brave", "bocha", "ddg_html", "baidu_html", "bing_html")
    engines = {
        name: EngineSettings(base_url=searxng_url if name == "searxng" else NOWHERE, rate_per_minute=0)
        for name in names
    }
    search = SearchSettings(cache_minutes=0, seconds=30)
    return Settings(
        search=search, engines=engines, model=model or ModelSettings(), chat=ChatSettings(**chat), data_dir=data
    )


@dataclass
class Served:
    """A running server."""

    url: str
    port: int
    app: FastAPI
    loop: asyncio.AbstractEventLoop
    server: Server


@contextmanager
def serving(
    settings: Settings, *, token: str = "", host: str = "127.0.0.1", connect: Connect = AsyncClient, **origin: Any
) -> Iterator[Served]:
    """Serve with ``settings`` for the length of a ``with`` block."""
    sock = listen("127.0.0.1", 0)
    port = sock.getsockname()[1]
    app = create_app(connect(settings), origin=ServerSettings(host, port, Secret(token), **origin))
    started = threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    def note() -> None:
        loops.append(asyncio.get_running_loop())
        started.set()

    server = make_server(app, note)
    thread = threading.Thread(target=server.run, args=([sock],), name="server")
    thread.start()
    try:
        assert started.wait(PATIENCE), "the server does not start"
        yield Served(f"http://127.0.0.1:{port}", port, app, loops[0], server)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        sock.close()
        assert not thread.is_alive(), "the server does not end"


class Client:
    """Asks a server, as a program would."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self.session = session
        self.url = url

    async def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Status and content, which is read where it is JSON."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.request(
            method, self.url + path, json=body, headers=sent, allow_redirects=False
        ) as response:
            text = await response.text()
            return response.status, json.loads(text) if response.content_type == "application/json" else text

    async def conversation(self, **fields: Any) -> str:
        status, made = await self("POST", "/api/conversations", {"search": True, **fields})
        assert status == 201, made
        return str(made["id"])

    async def ask(self, conversation: str, text: str = QUESTION) -> str:
        status, begun = await self("POST", f"/api/conversations/{conversation}/messages", {"text": text})
        assert status == 202, begun
        return str(begun["run"])

    async def events(self, path: str, **headers: str) -> AsyncIterator[tuple[str, str, dict[str, Any]]]:
        """Id, name and data of each event."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.get(self.url + path, headers=sent) as response:
            assert response.status == 200, await response.text()
            fields: dict[str, str] = {}
            async for raw in response.content:
                line = raw.decode().rstrip("\n")
                if not line and "data" in fields:
                    yield fields.get("id", ""), fields.get("event", ""), json.loads(fields["data"])
                    fields = {}
                elif line and not line.startswith(":"):
                    name, _, value = line.partition(": ")
                    fields[name] = value

    async def all_events(self, path: str, **headers: str) -> list[tuple[str, str, dict[str, Any]]]:
        async with asyncio.timeout(PATIENCE):
            return [event async for event in self.events(path, **headers)]

    async def answer(self, run: str) -> dict[str, Any]:
        """The answer of a run, when it is complete."""
        *_, (_, name, data) = await self.all_events(f"/api/runs/{run}/events")
        assert name == "answer"
        return data


@asynccontextmanager
async def client(url: str) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(PATIENCE)) as session:
        yield Client(session, url)


@asynccontextmanager
async def talking(handler: Handler | None = None, **settings: Any) -> AsyncIterator[Client]:
    """A client of a server whose SearXNG does what ``handler`` says."""
    async with serve(handler or searxng()) as site:
        with serving(settings_of(site.url, **settings)) as served:
            async with client(served.url) as ask:
                yield ask
