"""SearXNG's interface, asked by clients of SearXNG: our own engine, and LangChain's wrapper."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import sys
from typing import Any
from xml.etree import ElementTree

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import ROWS, client, searxng, serving, settings_of, talking
from support import pages
from support.site import Handler, Reply, Seen, free_port, json_reply, reply, serve
from support.timing import PATIENCE
from suyuan.client import AsyncClient
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import SuyuanError
from suyuan.server.compat.searxng import _is_this_server


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
        assert first["parsed_url"] == ["https", "python.example", "/314", "", "", ""]
        assert {"template", "img_src", "thumbnail", "priority", "positions"} <= set(first)
        assert found["unresponsive_engines"] == []


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


async def test_further_pages_are_asked_of_the_engine() -> None:
    def paged(seen: Seen) -> Reply:
        return json_reply(pages.searxng(10, host=f"page-{seen.params.get('pageno')}.example"))

    async with talking(lambda seen: json_reply("OK") if seen.path == "/healthz" else paged(seen)) as ask:
        for number in (1, 2, 3):
            _, found = await ask("GET", f"/search?q=result+snippet&format=json&engines=searxng&pageno={number}")
            assert [row["url"] for row in found["results"]] == [
                f"https://page-{number}.example/page/{i}" for i in range(1, 11)
            ]
        status, found = await ask("GET", "/search?q=x&format=json&engines=duckduckgo&pageno=2")
        assert (status, found["results"]) == (200, [])
        assert found["unresponsive_engines"] == [["ddg_html", "page_unsupported"]]
        status, found = await ask("GET", "/search?q=x&format=json&pageno=21")
        assert (status, found["results"]) == (200, []) and found["unresponsive_engines"] == [
            ["suyuan", "no page after 20"]
        ]


async def test_all_merged_results_come_up_to_thirty() -> None:
    handlers = [
        lambda seen, n=n: json_reply("OK") if seen.path == "/healthz" else json_reply(pages.searxng(n))
        for n in (25, 40)
    ]
    for handler, expected in zip(handlers, (25, 30), strict=True):
        async with talking(handler) as ask:
            _, found = await ask("GET", "/search?q=result+snippet&format=json&engines=searxng")
            assert len(found["results"]) == expected
            status, found = await ask("POST", "/api/search", {"query": "result snippet", "engines": "searxng"})
            assert status == 200 and len(found["items"]) == 10, "our own API keeps its count"


async def test_unknown_engines_and_categories_are_skipped_and_named() -> None:
    async with talking() as ask:
        status, found = await ask("GET", "/search?q=python&format=json&engines=altavista,%20searxng,wolfram")
        assert status == 200 and len(found["results"]) == len(ROWS)
        assert found["unresponsive_engines"] == [
            ["altavista", "unknown engine: skipped"],
            ["wolfram", "unknown engine: skipped"],
        ]
        status, found = await ask("GET", "/search?q=python&format=json&engines=altavista&categories=general,images")
        assert status == 200 and len(found["results"]) == len(ROWS), "without a known engine all are asked, as there"
        said = [["altavista", "unknown engine: skipped"], ["suyuan", "category images is not searched, only general"]]
        assert found["unresponsive_engines"][:2] == said
        status, found = await ask("GET", "/search?q=python&format=json&engines=stub&safesearch=2")
        assert status == 200 and found["unresponsive_engines"] == [["stub", "safesearch is not applied"]]


async def test_safesearch_and_categories_reach_the_engines() -> None:
    async with serve(searxng()) as site:
        with serving(settings_of(site.url)) as served:
            async with client(served.url) as ask:
                status, _ = await ask(
                    "GET", "/search?q=python&format=json&engines=searxng&safesearch=2&categories=news"
                )
                assert status == 200
        asked = next(seen.params for seen in site.seen if seen.params.get("q") == "python")
    assert asked["safesearch"] == "2" and asked["time_range"] == "month", "news is what a month old at most"


def extras() -> Handler:
    """A SearXNG whose answer has everything beside its results."""
    body = {
        "query": "q",
        "results": ROWS,
        "answers": [
            {"answer": "2 + 3 = 5", "url": None, "engine": "plugin: calculator"},
            "an answer of older versions",
        ],
        "infoboxes": [
            {
                "infobox": "Python",
                "id": "https://en.wiki.example/Python",
                "content": "A programming language.",
                "urls": [{"title": "Wikipedia", "url": "https://en.wiki.example/Python"}, {"url": "javascript:x"}],
                "attributes": [{"label": "Paradigm", "value": "several"}, {"label": "Logo", "image": {"src": "x"}}],
                "engine": "wikipedia",
            },
            "not an infobox",
        ],
        "suggestions": ["python <3>", "python snake", "python snake"],
        "corrections": ["pythons"],
        "unresponsive_engines": [],
    }
    return lambda seen: json_reply("OK") if seen.path == "/healthz" else json_reply(json.dumps(body))


async def test_answers_infoboxes_and_suggestions_are_kept() -> None:
    async with talking(extras()) as ask:
        _, found = await ask("GET", "/search?q=python&format=json&engines=searxng")
        assert [(a["answer"], a["url"], a["engine"]) for a in found["answers"]] == [
            ("2 + 3 = 5", None, "plugin: calculator"),
            ("an answer of older versions", None, ""),
        ]
        box = found["infoboxes"][0]
        assert (box["infobox"], box["id"]) == ("Python", "https://en.wiki.example/Python")
        assert box["urls"] == [{"title": "Wikipedia", "url": "https://en.wiki.example/Python"}]
        assert box["attributes"] == [{"label": "Paradigm", "value": "several"}]
        assert (found["suggestions"], found["corrections"]) == (["python <3>", "python snake"], ["pythons"])
        _, own = await ask("POST", "/api/search", {"query": "python", "engines": "searxng"})
        assert own["answers"][0] == {"answer": "2 + 3 = 5", "url": None, "engine": "plugin: calculator"}
        assert own["infoboxes"][0]["facts"] == [{"name": "Paradigm", "value": "several"}]
        assert own["suggestions"] == ["python <3>", "python snake"] and own["corrections"] == ["pythons"]
    async with talking() as ask:
        _, own = await ask("POST", "/api/search", {"query": "python", "engines": "searxng"})
        assert [own[name] for name in ("answers", "infoboxes", "suggestions", "corrections")] == [[], [], [], []]


async def test_csv_and_rss() -> None:
    rows = [{**ROWS[0], "title": 'Python "3.14", <b> & \x00', "publishedDate": "2025-10-07T08:00:00"}, ROWS[1]]
    body = json.dumps({"results": rows, "suggestions": ["python snake"], "unresponsive_engines": []})
    async with talking(lambda seen: json_reply("OK") if seen.path == "/healthz" else json_reply(body)) as ask:
        async with ask.session.get(f"{ask.url}/search?q=python+%22蟒%22&format=csv&engines=searxng") as response:
            assert response.status == 200 and response.headers["Content-Type"].startswith("application/csv")
            assert "attachment" in response.headers["Content-Disposition"]
            table = list(csv.reader(io.StringIO(await response.text())))
        assert table[0] == ["title", "url", "content", "host", "engine", "score", "type"]
        assert table[1][1:] == [ROWS[0]["url"], ROWS[0]["content"], "python.example", "searxng", "1.0", "result"]
        assert table[-1] == ["python snake", "", "", "", "", "", "suggestion"] and len(table) == 4
        async with ask.session.get(f"{ask.url}/search?q=python+%22蟒%22%00&format=rss&engines=searxng") as response:
            assert response.status == 200 and response.headers["Content-Type"].startswith("text/xml")
            channel = ElementTree.fromstring(await response.text())[0]
        items = channel.findall("item")
        assert [item.findtext("link") for item in items] == [row["url"] for row in ROWS]
        assert (items[0].findtext("title") or "").startswith('Python "3.14", <b> &')
        assert items[0].findtext("pubDate") == "Tue, 07 Oct 2025 08:00:00 -0000" and items[1].find("pubDate") is None
        status, told = await ask("GET", "/search?q=x&format=csv&engines=duckduckgo")
        assert status == 502 and told["error"]["detail_code"] == "connection_refused"


@pytest.mark.parametrize(
    ("query", "what"),
    [("format=json", "empty"), ("q=x&format=xml", "format"), ("q=x&format=json&time_range=eon", "time_range"),
     ("q=x&format=json&pageno=zero", "pageno"), ("q=x&format=json&safesearch=3", "safesearch"),
     ("q=x&format=json&safesearch=on", "safesearch"), ("q=x&format=json&language=!", "language")],
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
                async with asyncio.timeout(PATIENCE):  # A busy machine may be too late for a single check.
                    while await client.engines["searxng"].check_health() is not None:
                        pass
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
