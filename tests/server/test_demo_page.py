"""The demo on the page: its mark, its pages, and how it is started from the usual page."""

from __future__ import annotations

from contextlib import closing

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.screens import chromium
from server.serving import client, serving, settings_of
from support.chromium import require_chromium
from support.timing import PATIENCE
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
            assert 'class="offline" hidden' in page and "demo-offer" in page and "demo-banner" not in page
            assert (await ask("GET", "/demo/web/port-ember.example/walks"))[0] == 404
            status, begun = await ask("POST", "/demo", Origin=served.url)
            url = demo.start()
            assert status == 200 and begun == {"url": url} and url != served.url
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


async def test_without_a_network_the_page_offers_the_demo_whose_citations_open_its_pages() -> None:
    require_chromium()
    with serving(settings_of()) as served, closing(DemoServer()) as demo:
        served.app.state.demo_server = demo
        async with chromium() as browser:
            context = await browser.new_context(viewport={"width": 1200, "height": 800}, locale="en-US")
            context.set_default_timeout(PATIENCE * 1000)
            page = await context.new_page()
            await page.goto(served.url)
            await page.wait_for_selector("html[data-ready]")
            assert not await page.is_visible(".demo-offer")
            await context.set_offline(True)
            await page.wait_for_selector(".demo-offer", state="visible")
            await context.set_offline(False)
            await page.wait_for_selector(".demo-offer", state="hidden")
            await page.evaluate("document.querySelector('.offline').hidden = false")
            await page.click(".demo-offer")
            await page.wait_for_selector(".demo-banner")
            await page.wait_for_selector("html[data-ready]")
            mark, form = await page.query_selector(".demo-banner"), await page.query_selector("#form")
            # The mark covers nothing.
            box = await form.bounding_box()
            assert box["y"] + box["height"] <= (await mark.bounding_box())["y"]
            await page.click(".examples button")
            await page.wait_for_selector(".answer[data-state=done]")
            async with page.expect_popup() as opened:
                await page.click(".md a.cite")
            source = await opened.value
            await source.wait_for_load_state()
            assert source.url.startswith(f"{demo.start()}/demo/web/marl-lang.example/about")
            assert "Petra Lindqvist" in await source.inner_text("main")
            assert "invented" in await source.inner_text(".demo")
