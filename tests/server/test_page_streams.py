"""What the page says where it may not follow an answer or a research job, and that it goes on afterwards."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from server.screens import finished, put_question
from server.serving import Served, client, serving, settings_of
from support.chromium import require_chromium
from support.oai import hold, serve_model
from support.oai import reply as says
from support.talk import openai
from support.timing import PATIENCE

require_chromium()
pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMIT = 2


@asynccontextmanager
async def all_taken(served: Served) -> AsyncIterator[None]:
    """Another program of this machine has all the live connections that its address may have."""
    async with client(served.url) as ask:
        path = f"/api/conversations/{await ask.conversation()}/changes"
        opened: list[aiohttp.ClientResponse] = [await ask.session.get(ask.url + path) for _ in range(LIMIT)]
        assert {response.status for response in opened} == {200}
        yield
        for response in opened:
            response.close()


async def test_a_page_that_may_not_follow_its_answer_says_why_and_follows_it_later(
    tmp_path: Path, browser: Any
) -> None:
    go_on = threading.Event()
    with (
        serve_model([[says("The beginning, "), hold(go_on), says("and the end.")]]) as model,
        serving(settings_of(data=tmp_path, model=openai(model.url)), streams_per_client=LIMIT) as served,
    ):
        page = await browser.new_page(locale="en-US")
        page.set_default_timeout(PATIENCE * 1000)
        await page.goto(served.url)
        await page.click("#search")
        async with all_taken(served):
            await put_question(page, "A question?")
            told = page.locator(".toast", has_text="server.streamsPerClient")
            await told.wait_for()
            assert "127.0.0.1 has 2 live connections open" in await told.inner_text()
        # Nobody has to do anything: the page follows as soon as there is room.
        await page.locator(".answer .md", has_text="The beginning,").wait_for()
        go_on.set()
        assert "and the end." in await (await finished(page)).locator(".md").inner_text()
        await page.close()


async def test_a_research_page_that_may_not_follow_its_job_says_why(tmp_path: Path, browser: Any) -> None:
    with serving(settings_of(data=tmp_path), streams_per_client=LIMIT) as served:
        research = served.app.state.client.research_service
        # One that waits: no process works on it.
        job = research.store.create("How tall is it?", research_request("How tall is it?"))
        page = await browser.new_page(locale="zh-CN")
        page.set_default_timeout(PATIENCE * 1000)
        async with all_taken(served):
            await page.goto(f"{served.url}/research/{job.id}")
            told = page.locator("#problem", has_text="server.streamsPerClient")
            await told.wait_for()
            assert "127.0.0.1 已打开 2 个实时连接" in await told.inner_text()
        await page.locator("#problem").wait_for(state="hidden")
        await page.close()


def research_request(question: str) -> dict[str, Any]:
    from suyuan.research.request import ResearchRequest

    return ResearchRequest.of(question).as_dict()
