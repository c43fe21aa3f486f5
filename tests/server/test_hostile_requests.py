"""What no client should send, to every route: broken bodies, addresses of the own network, requests of websites."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.openapi_bodies import bodies, kinds, made, properties
from server.serving import Served, serving, settings_of
from support.site import Site, reply, serve
from support.timing import PATIENCE, eventually
from suyuan.core.engine import EngineSettings
from suyuan.core.secret import Secret
from suyuan.pages.reading import PAGE_LIMITS

TOKEN = "correct-horse-battery-staple"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
DEEP = b'{"a":' * 3000 + b"1" + b"}" * 3000
ODD = (
    b'"query":%b,"q":%b,"url":%b,"urls":[%b],"input":%b,"question":%b,"name":%b,"title":%b,"text":%b,'
    b'"model":"suyuan","max_tokens":9,"messages":[{"role":"user","content":%b}]'
)
BODIES = (
    b"", b"{", b"null", b"[]", b"[" * 90_000, DEEP, b'\xff{"query":"x"}', b'{"query":"x","query":[]}',
    *(b"{" + ODD % ((value,) * 10) + b"}" for value in (b'"\\u0000"', b'"\\ud800 x"', b"1e309", b"9" * 5000, b"[null]", b'{"a":{}}')),
    b"{" + ODD % ((b'"x"',) * 10) + b',"timeout":1e309,"limit":-1,"max_results":' + b"9" * 400 + b',"formats":[[]],"tools":[null]}',
    b"{" + ODD % ((b'"x"',) * 10) + b',"tools":[{"type":"function","function":null}],"tool_choice":{"type":"function","function":5}}',
    b'{"model":"suyuan","max_tokens":9,"input":[{"type":5},{"type":"function_call_output","output":5}],'
    b'"messages":[{"role":"tool","content":null},{"role":"user","content":[{"type":"tool_result","content":5}]}]}',
)  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    data: Path = tmp_path_factory.mktemp("data")
    with serving(settings_of(data=data), token=TOKEN) as running:
        yield running


@asynccontextmanager
async def asking(served: Served) -> AsyncIterator[aiohttp.ClientSession]:
    timeout = aiohttp.ClientTimeout(PATIENCE)
    async with aiohttp.ClientSession(served.url, headers=BEARER, timeout=timeout) as session:
        yield session


async def routes(session: aiohttp.ClientSession, *methods: str) -> list[tuple[str, str]]:
    """The methods and paths of the API, each with a name in place of its parameters."""
    async with session.get("/api/openapi.json") as response:
        paths = (await response.json())["paths"]
    found = [(method, re.sub(r"\{[^}]*\}", "x", path)) for path, ways in paths.items() for method in ways]
    # Leaving is no work of a body, and would end the session.
    return [(method, path) for method, path in found if method in methods and path != "/api/logout"]


async def test_no_body_breaks_a_route(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    slots, broken = asyncio.Semaphore(8), list[str]()

    async def send(method: str, path: str, body: bytes) -> None:
        headers = {"Content-Type": "application/json"}
        async with slots, session.request(method, path, data=body, headers=headers) as response:
            # What lies upstream may fail, and says so; nothing else may.
            if response.status >= 500 and '"unexpected"' in (await response.text()).lower():
                broken.append(f"{method} {path} {body[:60]!r}: {response.status}")

    async with asking(served) as session:
        found = await routes(session, "post", "put", "patch")
        assert len(found) > 25
        await asyncio.gather(*(send(method, path, body) for method, path in found for body in BODIES))
    assert not broken and "unhandled error" not in caplog.text


NUMBERS = ("NaN", "Infinity", "-Infinity", "1e309", "-1", "0", "9" * 400, "-" + "9" * 400, "1e-320")


async def test_no_number_breaks_a_route(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    """Each field that holds a number, by itself, in a body that is right otherwise."""
    slots, broken = asyncio.Semaphore(8), list[str]()

    async def send(method: str, path: str, body: str) -> None:
        headers = {"Content-Type": "application/json"}
        async with slots, session.request(method, path, data=body, headers=headers) as response:
            if response.status >= 500 and '"unexpected"' in (await response.text()).lower():
                broken.append(f"{method} {path} {body[:200]}: {response.status}")

    async with asking(served) as session:
        described = served.app.openapi()
        requests = []
        for method, path, schema in bodies(described):
            body = made(described, schema)
            for name in (name for name, part in properties(described, schema).items() if "number" in kinds(part)):
                requests += [(method, path, with_number(body, name, number)) for number in NUMBERS]
        # Of this one the schema is not published, since the path is SearXNG's as well.
        for name in ("timeout", "days", "max_results", "chunks_per_source"):
            requests += [
                ("POST", "/search", with_number({"query": "x", "topic": "news"}, name, number)) for number in NUMBERS
            ]
        await asyncio.gather(*(send(*each) for each in requests))
    assert len(requests) > 200 and not broken and "unhandled error" not in caplog.text


def with_number(body: Any, name: str, number: str) -> str:
    """``body`` with a field whose number is written as no library would write it."""
    return json.dumps({**body, name: "@"}).replace('"@"', number)


async def test_no_key_is_sent_to_another_address_than_its_own(tmp_path: Path) -> None:
    """Whoever may enter the address of an engine does not get the key that was configured for it."""
    key, base = "tvly-key-that-was-configured", settings_of(data=tmp_path)
    settings = replace(base, engines={**base.engines, "tavily": EngineSettings(api_key=Secret(key))})
    async with serve(lambda _: reply("{}")) as site:
        with serving(settings, token=TOKEN) as served:
            async with asking(served) as session:
                for method, path in (("POST", "/api/engines/tavily/test"), ("PUT", "/api/engines/tavily")):
                    async with session.request(method, path, json={"base_url": site.url}) as response:
                        assert response.status < 300
                async with session.post("/api/search", json={"query": "x", "engines": "tavily"}) as response:
                    await response.read()
                assert key not in str([(each.path, each.headers, each.body) for each in site.seen])
                async with session.put("/api/engines/tavily", json={"base_url": site.url, "api_key": "entered-key"}):
                    pass
                async with session.post("/api/search", json={"query": "x", "engines": "tavily"}) as response:
                    await response.read()
                sent = str([(each.path, each.headers, each.body) for each in site.seen])
                assert "entered-key" in sent and key not in sent


ADDRESSES = (
    "http://\x1f",
    "http://",
    "http://[",
    "http://a\u2028b",
    "ftp://a",
    "http://a b",
    "http://a:x",
    "http://a:99999",
    "",
)


async def test_no_address_of_a_model_breaks_the_answers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither one that is refused nor one that is taken and cannot be used."""
    with serving(settings_of(data=tmp_path), token=TOKEN) as served:
        async with asking(served) as session:
            for url in ADDRESSES:
                for path in ("/api/models", "/api/models/test"):
                    async with session.post(path, json={"base_url": url, "name": "m"}) as response:
                        assert response.status == 400, (path, url)
                # An empty address is that of the configuration.
                async with session.put("/api/engines/searxng", json={"base_url": url}) as response:
                    assert response.status == (400 if url else 204), url
            for url in ("http://☃.example", "http://a..b/", "http://xn--a/"):
                async with session.post("/api/models", json={"base_url": url, "name": "m"}) as response:
                    assert response.status == 201, await response.text()
                body = {"model": "suyuan:m", "messages": [{"role": "user", "content": "x"}]}
                async with session.post("/v1/chat/completions", json=body) as response:
                    told = await response.text()
                    assert response.status in (400, 502) and "unexpected" not in told, (url, told)
            async with session.post(
                "/api/models", json={"base_url": "http://a", "name": "m", "api_key": "a\nb"}
            ) as response:
                assert response.status == 400
    assert "unhandled error" not in caplog.text


