"""The first page: what it offers and says, with and without a network, a search and a model."""

from __future__ import annotations

from typing import Any

import pytest

from server.screens import DESKTOP, PHONE, Stage, axe, finished, picture, state_is
from support.chromium import require_chromium
from support.oai import reply as says
from support.oai import serve_model
from suyuan.server import models

require_chromium()
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("viewport", "scheme", "lang"), [(DESKTOP, "light", "zh-CN"), (DESKTOP, "dark", "en-US"), (PHONE, "light", "en-US")]
)
async def test_every_state_of_the_first_page(
    plain: Stage, browser: Any, viewport: dict[str, int], scheme: str, lang: str
) -> None:
    page = await plain.page(browser, lang=lang, viewport=viewport, color_scheme=scheme)
    await page.goto(plain.url)
    await page.locator("html[data-ready]").wait_for()
    assert await page.locator(".examples button").count() == 3
    # One centred group.
    boxes = [await page.locator(each).bounding_box() for each in (".welcome h1", ".composer", ".examples")]
    middles = {round(box["x"] + box["width"] / 2) for box in boxes}
    assert max(middles) - min(middles) <= 1
    assert [box["y"] for box in boxes] == sorted(box["y"] for box in boxes)
    # Nobody asked for what is absent.
    assert await page.locator(".problem").is_hidden() and await page.locator(".offline").is_hidden()
    words = {"zh": ("出处", "不附来源", "没有网络"), "en": ("page it came from", "without sources", "no network")}[
        lang[:2]
    ]
    assert words[0] in await page.locator(".lead").inner_text()
    await page.click("#search")
    await state_is(page, "off")
    assert words[1] in await page.locator(".lead").inner_text()
    assert await axe(page) == []
    await page.click("[value=agent]")
    await state_is(page, "disabled")
    assert await axe(page) == []
    # Research is chosen here and nowhere else; the other modes come back.
    await page.click("[value=research]")
    assert await page.locator("[value=research]").is_checked()
    assert await page.locator("#search").is_disabled() and await axe(page) == []
    await picture(page, f"welcome-{viewport['width']}-{scheme}-{lang[:2]}")
    await page.click("[value=agent]")
    assert await page.locator("[value=agent]").is_checked()
    await page.click("[value=research]")
    await page.click("[value=chat]")
    await state_is(page, "off")
    assert await page.locator("[value=chat]").is_checked()
    await page.context.set_offline(True)
    await page.locator(".offline").wait_for()
    assert words[2] in await page.locator(".offline").inner_text() and await page.locator(".setup").is_hidden()
    assert await axe(page) == []


async def test_a_model_of_this_machine_is_found_and_offered(
    plain: Stage, browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_model([says("ok")]) as model:
        monkeypatch.setattr(models, "_LOCAL", (("Ollama", model.url),))
        page = await plain.page(browser, lang="en-US")
        await page.goto(plain.url)
        await page.locator(".detected", has_text="Ollama").wait_for()
        await page.click(".setup [data-action=connect]")
        found = page.locator("dialog .local .button").first
        assert "Ollama" in await found.inner_text()
        await found.click()
        await page.locator("dialog .findings .ok").first.wait_for()
        assert await page.input_value("dialog [name=base_url]") == model.url
        assert await axe(page, dark=True) == []


async def test_an_example_is_asked(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    await page.goto(plain.url)
    example = await page.locator(".examples button").first.inner_text()
    await page.locator(".examples button").first.click()
    await finished(page)
    assert await page.locator(".turn h2").inner_text() == example
