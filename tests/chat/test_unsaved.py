"""An answer is never lost because the store fails at its end: it is shown, kept, and saved when the store is back."""

from __future__ import annotations

import asyncio
import gc
import json
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from support.disk import full_disk
from support.oai import hold, reply, serve_model
from support.postgres import binaries, postgres
from support.talk import of, openai, talking
from support.timing import PATIENCE, soon
from suyuan.chat import runs
from suyuan.chat.events import Answer, Notice, TextDelta
from suyuan.chat.runs import Run
from suyuan.chat.service import ChatService
from suyuan.client import AsyncClient
from suyuan.core.notices import Notices
from suyuan.core.secret import Secret

LONG = "word " * 3_000


async def begun(client: AsyncClient, text: str = "count") -> Run:
    """A run whose text has begun to come."""
    run = await client.chat.ask((await client.chat.create(search=False)).id, text)
    async for _, event in run.follow():
        if isinstance(event, TextDelta):
            break
    return run


async def all_events(run: Run) -> list[object]:
    async with asyncio.timeout(PATIENCE):
        return [event async for _, event in run.follow()]


async def test_a_full_disk_at_the_end_of_an_answer_loses_nothing(tmp_path: Path) -> None:
    go_on = threading.Event()
    with serve_model([[reply("first "), hold(go_on), reply(LONG)]]) as model:
        async with talking(openai(model.url), folder=tmp_path) as (client, _):
            run = await begun(client)
            changes = asyncio.ensure_future(_kinds(client.chat, run.conversation))
            with full_disk(tmp_path):
                go_on.set()
                *events, answer = await all_events(run)
                assert isinstance(answer, Answer) and answer.unsaved and answer.text.startswith("first word")
                [notice] = [event for event in events if isinstance(event, Notice)]
                assert notice.failure.detail_code == "not_saved" and "not saved yet" in notice.failure.message()
                assert not client.chat.running(run.conversation), "it is not stuck"
                shown = client.chat.messages(run.conversation)[-1]
                assert shown.text == answer.markdown and shown.state == "done" and shown.answer
                assert shown.answer["unsaved"] and client.chat.is_unsaved(run.id)
                assert "not_saved" in json.dumps(client.chat.events(run.id))
            assert await soon(lambda: not client.chat.is_unsaved(run.id)), "it is saved when there is room again"
            async with asyncio.timeout(PATIENCE):
                assert "run.saved" in await changes
            kept = client.chat.store.messages(run.conversation)[-1]
            assert kept.text == answer.markdown and kept.state == "done" and kept.answer
            assert kept.answer["unsaved"] is False and "not_saved" not in json.dumps(client.chat.store.events(run.id))
            assert not list((tmp_path / "unsaved").glob("*"))


async def _kinds(chat: ChatService, id: str) -> list[str]:
    kinds: list[str] = []
    with chat.watching(id) as changes:
        while "run.saved" not in kinds:
            kinds.append((await changes.get()).kind)
    return kinds


async def test_an_answer_that_outlives_its_process_only_in_a_file_is_saved_by_the_next(tmp_path: Path) -> None:
    go_on = threading.Event()
    with serve_model([[reply("first "), hold(go_on), reply(LONG)]]) as model:
        async with talking(openai(model.url), folder=tmp_path) as (client, _):
            run = await begun(client)
            with full_disk(tmp_path):
                go_on.set()
                answer = (await all_events(run))[-1]
                assert isinstance(answer, Answer)
                await client.close()
            [file] = (tmp_path / "unsaved").iterdir()
            assert file.stat().st_mode & 0o777 == 0o600
        (tmp_path / "unsaved" / "broken.json").write_text("{")
        async with talking(openai(model.url), folder=tmp_path) as (client, _):
            kept = client.chat.store.messages(run.conversation)[-1]
            assert kept.text == answer.markdown and kept.state == "done"
            [aside] = (tmp_path / "unsaved").iterdir()
            assert aside.name.startswith("broken.json.damaged-")


_LEFT = json.dumps({"run": "0" * 32, "state": "done", "text": "kept", "answer": {}, "events": []})


