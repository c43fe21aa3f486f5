"""An answer that is not saved yet says so on the page and in the API, until it is."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import client, serving, settings_of
from support.disk import full_disk
from support.oai import hold, reply, serve_model
from support.talk import openai
from support.timing import PATIENCE, eventually


async def test_an_answer_that_is_not_saved_yet_says_so_until_it_is(tmp_path: Path) -> None:
    go_on = threading.Event()
    with (
        serve_model([[reply("first "), hold(go_on), reply("word " * 3000)]]) as model,
        serving(settings_of(data=tmp_path, model=openai(model.url))) as served,
    ):
        async with client(served.url) as ask, asyncio.timeout(PATIENCE):
            id = await ask.conversation(search=False)
            run = await ask.ask(id)
            async for _, name, _ in ask.events(f"/api/runs/{run}/events"):
                if name == "text":
                    break
            with full_disk(tmp_path):
                go_on.set()
                *_, (_, notice, told), (_, last, answer) = await ask.all_events(f"/api/runs/{run}/events")
                assert (notice, told["failure"]["detail_code"]) == ("notice", "not_saved")
                assert last == "answer" and answer["unsaved"] and answer["text"].startswith("first word")
                _, found = await ask("GET", f"/api/conversations/{id}/messages")
                assert [each["unsaved"] for each in found["messages"]] == [False, True]
                assert found["messages"][1]["state"] == "done" and "word word" in found["messages"][1]["text"]
                _, page = await ask("GET", f"/c/{id}")
                assert "This answer is not saved yet" in page and "first word" in page
                _, stream = await ask("GET", f"/stream/{run}")
                assert "This answer is not saved yet" in stream
                _, exported = await ask("GET", f"/api/conversations/{id}/export?form=md")
                assert "first word" in exported

            async def saved() -> bool:
                _, found = await ask("GET", f"/api/conversations/{id}/messages")
                return not found["messages"][1]["unsaved"]

            assert await eventually(saved)
            _, page = await ask("GET", f"/c/{id}")
            assert "not saved yet" not in page and "first word" in page
