"""One of everything that the product keeps is made by the product, backed up, and used on another machine."""

from __future__ import annotations

import json
import os
import re
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("argon2", reason="the optional extra suyuan[team] is not installed")

from backup.machines import Machine, rows
from support.postgres import Postgres
from support.servers import server
from support.timing import until

__all__ = ["server"]

# What is no file of anybody: locks, the record of databases, what SQLite keeps beside them, what was learned of engines.
_PASSING = re.compile(
    r".*(\.lock|\.sqlite-wal|\.sqlite-shm|/\.kept\.json)|\.local/state/suyuan/engines\.json|\.cache/.*"
)
_DATABASES = ("chat.sqlite", "archive.sqlite", "library/library.sqlite")


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        text = f"The lighthouse at {self.path} was lit in 1811 and is still kept by a family of three people. " * 5
        body = f"<html><title>{self.path}</title><body><article><p>{text}</p></article></body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    serving = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_address[1]}"
    serving.shutdown()
    serving.server_close()


def answered(machine: Machine, conversation: str, question: str) -> str:
    """The text of the answer to a question."""
    machine.call(f"/api/conversations/{conversation}/messages", {"text": question})
    path = f"/api/conversations/{conversation}/messages"
    assert until(lambda: machine.call(path)["messages"][-1]["state"] == "done")
    return str(machine.call(path)["messages"][-1]["text"])


def one_of_everything(machine: Machine, site: str) -> dict[str, Any]:
    """Let the product keep one of everything; return what its server shows of it."""
    settings = {
        "server": {"users": False},
        "web": {"fetch": {"allowNetworks": ["127.0.0.0/8"]}},
        "tools": {"webSearch": {"defaultProvider": "stub"}},
    }
    machine.config.mkdir(parents=True)
    (machine.config / "config.json").write_text(json.dumps(settings))
    (machine.config / "agents.json").write_text('{"agents": []}')
    state = machine.home / ".local/state/suyuan"
    state.mkdir(parents=True)
    # The terminal writes it where it is a terminal.
    (state / "chat-history").write_text("what was typed\n")
    notes = machine.home / "notes"
    notes.mkdir()
    (notes / "otters.md").write_text("# Otters\n\nOtters hold hands while they sleep.")
    unsaved = machine.data / "unsaved"
    unsaved.mkdir(parents=True)
    # Set aside at the start, with a notice.
    (unsaved / "left.json").write_text("{")
    machine.run("library", "add", notes)
    with machine.serving():
        conversation = machine.call("/api/conversations", {"search": False})["id"]
        answered(machine, conversation, "What is a lighthouse?")
        machine.call(f"/api/conversations/{conversation}/shares", {})
        machine.call("/api/fetch", {"url": f"{site}/page"})
        machine.upload("harbour.txt", "A document about the harbour, long enough to be read by anybody. " * 3)
        machine.call("/api/models", {"base_url": "http://127.0.0.1:9/v1", "name": "tiny", "api_key": "sk-of-a-model"})
        machine.call("/api/engines/brave", {"api_key": "sk-of-an-engine"}, "PUT")
        job = machine.call("/api/research", {"question": "how tall is the lighthouse?", "depth": "quick"})["id"]
        assert until(lambda: machine.call(f"/api/research/{job}")["state"] not in ("queued", "running", "planning"))
        machine.call("/v2/crawl", {"url": f"{site}/crawl", "limit": 1})
        assert until(lambda: any((machine.data / "crawls").glob("*.json")))
    machine.run("users", "add", "ann", "--no-password")
    ann = json.loads(machine.run("users", "token", "ann", "--json"))["token"]
    settings["server"]["users"] = True  # type: ignore[index]
    (machine.config / "config.json").write_text(json.dumps(settings))
    machine.token = ann
    with machine.serving():
        own = machine.call("/api/conversations", {"search": False})["id"]
        answered(machine, own, "What does Ann ask?")
        machine.call("/api/fetch", {"url": f"{site}/of-ann"})
        machine.upload("of-ann.txt", "What Ann has sent is about a quay and nothing else, and is long enough. " * 3)
        shown = seen_by(machine)
    # What was there before there were accounts belongs to the first one.
    assert len(shown["conversations"]) == 2 and len(shown["documents"]) == 1
    return shown


def seen_by(machine: Machine) -> dict[str, Any]:
    """What the server shows to the person who asks."""
    conversations = machine.call("/api/conversations")["conversations"]
    texts = [machine.call(f"/api/conversations/{each['id']}/messages")["messages"] for each in conversations]
    listed = machine.call("/api/library")["documents"]
    documents = [{**each, "url": each["url"].partition("/library/")[2]} for each in listed]
    return {"conversations": conversations, "texts": texts, "documents": documents}


