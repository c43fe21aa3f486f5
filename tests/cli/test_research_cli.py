"""``suyuan research`` in a pipe and on a terminal."""

from __future__ import annotations

import argparse
import io
import json
import re
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy", reason="the optional extra suyuan[chat] is not installed")

from cli.screen import on_terminal
from support.timing import PATIENCE
from suyuan.cli import research
from suyuan.cli.failure import BAD_INPUT, NOTHING
from suyuan.client import AsyncClient
from suyuan.config.settings import Settings
from suyuan.demo.web import DemoWeb
from suyuan.messages.catalog import Texts

QUESTION = "How tall is the Gull Point Lighthouse?"


class Command:
    """``suyuan research`` on the demo web, with one data folder."""

    def __init__(self, web: DemoWeb, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._web = web
        self._folder = folder
        self._capsys = capsys
        self.told = ""
        """What was written to standard error."""

    def __call__(self, *words: str) -> tuple[int, str]:
        """Run it and return its exit code and what it wrote."""
        t = Texts("cli", "en")
        parser = argparse.ArgumentParser()
        research.add(parser.add_subparsers(), t)
        args = parser.parse_args(["research", *words])
        code = research.run(args, self._web.settings(), t, self._client)
        out, self.told = self._capsys.readouterr()
        return code, out

    def requests(self) -> list[str]:
        """What was asked of the demo web."""
        return self._web.requests

    def _client(self, settings: Settings) -> AsyncClient:
        return self._web.client(replace(settings, data_dir=self._folder))


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    with DemoWeb() as web:
        yield Command(web, tmp_path, capsys)


def test_a_job_is_made_listed_shown_exported_verified_and_removed(command: Command, tmp_path: Path) -> None:
    assert command("list")[0] == NOTHING
    code, out = command(QUESTION, "--yes", "--json", "--depth", "quick")
    job = json.loads(out)
    names = {"id", "state", "report", "ledger", "sources", "claims", "disagreements", "receipts"}
    assert code == 0 and job["state"] == "done" and names <= job.keys()
    rows = {
        "id",
        "url",
        "final_url",
        "title",
        "sha256",
        "fetched_at",
        "origin",
        "start",
        "end",
        "author",
        "published_at",
    }
    assert all(rows <= row.keys() for row in job["ledger"])
    assert [each["id"] for each in json.loads(command("list", "--json")[1])] == [job["id"]]
    # In a pipe the report is the Markdown as it is.
    assert command("show", job["id"]) == (0, job["report"])
    file = tmp_path / "report.json"
    assert command("export", job["id"], "--out", str(file))[0] == 0 and json.loads(file.read_text("utf-8")) == job
    code, out = command("verify", str(file))
    assert code == 0 and out.count("✓") == sum(claim["kept"] for claim in job["claims"]) and "✗" not in out
    file.write_text(json.dumps({**job, "claims": [{**job["claims"][0], "text": "It is 77 metres tall."}]}), "utf-8")
    code, out = command("verify", str(file))
    assert code != 0 and "✗ It is 77 metres tall." in out
    assert command("remove", job["id"])[0] == 0 and command("show", job["id"])[0] != 0


def test_what_cannot_be_done_in_the_end_is_refused_before_anything_is_searched(
    command: Command, tmp_path: Path
) -> None:
    for out in ("report.xyz", "no-folder/report.md", "."):
        assert command(QUESTION, "--yes", "--out", str(tmp_path / out))[0] == BAD_INPUT
    for scope in (("--focus", "nowhere"), ("--engine", "nowhere"), ("--model", "nowhere")):
        assert command(QUESTION, "--yes", *scope)[0] == BAD_INPUT
    # One word that needs another is no question.
    for action in ("show", "resume", "stop", "export", "verify", "remove"):
        assert command(action)[0] == BAD_INPUT
    assert command("list")[0] == NOTHING and not command.requests()


def test_a_file_that_cannot_be_written_is_a_failure_that_names_it(command: Command, tmp_path: Path) -> None:
    code, out = command(QUESTION, "--yes", "--json", "--depth", "quick")
    missing = tmp_path / "no-folder" / "report.md"
    assert code == 0 and command("export", json.loads(out)["id"], "--out", str(missing))[0] == BAD_INPUT
    assert str(missing) in command.told


@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal_the_plan_is_asked_for_and_the_report_is_rendered(columns: int) -> None:
    with on_terminal("demo", "research", QUESTION, "--depth", "quick", columns=columns) as screen:
        screen.wait_for("Enter starts it")
        assert f"1. {QUESTION}" in screen.text
        screen.type("\r")
        assert screen.wait() == 0
    assert "Where sources disagree" in screen.text and " • 41 metres — " in screen.text
    # No signs of Markdown are left, and no line is cut.
    report = screen.text.partition("Sources cited")[2]
    assert not any(sign in report for sign in ("## ", "](http", "**", "| ---", "\\_"))
    assert "Nothing is asked of the network" in " ".join(screen.text.split())
    assert not any(line.endswith(" n") or line.startswith("othing") for line in screen.lines), "words are whole"
    assert "demo_refusing" in report and all(len(line) <= columns for line in screen.lines)


def test_the_plan_can_be_edited(tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/Gull Point/Sallow Head/g' \"$1\"\n")
    editor.chmod(0o755)
    variables = {"EDITOR": str(editor), "VISUAL": str(editor)}
    with on_terminal("demo", "research", QUESTION, "--depth", "quick", variables=variables) as screen:
        screen.wait_for("Enter starts it")
        screen.type("e\r")
        screen.wait_for("1. How tall is the Sallow Head Lighthouse?")
        screen.type("\r")
        assert screen.wait() == 0
    assert "29 metres tall" in screen.text


def test_the_limits_of_a_running_job_are_named_in_the_language_of_the_terminal() -> None:
    from rich.console import Console

    from suyuan.cli.research_view import _table

    budget = {"searches": 6, "pages": 10, "tokens": 20_000, "seconds": 60, "money": 0.0}
    counts = {"searches": 2, "found": 11, "read": 3, "unread": 1, "used": 2, "tokens": 0, "seconds": 1.5, "money": 0}
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(
        _table({"kind": "progress", "state": "running", **counts, "budget": budget}, ["🔍 桥"], Texts("cli", "zh"))
    )
    text = console.export_text()
    assert "搜索次数" in text and "4 / 10" in text and "searches" not in text
    assert "费用" not in text, "without a limit for it"


@pytest.mark.parametrize("columns", [80, 120])
def test_the_live_view_has_the_plan_and_a_job_that_is_left_can_go_on(columns: int, tmp_path: Path) -> None:
    """The engine answers when it is told to, so that the view is seen while nothing is found yet."""
    go_on = threading.Event()

    class Slow(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/search"):
                go_on.wait(PATIENCE)
            body = b'{"query": "q", "results": [], "unresponsive_engines": []}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        variables = {
            "HOME": str(tmp_path),
            "XDG_DATA_HOME": str(tmp_path),
            "SEARXNG_BASE_URL": f"http://127.0.0.1:{server.server_port}",
            "SUYUAN_RESEARCH_TOKEN_PRICE": "0.01",
        }
        words = ("--ui", "en", "research", QUESTION, "--yes", "-e", "searxng", "--budget", "money=2")
        try:
            with on_terminal(*words, columns=columns, variables=variables) as screen:
                screen.wait_for(f"1. {QUESTION}")
                assert all(text in screen.text for text in ("0 found, 0 read, 0 used", "0 / 20", "0 / 2\n"))
                screen.type("\x03")
                screen.wait()
            told = screen.text[screen.text.index("The job") :].split("\n")
            # The id is whole, to be copied.
            assert any(re.search(r"\b[a-z0-9]{16}$", line) for line in told) and all(len(x) <= columns for x in told)
        finally:
            go_on.set()
            server.shutdown()
