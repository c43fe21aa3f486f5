"""The text of an answer on the page: formulas, code, tables, disagreements, reprints, paper."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from server.screens import (
    DESKTOP,
    PHONE,
    QUESTION,
    RESULTS,
    Scripted,
    answered,
    axe,
    becomes,
    finished,
    picture,
    put_question,
)
from support.chromium import require_chromium
from support.oai import reply as says

require_chromium()
pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXT = r"""SearXNG 支持 `json`、`csv` 或 `rss` 格式[3]。面积是 $\pi r^2$。

$$\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}, \quad \sum_{n=1}^{\infty} \frac{1}{n^2} = \frac{\pi^2}{6}, \quad A = B + C$$

```python
def first(names: list[str]) -> str:  # a line that is longer than the column of a small window, so that it scrolls
    return names[0]
```

```mermaid
graph TD; A-->B
```

| 名称 | 说明, 其他 | 一列 | 另一列 | 又一列 | 最后一列 |
|---|---|--:|---|---|---|
| SearXNG | 汇集结果[1] | 244 | `a_long_name_that_never_breaks` | `another_long_name_that_never_breaks` | 完 |
"""


@pytest.mark.parametrize(
    ("viewport", "scheme", "lang"), [(DESKTOP, "dark", "zh-CN"), (DESKTOP, "light", "en-US"), (PHONE, "dark", "en-US")]
)
async def test_formulas_code_and_tables_are_shown_copied_and_scrolled(
    scripted: Scripted, browser: Any, viewport: dict[str, int], scheme: str, lang: str
) -> None:
    scripted.begin(says(TEXT))
    touch = {"has_touch": True} if viewport == PHONE else {}
    permissions = ["clipboard-read", "clipboard-write"]
    page = await scripted.stage.page(
        browser, lang=lang, viewport=viewport, color_scheme=scheme, permissions=permissions, **touch
    )
    answer = await answered(page, scripted.stage)
    text = answer.locator(".md")
    assert await text.locator("math").count() == 2 and "\\frac" not in await text.inner_text()
    # The parts of a fraction stand above each other: the browser draws it.
    over, under = await text.locator("mfrac").first.evaluate(
        "each => [...each.children].map((part) => part.getBoundingClientRect().bottom)"
    )
    assert over < under
    code = text.locator(".code").first
    assert await code.locator(".k").count() >= 2 and "python" in await code.locator(".code-head").inner_text()
    font = await code.locator("pre").evaluate("each => getComputedStyle(each).fontFamily")
    assert font.index("DejaVu Sans Mono") < font.index("CJK")
    await code.locator("button").click()
    await becomes(page, "navigator.clipboard.readText().then((text) => text.startsWith('def first(names'))")
    assert await text.locator(".code").nth(1).locator(".meta").count() == 1, "a diagram says that it stays text"
    # The page itself never scrolls sideways; what is too wide does, also by keyboard.
    assert await page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    table = text.locator(".table")
    assert await table.evaluate("each => each.scrollWidth > each.clientWidth") or viewport == DESKTOP
    for wide in (table, text.locator(".formula"), code.locator("pre")):
        assert await wide.get_attribute("tabindex") == "0"
    await text.locator(".table-box").hover()
    await text.locator("[data-action=copy-table]").click()
    head = '名称,"说明, 其他",一列,另一列,又一列,最后一列\\nSearXNG,汇集结果,244,'
    await becomes(page, f"navigator.clipboard.readText().then((text) => text.startsWith('{head}'))")
    assert await axe(page) == []
    await picture(page, f"text-{viewport['width']}-{scheme}-{lang[:2]}")


async def test_where_sources_disagree_a_card_says_so(scripted: Scripted, browser: Any) -> None:
    heights = {"https://port.example/": 41, "https://almanac.example/": 38}
    found = [
        {"title": "Gull Point Lighthouse", "url": url, "content": f"The Gull Point Lighthouse is {height} metres tall."}
        for url, height in heights.items()
    ]
    scripted.begin(says("The Gull Point Lighthouse is 41 metres tall[1]."), results=found)
    page = await scripted.stage.page(browser, lang="en-US")
    answer = await answered(page, scripted.stage, "How tall is the Gull Point Lighthouse?")
    card = await answer.locator(".disagree").inner_text()
    assert "Sources disagree" in card and "41" in card and "38" in card
    assert await axe(page, dark=True) == []


async def test_reprints_are_folded_under_their_origin(scripted: Scripted, browser: Any) -> None:
    told = "".join(each["content"] for each in RESULTS[:3])
    origin, again = (
        {**RESULTS[0], "content": told},
        {**RESULTS[1], "content": f"转载:{told}", "title": f"转载：{RESULTS[1]['title']}"},
    )
    scripted.begin(says("SearXNG 汇集来自多达 244 个搜索服务的结果[1]。"), results=[origin, again, *RESULTS[2:]])
    page = await scripted.stage.page(browser)
    await answered(page, scripted.stage)
    listed = page.locator(".source", has=page.locator(".reprints"))
    assert await listed.get_attribute("data-source") == "1"
    assert await page.locator(".source > .title", has_text="转载：").count() == 0
    await listed.locator(".reprints summary").click()
    await listed.get_by_role("link", name="转载：").wait_for()


async def test_while_it_searches_a_skeleton_stands_still_for_those_who_want_it(
    scripted: Scripted, browser: Any
) -> None:
    gate, moving = asyncio.Event(), "document.getAnimations().filter((each) => each.playState === 'running').length"
    scripted.begin(says("SearXNG 支持 json[3]。"), gate=gate)
    for motion in ("no-preference", "reduce"):
        gate.clear()
        page = await scripted.stage.page(browser, reduced_motion=motion)
        await page.goto(scripted.stage.url)
        await put_question(page, QUESTION)
        await page.locator(".skeleton").wait_for()
        await page.locator(".step", has_text=QUESTION).wait_for()
        assert bool(await page.evaluate(moving)) == (motion == "no-preference")
        assert await axe(page, dark=True) == []
        gate.set()
        await finished(page)
        assert await page.locator(".skeleton").is_hidden()


async def test_on_paper_there_are_the_answer_and_its_sources_only(scripted: Scripted, browser: Any) -> None:
    scripted.begin(says("SearXNG 支持 json[3]。"))
    page = await scripted.stage.page(browser)
    await answered(page, scripted.stage)
    await page.emulate_media(media="print")
    for gone in (".rail", ".dock", ".tools"):
        assert await page.locator(gone).is_hidden(), gone
    for there in (".turn h2", ".md", ".references", ".evidence .source >> nth=0"):
        assert await page.locator(there).is_visible(), there
