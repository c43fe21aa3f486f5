"""Answers and conversations on the page, in a real Chromium, with the whole product behind it."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.screens import (
    DESKTOP,
    LONG,
    PHONE,
    QUESTION,
    RESULTS,
    Scripted,
    Stage,
    answered,
    axe,
    conversation_of,
    count_is,
    finished,
    opened,
    picture,
    put_question,
    stage,
    state_is,
    value_is,
)
from support.chromium import require_chromium
from support.oai import Answering, error, think, tool_call
from support.oai import reply as says
from support.site import Reply, Seen, json_reply
from suyuan.core.document import Document
from suyuan.core.engine import EngineSettings
from suyuan.core.secret import Secret

require_chromium()
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.req("C4.4", "C5.1", "C5.3", "C11.4", "C11.3")
async def test_an_answer_shows_its_sources_and_citations_link_to_them(
    plain: Stage, browser: Any, asked: tuple[str, str]
) -> None:
    page = await plain.page(browser)
    answer = await opened(page, asked)
    assert await answer.locator(".tile").count() == await page.locator(".evidence .source").count() == 5
    assert await answer.locator(".references h3").first.inner_text() == "参考文献"
    listed = answer.locator(".references li")
    cited = set(await answer.locator(".md .cite").all_inner_texts())
    assert {await listed.nth(i).locator(".n").inner_text() for i in range(await listed.count())} == cited
    for i in range(await listed.count()):
        link = listed.nth(i).locator("a.title")
        number = int(await listed.nth(i).locator(".n").inner_text())
        expected = RESULTS[number - 1]
        assert (await link.inner_text(), await link.get_attribute("href")) == (expected["title"], expected["url"])
        said = await listed.nth(i).inner_text()
        assert expected["url"][:60] in said and expected["url"].split("/")[2] in said
    cite = answer.locator("sup a.cite").first
    number = int(await cite.inner_text())
    assert await cite.get_attribute("href") == RESULTS[number - 1]["url"]
    # The number stands above the middle of its line.
    raised = """each => {
        const range = document.createRange(), box = each.getBoundingClientRect();
        range.selectNodeContents(each.closest("sup").previousSibling);
        const text = [...range.getClientRects()].at(-1);
        return (text.top + text.bottom) / 2 - (box.top + box.bottom) / 2;
    }"""
    assert await cite.evaluate(raised) > 0
    shown = await page.locator(".evidence .source .n").all_inner_texts()
    assert sorted(map(int, shown)) == [1, 2, 3, 4, 5]
    for i in range(5):
        source = page.locator(".evidence .source").nth(i)
        counted = int(await source.locator(".n").first.inner_text())
        assert await source.locator("a.title").first.get_attribute("href") == RESULTS[counted - 1]["url"]
    await picture(page, "answer-desktop-light-zh")
    async with page.context.expect_page(timeout=10_000):
        await cite.click()
    assert plain.offsite[-1].startswith(RESULTS[number - 1]["url"])


@pytest.mark.req("C3.1", "C11.5", "C5.1")
async def test_during_a_search_the_page_shows_query_and_engine(scripted: Scripted, browser: Any) -> None:
    gate, running = asyncio.Event(), scripted.stage
    scripted.begin(says("没有任何标记。"), gate=gate)
    page = await running.page(browser)
    await page.goto(running.url)
    await put_question(page, QUESTION)
    await page.locator(".status", has_text=f"正在搜索“{QUESTION}”").wait_for()
    assert await page.locator(".answer[aria-busy=true] .pulse").is_visible()
    gate.set()
    answer = await finished(page)
    assert re.search(r"5 个来源 · SearXNG，\d+\.\d+ 秒", await answer.locator(".status").inner_text())
    # An answer without markers has sources, but no references (C11.5).
    assert await answer.locator(".references, .cite").count() == 0
    await sources_are_visible(page)


async def sources_are_visible(page: Any) -> None:
    """Every source shows its title, its address and a short snippet, without a touch."""
    sources = page.locator(".evidence .source")
    assert await sources.count() == len(RESULTS[:5])
    for number, expected in enumerate(RESULTS[:5], 1):
        source = page.locator(f".evidence [data-source='{number}']")
        assert await source.locator(".title").inner_text() == expected["title"]
        assert await source.locator(".title").get_attribute("href") == expected["url"]
        for part, text in ((".url", expected["url"][:60]), (".snippet", expected["content"][:40])):
            shown = source.locator(part)
            assert await shown.is_visible() and text in await shown.inner_text(), (number, part)
        assert len(await source.locator(".snippet").inner_text()) <= 200


@pytest.mark.req("C5.1", "C11.5")
@pytest.mark.parametrize("lang", ["zh-CN", "en-US"])
async def test_on_a_phone_the_sources_stand_below_the_answer(
    plain: Stage, browser: Any, asked: tuple[str, str], lang: str
) -> None:
    page = await plain.page(browser, lang=lang, viewport=PHONE, has_touch=True, is_mobile=True)
    answer = await opened(page, asked)
    await sources_are_visible(page)
    text, column = await answer.locator(".md").bounding_box(), await page.locator(".evidence").bounding_box()
    assert column["y"] >= text["y"] + text["height"] and column["x"] + column["width"] <= PHONE["width"]
    await page.locator(".evidence .source").last.scroll_into_view_if_needed()
    await picture(page, f"sources-phone-{lang[:2]}")


async def test_a_citation_shows_its_sentence_and_its_source(plain: Stage, browser: Any, asked: tuple[str, str]) -> None:
    page = await plain.page(browser)
    answer = await opened(page, asked)
    cite, source = answer.locator(".md .cite").first, page.locator(".source.hot")
    number = int(await cite.inner_text())
    await cite.hover()
    await source.wait_for()
    assert await source.get_attribute("data-source") == str(number)
    said = await source.inner_text()
    assert RESULTS[number - 1]["title"] in said and "✓ 搜索摘要支持此说法" in said and "搜索于 20" in said
    assert (await source.locator("blockquote").inner_text()) in RESULTS[number - 1]["content"]
    assert "#:~:text=" in (await source.get_by_text("打开原文位置").get_attribute("href") or "")
    assert (await source.locator(".passage").get_by_text("归档原文").get_attribute("href") or "").startswith("/source/")
    sentence = await page.evaluate("[...CSS.highlights.get('sentence')].map(String).join('')")
    assert sentence and sentence.rstrip("。") in RESULTS[number - 1]["content"]
    await picture(page, "evidence-desktop-light-zh")
    widths = await page.evaluate(
        "[...document.querySelectorAll('.rail, .evidence')].map((each) => each.getBoundingClientRect().width)"
    )
    assert sum(widths) <= 0.36 * DESKTOP["width"]
    assert (await answer.locator(".md").bounding_box())["y"] <= 200
    # By keyboard: focus marks it, a key leads to its source, Escape leads back.
    await page.mouse.move(300, 2)
    await page.keyboard.press("Escape")
    await source.wait_for(state="detached")
    await answer.locator(".steps summary").focus()
    while not await page.evaluate("document.activeElement.classList.contains('cite')"):
        await page.keyboard.press("Tab")
    await source.wait_for()
    await page.keyboard.press("e")
    assert await page.evaluate("document.activeElement.closest('.source.hot') !== null")
    await page.keyboard.press("Escape")
    assert await page.evaluate("document.activeElement.classList.contains('cite')")


async def test_where_there_is_no_column_a_card_shows_the_source(
    plain: Stage, browser: Any, asked: tuple[str, str]
) -> None:
    page = await plain.page(browser, viewport={"width": 1000, "height": 800})
    answer = await opened(page, asked)
    cite, card = answer.locator(".md .cite").first, page.locator(".card")
    await cite.hover()
    await card.wait_for()
    assert RESULTS[int(await cite.inner_text()) - 1]["title"] in await card.inner_text()
    box = await card.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 1000 and box["y"] + box["height"] <= 800
    await page.mouse.move(500, 2)
    await card.wait_for(state="detached")
    await answer.locator(".tiles").click()
    await page.locator(".evidence[role=dialog]").wait_for()
    await page.keyboard.press("Escape")
    await page.locator(".evidence[role=dialog]").wait_for(state="detached")


async def _mark_as_read(stage: Stage, run: str, number: int, document: Document) -> None:
    """Make ``document`` the text that the stored answer cites."""
    store = stage.client.chat.store
    message = store.message(run)
    assert message is not None and message.answer is not None
    reading = {"read_from": document.final_url, "read_at": document.fetched_at, "sha256": document.sha256}
    sources = [{**source, **(reading if source["number"] == number else {})} for source in message.answer["sources"]]
    store.finish(run, state=message.state, text=message.text, answer={**message.answer, "sources": sources})


async def test_the_archived_passage_can_be_read(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    answer = await answered(page, plain)
    run, number = await answer.get_attribute("data-run"), await answer.locator(".cite").first.inner_text()
    await page.goto(f"{plain.url}/source/{run}/{number}")
    assert await page.locator("h1").inner_text() == RESULTS[int(number) - 1]["title"]
    assert (await page.locator(".archived mark").first.inner_text()) in RESULTS[int(number) - 1]["content"]
    assert "只保存了搜索结果摘要" in await page.locator("main").inner_text()
    kept = f"前言。\n\n{RESULTS[int(number) - 1]['content']}\n\n后记 <b>。"
    assert plain.client.archive is not None
    url = RESULTS[int(number) - 1]["url"]
    document = Document(url, url, "T", kept, "text/html", "2026-01-02T03:04:05+00:00")
    await plain.client.archive.put(document)
    await page.reload()
    assert "后记" not in await page.locator(".archived").inner_text(), "a later reading is not what was cited"
    await _mark_as_read(plain, run, int(number), document)
    await plain.client.archive.put(replace(document, text="另一个版本。", fetched_at="2026-01-03T03:04:05+00:00"))
    await page.reload()
    assert (
        "后记 <b>。" in await page.locator(".archived").inner_text()
        and await page.locator(".archived mark").count() == 1
    )
    shown = await page.locator("main").inner_text()
    assert f"读取自 {url}" in shown and "2026-01-02" in shown
    assert document.sha256 in await page.locator(".hash").inner_text()
    gone = await page.goto(f"{plain.url}/source/{run}/99")
    assert gone.status == 404 and "没有这个来源" in await page.locator("main").inner_text()


@pytest.mark.req("C7.1", "C2.4", "C6.4")
async def test_a_search_that_failed_and_one_that_another_engine_answered(tmp_path: Path, browser: Any) -> None:
    found = [{"title": each["title"], "url": each["url"], "description": each["content"]} for each in RESULTS]

    def brave(seen: Seen) -> Reply:
        return json_reply(json.dumps({"web": {"results": found}}))

    def with_brave(url: str) -> dict[str, EngineSettings]:
        return {"brave": EngineSettings(base_url=url, api_key=Secret("key"), rate_per_minute=0)}

    script = [says("我只凭记忆回答。")]
    async with stage(tmp_path, script=script, handler=brave, searxng_up=False, more_engines=with_brave) as running:
        page = await running.page(browser)
        await page.goto(running.url)
        await put_question(page, QUESTION)
        answer = await finished(page)
        # The line names who answered; the receipt has the rest.
        status = await answer.locator(".status").inner_text()
        assert re.search(r"Brave Search，[\d.]+ 秒", status) and "SearXNG" not in status
        await answer.locator(".steps summary").click()
        receipt = await answer.locator(".steps .receipt").first.inner_text()
        assert re.search(r"SearXNG 无法连接 → Brave Search，5 条结果，[\d.]+ 秒", receipt)
        assert await answer.locator(".flag.unverified, .notice").count() == 0
        # Message, hint, guide and remark.
        await page.select_option("[name=engine]", "searxng")
        await value_is(page, "engine", "searxng")
        await put_question(page, "港珠澳大桥有多长?")
        answer = await finished(page, 2)
        notice = answer.locator(".notice.warning")
        assert "SearXNG" in await notice.inner_text()
        assert await notice.locator('a[href="/guide/searxng"]').count() == 1
        assert await answer.locator(".flag.unverified").inner_text() == "未经搜索验证"
        assert "我只凭记忆回答。" in await answer.locator(".md").inner_text()
        assert "搜索失败" in await answer.locator(".status").inner_text()
        # On a phone too, what helps is seen.
        await page.set_viewport_size(PHONE)
        assert await notice.locator(".hint").is_visible() and await axe(page, dark=True) == []
        await page.set_viewport_size(DESKTOP)
        await answer.locator(".steps summary").click()
        assert "无法连接" in await answer.locator(".steps .receipt").first.inner_text()
        await picture(page, "failed-desktop-light-zh")
        await page.goto(f"{running.url}/guide/searxng")
        assert "docker" in (await page.locator("article").inner_text()).lower()


@pytest.mark.req("C15.3")
async def test_the_list_of_an_agent_is_there_also_where_nothing_is_cited(scripted: Scripted, browser: Any) -> None:
    running = scripted.stage
    scripted.begin([tool_call("web_search", {"query": "SearXNG 隐私"})], says("没有任何标记。"))
    page = await running.page(browser)
    await page.goto(running.url)
    await page.click("[value=agent]")
    await state_is(page, "disabled")
    await put_question(page, QUESTION)
    answer = await finished(page)
    assert await answer.locator(".references h4").all_inner_texts() == ["第 1 轮搜索：“SearXNG 隐私”"]
    assert await answer.locator(".references li").count() == 5 and await answer.locator(".cite").count() == 0


@pytest.mark.req("C15.3", "C11.6")
async def test_an_agents_steps_and_sources_are_shown_by_round(scripted: Scripted, browser: Any) -> None:
    script: list[Answering] = [
        [think("先想一想。"), tool_call("web_search", {"query": "SearXNG 隐私"})],
        [tool_call("web_search", {"query": "SearXNG API"})],
        says(LONG, delay=0.01),
    ]
    gate = asyncio.Event()
    running = scripted.stage
    scripted.begin(*script, gate=gate)
    page = await running.page(browser)
    await page.goto(running.url)
    await page.click("[value=agent]")
    await state_is(page, "disabled")
    await put_question(page, QUESTION)
    await page.locator(".step.running", has_text="SearXNG 隐私").wait_for()
    gate.set()
    answer = await finished(page)
    assert await answer.locator(".step").count() == 2
    heads = await answer.locator(".references h4").all_inner_texts()
    assert heads == ["第 1 轮搜索：“SearXNG 隐私”", "第 2 轮搜索：“SearXNG API”"]
    first = answer.locator(".references ol").first
    assert await first.locator("li", has=page.locator(".tag")).locator(".n").all_inner_texts() == [
        "1",
        "2",
        "3",
        "5",
    ]
    assert "[9]" in await answer.locator(".md").inner_text()
    verdicts = await answer.locator(".cite").evaluate_all(
        "all => all.map((each) => each.dataset.cite + ' ' + each.dataset.verdict)"
    )
    assert verdicts == ["1 supported", "2 supported", "3 supported", "5 unread"]
    assert "先想一想" in (await answer.locator(".thought").text_content() or "")
    await picture(page, "agent-desktop-light-zh")
    assert await axe(page) == []
    before = await answer.locator(".md").inner_html()
    await page.reload()
    assert await page.locator(".md").inner_html() == before


async def test_edit_retry_suggest_and_copy(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer = await answered(page, plain)
    await answer.locator("[data-action=copy]").click()
    await page.locator(".toast", has_text="已复制").wait_for()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert "](https://" in copied and "## 参考文献" in copied
    run = await answer.get_attribute("data-run")
    await answer.locator("[data-action=retry]").click()
    await page.locator(f".answer:not([data-run='{run}'])").wait_for()
    answer = await finished(page)
    assert await page.locator(".turn").count() == 1
    assert await answer.locator(".versions").inner_text() == "2/2"
    # The query can be edited and run again.
    await answer.locator(".steps summary").click()
    await answer.locator("[data-action=requery]").first.click()
    await page.fill(".requery input", "SearXNG API")
    await page.press(".requery input", "Enter")
    await page.locator(".answer[data-state=done] .versions", has_text="3/3").wait_for()
    assert plain.engine is not None and plain.engine.seen[-1].params.get("q") == "SearXNG API"
    answer = page.locator(".answer")
    await answer.locator("[data-action=version]").first.click()
    await page.locator(".versions", has_text="2/3").wait_for()
    await answer.locator("[data-action=version]").first.click()
    await page.locator(f".answer[data-run='{run}'] .versions", has_text="1/3").wait_for()
    await page.hover(".question")
    await page.click("[data-action=edit]")
    await page.fill(".editor textarea", "SearXNG 支持哪些格式?")
    await page.press(".editor textarea", "Enter")
    await page.locator(".turn h2", has_text="支持哪些格式").wait_for()
    answer = await finished(page)
    assert await page.locator(".turn").count() == 1
    await answer.locator(".suggestions button").first.click()
    await finished(page, 2)
    assert await page.locator(".turn").count() == 2
    for form in ("md", "html", "json", "bib"):
        target = await page.locator(f".export a[href$='form={form}']").first.get_attribute("href")
        assert (await page.request.get(plain.url + target)).ok, form


async def test_conversations_are_found_renamed_deleted_and_restored(scripted: Scripted, browser: Any) -> None:
    running = scripted.stage
    scripted.begin(says("SearXNG 支持 json[3]。"))
    for each in running.client.chat.store.find():
        running.client.chat.store.delete(each.id)
    page = await running.page(browser)
    await answered(page, running, "SearXNG 是什么?")
    await answered(page, running, "它支持 json 吗?")
    entries = page.locator("#list li")
    assert await entries.count() == 2
    await page.fill(".find input", "是什么")
    await count_is(entries, 1)
    await page.fill(".find input", "")
    await count_is(entries, 2)
    assert "今天" in await page.locator("#list h2").inner_text()
    await entries.nth(1).hover()
    await entries.nth(1).locator("[data-action=pin]").click()
    await page.locator("#list h2", has_text="置顶").wait_for()
    await entries.first.hover()
    await entries.first.locator("[data-action=pin]").click()
    await page.locator("#list h2", has_text="置顶").wait_for(state="detached")
    await entries.nth(1).hover()
    await entries.nth(1).locator("[data-action=rename]").click()
    await page.keyboard.type("我的<b>会话</b>")
    await page.keyboard.press("Enter")
    await page.locator("#list a", has_text="我的<b>会话</b>").wait_for()
    await entries.nth(1).hover()
    await entries.nth(1).locator("[data-action=delete]").click()
    await page.locator(".toast", has_text="会话已删除").wait_for()
    await count_is(entries, 1)
    await page.click(".toast button >> nth=0")
    await count_is(entries, 2)
    await page.locator("#list [data-action=select]").focus()
    await page.keyboard.press("Enter")
    for box in await page.locator("#list [type=checkbox]").all():
        await box.check()
    await page.click(".bulk .button")
    await page.locator(".toast", has_text="已删除 2 个会话").wait_for()
    await count_is(entries, 0)
    await page.click(".toast button >> nth=0")
    await page.wait_for_load_state()
    await count_is(entries, 2)


async def test_a_conversation_becomes_a_pdf_by_a_button(plain: Stage, browser: Any, asked: tuple[str, str]) -> None:
    page = await plain.page(browser)
    answer = await opened(page, asked)
    await answer.locator(".export summary").click()
    async with page.expect_download() as download:
        await answer.locator("[data-form=pdf]").click()
    file = await download.value
    begin = await asyncio.to_thread(Path(await file.path()).read_bytes)
    assert file.suggested_filename.endswith(".pdf") and begin.startswith(b"%PDF-")
    # Where the server cannot, the page says why.
    await page.route("**/export/**", lambda route: route.fulfill(status=503, json={"error": {"message": "no browser"}}))
    await answer.locator("[data-form=pdf]").click()
    await page.locator(".toast", has_text="no browser").wait_for()


async def test_the_list_folds_and_keys_lead_through_the_questions(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    await answered(page, plain)
    await put_question(page, "SearXNG 支持哪些格式?")
    await finished(page, 2)
    await page.click("[data-action=fold]")
    assert (await page.locator(".rail").bounding_box())["width"] < 60
    await page.reload()
    await page.locator("html[data-ready]").wait_for()
    assert await page.locator(".rail .row span >> nth=0").is_hidden(), "it stays folded"
    assert await page.get_attribute("[data-action=fold]", "aria-expanded") == "false" and await axe(page) == []
    await page.click("[data-action=fold]")
    await page.locator(".turn h2").first.click()
    for key, place in (("k", 0), ("j", 1), ("k", 0)):
        await page.keyboard.press(key)
        assert await page.locator(".turn h2").nth(place).evaluate("each => each === document.activeElement")
    await page.keyboard.press("/")
    assert await page.evaluate("document.activeElement.id") == "ask"


async def test_when_the_model_fails_the_built_in_one_can_answer(scripted: Scripted, browser: Any) -> None:
    scripted.begin(error(400, "this model is broken"))
    page = await scripted.stage.page(browser, lang="en-US")
    answer = await answered(page, scripted.stage)
    assert "this model is broken" in await answer.locator(".notice.error").inner_text()
    assert await axe(page, dark=True) == []
    await answer.get_by_role("button", name="Answer with the built-in model").click()
    await page.locator(".answer[data-state=done] .cite").first.wait_for()
    assert conversation_of(page, scripted.stage).model == "embedded"


async def test_without_the_built_in_model_nothing_is_asked_again(scripted: Scripted, browser: Any) -> None:
    scripted.begin(error(400, "this model is broken"))
    page = await scripted.stage.page(browser, lang="en-US")
    answer = await answered(page, scripted.stage)

    async def refuse(route: Any) -> None:
        await (
            route.fulfill(status=503, json={"error": {"message": "not now"}})
            if route.request.method == "PATCH"
            else route.continue_()
        )

    retried = []
    page.on("request", lambda request: retried.append(request.url) if request.url.endswith("/retry") else None)
    await page.route("**/api/conversations/*", refuse)
    await answer.get_by_role("button", name="Answer with the built-in model").click()
    await page.locator(".toast", has_text="not now").wait_for()
    await page.evaluate("fetch('/healthz').then((answer) => answer.status)")
    assert retried == [] and await page.locator(".answer[data-state=failed]").count() == 1
