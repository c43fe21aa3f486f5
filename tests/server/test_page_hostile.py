"""Texts of others on the page: nothing is executed, nothing is requested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from server.screens import Scripted, Stage, answered
from support.chromium import require_chromium
from support.oai import reply as says
from suyuan.chat.events import Answer
from suyuan.citations.registry import Source
from suyuan.store.conversation import new_id

require_chromium()
pytestmark = pytest.mark.asyncio(loop_scope="module")


EVIL = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>\'"><svg/onload=window.pwned=1>{{7*7}}'


async def test_text_of_others_is_never_executed_or_fetched(scripted: Scripted, browser: Any) -> None:
    evil = [
        {
            "title": EVIL,
            "url": "https://evil.example/?a=\"><script>window.pwned=1</script>&b='x",
            "content": f"{EVIL} ![x](https://evil.example/x.png)",
        },
        {
            "title": "</script><script>window.pwned=1</script>",
            "url": "https://evil.example/2",
            "content": "[x](javascript:window.pwned=1)",
        },
        {"title": "javascript", "url": "javascript:window.pwned=1", "content": "x"},
    ]
    said = f"{EVIL} [1] [x](javascript:window.pwned=1) ![p](https://evil.example/p.png) [2]\n\n```\n{EVIL}\n```\n\n"
    said += f"| {EVIL} | b |\n|---|---|\n| [1] | 2 |\n"
    running = scripted.stage
    scripted.begin(says(said, delay=0.005), results=evil)
    page = await running.page(browser)
    await page.add_init_script(
        "window.refused = []; document.addEventListener('securitypolicyviolation', "
        "(event) => window.refused.push(event.violatedDirective + event.blockedURI))"
    )
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    answer = await answered(page, running, EVIL)
    cite = answer.locator(".cite").first
    await cite.hover()
    await page.locator(".source.hot").wait_for()
    await page.hover("#list li")
    await page.click("#list [data-action=rename]")
    await page.keyboard.type(EVIL)
    async with page.expect_response(lambda response: response.request.method == "PATCH"):
        await page.keyboard.press("Enter")
    run = await answer.get_attribute("data-run")
    url = page.url
    for place in (url, f"{running.url}/source/{run}/1", url):
        await page.goto(place)
        await page.wait_for_timeout(300)
        assert await page.evaluate("window.pwned") is None and dialogs == []
        assert await page.evaluate("window.refused") == []
        assert (
            await page.locator(
                "img, script:not([src]):not([type='application/json']), [onerror], [onload], [style*=url]"
            ).count()
            == 0
        )
    assert await page.locator(".turn h2").inner_text() == EVIL
    links = await page.locator("a[href]").evaluate_all("all => all.map((each) => each.protocol)")
    assert set(links) <= {"http:", "https:"}
    assert running.offsite == []


PAYLOADS = Path(__file__).resolve().parents[3] / "shared" / "bench" / "sec-xss"


@pytest.mark.skipif(not PAYLOADS.exists(), reason="the lists of payloads are not beside the project")
async def test_no_payload_runs_or_sends_a_request(scripted: Scripted, browser: Any) -> None:
    files = sorted(file for file in PAYLOADS.rglob("*.txt") if file.is_file())
    payloads = list(
        dict.fromkeys(
            line for file in files for line in file.read_text("utf-8", "replace").splitlines() if line.strip()
        )
    )
    assert len(payloads) > 1500
    # Every eighth here; `python -m benchmarks attack` tries them all.
    payloads = payloads[::8]
    running = scripted.stage
    page = await running.page(browser)
    await page.add_init_script(
        "window.refused = []; document.addEventListener("
        "'securitypolicyviolation', (event) => window.refused.push(event.blockedURI))"
    )
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    for at in range(0, len(payloads), 80):
        some = payloads[at : at + 80]
        await page.goto(f"{running.url}/c/{_conversation_of(running, some)}")
        handlers = await page.evaluate(
            "[...document.querySelectorAll('body *')]"
            ".filter((each) => [...each.attributes].some((own) => /^on/.test(own.name))).length"
        )
        links = await page.locator("a[href]").evaluate_all("all => all.map((each) => each.protocol)")
        assert (handlers, dialogs, await page.evaluate("window.refused")) == (0, [], []), some
        assert (
            set(links) <= {"http:", "https:"} and await page.locator("main img, iframe, object, embed").count() == 0
        ), some
    assert running.offsite == []


def _conversation_of(running: Stage, payloads: list[str]) -> str:
    """A stored conversation with the payloads as title, question, answer, and title, snippet and URL of sources."""
    store = running.client.chat.store
    id, run = store.create(title=payloads[0]).id, new_id()
    store.begin_turn(id, "\n".join(payloads), run)
    sources = tuple(Source(n, text, f"https://evil.example/{n}?{text}", text) for n, text in enumerate(payloads, 1))
    said = "\n\n".join(f"{text} [{n}]\n\n[x]({text}) ![x]({text})" for n, text in enumerate(payloads, 1))
    numbers = tuple(source.number for source in sources)
    answer = Answer(
        said, said, "chat", "m", "en", sources, ((1, payloads[-1], numbers),), numbers, suggestions=tuple(payloads[:3])
    )
    store.finish(run, state="done", text=said, answer=answer.as_dict())
    return id