FORMS: tuple[tuple[str, dict[str, object], dict[str, str]], ...] = (
    ("/v2/scrape", {"formats": ["html"]}, {}), ("/extract", {"format": "text"}, {}),
    ("/r", {}, {"X-Respond-With": "text", "Accept": "application/json"}),
)  # fmt: skip


@pytest.mark.parametrize(("path", "body", "headers"), FORMS, ids=lambda part: part if isinstance(part, str) else "")
async def test_no_page_stops_the_server_by_the_form_that_is_wanted_of_it(
    path: str, body: Any, headers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text that takes minutes to be converted is ended by the limits of the readers; others are served meanwhile."""
    monkeypatch.setattr("suyuan.pages.reading.PAGE_LIMITS", replace(PAGE_LIMITS, seconds=1.0))
    base = settings_of(data=tmp_path)
    settings = replace(base, pages=replace(base.pages, allow_networks=("127.0.0.0/8",)))
    async with serve(lambda _: reply("[" * 300_000, kind="text/markdown")) as site:
        with serving(settings, token=TOKEN) as served:
            async with asking(served) as session:
                given = {**body, "urls": [site.url]} if path == "/extract" else {**body, "url": site.url}
                reading = asyncio.create_task(_told(session, path, given, headers))
                async with session.get("/healthz") as response:
                    assert response.status == 200 and not reading.done()
                # By its CPU seconds, or by the clock where many share the machine.
                assert re.search("page_too_slow|read_late", (await reading).lower())


async def _told(session: aiohttp.ClientSession, path: str, body: Any, headers: dict[str, str]) -> str:
    async with session.post(path, json=body, headers=headers) as response:
        return await response.text()


async def test_what_is_kept_for_clients_has_a_limit(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what they have sent themselves, which is part of a response."""
    from suyuan.server.compat import openai_responses

    monkeypatch.setattr(openai_responses, "_MOST_CHARACTERS", 1_000_000)
    async with asking(served) as session:
        for _ in range(6):
            body = {"model": "suyuan", "input": "x", "metadata": {"a": "b" * 300_000}}
            async with session.post("/v1/responses", json=body) as response:
                assert response.status == 200, await response.text()
        kept = served.app.state.responses
        assert 1 <= len(kept._kept) <= 3


HOSTS = ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::1]", "[::ffff:127.0.0.1]", "localhost.")