@pytest.mark.parametrize("content", [_LEFT[:length] for length in range(0, len(_LEFT), 7)] + ["[]", "[" * 100_000])
async def test_a_damaged_file_of_an_answer_is_set_aside_and_told(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "unsaved"
    folder.mkdir()
    (folder / "left.json").write_text(content)
    async with talking(openai("http://127.0.0.1:9"), folder=tmp_path) as (client, _):
        assert client.chat.store.find() == []
    (aside,) = folder.iterdir()
    assert aside.name.startswith("left.json.damaged-") and aside.read_text() == content
    (notice,) = Notices(tmp_path).open()
    assert notice.failure.detail_code == "answer_damaged" and str(aside) in notice.failure.message()


async def test_half_of_a_character_does_not_cost_an_answer_that_is_not_saved(tmp_path: Path) -> None:
    go_on = threading.Event()
    with serve_model([[reply("first "), hold(go_on), reply("half \ud83d " + LONG)]]) as model:
        async with talking(openai(model.url), folder=tmp_path) as (client, _):
            run = await begun(client)
            with full_disk(tmp_path):
                go_on.set()
                answer = (await all_events(run))[-1]
                assert isinstance(answer, Answer) and answer.unsaved and answer.text.startswith("first half  word")
            assert await soon(lambda: not client.chat.is_unsaved(run.id))
            assert client.chat.store.messages(run.conversation)[-1].text.startswith("first half")


async def test_a_locked_store_delays_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "_SAVE_SECONDS", 0.3)
    go_on = threading.Event()
    with serve_model([[reply("first "), hold(go_on), reply("second")]]) as model:
        async with talking(openai(model.url), folder=tmp_path) as (client, _):
            run = await begun(client)
            other = sqlite3.connect(tmp_path / "chat.sqlite", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            started = time.monotonic()
            go_on.set()
            events = await all_events(run)
            assert time.monotonic() - started < 20, "SQLite alone would wait for 30 seconds"
            answer = events[-1]
            assert isinstance(answer, Answer) and answer.unsaved and answer.text == "first second"
            other.execute("ROLLBACK")
            other.close()
            assert await soon(lambda: not client.chat.is_unsaved(run.id))
            assert client.chat.store.messages(run.conversation)[-1].text == "first second"


# A connection that the server ends while it is being made is left to the garbage collector by its library.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_database_server_that_stops_and_returns_loses_nothing(tmp_path: Path) -> None:
    if (programs := binaries()) is None:
        pytest.skip("PostgreSQL is not installed on this machine")
    go_on = threading.Event()
    with postgres(programs) as server, serve_model([[reply("first "), hold(go_on), reply("second")]]) as model:
        async with talking(openai(model.url), folder=tmp_path, store=Secret(server.fresh())) as (client, _):
            run = await begun(client)
            with server.stopped():
                go_on.set()
                events = await all_events(run)
                answer = events[-1]
                assert isinstance(answer, Answer) and answer.unsaved and answer.text == "first second"
                assert of(events, Notice)[0].failure.detail_code == "not_saved"  # type: ignore[arg-type]
                assert list((tmp_path / "unsaved").glob("*.json"))
            assert await soon(lambda: not client.chat.is_unsaved(run.id))
            kept = client.chat.store.messages(run.conversation)[-1]
            assert (kept.text, kept.state) == ("first second", "done")
    gc.collect()


async def test_many_questions_at_once_after_a_failure_save_each_answer_once(tmp_path: Path) -> None:
    """Each new question first saves what is not saved; those that come together must not fall over each other."""
    go_on = threading.Event()
    with serve_model([[reply("first "), hold(go_on), reply(LONG)], *[[reply("next")]] * 4]) as model:
        async with talking(openai(model.url), folder=tmp_path) as (client, _):
            run = await begun(client)
            with full_disk(tmp_path):
                go_on.set()
                await all_events(run)
                assert client.chat.is_unsaved(run.id)
            others = await asyncio.gather(*(begun(client) for _ in range(4)))
            assert [(await other.wait()).text for other in others] == ["next"] * 4
            assert client.chat.store.messages(run.conversation)[-1].state == "done"
