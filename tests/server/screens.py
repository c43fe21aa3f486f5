"""A server with its engines and its model on loopback, and a real browser; what tests of the page do and look at."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from support.oai import Answering, EngineReply, ModelServer, serve_model
from support.site import Handler, Reply, Seen, Site, json_reply, reply, serve
from support.timing import PATIENCE, eventually, soon
from suyuan.chat.settings import ChatSettings
from suyuan.client import AsyncClient
from suyuan.config.settings import PageSettings, SearchSettings, ServerSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.llm.settings import ModelSettings
from suyuan.net.chrome import find_chrome
from suyuan.server.app import create_app
from suyuan.server.sockets import listen

SCREENS = Path(__file__).resolve().parents[2] / "build" / "screens"
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
NOWHERE = "http://127.0.0.1:9"
RESULTS = [
    {
        "title": "SearXNG 文档 - 欢迎使用 SearXNG",
        "url": "https://docs.searxng.org/",
        "content": "SearXNG 是一个自由的互联网元搜索引擎,它汇集来自多达 244 个搜索服务的结果。"
        "用户既不会被跟踪,也不会被建立档案。",
    },
    {
        "title": "SearXNG 如何保护隐私",
        "url": "https://docs.searxng.org/own-instance.html",
        "content": "SearXNG 会从发往搜索服务的请求中移除用户的私人数据,并且不保存任何搜索记录。",
    },
    {
        "title": "搜索 API - SearXNG 开发文档",
        "url": "https://docs.searxng.org/dev/search_api.html",
        "content": "SearXNG 支持通过简单的 HTTP API 进行查询,可以返回 json、csv 或 rss 格式的结果。",
    },
    {
        "title": "searxng/searxng: a free internet metasearch engine",
        "url": "https://github.com/searxng/searxng",
        "content": "SearXNG is a free internet metasearch engine which aggregates results from various search services "
        "and databases.",
    },
    {
        "title": "元搜索引擎 - 维基百科,自由的百科全书",
        "url": "https://zh.wikipedia.org/wiki/%E5%85%83%E6%90%9C%E7%B4%A2%E5%BC%95%E6%93%8E",
        "content": "元搜索引擎是一种把多个搜索引擎的结果整合在一起的搜索工具,自身不保存网页的索引。",
    },
]


QUESTION = "什么是 SearXNG?它如何保护隐私?"
LONG = (
    "SearXNG 是一个**自由的元搜索引擎**,汇集来自多达 244 个搜索服务的结果[1]。"
    "它会移除请求中的私人数据,并且不保存任何搜索记录[2]。\n\n"
    "## 如何查询\n\n"
    "可以通过 HTTP API 查询,支持 `json`、`csv` 或 `rss` 格式[3]。它诞生于 1998 年[5]。没有这个来源[9]。\n\n"
    "| 格式 | 默认 |\n|---|--:|\n| json | 否 |\n| html | 是 |\n\n"
    "```bash\ncurl 'http://localhost:8080/search?q=test&format=json&language=zh-CN&time_range=year'\n```\n\n"
    "1. 先启动容器;\n2. 再检查 `/healthz`。\n\n> 用户既不会被跟踪,也不会被建立档案。\n"
)
ENGINE_KEY = "the-right-key-of-brave"
STATE = "document.querySelector('.switch').dataset.state"


def searxng(results: Sequence[dict[str, Any]] = RESULTS, gate: asyncio.Event | None = None) -> Handler:
    """An instance that finds the same every time, once ``gate`` is open."""

    def answer(seen: Seen) -> Reply:
        if seen.path != "/search":
            return reply("OK", kind="text/plain")
        whole = json_reply(
            json.dumps({"query": seen.params.get("q", ""), "results": list(results), "unresponsive_engines": []})
        )

        async def held(writer: asyncio.StreamWriter) -> None:
            if gate:
                await gate.wait()
            await whole(writer)

        return held

    return answer


@dataclass
class Stage:
    """The running product."""

    url: str
    client: AsyncClient
    engine: Site | None
    model: ModelServer | None
    app: Any
    offsite: list[str] = field(default_factory=list)
    """Requests of pages that went anywhere else; all are stopped."""
    users: list[Any] = field(default_factory=list)

    async def page(
        self,
        browser: Any,
        *,
        lang: str = "zh-CN",
        viewport: dict[str, int] | None = None,
        **options: Any,
    ) -> Any:
        """A new window of a new user."""
        context = await browser.new_context(locale=lang, viewport=viewport or DESKTOP, **options)
        self.users.append(context)
        context.set_default_timeout(PATIENCE * 1000)
        await context.route(lambda url: not url.startswith(self.url), self._off)
        return await context.new_page()

    async def leave(self) -> None:
        """Close all windows, and leave the search switch on for who comes next."""
        while self.users:
            await self.users.pop().close()
        await self.client.chat.keep_switch(True)

    async def _off(self, route: Any) -> None:
        self.offsite.append(route.request.url)
        await route.abort()


@asynccontextmanager
async def stage(
    folder: Path,
    *,
    script: Sequence[Answering] = (),
    handler: Handler | None = None,
    searxng_up: bool = True,
    more_engines: Callable[[str], dict[str, EngineSettings]] = lambda url: {},
    wrap: Callable[[Any], Any] | None = None,
    seconds: float = 30.0,
    **settings: Any,
) -> AsyncIterator[Stage]:
    """A server with SearXNG at ``handler`` and a model that follows ``script``, or the embedded one.

    ``wrap`` puts a middleware around the application.
    """
    with ExitStack() as stack:
        if not searxng_up:
            # On a busy machine a connection that is refused may look like one that takes too long.
            patience = stack.enter_context(pytest.MonkeyPatch.context())
            patience.setattr("suyuan.search.runner._PROBE_SECONDS", PATIENCE)
        model = stack.enter_context(serve_model(script)) if script else None
        async with serve(handler or searxng()) as site:
            engines = {
                name: EngineSettings(base_url=NOWHERE, rate_per_minute=0)
                for name in ("ddg_html", "bing_html", "baidu_html")
            }
            engines["searxng"] = EngineSettings(base_url=site.url if searxng_up else NOWHERE)
            engines |= more_engines(site.url)
            sock = listen("127.0.0.1", 0)
            origin = ServerSettings(port=sock.getsockname()[1])
            client = AsyncClient(
                Settings(
                    search=SearchSettings(cache_minutes=0, seconds=seconds, **settings),
                    engines=engines,
                    model=ModelSettings("openai", "test-model", model.url) if model else ModelSettings(),
                    chat=ChatSettings(search=True, read_seconds=30),  # A busy machine reads them too.
                    pages=PageSettings(allow_hosts=("127.0.0.1",)),
                    server=origin,
                    data_dir=folder,
                )
            )
            app = create_app(client, origin=origin)
            server = uvicorn.Server(
                uvicorn.Config(wrap(app) if wrap else app, log_level="warning", timeout_graceful_shutdown=3)
            )
            thread = threading.Thread(target=server.run, args=([sock],))
            thread.start()
            try:
                assert await soon(lambda: server.started or not thread.is_alive()) and server.started
                running = Stage(origin.url, client, site, model, app)
                yield running
                # A server that stops waits for open streams.
                await running.leave()
            finally:
                server.should_exit = True
                await asyncio.to_thread(thread.join, PATIENCE)
                sock.close()


@asynccontextmanager
async def chromium() -> AsyncIterator[Any]:
    """The system's browser."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chrome().path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            yield browser
        finally:
            await browser.close()