def content(machine: Machine) -> dict[str, Any]:
    """Everything in the files of a machine on which nothing runs."""
    found: dict[str, Any] = {}
    for name in sorted(machine.files()):
        path = machine.home / name
        if not _PASSING.fullmatch(name) and not name.startswith(("notes/", "out/")):
            found[name] = rows(path) if path.suffix == ".sqlite" else path.read_bytes()
    return found


def use_it(machine: Machine, shown: dict[str, Any], token: str) -> None:
    """Everything that was restored works: it is shown, found, cited, and can be removed."""
    machine.token = token
    with machine.serving():
        assert seen_by(machine) == shown
        found = machine.call("/api/search", {"query": "quay", "engines": "library"})["items"]
        assert [each["title"] for each in found] == ["of-ann.txt"]
        assert "quay" in machine.call("/api/fetch", {"url": found[0]["url"]})["text"]
        uploads = list(machine.data.glob("people/*/library/uploads/*/of-ann.txt"))
        assert len(uploads) == 1
        machine.call(f"/api/library/{shown['documents'][0]['id']}", method="DELETE")
        assert machine.call("/api/library")["documents"] == [] and not uploads[0].exists()
        names = {each["name"] for each in machine.call("/api/models")["models"]}
        assert any("tiny" in name for name in names)
    notices = json.loads(machine.run("notices", "--json"))
    assert [each["code"] for each in notices] == ["answer_damaged"]
    keys = (machine.data / "engine-keys.json").read_text()
    assert "sk-of-an-engine" in keys and "sk-of-a-model" in (machine.data / "models.json").read_text()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, site: str) -> tuple[Machine, dict[str, Any]]:
    """A machine with one of everything, and what is to be seen of it."""
    machine = Machine(tmp_path_factory.mktemp("old"))
    return machine, one_of_everything(machine, site)


@pytest.mark.parametrize("name", ["backup", "backup.tar.gz", "backup.zip"])
def test_everything_moves_to_another_machine(
    tmp_path: Path, site: str, made: tuple[Machine, dict[str, Any]], name: str
) -> None:
    (old, shown), new = made, Machine(tmp_path / "elsewhere" / "new")
    before = content(old)
    target = tmp_path / "out" / name
    said = old.run("backup", target)
    assert "keys" in said and content(old) == before
    for path in [target, *target.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert os.listdir(target.parent) == [name]
    new.home.mkdir(parents=True)
    told = json.loads(new.run("restore", target, "--json"))
    assert told["set_aside"] == [] and told["files"] == len(before)
    assert content(new) == before, "every file of the three folders, and every row, is there"
    use_it(new, shown, old.token)
    # What was added from a folder that is not on this machine stays in the index.
    assert "otters.md" in new.run("library", "list") and "harbour.txt" in new.run("library", "list")
    assert "1811" in new.run("archive", "show", f"{site}/page")
    assert "Another" not in new.run("backup", tmp_path / "out" / "again")


def test_everything_moves_from_a_database_server_and_to_one(tmp_path: Path, site: str, server: Postgres) -> None:
    old = Machine(tmp_path / "old", {"SUYUAN_STORE_URL": server.fresh()})
    shown = one_of_everything(old, site)
    target = tmp_path / "out" / "backup.tar.gz"
    old.run("backup", target)
    # To a machine with files only, to another database server, and from files to a server.
    files = Machine(tmp_path / "files")
    files.run("restore", target)
    use_it(files, shown, old.token)
    assert "1811" in files.run("archive", "show", f"{site}/page") and (files.data / "archive.sqlite").exists()
    files.token = old.token
    with files.serving():
        assert "1811" in json.dumps(files.call("/api/search", {"query": "lighthouse of-ann", "engines": "archive"}))
    other = Machine(tmp_path / "other", {"SUYUAN_STORE_URL": server.fresh()})
    other.run("restore", target)
    use_it(other, shown, old.token)
    assert not (other.data / "archive.sqlite").exists() and not (other.data / "chat.sqlite").exists()
    files.run("backup", tmp_path / "out" / "of-files")
    back = Machine(tmp_path / "back", {"SUYUAN_STORE_URL": server.fresh()})
    back.run("restore", tmp_path / "out" / "of-files")
    assert "1811" in back.run("archive", "show", f"{site}/page") and not list(back.data.rglob("archive.sqlite"))
    back.token = old.token
    with back.serving():
        assert seen_by(back)["texts"] == shown["texts"]
        assert "1811" in json.dumps(back.call("/api/search", {"query": "lighthouse of-ann", "engines": "archive"}))
