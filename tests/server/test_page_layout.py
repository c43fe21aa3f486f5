"""The look of the page in a real Chromium: sizes of windows, zoom, contrast, accessibility, weight, no script."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from server.screens import (
    DESKTOP,
    PHONE,
    QUESTION,
    Stage,
    axe,
    conversation_of,
    finished,
    opened,
    picture,
    put_question,
    state_is,
    still,
)
from support.chromium import require_chromium

require_chromium()
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.req("C10.2")
@pytest.mark.parametrize(("lang", "scheme"), [("zh-CN", "light"), ("en-US", "dark")])
async def test_on_a_phone_everything_is_reachable_and_nothing_is_covered(
    plain: Stage, browser: Any, lang: str, scheme: str
) -> None:
    page = await plain.page(browser, lang=lang, viewport=PHONE, color_scheme=scheme, has_touch=True, is_mobile=True)
    name = f"phone-{scheme}-{lang[:2]}"
    await page.goto(plain.url)
    await picture(page, f"new-{name}")
    await put_question(page, QUESTION)
    answer = await finished(page)
    await picture(page, f"answer-{name}")
    width = "document.documentElement.scrollWidth"
    assert await page.evaluate(width) <= PHONE["width"]
    await page.locator(".scroll").evaluate("each => each.scrollTop = each.scrollHeight")
    on_top = """(selector) => {
        const box = document.querySelector(selector).getBoundingClientRect();
        const there = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        return there.closest(selector) !== null && box.right <= innerWidth;
    }"""
    for control in ("#search", ".modes", ".more-options", "#ask", ".send"):
        assert await page.evaluate(on_top, control), control
    label = page.locator(".switch .label")
    assert await label.evaluate("each => each.scrollWidth <= each.clientWidth")
    await page.tap("#search")
    await state_is(page, "off")
    assert await page.locator("[name=model]").is_hidden()
    await page.tap(".more-options")
    await page.locator("[name=model]").wait_for()
    await still(page)
    await picture(page, f"sheet-{name}")
    assert await axe(page) == []
    assert await page.locator("#search-hint").is_visible()
    await page.keyboard.press("Escape")
    await page.locator(".scroll").evaluate("each => each.scrollTop = 0")
    assert (await answer.locator(".md").bounding_box())["y"] <= 230
    await answer.locator(".cite").first.scroll_into_view_if_needed()
    await answer.locator(".cite").first.tap()
    await page.locator(".evidence[role=dialog] .hot blockquote").wait_for()
    box = await page.locator(".evidence").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]
    await picture(page, f"sheet-of-sources-{name}")
    assert await axe(page) == []
    await page.tap(".evidence .close")
    await page.locator(".evidence[role=dialog]").wait_for(state="detached")
    await page.tap(".menu")
    await page.locator("#rail.open").wait_for()
    await still(page)
    await picture(page, f"menu-{name}")
    assert await page.evaluate(width) <= PHONE["width"]
    await page.keyboard.press("Escape")
    await page.locator("#rail").wait_for(state="hidden")


ON_TOP = """(selector) => {
    const box = document.querySelector(selector).getBoundingClientRect();
    const there = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return there?.closest(selector) !== null && there !== null && box.top >= 0 && box.bottom <= innerHeight;
}"""


@pytest.mark.req("C10.2")
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("begun", [False, True], ids=["new", "begun"])
async def test_neither_a_notice_nor_a_long_question_covers_the_panel(
    plain: Stage, browser: Any, asked: tuple[str, str], viewport: dict[str, int], begun: bool
) -> None:
    page = await plain.page(browser, viewport=viewport)
    await page.goto(asked[0] if begun else plain.url)
    # A command that does not exist is told by a notice over the page.
    await put_question(page, "/nonsense")
    await page.locator(".toast").wait_for()
    await still(page)
    for control in ("#search", "#ask", ".send"):
        assert await page.evaluate(ON_TOP, control), control
    await page.locator(".toast button").last.click()
    await page.fill("#ask", "line\n" * 60)
    await still(page)
    for control in ("#search", ".modes", ".send"):
        assert await page.evaluate(ON_TOP, control), control


async def test_at_twice_the_size_and_with_more_contrast_everything_is_usable(plain: Stage, browser: Any) -> None:
    # A window of 1280×800 at 200 %.
    half = {"width": DESKTOP["width"] // 2, "height": DESKTOP["height"] // 2}
    page = await plain.page(browser, lang="en-US", viewport=half, contrast="more")
    await page.goto(plain.url)
    assert await axe(page) == []
    await put_question(page, QUESTION)
    answer = await finished(page)
    assert await page.evaluate("document.documentElement.scrollWidth") <= half["width"]
    await answer.locator(".tiles").click()
    await page.locator(".evidence[role=dialog]").wait_for()
    assert await axe(page) == []
    await page.keyboard.press("Escape")
    await page.locator("h2", has_text=QUESTION).click()
    await page.keyboard.press("?")
    await page.locator("dialog kbd").first.wait_for()
    assert await axe(page) == []
    await page.keyboard.press("Escape")
    await page.locator("dialog").wait_for(state="detached")
    # What is needed most is not covered.
    send = await page.locator(".send[type=submit]").bounding_box()
    assert send["y"] + send["height"] <= half["height"] and send["x"] + send["width"] <= half["width"]


async def test_axe_finds_nothing(plain: Stage, browser: Any, asked: tuple[str, str]) -> None:
    page = await plain.page(browser, color_scheme="light")
    await page.goto(plain.url)
    assert await axe(page, dark=True) == []
    answer = await opened(page, asked)
    await answer.locator(".steps summary").click()
    await answer.locator(".cite").first.hover()
    await page.locator(".source.hot").wait_for()
    assert await axe(page, dark=True) == []
    await picture(page, "steps-desktop-light")
    for path in (f"/source/{asked[1]}/1", "/guide/searxng", "/c/nothing"):
        await page.goto(plain.url + path)
        assert await axe(page, dark=True) == [], path


async def test_one_can_ask_and_read_without_any_script(plain: Stage, browser: Any) -> None:
    silent = await plain.page(browser, java_script_enabled=False)
    await silent.goto(plain.url)
    await silent.fill("#ask", QUESTION)
    await silent.click(".send[type=submit]")
    await silent.wait_for_url("**/c/*")
    # The page loads itself again until the answer is complete.
    await silent.locator(".answer[data-state=done] .md").wait_for()
    await silent.fill("#ask", "SearXNG 支持哪些格式?")
    await silent.click(".send[type=submit]")
    await silent.locator(".turn").nth(1).locator(".answer[data-state=done]").wait_for()
    assert conversation_of(silent, plain).search is True
    await silent.locator(".turn").nth(1).evaluate("each => each.remove()")
    assert await silent.locator(".references li").count() >= 1 and await silent.locator(".cite").count() >= 1
    assert await silent.locator(".evidence .source").count() == 5


async def test_the_first_load_is_small(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    loaded: set[str] = set()
    page.on("request", lambda request: loaded.add(request.url))
    await page.goto(plain.url)
    await page.locator("html[data-ready]").wait_for()
    sizes = {url: await _wire_size(url) for url in sorted(loaded) if "/api/" not in url}
    assert len(sizes) >= 3 and sum(sizes.values()) <= 45_000, sizes
    style = await page.request.get(plain.url + (await page.get_attribute("link[rel=stylesheet]", "href")))
    assert "immutable" in style.headers["cache-control"]
    assert (await page.request.get(f"{plain.url}/static/app.css")).headers["cache-control"] == "no-cache"
    assert (await page.request.get(f"{plain.url}/static/..%2fpage.py")).status == 404


async def _wire_size(url: str) -> int:
    """The bytes of an answer on the wire, compressed."""
    async with aiohttp.ClientSession(auto_decompress=False) as client:
        async with client.get(url, headers={"Accept-Encoding": "gzip"}) as response:
            return len(await response.read())
