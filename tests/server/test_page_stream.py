"""An answer that is being written on the page: reloads, reconnections, other processes, stop."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from typing import Any

import aiohttp
import pytest

from server.screens import LONG, QUESTION, Scripted, Stage, becomes, finished, picture, put_question
from support.chromium import require_chromium
from support.oai import hold
from support.oai import reply as says
from support.timing import PATIENCE, soon
from suyuan.chat.events import Answer

require_chromium()
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_reload_during_an_answer_loses_and_repeats_nothing(scripted: Scripted, browser: Any) -> None:
    begin, end = LONG[: LONG.index("## ")], LONG[LONG.index("## ") :]
    go_on = threading.Event()
    running = scripted.stage
    scripted.begin([says(begin), hold(go_on), says(end, delay=0.01)])
    page = await running.page(browser)
    await page.goto(running.url)
    await page.evaluate(
        "() => { window.shift = 0; "
        "new PerformanceObserver((list) => list.getEntries().forEach((each) => window.shift += each.value))"
        ".observe({type: 'layout-shift', buffered: false}) }"
    )
    await put_question(page, QUESTION)
    await page.locator(".md .cite").first.wait_for()
    assert await page.evaluate("window.shift") < 0.05
    await page.reload()
    assert await page.locator(".answer[data-state=running]").count() == 1
    assert await page.locator(".stop").is_visible()
    go_on.set()
    answer = await finished(page)
    told = await answer.locator(".md").inner_text()
    assert told.count("自由的元搜索引擎") == 1 and told.count("先启动容器") == 1 and "不会被建立档案" in told
    live = await answer.locator(".md").inner_html()
    await page.reload()
    assert await page.locator(".answer .md").inner_html() == live


async def test_an_answer_that_another_process_writes_is_followed_too(plain: Stage) -> None:
    running = plain
    async with aiohttp.ClientSession() as client:
        store, run = running.client.chat.store, "anotherprocess01"
        conversation = store.create()
        store.begin_turn(conversation.id, QUESTION, run)
        store.keep_text(run, "第一段")
        seen: list[dict[str, Any]] = []
        following = asyncio.ensure_future(_messages(client, f"{running.url}/stream/{run}", found=seen))
        assert await soon(lambda: len(seen) == 1)
        store.keep_text(run, "第一段\n\n第二段")
        assert await soon(lambda: len(seen) == 2)
        text = "第一段\n\n第二段\n\n完"
        store.finish(run, state="done", text=text, answer=Answer(text, text, "chat", "m", "zh").as_dict())
        messages = await asyncio.wait_for(following, PATIENCE)
        assert [each["event"] for each in messages] == ["snapshot", "snapshot", "snapshot", "answer"]
        assert [len(each["data"]["blocks"]) for each in messages] == [1, 2, 3, 3]
        assert messages[-1]["data"]["state"] == "done"


async def test_a_reconnected_stream_begins_with_a_snapshot(scripted: Scripted) -> None:
    parts = [f"{part}\n\n" for part in LONG.split("\n\n")]
    gates = [threading.Event() for _ in parts]
    steps = [step for gate, part in zip(gates, parts, strict=True) for step in (hold(gate), says(part))]
    running = scripted.stage
    scripted.begin(steps)
    async with aiohttp.ClientSession() as client:
        async with client.post(f"{running.url}/api/conversations", json={"search": True}) as made:
            id = (await made.json())["id"]
        async with client.post(f"{running.url}/api/conversations/{id}/messages", json={"text": QUESTION}) as begun:
            run = (await begun.json())["run"]
        first: list[dict[str, Any]] = []
        following = asyncio.ensure_future(_messages(client, f"{running.url}/stream/{run}", until="blocks", found=first))
        assert await soon(lambda: bool(first))
        gates[0].set()
        await asyncio.wait_for(following, PATIENCE)
        assert (
            first[0]["event"] == "snapshot" and "step" in [each["event"] for each in first] or first[0]["data"]["steps"]
        )
        rest: list[dict[str, Any]] = []
        back = {"Last-Event-ID": first[-1]["id"]}
        following = asyncio.ensure_future(_messages(client, f"{running.url}/stream/{run}", back, found=rest))
        for at, gate in enumerate(gates[1:], 1):
            # Each part is shown before the next one is written.
            assert await soon(lambda at=at: len(_shown(rest)) >= at)  # type: ignore[misc]
            gate.set()
        await asyncio.wait_for(following, PATIENCE)
        assert rest[0]["event"] == "snapshot" and rest[0]["data"]["blocks"] and rest[-1]["event"] == "answer"
        numbers = [int(each["id"]) for each in rest]
        assert numbers == sorted(numbers) and numbers[0] >= int(first[-1]["id"])
        shown = _shown(rest)
        plainly = re.compile(r' data-(claim|verdict)="\w+"')
        final = [plainly.sub("", block) for block in rest[-1]["data"]["blocks"]]
        assert shown[:-1] == final[: len(shown) - 1] and len(final) - len(shown) <= 1
        renders = sum(each["event"] == "blocks" for each in rest)
        assert len(parts) - 2 <= renders < 16 * 12
        again = await _messages(client, f"{running.url}/stream/{run}")
        assert [each["event"] for each in again] == ["snapshot", "answer"]
        async with client.get(f"{running.url}/stream/nothing") as none:
            assert none.status == 404


def _shown(messages: list[dict[str, Any]]) -> list[str]:
    """The blocks that the page shows by the first message, which is a snapshot, and those that came after it."""
    shown = list(messages[0]["data"]["blocks"]) if messages else []
    for each in messages[1:]:
        if each["event"] == "blocks":
            for i, html in each["data"]["set"]:
                shown[i : i + 1] = [html]
            del shown[each["data"]["total"] :]
    return shown


async def _messages(
    client: aiohttp.ClientSession,
    url: str,
    headers: dict[str, str] | None = None,
    until: str = "",
    found: list[dict[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """All messages of a stream; ``found`` can be looked at while they come."""
    found = [] if found is None else found
    async with client.get(url, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        message: dict[str, Any] = {}
        async for raw in response.content:
            name, _, value = raw.decode().rstrip("\n").partition(": ")
            if name:
                message[name] = json.loads(value) if name == "data" else value
            elif message:
                found.append(message)
                if message.get("event") == until:
                    return found
                message = {}
    return found


async def test_stop_keeps_the_text_so_far(scripted: Scripted, browser: Any) -> None:
    running = scripted.stage
    scripted.begin(says(LONG * 20, delay=0.05))
    page = await running.page(browser)
    await page.goto(running.url)
    await put_question(page, QUESTION)
    # Which citations are confirmed is seen while the answer is written.
    await page.locator(".answer[data-state=running] .cite[data-verdict=supported]").first.wait_for()
    await page.locator(".answer[data-state=running] .confirmed").wait_for()
    await picture(page, "writing-desktop-light-zh")
    # What the reader points at stays marked while the answer grows and its evidence changes.
    await page.locator(".md .cite").first.hover()
    await page.locator(".source.hot").wait_for()
    before = await page.locator(".answer .confirmed").inner_text()
    await page.locator(".answer .confirmed").filter(has_not_text=before).wait_for()
    assert await page.locator(".source.hot blockquote").is_visible()
    # The reader is not moved; a button leads to the end.
    await page.locator(".to-end").wait_for()
    assert await page.locator(".scroll").evaluate("each => each.scrollTop") < 20
    await page.click(".to-end")
    await page.click(".stop")
    answer = await finished(page)
    assert "已停止" in await answer.locator(".flag").inner_text()
    assert "自由的元搜索引擎" in await answer.locator(".md").inner_text()
    assert await page.locator(".send[type=submit]").is_visible()


async def test_an_answer_goes_on_when_its_page_is_looked_at_again(scripted: Scripted, browser: Any) -> None:
    more, rest = threading.Event(), threading.Event()
    scripted.begin([says("第一段。\n\n"), hold(more), says("第二段。\n\n"), hold(rest), says("第三段。\n")])
    page = await scripted.stage.page(browser)
    await page.goto(scripted.stage.url)
    await put_question(page, QUESTION)
    await page.locator(".md", has_text="第一段").wait_for()
    await page.evaluate("document.querySelector('.answer').old = true")
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await becomes(page, "!document.querySelector('.answer').old")
    more.set()
    await page.locator(".answer[data-state=running] .md", has_text="第二段").wait_for()
    rest.set()
    assert "第三段" in await (await finished(page)).locator(".md").inner_text()


async def test_what_was_loaded_before_a_question_does_not_replace_it(scripted: Scripted, browser: Any) -> None:
    scripted.begin(says("SearXNG 支持 json[3]。"))
    page = await scripted.stage.page(browser)
    await page.goto(scripted.stage.url)
    await put_question(page, QUESTION)
    await finished(page)
    late, loaded = asyncio.Event(), asyncio.Event()

    async def slow(route: Any) -> None:
        kept = await route.fetch()
        loaded.set()
        await late.wait()
        await route.fulfill(response=kept)

    await page.route("**/c/*?part=thread", slow)
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await asyncio.wait_for(loaded.wait(), PATIENCE)
    await put_question(page, "它支持 csv 吗?")
    await finished(page, 2)
    async with page.expect_response("**/c/*?part=thread"):
        late.set()
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    assert await page.locator(".turn").count() == 2
