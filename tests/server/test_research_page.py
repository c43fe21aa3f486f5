"""Research on the page, in a real Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from server.screens import DESKTOP, axe, picture, put_question, stage
from server.serving import serving
from support.chromium import require_chromium
from support.timing import PATIENCE
from suyuan.demo.web import DemoWeb

require_chromium()
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_research_shows_its_plan_its_progress_and_the_report_beside_its_passages(browser: Any) -> None:
    with DemoWeb() as web, serving(web.settings(), connect=web.client) as served:
        page = await browser.new_page(viewport=DESKTOP, locale="en-US")
        page.set_default_timeout(PATIENCE * 1000)
        await page.goto(served.url)
        await page.click("[value=research]")
        assert await page.locator("#search").is_disabled()
        await put_question(page, "How tall is the Gull Point Lighthouse, and who built it?")
        await page.wait_for_url("**/research/*")
        await page.locator(".plan .sub").nth(1).wait_for()
        assert await axe(page) == []
        await page.locator("[data-queries]").first.fill("Gull Point Lighthouse height metres")
        # A plan that is refused says why, and stays as it was written.
        questions = page.locator("[data-sub]")
        written = [await questions.nth(n).input_value() for n in range(await questions.count())]
        for n in range(len(written)):
            await questions.nth(n).fill("")
        await page.click(".plan .main")
        await page.locator("#problem").wait_for()
        assert await page.locator("#problem").inner_text() and await axe(page) == []
        assert await page.locator("[data-queries]").first.input_value() == "Gull Point Lighthouse height metres"
        for n, question in enumerate(written):
            await questions.nth(n).fill(question)
        # Somebody who looks at another window meanwhile is told.
        await page.evaluate(
            """() => { window.told = []; Object.defineProperty(document, "hidden", {get: () => true});
                window.Notification = class { static permission = "granted";
                    constructor(title, { body }) { window.told.push([title, body]); } }; }"""
        )
        await page.click(".plan .main")
        await page.locator(".report .cite[data-verdict=supported]").first.wait_for()
        assert await page.locator("#problem").is_hidden()
        await page.locator(".report .cite").first.hover()
        passage = await page.locator(".source.hot .passage").inner_text()
        assert "metres tall" in passage and "metres tall" in await page.locator(".sentence.hot").inner_text()
        assert (await page.title()).startswith("✓")
        assert await page.evaluate("window.told") == [[await page.locator("h1").inner_text(), "done"]]
        assert "38 metres" in await page.locator(".report .disagree").inner_text()
        assert await page.locator(".timeline circle").count() >= 2 and await page.locator(".bar-row").count() >= 1
        assert await axe(page) == []
        address = page.url
        # On any other page of this browser a sign and a message tell of it, until it has been looked at.
        await page.evaluate(
            "(id) => localStorage.setItem('research', JSON.stringify({[id]: {question: 'Lighthouse?', state: 'running'}}))",
            address.rpartition("/")[2],
        )
        await page.goto(served.url)
        await page.locator(".toast", has_text="Lighthouse?").wait_for()
        await page.locator(".research-link[data-job=done]").wait_for()
        await page.click(".toast button >> nth=0")
        await page.wait_for_url(address)
        await page.locator(".report .cite").first.wait_for()
        await page.goto(f"{served.url}/research")
        await page.locator(".jobs a").first.click()
        await page.wait_for_url(address)
        link = await page.locator(".export a[href$='form=md']").get_attribute("href")
        exported = await page.request.get(served.url + link)
        assert "Gull Point Lighthouse height metres" in await exported.text()
        # Own documents are dropped into the library.
        await page.goto(f"{served.url}/settings")
        await page.set_input_files(
            "#library input", {"name": "note.md", "mimeType": "text/markdown", "buffer": b"# Note\n\nText."}
        )
        await page.locator(".documents a", has_text="Note").wait_for()
        await page.click(".documents .link")
        await page.locator(".documents a").wait_for(state="detached")
        # However many they are, each that cannot be read says why.
        texts = [{"name": f"{n}.md", "mimeType": "text/markdown", "buffer": b"Text."} for n in range(21)]
        broken = [{"name": name, "mimeType": "application/pdf", "buffer": b"%PDF- x"} for name in ("a.pdf", "b.pdf")]
        await page.set_input_files("#library input", [*texts, *broken])
        await page.locator("#library .findings .error").nth(1).wait_for()
        told = await page.locator("#library .findings").inner_text()
        assert "a.pdf: " in told and "b.pdf: " in told
        await page.locator(".documents a").nth(20).wait_for()
        # A list that cannot be had is no empty list.
        await page.route("**/api/library?*", lambda route: route.abort())
        await page.reload()
        await page.locator("#library .findings .error").wait_for()
        assert await page.locator(".documents li").count() == 0
        assert "server" in await page.locator("#library .findings").inner_text()
        await page.close()


async def test_research_that_found_nothing_says_why_and_can_be_resumed(tmp_path: Path, browser: Any) -> None:
    async with stage(tmp_path, searxng_up=False, seconds=6) as running:
        page = await running.page(browser, lang="en-US")
        await page.goto(f"{running.url}/research")
        assert await axe(page, dark=True) == []
        await page.fill("textarea", "How long is the bridge?")
        await page.click(".new-research .main")
        await page.click(".plan .main")
        await page.locator(".job[data-state=failed] .notice").wait_for()
        told = await page.locator(".job .notice").inner_text()
        assert "SearXNG is not running" in told and "Check the network" in told and "{" not in told
        assert await page.locator(".evidence").count() == 0 and await axe(page, dark=True) == []
        await picture(page, "research-failed-desktop-light-en")
        await page.click("[data-do=resume]")
        await page.locator(".job[data-state=failed] .notice").wait_for()


async def test_a_section_that_nothing_answers_says_so(tmp_path: Path, browser: Any) -> None:
    async with stage(tmp_path) as running:
        page = await running.page(browser, lang="en-US")
        await page.goto(f"{running.url}/research")
        await page.fill("textarea", "How deep is the Tinker Lake?")
        await page.click(".new-research .main")
        await page.locator(".plan [data-queries]").first.fill("SearXNG")
        await page.click(".plan .main")
        await page.locator(".report").wait_for()
        said = await page.locator(".report").inner_text()
        assert "Nothing that was read answers this." in said or "Nothing could be read" in said
