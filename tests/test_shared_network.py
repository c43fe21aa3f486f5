"""One set of network settings for searching and for reading."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable
from pathlib import Path

import pytest

from engines import small_pages
from support import pages
from support.client import client as opened
from support.site import Reply, Seen, reply, serve, stall
from support.timing import quickest
from suyuan.client import AsyncClient
from suyuan.config.load import load_settings
from suyuan.core.errors import Timeout

ENGINES = {
    "ddg_html": pages.ddg(),
    "bing_html": pages.bing(),
    "baidu_html": small_pages.baidu_page(
        small_pages.baidu_row("https://www.baidu.com/link?url=x", "https://a.example/")
    ),
}
PAGE = "<title>A page</title><article><p>" + "A kettle boils water. " * 30 + "</p></article>"


def client_of(folder: Path, proxy: str, milliseconds: int) -> AsyncClient:
    """A client configured by the settings of ``web.fetch`` alone."""
    fetch = {"timeoutMs": milliseconds, "proxy": proxy, "userAgent": "me/1.0"}
    providers = {name: {"baseUrl": f"http://{name.replace('_', '-')}.example"} for name in ENGINES}
    (folder / "config.json").write_text(json.dumps({"web": {"fetch": fetch, "providers": providers}}))
    return AsyncClient(load_settings({"HOME": str(folder)}, folder))


@pytest.mark.req("T6.2")
@pytest.mark.parametrize("engine", ENGINES)
async def test_an_engine_and_a_page_are_asked_through_the_same_proxy_by_the_same_name(
    engine: str, tmp_path: Path
) -> None:
    def play(seen: Seen) -> Reply:
        return reply(PAGE if seen.target.startswith("http://page.example/") else ENGINES[engine])

    async with serve(play) as proxy, client_of(tmp_path, proxy.url, 60_000) as client:
        assert (await client.search("some words", engines=engine)).results
        assert (await client.read("http://page.example/kettle")).title == "A page"
    hosts = {seen.headers["host"] for seen in proxy.seen}
    assert hosts == {f"{engine.replace('_', '-')}.example", "page.example"}
    assert all(seen.target.startswith(f"http://{seen.headers['host']}/") for seen in proxy.seen), "as to a proxy"
    assert {seen.headers["user-agent"] for seen in proxy.seen} == {"me/1.0"}


@pytest.mark.req("T6.2")
@pytest.mark.parametrize("engine", ENGINES)
async def test_an_engine_and_a_page_have_the_same_time(engine: str, tmp_path: Path) -> None:
    async with serve(lambda _: stall) as proxy, client_of(tmp_path, proxy.url, 700) as client:

        async def search() -> float:
            return await timed_out(client.search("some words", engines=engine))

        async def read() -> float:
            return await timed_out(client.read("http://page.example/kettle"))

        assert await quickest(search, 1.5) < 1.5 and await quickest(read, 1.5) < 1.5


async def test_an_engine_that_hangs_does_not_keep_others_from_answering() -> None:
    async with (
        serve(lambda _: stall) as silent,
        serve(lambda _: reply(ENGINES["bing_html"])) as quick,
        opened({"ddg_html": silent.url, "bing_html": quick.url}) as client,
    ):
        searches = (client.search(f"some words {i}", engines="ddg_html,bing_html") for i in range(300))
        found = await asyncio.gather(*searches)
    assert all(page.results and page.engine == "bing_html" for page in found)


async def timed_out(work: Awaitable[object]) -> float:
    begun = time.monotonic()
    with pytest.raises(Timeout):
        await work
    took = time.monotonic() - begun
    assert took > 0.69, "not before its time"
    return took
