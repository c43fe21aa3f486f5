"""The settings of a conversation on the page, in a real Chromium."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from server.screens import (
    QUESTION,
    STATE,
    Stage,
    answered,
    axe,
    conversation_of,
    finished,
    opened,
    picture,
    put_question,
    state_is,
    still,
    value_is,
)
from support.chromium import require_chromium
from support.timing import slowdown
from suyuan import server

require_chromium()
pytestmark = pytest.mark.asyncio(loop_scope="module")

WEB = Path(server.__file__).parent


async def test_templates_and_script_contain_no_text_of_a_language() -> None:
    han = re.compile("[\u4e00-\u9fff]")
    files = (*WEB.rglob("*.html"), WEB / "static" / "app.js", WEB / "static" / "app.css")
    lines = [line for file in files for line in file.read_text("utf-8").splitlines() if han.search(line)]
    assert [line for line in lines if "logo" not in line] == []


@pytest.mark.req("C10.1", "C10.3")
async def test_the_settings_panel_is_part_of_the_first_page(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    await page.goto(plain.url)
    panel = page.locator("#form")
    text = await panel.inner_text()
    assert (
        "🔍" in (await panel.text_content() or "") and "联网搜索" in text and "启用后将使用SearXNG搜索实时信息" in text
    )
    assert await page.get_by_role("switch", name="联网搜索").is_checked()
    await picture(page, "new-desktop-light-zh")
    looks = [await _look(page)]
    await page.click("#search")
    await state_is(page, "off")
    looks.append(await _look(page))
    await page.click("[value=agent]")
    await state_is(page, "disabled")
    looks.append(await _look(page))
    for part in range(len(looks[0])):
        assert len({look[part] for look in looks}) == 3, looks


async def _look(page: Any) -> tuple[str, ...]:
    await still(page)
    script = """() => {
        const knob = document.querySelector("#search"), style = getComputedStyle(knob);
        const word = document.querySelector(".switch .state-text").innerText;
        return [style.backgroundColor + style.backgroundImage, getComputedStyle(knob, "::after").transform, word];
    }"""
    return tuple(await page.evaluate(script))


@pytest.mark.req("C1.1", "C10.4", "C3.2", "C5.2")
async def test_the_server_confirms_the_switch_and_the_next_message_uses_it(plain: Stage, browser: Any) -> None:
    times, kept = [], len(plain.client.chat.store.find())
    # The best of several: a busy machine can hold up one.
    for _ in range(6):
        page = await plain.page(browser)
        await page.goto(plain.url)
        times.append(
            await page.evaluate(
                f"""() => new Promise((done) => {{ const start = performance.now();
                    const over = () => {STATE} === "off" || document.querySelector(".toast");
                    const watch = new MutationObserver(() => over() && done(performance.now() - start));
                    watch.observe(document.body, {{subtree: true, attributes: true, childList: true}});
                    document.querySelector("#search").click(); }})"""
            )
        )
        if times[-1] >= 500:
            times[-1] /= slowdown()
        if times[-1] < 500:
            break
    assert min(times) < 500
    await state_is(page, "off")
    assert len(plain.client.chat.store.find()) == kept, "no conversation before the first message"
    await page.reload()
    assert await page.evaluate(STATE) == "off", "what the server confirmed is remembered"
    assert plain.engine is not None
    before = len(plain.engine.seen)
    await put_question(page, QUESTION)
    answer = await finished(page)
    assert conversation_of(page, plain).search is False and len(plain.client.chat.store.find()) == kept + 1
    assert [seen.path for seen in plain.engine.seen[before:] if seen.path == "/search"] == []
    assert await answer.locator(".tiles, .tile, .references li, .cite").count() == 0
    assert await page.locator(".evidence .source").count() == 0


@pytest.mark.req("C10.1", "C10.4")
async def test_in_a_conversation_the_panel_is_there_and_a_toggle_is_confirmed_at_once(
    plain: Stage, browser: Any, asked: tuple[str, str]
) -> None:
    """Shown and announced; what comes later than half a second is no confirmation."""
    page = await plain.page(browser)
    await opened(page, asked)
    assert await page.get_by_role("switch", name="联网搜索").is_visible()
    id = asked[0].rpartition("/")[2]
    # What a request takes here and now; a busy machine is slower.
    request = f"""async () => {{ const start = performance.now();
        await fetch("/api/conversations/{id}");
        return performance.now() - start; }}"""
    waited = max([await page.evaluate(request) for _ in range(3)])
    took: list[float] = []
    for state, words in (("off", "联网搜索已关闭"), ("on", "联网搜索已开启")) * 3:
        took.append(
            await page.evaluate(
                f"""() => new Promise((done) => {{ const start = performance.now();
                    const over = () => {STATE} === "{state}";
                    const watch = new MutationObserver(() => over() && done(performance.now() - start));
                    watch.observe(document.body, {{subtree: true, attributes: true}});
                    setTimeout(done, 10000, Infinity);
                    document.querySelector("#search").click(); }})"""
            )
        )
        await page.locator("#live", has_text=words).wait_for(state="attached", timeout=10_000)
        await page.locator("#form[aria-busy=false]").wait_for()
        kept = plain.client.chat.store.get(id)
        assert kept is not None and kept.search is (state == "on")
    assert min(took) < 500 + min(waited, 150), (took, waited)


@pytest.mark.req("C1.2", "C1.3")
async def test_in_agent_mode_the_switch_is_locked_and_restored_afterwards(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    await page.goto(plain.url)
    await page.click("#search")
    await state_is(page, "off")
    await page.click("[value=agent]")
    await state_is(page, "disabled")
    assert await page.locator("#search").is_disabled()
    assert "Agent 模式下由 AI 自动决策搜索" in await page.locator("#search-hint").inner_text()
    await page.locator("#live", has_text="Agent 模式下由 AI 自动决策搜索").wait_for(state="attached")
    await page.locator("#search").click(force=True)
    await page.locator("[value=agent]").focus()
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.id") != "search"
    assert await page.evaluate(STATE) == "disabled"
    refused = await page.evaluate(
        "async () => (await fetch('/api/draft', {method: 'PATCH', "
        "headers: {'Content-Type': 'application/json'}, body: '{\"search\": true}'})).status"
    )
    assert refused == 409
    await page.click("[value=chat]")
    await state_is(page, "off")


@pytest.mark.req("C1.1", "C1.3")
async def test_the_next_conversation_begins_with_the_switch_as_it_was_left_on_every_device(
    plain: Stage, browser: Any
) -> None:
    page = await plain.page(browser)
    await page.goto(plain.url)
    assert await page.evaluate(STATE) == "on", "of somebody who never chose"
    await page.click("#search")
    await state_is(page, "off")
    await put_question(page, QUESTION)
    await finished(page)
    assert conversation_of(page, plain).search is False
    another_device = await plain.page(browser)
    for window in (page, another_device):
        await window.goto(plain.url)
        assert await window.evaluate(STATE) == "off"
    # The switch inside of a conversation is the same one.
    await page.go_back()
    await state_is(page, "off")
    async with page.expect_response("**/api/search-switch"):
        await page.click("#search")
    await state_is(page, "on")
    for window in (page, another_device):
        await window.goto(plain.url)
        assert await window.evaluate(STATE) == "on"


async def test_the_other_settings_of_the_next_conversation_are_the_defaults_again(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    await page.goto(plain.url)
    await page.click("[value=agent]")
    await state_is(page, "disabled")
    await put_question(page, QUESTION)
    await finished(page)
    assert conversation_of(page, plain).mode == "agent"
    await page.goto(plain.url)
    assert await page.evaluate(STATE) == "on"


@pytest.mark.req("C10.4")
@pytest.mark.parametrize("trouble", ["error", "offline"])
async def test_what_the_server_does_not_confirm_is_not_shown(plain: Stage, browser: Any, trouble: str) -> None:
    page = await plain.page(browser)
    await page.goto(plain.url)

    async def refuse(route: Any) -> None:
        if trouble == "error":
            await route.fulfill(status=503, json={"error": {"message": "cannot be done", "hint": "wait"}})
        else:
            await route.abort()

    await page.route("**/api/draft", refuse)
    await page.click("#search")
    await page.locator(".toast").wait_for()
    assert await page.evaluate(STATE) == "on" and await page.locator("#search").is_checked()
    words = {"error": "cannot be done wait", "offline": "无法连接"}
    assert words[trouble] in await page.locator(".toast").inner_text()


@pytest.mark.req("C10.4")
async def test_on_a_slow_connection_everything_can_be_switched_and_nothing_is_left_behind(
    plain: Stage, browser: Any
) -> None:
    page = await plain.page(browser)
    network = await page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 560, "downloadThroughput": 6250, "uploadThroughput": 6250}
    await page.goto(plain.url)
    kept = len(plain.client.chat.store.find())
    await network.send("Network.enable")
    await network.send("Network.emulateNetworkConditions", slow)
    await page.click("#search")
    await page.locator("#form[aria-busy=true]").wait_for()
    assert await page.evaluate(STATE) == "on", "the server's word decides"
    await state_is(page, "off")
    await page.locator("#form[aria-busy=false]").wait_for()
    await page.click("[value=agent]")
    await state_is(page, "disabled")
    assert await page.locator(".toast").count() == 0 and len(plain.client.chat.store.find()) == kept
    await page.locator("#form[aria-busy=false]").wait_for()
    # Who asks before a setting is confirmed is answered with it.
    await page.click("[value=chat]")
    await put_question(page, QUESTION)
    # On a busy machine the server may have confirmed it by now.
    assert await page.evaluate(STATE) in ("disabled", "off")
    # What was asked is shown at once, before the server answers.
    await page.locator(".turn h2", has_text=QUESTION).wait_for()
    await finished(page)
    made = conversation_of(page, plain)
    assert (made.mode, made.search) == ("chat", False) and len(plain.client.chat.store.find()) == kept + 1


@pytest.mark.req("C1.1")
async def test_two_windows_of_one_conversation_show_the_same(plain: Stage, browser: Any) -> None:
    first = await plain.page(browser)
    await answered(first, plain)
    second = await first.context.new_page()
    await second.goto(first.url)
    await first.click("#search")
    await state_is(second, "off")
    await second.click("#search")
    await state_is(first, "on")
    await put_question(second, "SearXNG 支持哪些格式?")
    await finished(second, 2)
    await finished(first, 2)
    assert await first.locator(".turn h2").all_inner_texts() == await second.locator(".turn h2").all_inner_texts()


@pytest.mark.req("C1.1")
async def test_commands_can_be_typed(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    await page.goto(plain.url)
    await put_question(page, "/search off")
    await state_is(page, "off")
    await put_question(page, "/mode agent")
    await state_is(page, "disabled")
    await put_question(page, "/help")
    await page.locator(".toast", has_text="/search on").wait_for()
    await put_question(page, "/nonsense")
    await page.locator(".toast", has_text="/nonsense").wait_for()
    assert await page.input_value("#ask") == "/nonsense" and await page.locator(".turn").count() == 0


async def test_engine_and_model_are_what_the_server_uses(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser)
    await page.goto(plain.url)
    await page.select_option("[name=engine]", "searxng")
    await value_is(page, "engine", "searxng")
    await page.select_option("[name=focus]", "encyclopedia")
    await value_is(page, "focus", "encyclopedia")
    await put_question(page, QUESTION)
    await finished(page)
    made = conversation_of(page, plain)
    assert (made.engine, made.focus) == ("searxng", "encyclopedia")
    await page.reload()
    assert await page.input_value("[name=engine]") == "searxng"
    assert "stub" not in await page.locator("[name=engine]").inner_text()


@pytest.mark.req("C2.1")
async def test_language_and_theme_are_remembered(plain: Stage, browser: Any) -> None:
    page = await plain.page(browser, lang="en-US")
    await page.goto(plain.url)
    assert await page.locator(".switch .label").inner_text() == "Search the web"
    assert "SearXNG and other engines are searched" in await page.locator("#search-hint").inner_text()
    await page.goto(f"{plain.url}/settings")
    async with page.expect_navigation():
        await page.select_option("[name=theme]", "dark")
    assert await page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 22)"
    async with page.expect_navigation():
        await page.select_option("[name=lang]", "zh")
    await picture(page, "settings-desktop-dark-zh")
    assert await axe(page) == []
    # SearXNG was checked when the server started.
    assert "可用" in await page.locator("[data-engine=searxng]").inner_text()
    assert "不会向第三方透露" in await page.locator("#privacy").inner_text()
    await page.click("[data-action=doctor]")
    await page.locator("#engines .findings .ok", has_text="SearXNG").first.wait_for()
    await page.fill(".filter input", "快捷键")
    assert await page.locator(".card-box:visible").count() == 1
    await page.goto(plain.url)
    assert await page.locator(".switch .label").inner_text() == "联网搜索"
    assert await page.get_attribute("html", "data-theme") == "dark"
    cookies = {each["name"]: each for each in await page.context.cookies()}
    assert (cookies["lang"]["value"], cookies["lang"]["sameSite"], cookies["theme"]["value"]) == (
        "zh",
        "Strict",
        "dark",
    )
    missing = await page.goto(f"{plain.url}/c/nothing")
    assert missing.status == 404 and "没有会话" in await page.locator("main").inner_text()