async def test_no_route_reaches_the_own_network(served: Served) -> None:
    async with serve(lambda _: reply("<p>An internal page with words enough to be read.</p>")) as site:
        port = site.url.rpartition(":")[2]
        urls = [f"http://{host}:{port}/" for host in HOSTS] + ["http://169.254.169.254/latest", "http://10.0.0.1/"]
        async with asking(served) as session:
            for url in urls:
                await _tried(session, url)
            await _webhook(session, site)
        pytest.importorskip("mcp", reason="the optional extra suyuan[mcp] is not installed")
        from mcp import Client

        from suyuan.integrations.mcp import make_server

        async with Client(make_server(settings_of())) as client:
            for url in urls:
                assert (await client.call_tool("web_fetch", {"url": url})).is_error, url
        assert site.seen == []


async def _tried(session: aiohttp.ClientSession, url: str) -> None:
    """Every route that takes an address."""
    posts: dict[str, Any] = {
        "/api/fetch": {"url": url}, "/extract": {"urls": [url]}, "/map": {"url": url}, "/crawl": {"url": url},
        "/v2/scrape": {"url": url}, "/v2/map": {"url": url}, "/r": {"url": url}, "/openwebui/load": {"urls": [url]},
    }  # fmt: skip
    for path, body in posts.items():
        async with session.post(path, json=body) as response:
            told = await response.json()
            assert response.status in (400, 403) or told["results"] == [], (path, url, told)
    async with session.get(f"/r/{url}") as response:
        assert response.status in (400, 403), url
    async with session.post("/api/library", data={"url": url}) as response:
        assert response.status != 200, url
    await _job_ends(session, "/v2/crawl", {"url": url})
    await _job_ends(session, "/v2/batch/scrape", {"urls": [url]})


async def _job_ends(session: aiohttp.ClientSession, path: str, body: Any) -> None:
    """Start a job; it ends with nothing."""
    async with session.post(path, json=body) as response:
        id = (await response.json())["id"]

    async def ended() -> bool:
        async with session.get(f"{path}/{id}") as response:
            told = await response.json()
        assert told["data"] == []
        return bool(told["status"] == "completed")

    assert await eventually(ended)


async def _webhook(session: aiohttp.ClientSession, site: Site) -> None:
    """Who is told when research ends."""
    body = {"question": "When was the harbour built?", "webhook": f"{site.url}/hook", "depth": "quick"}
    async with session.post("/api/research", json=body) as response:
        id = (await response.json())["id"]

    async def told() -> bool:
        async with session.get(f"/api/research/{id}") as response:
            return (await response.json())["state"] in ("done", "failed")

    assert await eventually(told)
    async with session.get(f"/api/research/{id}/events") as response:
        assert "webhook" in await response.text(), "that it was refused is a step of the job"


async def test_no_website_may_use_a_route(served: Served) -> None:
    """A page that is open in a browser which has logged in."""
    slots = asyncio.Semaphore(8)

    async def send(method: str, path: str, headers: dict[str, str]) -> None:
        async with slots, session.request(method, path, headers=headers) as response:
            assert response.status == 403, (method, path, headers)

    senders = ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"})
    async with asking(served) as session:
        found = await routes(session, "post", "put", "patch", "delete")
        await asyncio.gather(*(send(*way, headers) for way in found for headers in senders))


KEYED = {
    "/search": {"query": "x"}, "/extract": {"urls": ["http://10.0.0.1/"]}, "/v2/search": {"query": "x"},
    "/v1/responses": {"input": "x", "model": "none"}, "/v1/messages": {"model": "none", "messages": [{"role": "user", "content": "x"}]},
    "/r": {"url": "http://10.0.0.1/"}, "/openwebui/load": {"urls": ["http://10.0.0.1/"]},
}  # fmt: skip


async def test_a_key_is_taken_wherever_a_client_puts_it() -> None:
    """The ways of all clients at all routes; what is none of them is refused."""
    ways = ({"Authorization": f"Bearer {TOKEN}"}, {"Authorization": f"bearer {TOKEN}"}, {"X-API-Key": TOKEN},
            {"X-Subscription-Token": TOKEN}, {"Authorization": "Bearer ", "x-api-key": TOKEN})  # fmt: skip
    wrong: Any = ({}, {"Authorization": f"Bearer {TOKEN}x"}, {"X-API-Key": TOKEN[:-1]}, {"Cookie": f"api_key={TOKEN}"})
    with serving(settings_of(), token=TOKEN) as served:
        async with aiohttp.ClientSession(served.url) as session:
            for path, body in KEYED.items():
                for headers in ways:
                    async with session.post(path, json=body, headers=headers) as response:
                        assert response.status != 401, (path, headers)
            path = "/v1/messages"
            for headers in wrong:
                async with session.post(path, json=KEYED[path], headers=headers) as response:
                    told = await response.json()
                    assert response.status == 401 and told["error"]["type"] == "authentication_error", headers
            async with session.post(f"{path}?api_key={TOKEN}", json=KEYED[path]) as response:
                assert response.status == 401, "an address is written to logs"
