"""The APIs of Jina's Reader, Brave and Open WebUI: asked as their clients ask, Brave's also by our own engine for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("requests", reason="it is part of the dev extra")

import requests

from server.compat_server import QUESTION, TOKEN, Compat, compat_server
from suyuan.client import AsyncClient
from suyuan.config.settings import SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.secret import Secret

AUTH = {"Authorization": f"Bearer {TOKEN}"}
VISIT = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.fixture(scope="module")
def server() -> Iterator[Compat]:
    with compat_server() as running:
        yield running


def get(server: Compat, path: str, **headers: str) -> requests.Response:
    sent = {**AUTH, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return requests.get(server.url + path, headers=sent, timeout=30)


def post(server: Compat, path: str, body: Any, **headers: str) -> requests.Response:
    return requests.post(server.url + path, json=body, headers={**AUTH, **headers}, timeout=30)


class TestJina:
    def test_text(self, server: Compat) -> None:
        found = get(server, f"/r/{server.site.url}/docs/mill?x=1")
        assert found.headers["content-type"].startswith("text/plain")
        assert found.text.startswith(f"Title: Mill of Arvika\n\nURL Source: {server.site.url}/docs/mill?x=1\n\n")
        assert "Markdown Content:\n# Mill of Arvika" in found.text
        host = server.site.url.removeprefix("http://")
        assert "Mill" in get(server, f"/r/http:/{host}/docs/mill?x=1").text, "a proxy may drop a slash"
        assert "Mill" in get(server, f"/r/http%3A%2F%2F{host}%2Fdocs%2Fmill%3Fx%3D1").text
        own = {"url": f"{server.site.url}/docs/mill?x=1"}
        assert "Mill" in post(server, "/r/", own).text
        assert "Mill" in requests.post(f"{server.url}/r", data=own, headers=AUTH, timeout=30).text, "as a form too"
        assert post(server, "/r", {}).json()["data"] is None, "an error in its own form"

    def test_json_and_events(self, server: Compat) -> None:
        path = f"/r/{server.site.url}/docs/mill?x=1"
        told = get(server, path, Accept="application/json").json()
        assert told["code"] == 200 and told["data"]["title"] == "Mill of Arvika" and told["data"]["usage"]["tokens"] > 5
        streamed = get(server, path, Accept="text/event-stream")
        event, data = streamed.text.strip().split("\n", 1)
        assert event == "event: data" and json.loads(data.removeprefix("data: "))["content"].startswith("# Mill")
        linked = get(server, f"/r/{server.site.url}/", Accept="application/json", x_with_links_summary="true").json()
        assert "https://elsewhere.example/" in linked["data"]["links"]

    def test_formats(self, server: Compat) -> None:
        path = f"/r/{server.site.url}/docs/mill?x=1"
        plain = get(server, path, x_respond_with="text")
        assert plain.text.startswith("Mill of Arvika\nThe mill") and "X-Suyuan-Not-Honoured" not in plain.headers
        raw = get(server, path, x_respond_with="html")
        assert "<b>rye</b>" in raw.text and raw.headers["content-type"].startswith("text/plain"), (
            "never run by a browser"
        )
        lost = get(server, path, x_respond_with="screenshot", x_target_selector="p")
        assert lost.headers["X-Suyuan-Not-Honoured"] == "x-respond-with: screenshot, x-target-selector"

    def test_failures(self, server: Compat) -> None:
        gone = get(server, f"/r/{server.site.url}/gone")
        assert gone.status_code == 502 and gone.json()["data"] is None and gone.json()["detail"]["hint"]
        assert gone.json()["readableMessage"].startswith("WebProviderError: ")
        inner = get(server, "/r/http://10.0.0.1/")
        assert inner.status_code == 403 and inner.json()["detail"]["detail_code"] == "guard_refused"
        assert get(server, "/r/").status_code == 400
        assert requests.get(f"{server.url}/r/{server.site.url}/", timeout=30).status_code == 401

    def test_other_websites_cannot_read(self, server: Compat) -> None:
        for path in (f"/r/{server.site.url}/", "/res/v1/web/search?q=x"):
            assert get(server, path, **VISIT).status_code == 403, path
            assert get(server, path, Origin="https://evil.example").status_code == 403, path
        assert post(server, "/openwebui/search", {"query": "x"}, Origin="https://evil.example").status_code == 403


class TestBrave:
    async def test_our_own_engine_for_brave(self, server: Compat) -> None:
        own = EngineSettings(base_url=server.url, api_key=Secret(TOKEN), rate_per_minute=0)
        settings = Settings(search=SearchSettings(default="brave", cache_minutes=0, seconds=30), engines={"brave": own})
        async with AsyncClient(settings) as client:
            page = await client.search(QUESTION, count=2)
            assert [result.title for result in page.results] == ["Harbour of Arvika", "When the harbour was built"]
            assert page.results[0].snippet.startswith("The harbour of Arvika")

    def test_parameters(self, server: Compat) -> None:
        path = "/res/v1/web/search?q=many+harbours+today&count=20&freshness=pw&safesearch=strict&goggles=x&spellcheck=1"
        found = requests.get(server.url + path, headers={"X-Subscription-Token": TOKEN}, timeout=30).json()
        assert len(found["web"]["results"]) == 20 and found["suyuan"]["not_honoured"] == ["goggles"]
        asked = next(seen for seen in server.site.seen if "today" in seen.params.get("q", ""))
        assert asked.params["time_range"] == "week" and asked.params["safesearch"] == "2"
        read = get(server, f"/res/v1/web/search?q={QUESTION}&extra_snippets=true").json()["web"]["results"]
        assert "1811" in " ".join(read[0]["extra_snippets"]) and read[1]["read_error"]["detail_code"] == "not_found"

    def test_failures(self, server: Compat) -> None:
        wrong = requests.get(f"{server.url}/res/v1/web/search?q=x", headers={"X-Subscription-Token": "no"}, timeout=30)
        told = wrong.json()
        assert wrong.status_code == 401 and told["type"] == "ErrorResponse" and told["error"]["code"] == "TOKEN_WRONG"
        missing = get(server, "/res/v1/web/search")
        assert missing.status_code == 400 and missing.json()["error"]["meta"]["detail_code"] == "bad_argument"
        assert get(server, "/res/v1/web/search?q=broken+engine").json()["error"]["meta"]["hint"]


class TestOpenWebUI:
    def test_search(self, server: Compat) -> None:
        found = post(server, "/openwebui/search", {"query": QUESTION, "count": 2}).json()
        assert [each["title"] for each in found] == ["Harbour of Arvika", "When the harbour was built"]
        assert found[0].keys() == {"link", "title", "snippet"}
        deep = post(server, "/openwebui/search?depth=passages", {"query": QUESTION, "count": 2}).json()
        assert "1811" in deep[0]["snippet"] and deep[1]["snippet"].startswith("A page about")

    def test_loader(self, server: Compat) -> None:
        urls = [f"{server.site.url}/docs/mill?x=1", f"{server.site.url}/gone"]
        loaded = post(server, "/openwebui/load", {"urls": urls})
        (page,) = loaded.json()
        assert page["page_content"].startswith("# Mill") and page["metadata"]["source"] == urls[0]
        assert loaded.headers["X-Suyuan-Failed"] == "1"
        failed = post(server, "/openwebui/load", {"urls": urls[1:]})
        assert failed.status_code == 502 and failed.json()["error"]["detail_code"] == "not_found"


def test_our_own_api_reads_in_one_call(server: Compat) -> None:
    found = post(server, "/api/search", {"query": QUESTION, "depth": "passages", "max_tokens": 400}).json()
    harbour, gone, _ = found["items"]
    assert "1811" in " ".join(passage["text"] for passage in harbour["passages"]) and harbour["sha256"]
    assert gone["read_error"]["detail_code"] == "not_found" and gone["snippet"]
    assert sum(item.get("tokens", 0) for item in found["items"]) <= 400
    wrong = post(server, "/api/search", {"query": QUESTION, "depth": "passages", "max_tokens": 7})
    assert wrong.status_code == 400 and wrong.json()["error"]["detail_code"] == "bad_max_tokens"
