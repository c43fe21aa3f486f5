"""What the tests of the page share: a browser, the product without configuration, and one whose model has a script."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from server.screens import QUESTION, Script, Scripted, Stage, chromium, engines, stage
from support.timing import soon
from suyuan.core.engine import EngineSettings


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Any]:
    async with chromium() as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plain_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """The product as it is without any configuration, with a SearXNG."""

    def brave(url: str) -> dict[str, EngineSettings]:
        return {"brave": EngineSettings(base_url=url, rate_per_minute=0)}

    async with stage(tmp_path_factory.mktemp("plain"), handler=engines, more_engines=brave) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def plain(plain_stage: Stage) -> AsyncIterator[Stage]:
    """The same for one test, without the windows of the last."""
    yield plain_stage
    await plain_stage.leave()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scripted_stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scripted]:
    script = Script()
    folder = tmp_path_factory.mktemp("scripted")
    async with stage(folder, script=[script.answer], handler=lambda seen: script.search(seen)) as running:
        yield Scripted(running, script.begin)


@pytest_asyncio.fixture(loop_scope="module")
async def scripted(scripted_stage: Scripted) -> AsyncIterator[Scripted]:
    """The same for one test, without the windows of the last."""
    scripted_stage.stage.offsite.clear()
    yield scripted_stage
    await scripted_stage.stage.leave()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def asked(plain_stage: Stage) -> tuple[str, str]:
    """A conversation with one answer: its address and the id of the answer."""
    chat = plain_stage.client.chat
    made = chat.store.create(search=True, lang="zh")
    async with aiohttp.ClientSession() as client:
        path = f"{plain_stage.url}/api/conversations/{made.id}/messages"
        async with client.post(path, json={"text": QUESTION}) as begun:
            run = (await begun.json())["run"]
    assert await soon(lambda: (message := chat.store.message(run)) is not None and message.state == "done")
    return f"{plain_stage.url}/c/{made.id}", run
