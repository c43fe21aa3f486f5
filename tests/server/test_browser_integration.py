"""The page as a part of the browser: its address, the installed app, sharing, notifications, the voice."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import aiohttp
import pytest

from server.screens import (
    QUESTION,
    RESULTS,
    Scripted,
    Stage,
    answered,
    becomes,
    conversation_of,
    finished,
    opened,
    put_question,
)
from support.chromium import require_chromium
from support.oai import reply as says

require_chromium()
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_question_of_the_address_is_asked(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    await page.goto(f"{plain.url}/?q=SearXNG+支持哪些格式?&mode=agent")
    await finished(page)
    assert conversation_of(page, plain).mode == "agent"
    kept = len(plain.client.chat.store.find())
    async with aiohttp.ClientSession() as client:
        foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        async with client.get(f"{plain.url}/?q=secret", headers=foreign) as response:
            text = await response.text()
            assert response.status == 200 and ">secret</textarea>" in text and '"send": false' in text
    assert len(plain.client.chat.store.find()) == kept


async def test_the_address_bar_searches_with_the_server(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    await page.goto(plain.url)
    link = await page.get_attribute("link[rel=search]", "href")
    described = await page.request.get(plain.url + link)
    assert described.headers["content-type"].startswith("application/opensearchdescription+xml")
    space = "{http://a9.com/-/spec/opensearch/1.1/}"
    template = ElementTree.fromstring(await described.text()).find(f"{space}Url").get("template")  # type: ignore[union-attr]
    await page.goto(template.replace("{searchTerms}", "SearXNG"))  # type: ignore[union-attr]
    await finished(page)
    assert await page.locator(".turn h2").inner_text() == "SearXNG"


async def test_the_browser_can_install_the_page_and_share_with_it(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser, lang="en-US")
    await page.goto(plain.url)
    developer = await page.context.new_cdp_session(page)
    found = await developer.send("Page.getAppManifest")
    assert found["errors"] == [] and found["manifest"]["shareTarget"]["action"] == f"{plain.url}/"
    problems = (await developer.send("Page.getInstallabilityErrors"))["installabilityErrors"]
    assert [each for each in problems if each["errorId"] != "in-incognito"] == []
    # What an app shares goes where the manifest says, in a new window.
    target = json.loads(found["data"])["share_target"]
    given = {"title": "Privacy", "text": "How does SearXNG protect it?", "url": RESULTS[1]["url"]}
    sent = urlencode({target["params"][name]: value for name, value in given.items()})
    await page.goto(f"{plain.url}{target['action']}?{sent}")
    await finished(page)
    assert await page.locator(".turn h2").inner_text() == "\n".join(given.values())


async def test_the_installed_app_keeps_its_own_files_and_nothing_else(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    # A window of an installed app, which a browser without a screen does not have.
    await page.add_init_script(
        "const real = matchMedia; "
        "window.matchMedia = (query) => query.includes('standalone') ? {matches: true} : real(query)"
    )
    await page.goto(plain.url)
    await becomes(page, "navigator.serviceWorker.controller !== null")
    await page.reload()
    await page.locator("html[data-ready]").wait_for()
    await becomes(page, "caches.open('shell').then((kept) => kept.keys()).then((keys) => keys.length >= 2)")
    script = await page.get_attribute("script[type=module]", "src")
    await page.context.set_offline(True)
    tried = "(path) => fetch(path).then((found) => found.status, () => 0)"
    assert await page.evaluate(tried, script) == 200 and await page.evaluate(tried, "/api/health") == 0
    kept = await page.evaluate(
        "caches.open('shell').then((kept) => kept.keys()).then((all) => all.map(({url}) => url))"
    )
    assert all("/static/" in url for url in kept)


# The browser's own notifications, noted when they are shown.
_NOTE = """() => { window.shown = [];
    const Real = Notification;
    window.Notification = class extends Real { constructor(title, more) {
        super(title, more); this.addEventListener("show", () => window.shown.push([title, more.body])); } }; }"""
_AWAY = "() => Object.defineProperty(document, 'hidden', {configurable: true, get: () => true})"


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_notification_says_that_an_answer_is_ready(scripted: Scripted, browser: Any, allowed: bool) -> None:
    running = scripted.stage
    scripted.begin(says("SearXNG 支持 json[3]。"))
    permissions = ["notifications"] if allowed else []
    page = await running.page(browser, lang="en-US", permissions=permissions)
    await page.goto(running.url)
    await page.evaluate(_NOTE)
    # Whoever looks at the page is not told.
    await put_question(page, QUESTION)
    await finished(page)
    await page.evaluate(_AWAY)
    await put_question(page, "And the formats?")
    await finished(page, 2)
    if allowed:
        await becomes(page, "window.shown.length > 0")
    else:
        # By then the module that tells has been asked.
        await page.locator("#live", has_text="The answer is complete.").wait_for(state="attached")
    told = [["And the formats?", "The answer is complete."]]
    assert await page.evaluate("window.shown") == (told if allowed else [])


async def test_notifications_are_asked_for_in_the_settings(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    await page.goto(f"{plain.url}/settings")
    await page.locator("html[data-ready]").wait_for()
    state = await page.evaluate("Notification.permission")
    button = page.locator("[data-action=notify]")
    assert await button.is_visible() == (state == "default")
    await page.context.grant_permissions(["notifications"], origin=plain.url)
    await page.reload()
    await page.locator("html[data-ready]").wait_for()
    assert await button.is_hidden()


# The system's voice: what it is given to say, and what it answers.
_VOICE = """() => { window.said = [];
    const tell = (error) => { const last = said.at(-1); last.open = false;
        last.utterance.dispatchEvent(error ? new SpeechSynthesisErrorEvent("error", {utterance: last.utterance, error})
            : new SpeechSynthesisEvent("end", {utterance: last.utterance})); };
    speechSynthesis.speak = (utterance) => said.push({utterance, open: true});
    speechSynthesis.cancel = () => { if (said.at(-1)?.open) tell("canceled"); };
    window.tell = tell; }"""


@pytest.mark.parametrize(
    ("text", "lang", "read"),
    [
        (
            "SearXNG 支持 `json`[3]。公式 $x^2$ 省略。\n\n- 一\n  - 二\n\n```python\nprint(1)\n```\n",
            "zh-CN",
            ["SearXNG 支持 json。公式  省略。", "一", "二"],
        ),
        (
            "The page 溯源 supports json[3].\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
            "en",
            ["The page 溯源 supports json."],
        ),
    ],
)
async def test_an_answer_is_read_aloud(scripted: Scripted, browser: Any, text: str, lang: str, read: list[str]) -> None:
    scripted.begin(says(text))
    page = await scripted.stage.page(browser, lang="en-US")
    answer = await answered(page, scripted.stage)
    await page.evaluate(_VOICE)
    button = answer.locator("[data-action=speak]")
    await button.click()
    await answer.locator("[data-action=speak][aria-pressed=true]").wait_for()
    said = await page.evaluate("[said[0].utterance.text, said[0].utterance.lang]")
    lines = [line.strip() for line in said[0].split("\n") if line.strip()]
    # Without numbers of citations, formulas, code and buttons; nothing twice.
    assert lines[: len(read)] == read and said[1] == lang and "print" not in said[0]
    assert lines[len(read) :] == ([] if lang == "zh-CN" else ["a", "b", "1", "2"])
    # The same button stops, and so does the end.
    await button.click()
    await answer.locator("[data-action=speak][aria-pressed=false]").wait_for()
    await button.click()
    await answer.locator("[data-action=speak][aria-pressed=true]").wait_for()
    await page.evaluate("tell()")
    await answer.locator("[data-action=speak][aria-pressed=false]").wait_for()
    assert await page.locator(".toast").count() == 0


async def test_a_system_without_a_voice_is_named(plain: Stage, browser: Any, asked: tuple[str, str]) -> None:
    page = await plain.page(browser, lang="en-US")
    answer = await opened(page, asked)
    await page.evaluate(_VOICE)
    await answer.locator("[data-action=speak]").click()
    await answer.locator("[data-action=speak][aria-pressed=true]").wait_for()
    await page.evaluate("tell('synthesis-unavailable')")
    await page.locator(".toast", has_text="no voice").wait_for()
    assert await answer.locator("[data-action=speak]").get_attribute("aria-pressed") == "false"
