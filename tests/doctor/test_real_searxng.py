"""The diagnosis, the kit and the compatible API beside a real SearXNG, where the variables of the benchmarks name one."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from doctor.fake_servers import network
from support.client import client
from support.site import Reply, Seen, free_port, json_reply, reply, serve
from suyuan.core.errors import SuyuanError
from suyuan.doctor.searxng import SearxngStatus, check_searxng

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks._searxng import missing, searxng, xpath_engine  # noqa: E402

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "never")

KIT = ROOT / "deploy" / "searxng"
ROWS = "".join(f'<div><a href="https://tea.example/{i}">Tea pots {i}</a><p>About tea.</p></div>' for i in range(12))
ANSWERS = {
    "/ok": reply(f"<html><body>{ROWS}</body></html>"),
    "/many": reply("slow down", 429),
    "/denied": reply("no", 403),
    "/captcha": reply('<script src="https://www.google.com/recaptcha/api.js"></script>', 503),
}
NOWHERE = f"http://127.0.0.1:{free_port()}"
SUSPENDED = {"engines_suspended", "engines_refused", "engines_captcha"}


def web(seen: Seen) -> Reply:
    """The engines behind SearXNG: each path answers in another way."""
    return ANSWERS[seen.path]


def engine(url: str) -> dict[str, Any]:
    return xpath_engine("one", url, "//div", ".//a", ".//p")


@contextmanager
def started(engines: Sequence[dict[str, Any]], **sections: Any) -> Iterator[str]:
    with searxng(engines, **sections) as (url, _):
        yield url


async def check(address: str) -> SearxngStatus:
    async with network() as http:
        return await check_searxng(address, http.send, seconds=60.0)


async def search(address: str) -> str:
    """How a search ends: the detail code of its failure, or its outcome."""
    async with client({"searxng": address}, seconds=60.0) as searching:
        try:
            page = await searching.search_service.search("tea pots", engines="searxng")
        except SuyuanError as error:
            return error.detail_code
        return page.attempts[0].outcome


@pytest.mark.req("C2.5", "C8.3", "C9.2")
@pytest.mark.parametrize(
    ("path", "sections", "codes"),
    [
        ("/ok", {}, {"ok"}),
        ("/many", {}, SUSPENDED),
        ("/denied", {}, SUSPENDED),
        ("/captcha", {}, SUSPENDED),
        (NOWHERE, {}, {"engines_offline"}),
        ("/ok", {"outgoing": {"proxies": {"all://": [NOWHERE]}}}, {"engines_offline", "engines_proxy"}),
        ("", {}, {"searxng_no_engines"}),
        ("/ok", {"search": {"formats": ["html"]}}, {"json_api_off"}),
        ("/ok", {"server": {"limiter": True}}, {"ok"}),
    ],
    ids=["works", "429", "403", "captcha", "no way out", "proxy", "no engine", "json off", "limiter without valkey"],
)
async def test_each_state_has_its_cause(path: str, sections: dict[str, Any], codes: set[str]) -> None:
    async with serve(web) as site:
        url = path if path.startswith("http") else site.url + path
        with started([engine(url)] if path else [], **sections) as address:
            status, outcome = await check(address), await search(address)
    assert (status.error.detail_code if status.error else "ok") in codes and outcome in codes
    assert status.limiter is False or status.error, "without valkey it never runs, whatever the settings say"


@pytest.mark.req("C8.3", "C9.1")
async def test_a_busy_instance() -> None:
    async def late(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(2.5)
        await ANSWERS["/ok"](writer)

    async with serve(lambda _: late) as site, aiohttp.ClientSession() as session:
        with started([engine(site.url)]) as address:
            asked = [asyncio.ensure_future(session.get(f"{address}/search?q={i}&format=json")) for i in range(12)]
            await site.until_asked(4)
            status = await check(address)
            await asyncio.gather(*asked)
    assert status.ok and "searxng_busy" in [warning.detail_code for warning in status.warnings]


async def test_the_compatible_api_has_every_field() -> None:
    from server.serving import serving, settings_of

    async with serve(web) as site, aiohttp.ClientSession() as session:
        with started([engine(f"{site.url}/ok")]) as address, serving(settings_of(address)) as ours:
            answers = []
            for url in (address, ours.url):
                async with session.get(f"{url}/search?q=tea+pots&format=json&language=en&pageno=1") as response:
                    answers.append(json.loads(await response.text()))
                for form in ("csv", "rss"):
                    async with session.get(f"{url}/search?q=tea+pots&format={form}") as response:
                        assert response.status == 200
                        answers.append((await response.text(), response.content_type))
    theirs, their_csv, their_rss, own, own_csv, own_rss = answers
    assert set(theirs) <= set(own) and len(own["results"]) == len(theirs["results"]) == 12
    for there, here in zip(theirs["results"], own["results"], strict=True):
        assert set(there) <= set(here)
        assert all(type(there[name]) is type(here[name]) or name == "score" for name in there)
        assert [there[n] for n in ("url", "title", "content", "parsed_url", "category", "template")] == [
            here[n] for n in ("url", "title", "content", "parsed_url", "category", "template")
        ]
    assert own_csv[0].splitlines()[0] == their_csv[0].splitlines()[0] and own_csv[1] == their_csv[1]
    assert len(own_csv[0].splitlines()) == len(their_csv[0].splitlines())
    assert own_rss[0].count("<item>") == their_rss[0].count("<item>") == 12 and own_rss[1] == their_rss[1]


async def test_answers_and_infoboxes_are_kept() -> None:
    article = {
        "type": "standard", "title": "Tea", "description": "hot drink", "extract": "Tea is a drink.",
        "content_urls": {"desktop": {"page": "https://wiki.example/Tea"}},
    }  # fmt: skip
    async with serve(lambda seen: json_reply(json.dumps(article))) as site:
        wikipedia = {
            "name": "wikipedia", "engine": "wikipedia", "shortcut": "wp", "enable_http": True,
            "rest_v1_summary_url": site.url + "/{wiki_netloc}/{title}", "display_type": ["infobox"],
        }  # fmt: skip
        with started([wikipedia]) as address:
            async with client({"searxng": address}, seconds=60.0) as searching:
                drink = await searching.search_service.search("tea", engines="searxng", lang="en")
                mean = await searching.search_service.search("avg 1 2 3", engines="searxng", lang="en")
    (box,) = drink.extras.infoboxes
    assert (box.title, box.text, box.url) == ("Tea", "Tea is a drink.", "https://wiki.example/Tea")
    assert box.links == (("Wikipedia", "https://wiki.example/Tea"),) and box.engine == "wikipedia"
    assert "avg(1, 2, 3) = 2" in mean.extras.answers[0].text and mean.results == ()


@pytest.mark.req("C8.2")
@pytest.mark.parametrize("region", ["world", "china"])
async def test_the_kit_starts_and_asks_nobody(region: str) -> None:
    settings = yaml.safe_load((KIT / f"settings.{region}.yml").read_text(encoding="utf-8"))
    async with serve(lambda _: reply("", 404)) as site, aiohttp.ClientSession() as session:
        # Whatever it would fetch at its start, it would fetch through this proxy.
        settings["outgoing"]["proxies"] = {"all://": [site.url]}
        engines = settings.pop("engines")
        settings.pop("use_default_settings")
        with started(engines, **settings) as address:
            async with session.get(f"{address}/search?q=&format=json") as response:
                assert response.status == 400, "JSON is on"
            async with session.get(f"{address}/config") as response:
                config = await response.json()
        assert {row["name"] for row in config["engines"] if row["enabled"]} == {row["name"] for row in engines}
        assert not any("clearurls" in seen.target for seen in site.seen)
        assert not any("tracker" in plugin["name"] for plugin in config["plugins"])
