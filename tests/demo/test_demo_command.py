"""``suyuan demo`` in the terminal and on the page."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest

from suyuan.cli.main import main
from suyuan.demo.questions import QUESTIONS
from suyuan.llm.settings import EMBEDDED

MARK = "invented pages"


def test_search_shows_marked_results_and_the_failover(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--ui", "en", "demo", "search", "--explain", "Who acquired Norvane Labs?"]) == 0
    out, err = capsys.readouterr()
    assert "Coastwire (demo)" in out and MARK in err
    assert re.search(r"demo_refusing +\d+ ms +refused \[WebBlocked/captcha_required\]", out)


def test_ask_cites_and_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("langchain", reason="the optional extra suyuan[chat] is not installed")
    assert main(["--ui", "zh", "demo", "ask", "--json", "听潮大桥的总设计师是谁？"]) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert "顾承川" in answer["text"] and "（演示）" in answer["markdown"] and "虚构" in err
    assert [row["engine"] for row in answer["receipts"][0]["engines"]] == ["demo_refusing", "demo"]


def test_no_model_but_the_embedded_one_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("langchain", reason="the optional extra suyuan[chat] is not installed")
    assert main(["--ui", "en", "demo", "ask", "--json", "--model", "gpt-x", "When did the Wren Bridge open?"]) == 0
    out, err = capsys.readouterr()
    answer = json.loads(out)
    assert answer["model"] == EMBEDDED and "1998" in answer["text"] and "--model is not used" in err


def test_chat_answers_line_by_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("langchain", reason="the optional extra suyuan[chat] is not installed")
    monkeypatch.setattr(
        "sys.stdin", io.StringIO("What is a Bloom filter?\nWho created the Loam programming language?\n")
    )
    assert main(["--ui", "en", "demo", "chat"]) == 0
    out, err = capsys.readouterr()
    assert "data structure" in out and "Viktor Amsel" in out and MARK in err


def test_fetch_reads_a_page_and_says_when_it_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "fetch", "http://skyprimer.example/moon"]) == 0
    assert "384,400 kilometres" in capsys.readouterr().out
    assert main(["--ui", "en", "demo", "fetch", "http://yunting.example/archive/city-wall"]) != 0
    assert "no longer exists" in capsys.readouterr().err


async def test_the_page_is_started_and_questions_are_suggested(tmp_path: Path) -> None:
    pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
    from cli.test_serve import address_of, started
    from server.serving import client

    async with started("--ui", "en", "demo", "--no-open", home=tmp_path) as process:
        url, output = await address_of(process)
        assert all(question in output for questions in QUESTIONS.values() for question in questions)
        async with client(url) as ask:
            status, page = await ask("GET", "/", Accept_Language="en")
            assert status == 200 and "demo-banner" in page and QUESTIONS["en"][1] in page
            _, page = await ask("GET", "/", Accept_Language="zh")
            assert QUESTIONS["zh"][1] in page
        process.send_signal(2)
        await process.wait()
    assert not _databases(tmp_path), "nothing is kept"


def _databases(folder: Path) -> list[Path]:
    return list(folder.rglob("*.sqlite"))
