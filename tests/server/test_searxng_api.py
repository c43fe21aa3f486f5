"""SearXNG's interface, asked by clients of SearXNG: our own engine, and LangChain's wrapper."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import ROWS, client, searxng, serving, settings_of, talking
from support import pages
from support.site import free_port, reply, serve
from suyuan.client import AsyncClient
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import SuyuanError
from suyuan.server.searxng import _is_this_server


async def test_the_response_has_the_shape_that_clients_expect() -> None:
    async with talking() as ask:
        status, found = await ask(
            "GET", "/search?q=python&format=json&categories=general&language=en&time_range=year&safesearch=1"
        )
        assert status == 200 and found["query"] == "python" and found["number_of_results"] == len(ROWS)
        assert {"results", "answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"} <= set(found)
        first = found["results"][0]
        assert (first["title"], first["url"], first["content"]) == (
            ROWS[0]["title"],
            ROWS[0]["url"],
            ROWS[0]["content"],
        )
        assert (
            first["engine"] == "searxng"
            and first["engines"] == ["searxng"]
            and first["category"] == "general"
            and first["score"] == 1.0
        )
        assert "publishedDate" in first


async def test_parameters_reach_the_engine_and_forms_are_read() -> None:
    async with serve(searxng()) as site:
        with serving(settings_of(site.url)) as served:
            async with aiohttp.ClientSession() as session:
                form = {
                    "q": "蟒蛇 python",
                    "format": "json",
                    "time_range": "week",
                    "language": "zh-CN",
                    "engines": "searxng",
                }
                async with session.post(served.url + "/search", data=form) as response:
                    assert response.status == 200 and len((await response.json())["results"]) == 2
        asked = next(seen.params for seen in site.seen if "python" in seen.params.get("q", ""))
        assert asked["q"] == "蟒蛇 python" and asked["time_range"] == "week" and asked["language"] == "zh-CN"


async def test_several_engines_are_merged_and_those_that_failed_are_named() -> None:
    async with serve(searxng()) as site:
        with serving(settings_of(site.url)) as served:
            async with client(served.url) as ask:
                status, found = await ask("GET", "/search?q=python&format=json&engines=searxng,duckduckgo")
                assert (
                    status == 200
                    and found["results"]
                    and found["unresponsive_engines"] == [["ddg_html", "connection_refused"]]
                )


async def test_a_failure_is_never_shown_as_no_results() -> None:
    with serving(settings_of()) as served:
        async with client(served.url) as ask:
            status, told = await ask("GET", "/search?q=x&format=json")
            assert status == 502 and "results" not in told and told["error"]["hint"] and told["receipt"]
    async with serve(lambda _: reply(pages.DDG_CHALLENGE, 202)) as blocked:
        settings = settings_of()
        engines = {**settings.engines, "ddg_html": EngineSettings(base_url=blocked.url, rate_per_minute=0)}
        with serving(type(settings)(engines=engines, search=settings.search)) as served:
            async with client(served.url) as ask:
                status, told = await ask("GET", "/search?q=x&format=json&engines=ddg_html")
                assert status == 503 and told["error"]["detail_code"] == "captcha_required"


async def test_nothing_found_is_an_empty_list() -> None:
    async with talking(searxng([])) as ask:
        status, found = await ask("GET", "/search?q=xqzt&format=json&engines=searxng")
        assert status == 200 and found["results"] == [] and found["unresponsive_engines"] == []


async def test_there_is_only_one_page() -> None:
    async with talking() as ask:
        status, found = await ask("GET", "/search?q=x&format=json&pageno=2")
        assert (
            status == 200
            and found["results"] == []
            and found["unresponsive_engines"] == [["suyuan", "only one page of results"]]
        )


@pytest.mark.parametrize(
    ("query", "what"),
    [("format=json", "empty"), ("q=x&format=rss", "format"), ("q=x&format=json&time_range=eon", "time_range"),
     ("q=x&format=json&pageno=zero", "pageno"), ("q=x&format=json&engines=altavista", "altavista"),
     ("q=x&format=json&language=!", "language")],
)  # fmt: skip
async def test_bad_parameters_are_named(query: str, what: str) -> None:
    async with talking() as ask:
        status, told = await ask("GET", f"/search?{query}")
        assert status == 400 and what in told["error"]["message"]


@pytest.mark.parametrize("query", ["q=a%26b%20c", "q=a%26b%20c&format=html"])
async def test_browsers_are_redirected_to_the_page(query: str) -> None:
    async with talking() as ask:
        async with ask.session.get(f"{ask.url}/search?{query}", allow_redirects=False) as response:
            assert response.status == 303 and response.headers["Location"] == "/?q=a%26b%20c"


async def test_a_server_does_not_search_itself() -> None:
    port = free_port()
    settings = settings_of(f"http://127.0.0.1:{port}")

    class Here:
        class url:
            netloc = f"127.0.0.1:{port}"

    async with AsyncClient(settings) as client:
        here: Any = Here
        assert _is_this_server(client, here)
    async with talking() as ask:
        assert (await ask("GET", "/search?q=x&format=json"))[0] == 200


@pytest.mark.parametrize("path", ["/?q=python&format=json", "/search?q=python&format=json"])
async def test_searches_at_the_root_are_answered(path: str) -> None:
    async with talking() as ask:
        status, found = await ask("GET", path)
        assert status == 200 and len(found["results"]) == 2
        status, page = await ask("GET", "/?q=python", Accept="text/html")
        assert status == 200 and "<html" in page, "people get the page"


class TestClients:
    async def test_our_own_engine(self) -> None:
        async with talking() as ask:
            async with AsyncClient(settings_of(ask.url)) as client:
                page = await client.search_service.search("python", engines="searxng")
                assert [result.url for result in page.results] == [row["url"] for row in ROWS]
                assert await client.engines["searxng"].check_health() is None
        with serving(settings_of()) as served:
            async with AsyncClient(settings_of(served.url)) as client:
                with pytest.raises(SuyuanError):
                    await client.search_service.search("python", engines="searxng")

    async def test_the_wrapper_of_langchain(self) -> None:
        if "langchain_community" not in sys.modules:
            pytest.importorskip("langchain_community", reason="langchain_community is not installed")
        async with talking() as ask:
            code = (
                "import sys, json, warnings; warnings.simplefilter('ignore')\n"
                "from langchain_community.utilities import SearxSearchWrapper\n"
                "w = SearxSearchWrapper(searx_host=sys.argv[1], unsecure=True)\n"
                "print(json.dumps([w.results('python', num_results=2), w.run('python')]))"
            )
            # In a process of its own: the package warns when it is imported, and warnings are errors here.
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", code, ask.url, stdout=asyncio.subprocess.PIPE
            )
            out, _ = await process.communicate()
            results, text = json.loads(out)
            assert [each["link"] for each in results] == [row["url"] for row in ROWS] and "October 7, 2025" in text
