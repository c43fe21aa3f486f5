"""A data folder that an older release wrote (``make_data.py``) is opened by today's: everything in it is still there."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import Client, client, serving
from suyuan import Client as Suyuan
from suyuan.cli.main import main
from suyuan.config.load import load_settings
from suyuan.config.settings import Settings
from suyuan.core.errors import WebBlocked

WRITTEN = Path(__file__).parent


@pytest.fixture(params=["0.1.0", "0.2.0"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder as the release left it when it was killed, yesterday: what is old is deleted sooner or later."""
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
    written = WRITTEN / f"data-{request.param}"
    for dump in written.glob("*.sql"):
        script = re.sub(r"\d{4}-\d\d-\d\d(?=T\d\d:)", yesterday, dump.read_text(encoding="utf-8"))
        with closing(sqlite3.connect(tmp_path / dump.stem)) as database:
            database.executescript(script)
    (tmp_path / "config.json").write_text((written / "config.json").read_text(encoding="utf-8"), encoding="utf-8")
    states = json.loads((written / "engines.json").read_text(encoding="utf-8"))
    for state in states.values():
        state["until"] = time.time() + 3000
    (tmp_path / "engines.json").write_text(json.dumps(states), encoding="utf-8")
    return tmp_path


@pytest.fixture
def settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name in ("CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"SUYUAN_{name}_DIR", str(folder))
    return load_settings()


async def messages(ask: Client, title: str) -> list[dict[str, Any]]:
    _, found = await ask("GET", "/api/conversations")
    [conversation] = [each for each in found["conversations"] if each["title"].startswith(title)]
    _, listed = await ask("GET", f"/api/conversations/{conversation['id']}/messages")
    return list(listed["messages"])


def test_the_configuration_is_understood(settings: Settings) -> None:
    assert settings.problems == ()
    assert settings.search.default == "searxng" and settings.engines["brave"].api_key.reveal() == "no-real-key"
    assert settings.engines["searxng"].base_url == "http://127.0.0.1:28643" and settings.chat.search


async def test_conversations_are_there(settings: Settings) -> None:
    with serving(settings) as served:
        async with client(served.url) as ask:
            _, kept = await ask("GET", "/api/conversations")
            _, gone = await ask("GET", "/api/conversations?deleted=true")
            assert [len(kept["conversations"]), len(gone["conversations"])] == [4, 1]
            question, answer = await messages(ask, "How long is the Tern Bridge?")
            assert question["text"] == "How long is the Tern Bridge?" and answer["state"] == "done"
            assert "1,204 metres long[[1]](http://127.0.0.1:28643/bridge)" in answer["text"]
            assert [each["number"] for each in answer["answer"]["sources"]] == [1, 2]
            _, answer = await messages(ask, "听潮大桥")
            assert "36 公里" in answer["text"] and answer["answer"]["mode"] == "agent"


async def test_conversations_are_found_by_their_words(settings: Settings) -> None:
    with serving(settings) as served:
        async with client(served.url) as ask:
            for text, title in (("36 公里", "听潮大桥"), ("metres TERN", "How long is"), ("潮大", "听潮大桥")):
                _, found = await ask("GET", f"/api/conversations?{urlencode({'text': text})}")
                assert title in [each["title"][: len(title)] for each in found["conversations"]], text
                assert any(text.split()[0] in each["passage"] for each in found["conversations"])


async def test_answers_are_shown_and_exported_with_what_they_say_about_themselves(settings: Settings) -> None:
    with serving(settings) as served:
        async with client(served.url) as ask:
            _, found = await ask("GET", "/api/conversations")
            ids = {each["title"]: each["id"] for each in found["conversations"]}
            for title, id in ids.items():
                status, page = await ask("GET", f"/c/{id}", Accept_Language="en")
                assert status == 200 and title in page.replace("&#39;", "'"), title
                for form in ("md", "html", "json", "bib"):
                    status, _ = await ask("GET", f"/api/conversations/{id}/export?form={form}")
                    assert status == 200, (title, form)
            failed = next(id for title, id in ids.items() if title.startswith("Who lives"))
            _, page = await ask("GET", f"/c/{failed}", Accept_Language="en")
            assert "HTTP 503" in page
            _, page = await ask("GET", f"/c/{next(id for title, id in ids.items() if '听潮' in title)}")
            assert "36 公里" in page


async def test_events_can_be_followed_and_an_unfinished_answer_is_interrupted(settings: Settings) -> None:
    with serving(settings) as served:
        async with client(served.url) as ask:
            _, answer = await messages(ask, "How long is the Tern Bridge?")
            events = await ask.all_events(f"/api/runs/{answer['id']}/events")
            assert [name for _, name, _ in events][:3] == ["turn.started", "step.started", "search.started"]
            assert events[-1][1] == "answer"
            _, unfinished = await messages(ask, "What is never answered?")
            assert unfinished["state"] == "interrupted"


async def test_a_conversation_goes_on_and_a_deleted_one_comes_back(settings: Settings) -> None:
    with serving(settings) as served:
        async with client(served.url) as ask:
            _, gone = await ask("GET", "/api/conversations?deleted=true")
            status, _ = await ask("POST", f"/api/conversations/{gone['conversations'][0]['id']}/restore")
            assert status == 200
            _, found = await ask("GET", "/api/conversations")
            assert len(found["conversations"]) == 5
            [bridge] = [
                each["id"] for each in found["conversations"] if each["title"] == "How long is the Tern Bridge?"
            ]
            await ask("PATCH", f"/api/conversations/{bridge}", {"search": False})
            answer = await ask.answer(await ask.ask(bridge, "Thank you!"))
            assert answer["kind"] == "answer"
            assert len(await messages(ask, "How long is the Tern Bridge?")) == 4


def test_the_archive_is_there(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["archive", "show", "http://127.0.0.1:28643/bridge"]) == 0
    assert "1,204 metres long" in capsys.readouterr().out
    with Suyuan(settings) as opened:
        page = opened.search("Tern Bridge metres", engines="archive")
        assert page.results[0].url == "http://127.0.0.1:28643/bridge"
        page = opened.search("听潮大桥 通车", engines="archive")
        assert page.results[0].title == "听潮大桥"


def test_an_engine_that_refused_is_still_left_alone(settings: Settings) -> None:
    with Suyuan(settings) as opened, pytest.raises(WebBlocked) as raised:
        opened.search("anything", engines="ddg_html")
    [attempt] = raised.value.attempts
    assert (attempt.engine, attempt.outcome) == ("ddg_html", "skipped")