async def picture(page: Any, name: str) -> Path:
    """Keep what the page looks like now."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    file = SCREENS / f"{name}.png"
    await page.screenshot(path=file)
    return file


async def still(page: Any) -> None:
    """Wait until nothing moves that will come to an end."""
    script = """() => Promise.allSettled(document.getAnimations()
        .filter((each) => each.effect.getComputedTiming().endTime !== Infinity).map((each) => each.finished))"""
    await page.evaluate(script)


async def put_question(page: Any, text: str) -> None:
    """Ask, by keyboard."""
    await page.fill("#ask", text)
    await page.press("#ask", "Enter")


async def finished(page: Any, count: int = 1) -> Any:
    """Wait for the ``count``-th answer to be complete and return it."""
    answer = page.locator(".answer").nth(count - 1)
    await answer.locator(".tools").wait_for()
    return answer


def engines(seen: Seen) -> Reply:
    """A SearXNG, and a Brave that wants a key."""
    if not seen.path.startswith("/res/"):
        return searxng()(seen)
    if seen.headers.get("x-subscription-token") != ENGINE_KEY:
        return json_reply(json.dumps({"error": {"detail": "The provided subscription token is invalid."}}), status=422)
    found = [{"title": each["title"], "url": each["url"], "description": each["content"]} for each in RESULTS]
    return json_reply(json.dumps({"web": {"results": found}}))


class Script:
    """What the model says and what the engine finds, for one test after the other."""

    def __init__(self) -> None:
        self.begin()

    def begin(
        self, *answers: Answering, results: Sequence[dict[str, Any]] = RESULTS, gate: asyncio.Event | None = None
    ) -> None:
        """From now on the model gives these answers, the last one again and again, and the engine finds this."""
        self._answers, self._asked = answers, 0
        self.search = searxng(results, gate)

    def answer(self, seen: EngineReply) -> Any:
        self._asked += 1
        chosen = self._answers[min(self._asked, len(self._answers)) - 1]
        return chosen(seen) if callable(chosen) else chosen


@dataclass
class Scripted:
    """The product with a model, which does what the test wants."""

    stage: Stage
    begin: Callable[..., None]


async def opened(page: Any, asked: tuple[str, str]) -> Any:
    """Open the conversation that was asked once, and return its answer."""
    await page.goto(asked[0])
    await page.locator("html[data-ready]").wait_for()
    return await finished(page)


async def answered(page: Any, running: Stage, question: str = QUESTION) -> Any:
    await page.goto(running.url)
    await put_question(page, question)
    return await finished(page)


async def state_is(page: Any, state: str) -> None:
    await page.wait_for_selector(f".switch[data-state={state}]")


async def value_is(page: Any, name: str, value: str) -> None:
    async def same() -> bool:
        return bool(await page.input_value(f"[name={name}]") == value)

    assert await eventually(same)
    await page.locator("#form[aria-busy=false]").wait_for()


async def becomes(page: Any, expression: str) -> None:
    """Wait until ``expression`` is true on the page, whose policy forbids the browser to wait for it."""

    async def true() -> bool:
        return bool(await page.evaluate(expression))

    assert await eventually(true), expression


async def count_is(found: Any, count: int) -> None:
    async def counted() -> bool:
        return bool(await found.count() == count)

    assert await eventually(counted)


def conversation_of(page: Any, running: Stage) -> Any:
    return running.client.chat.store.get(page.url.rpartition("/")[2])


@cache
def _axe() -> Any:
    from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]

    return Axe()


async def axe(page: Any, *, dark: bool = False) -> list[str]:
    """What axe-core finds; with ``dark`` also what has too little contrast in the dark."""
    found = (await _axe().run(page)).response["violations"]
    if dark:
        await page.emulate_media(color_scheme="dark")
        found += (await _axe().run(page, options={"runOnly": ["color-contrast"]})).response["violations"]
        await page.emulate_media(color_scheme="light")
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0].get('failureSummary', '')[:300]}"
        for each in found
    ]
