"""The demo on the page: its mark, its pages, and how it is started from the usual page."""

from __future__ import annotations

from contextlib import closing

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import client, serving, settings_of
from suyuan.demo.web import DemoWeb
from suyuan.server.demo_server import DemoServer


async def test_pages_of_the_demo_web_can_be_opened() -> None:
    with DemoWeb() as web, serving(web.settings(), connect=web.client) as served:
        async with client(served.url) as ask:
            status, page = await ask("GET", "/demo/web/port-ember.example/walks")
            assert status == 200 and "Cliff Traverse" in page and "invented" in page
            assert 'href="/demo/web/port-ember.example/archive/founding-charter"' in page
            assert 'href="/static/demo.css?v=' in page and "http://port-ember.example" not in page.split("</head>")[1]
            assert (await ask("GET", "/demo/web/port-ember.example/archive/founding-charter"))[0] == 404
            assert (await ask("GET", "/demo/web/search.example/api/search?q=x"))[0] == 404
            assert (await ask("POST", "/demo"))[0] == 404, "no demo within the demo"


async def test_the_usual_page_starts_the_demo_once_on_a_port_of_its_own() -> None:
    with serving(settings_of()) as served, closing(DemoServer()) as demo:
        served.app.state.demo_server = demo
        async with client(served.url) as ask, aiohttp.ClientSession() as session:
            _, page = await ask("GET", "/")
            assert 'action="/demo" hidden' in page and "demo-banner" not in page
            assert (await ask("GET", "/demo/web/port-ember.example/walks"))[0] == 404
            status, page = await ask("POST", "/demo", Origin=served.url)
            url = demo.start()
            assert status == 200 and f'href="{url}"' in page and url != served.url
            async with session.get(url) as response:
                assert "demo-banner" in await response.text()
            assert (await ask("POST", "/demo", Origin="http://evil.example"))[0] == 403


async def test_a_server_for_other_machines_offers_no_demo() -> None:
    token = "a-long-token-for-the-test"
    with serving(settings_of(), token=token, host="0.0.0.0") as served, closing(DemoServer()) as demo:
        served.app.state.demo_server = demo
        async with client(served.url) as ask:
            assert (await ask("POST", "/demo", Authorization=f"Bearer {token}"))[0] == 404


async def test_a_server_without_a_demo_offers_none() -> None:
    with serving(settings_of()) as served:
        async with client(served.url) as ask:
            assert "demo-offer" not in (await ask("GET", "/"))[1]
            assert (await ask("POST", "/demo"))[0] == 404
