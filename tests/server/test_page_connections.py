"""What is connected and shared on the page: models, keys of engines, links, a login."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Error as PlaywrightError

from server.screens import ENGINE_KEY, Stage, axe, finished, picture, put_question, state_is, value_is
from server.serving import serving, settings_of
from support.chromium import require_chromium
from support.oai import reply as says
from support.oai import serve_model
from support.timing import PATIENCE

require_chromium()
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_model_is_connected_on_the_page_and_its_key_stays_on_the_server(plain: Stage, browser: Any) -> None:
    kept = Path(str(plain.client.settings.data_dir)) / "models.json"
    with serve_model([says("Hello from the connected model.")]) as model:
        page = await plain.page(browser, lang="en-US")
        bodies: list[asyncio.Future[str]] = []
        page.on("response", lambda response: bodies.append(asyncio.ensure_future(_body(response))))
        await page.goto(plain.url)
        await page.click(".setup [data-action=connect]")
        await page.fill("dialog [name=base_url]", model.url)
        await page.fill("dialog [name=api_key]", "topsecretkey")
        await page.fill("dialog [name=name]", "test-model")
        await page.click("dialog [data-test]")
        await page.locator(".findings .ok").wait_for()
        await picture(page, "connect-desktop-light-en")
        assert await axe(page) == []
        await page.click("dialog .main")
        await value_is(page, "model", "test-model")
        await page.click("#search")
        await state_is(page, "off")
        await put_question(page, "Hello?")
        assert "connected model" in await (await finished(page)).locator(".md").inner_text()
        assert plain.client.research_service.workers.models.label("test-model"), "research may use it too"
        await page.goto(f"{plain.url}/settings")
        assert "test-model" in await page.locator("#models").inner_text()
        assert "topsecretkey" in kept.read_text() and kept.stat().st_mode & 0o077 == 0
        assert "topsecretkey" not in "".join(await asyncio.gather(*bodies))
        await page.click("#models [data-action=connect]")
        async with page.expect_navigation():
            await page.click("dialog [data-forget=test-model]")
        assert "test-model" not in await page.locator("#models").inner_text() and "topsecretkey" not in kept.read_text()


async def _body(response: Any) -> str:
    """What was answered; nothing of a stream, and of what went with its page."""
    if "event-stream" in response.headers.get("content-type", ""):
        return ""
    try:
        return (await response.body()).decode("utf-8", "replace")  # type: ignore[no-any-return]
    except PlaywrightError:
        return ""


async def test_a_key_of_an_engine_is_entered_tested_used_and_forgotten_on_the_page(plain: Stage, browser: Any) -> None:
    kept = Path(str(plain.client.settings.data_dir)) / "engine-keys.json"
    page = await plain.page(browser, lang="en-US")
    await page.goto(f"{plain.url}/settings")
    await page.locator("html[data-ready]").wait_for()
    await page.click(".waiting > summary")
    row = page.locator("[data-engine=brave]")
    assert "needs a key" in await row.inner_text()
    await row.locator(".enter summary").click()
    await row.locator("[name=api_key]").fill("wrong-key-of-brave")
    await row.locator("[data-test]").click()
    await row.locator(".findings .error").wait_for()
    assert await axe(page, dark=True) == [] and not kept.exists(), "a test keeps nothing"
    await row.locator("[name=api_key]").fill(ENGINE_KEY)
    await row.locator("[data-test]").click()
    await row.locator(".findings .ok").wait_for()
    await row.locator(".main").click()
    await page.locator("[data-engine=brave][data-state=ready]").wait_for(state="attached")
    await page.locator("html[data-ready]").wait_for()
    assert "entered here" in await row.inner_text()
    assert ENGINE_KEY in kept.read_text() and kept.stat().st_mode & 0o077 == 0
    assert ENGINE_KEY not in await page.content()
    # What the doctor finds stands beside the engine.
    await page.click("[data-action=doctor]")
    await row.locator(".beside .ok").wait_for()
    await picture(page, "engines-desktop-light-en")
    found = await plain.client.search("SearXNG", engines="brave")
    assert found.results and ENGINE_KEY not in str(found.attempts)
    await row.locator(".enter summary").click()
    await row.locator("[data-forget]").click()
    await page.locator("[data-engine=brave][data-state=no_key]").wait_for(state="attached")
    assert ENGINE_KEY not in kept.read_text()


async def test_links_are_made_listed_and_revoked_on_the_page(tmp_path: Path, browser: Any) -> None:
    pytest.importorskip("argon2", reason="the optional extra suyuan[team] is not installed")
    from suyuan.store.accounts import add_account

    with serving(settings_of(data=tmp_path), users=True) as served:
        add_account(served.app.state.client.chat.store.people, "anna", "correct horse battery")
        context = await browser.new_context(locale="en-US", permissions=["clipboard-read", "clipboard-write"])
        context.set_default_timeout(PATIENCE * 1000)
        page = await context.new_page()
        await page.goto(f"{served.url}/")
        await page.fill("[name=name]", "anna")
        await page.fill("[name=password]", "correct horse battery")
        await page.press("[name=password]", "Enter")
        await page.click("#search")
        await state_is(page, "off")
        await put_question(page, "A question to share")
        answer = await finished(page)
        await answer.locator(".export summary").click()
        await answer.locator("[data-action=share]").click()
        await page.select_option("dialog [name=days]", "7")
        await page.click("dialog .main")
        await page.locator(".made", has_text="/s/").wait_for()
        await page.locator("dialog .shares [data-revoke]").wait_for()
        assert "No links yet" not in await page.inner_text("dialog .shares")
        assert await axe(page) == []
        link = await page.evaluate("navigator.clipboard.readText()")
        shown = await page.request.get(link, headers={"Cookie": ""})
        assert shown.status == 200 and "A question to share" in await shown.text()
        await page.goto(f"{served.url}/settings")
        row = page.locator("#shares li", has_text="A question to share")
        assert "until 20" in await row.inner_text()
        await row.locator("[data-revoke]").click()
        await row.wait_for(state="detached")
        assert (await page.request.get(link)).status == 404
        await context.close()


async def test_a_person_logs_in_with_the_form(browser: Any) -> None:
    token = "a-long-token-for-the-test"
    with serving(settings_of(), token=token) as served:
        page = await browser.new_page()
        await page.goto(f"{served.url}/")
        await page.fill("input[type=password]", token)
        await page.press("input[type=password]", "Enter")
        await page.wait_for_selector("#ask")
        await page.close()
