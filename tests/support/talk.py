"""A client with a small web on loopback (a SearXNG and its pages), and a model server or the embedded model."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from suyuan.chat.events import Answer, Event
from suyuan.chat.settings import AgentLimits, ChatSettings
from suyuan.client import AsyncClient
from suyuan.config.settings import PageSettings, SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.secret import Secret
from suyuan.llm.settings import ModelSettings

from .site import Handler, Reply, Seen, Site, json_reply, reply, serve

E = TypeVar("E", bound=Event)


@dataclass(frozen=True)
class Article:
    """A page of the small web."""

    path: str
    title: str
    text: str
    snippet: str = ""

    def html(self) -> str:
        paragraphs = "".join(f"<p>{part}</p>" for part in self.text.split("\n"))
        return f"<html><head><title>{self.title}</title></head><body><article><h1>{self.title}</h1>{paragraphs}</article></body></html>"


ARTICLES = (
    Article(
        "/bridge",
        "港珠澳大桥",
        "港珠澳大桥是一座连接香港、珠海和澳门的跨海大桥。\n大桥全长55公里,于2018年10月24日正式通车。\n大桥的设计使用寿命为120年,总投资约1269亿元人民币。",
        "港珠澳大桥全长55公里,于2018年10月24日正式通车。",
    ),
    Article(
        "/tunnel",
        "港珠澳大桥海底隧道",
        "港珠澳大桥的海底隧道长约6.7公里,由33节沉管组成。\n隧道最深处位于海平面以下约48米。",
        "海底隧道长约6.7公里,由33节沉管组成。",
    ),
    Article(
        "/searxng",
        "SearXNG explained",
        "SearXNG is a free metasearch engine that combines the results of many search services.\n"
        "The project was forked from searx in 2021.\nUsers are neither tracked nor profiled.",
        "SearXNG is a free metasearch engine, forked from searx in 2021.",
    ),
)


class Web:
    """Answers as a SearXNG does, and serves the pages that it finds."""

    def __init__(self, articles: Sequence[Article] = ARTICLES) -> None:
        self.articles = articles
        self.site: Site | None = None
        self.searching: Handler | None = None
        """What happens on a search, where it is not the usual."""

    def __call__(self, seen: Seen) -> Reply:
        if seen.path == "/healthz":
            return reply("OK", kind="text/plain")
        if seen.path == "/search":
            return (
                self.searching(seen)
                if self.searching
                else json_reply(json.dumps(self.results(seen.params.get("q", ""))))
            )
        for article in self.articles:
            if article.path == seen.path:
                return reply(article.html())
        return reply("<title>Not found</title>", 404)

    def results(self, query: str) -> dict[str, Any]:
        """The articles that share a character pair or a word with the query, the best first."""
        parts = {query[i : i + 2].lower() for i in range(len(query) - 1)}
        scored = [(sum(part in (a.title + a.snippet).lower() for part in parts), a) for a in self.articles]
        found = [a for score, a in sorted(scored, key=lambda pair: -pair[0]) if score > 2]
        results = [
            {"title": a.title, "url": f"{self.url}{a.path}", "content": a.snippet, "engine": "small", "score": 1.0}
            for a in found
        ]
        return {"query": query, "results": results, "answers": [], "suggestions": [], "unresponsive_engines": []}

    @property
    def url(self) -> str:
        assert self.site is not None, "the web is served"
        return self.site.url

    @property
    def searches(self) -> list[str]:
        """The queries that arrived; an empty one only checks whether the JSON API is on."""
        assert self.site is not None, "the web is served"
        return [seen.params["q"] for seen in self.site.seen if seen.path == "/search" and seen.params["q"]]

    @property
    def reads(self) -> list[str]:
        """The pages that were read."""
        assert self.site is not None, "the web is served"
        return [seen.path for seen in self.site.seen if seen.path not in ("/search", "/healthz")]


@asynccontextmanager
async def talking(
    model: ModelSettings | None = None,
    *,
    web: Web | None = None,
    folder: Path | None = None,
    limits: AgentLimits | None = None,
    read_seconds: float = 2.5,
    seconds: float = 30.0,
    store: Secret | None = None,
    max_answer: int = 100_000,
    searching: bool | None = None,
    **search: Any,
) -> AsyncIterator[tuple[AsyncClient, Web]]:
    """A client with that model, searching the small web only."""
    web = web or Web()
    async with serve(web) as site:
        web.site = site
        settings = Settings(
            search=SearchSettings(default="searxng", cache_minutes=0.0, seconds=seconds, **search),
            pages=PageSettings(allow_networks=("127.0.0.0/8",)),
            engines={"searxng": EngineSettings(base_url=site.url)},
            model=model or ModelSettings(),
            chat=ChatSettings(
                search=searching, limits=limits or AgentLimits(), max_answer=max_answer, read_seconds=read_seconds
            ),
            data_dir=folder,
            store_url=store or Secret(""),
        )
        async with AsyncClient(settings) as client:
            yield client, web


async def ask(client: AsyncClient, text: str, *, id: str = "", **conversation: Any) -> tuple[list[Event], Answer]:
    """Ask in a new conversation (or in ``id``), and return all events and the answer."""
    id = id or (await client.chat.create(**conversation)).id
    run = await client.chat.ask(id, text)
    events = [event async for _, event in run.follow()]
    return events, await run.wait()


def of(events: Sequence[Event], kind: type[E]) -> list[E]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def openai(url: str, **more: Any) -> ModelSettings:
    """Settings for the scripted model server."""
    return replace(ModelSettings("openai", "test-model", url), **more)


def as_json(event: Event) -> Any:
    """An event as it is sent."""
    return json.loads(json.dumps(event.as_dict()))
