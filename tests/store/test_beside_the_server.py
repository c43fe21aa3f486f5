"""Every command runs beside a server on the same data folder, and nothing that the server has stored is lost."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from live.workers import Worker
from support.timing import PATIENCE, until
from suyuan.cli.main import build_parser
from suyuan.messages.catalog import Texts

_LOCKS = Path("/proc/locks")
# One run of every command that the parser knows; {…} is filled in by the test.
RUNS: dict[str, list[str]] = {
    "ask": ["ask", "what is kept"],
    "archive export": ["archive", "export"],
    "archive import": ["archive", "import", "{pages}"],
    "archive list": ["archive", "list"],
    "archive prune": ["archive", "prune"],
    "archive search": ["archive", "search", "lighthouse"],
    "archive show": ["archive", "show", "1"],
    "backup": ["backup", "{scratch}/everything.tar.gz"],
    "chat": ["chat"],
    "config check": ["config", "check"],
    "config schema": ["config", "schema"],
    "config show": ["config", "show"],
    "debug": ["debug"],
    "demo": ["demo", "search", "bridge"],
    "demo ask": ["demo", "ask", "bridge"],
    "demo chat": ["demo", "chat"],
    "demo fetch": ["demo", "fetch", "https://none.example/"],
    "demo research": ["demo", "research", "bridge", "--depth", "quick"],
    "demo search": ["demo", "search", "bridge"],
    "doctor": ["doctor", "--offline"],
    "engines": ["engines"],
    "engines parse": ["engines", "parse", "ddg_html", "{page}"],
    "fetch": ["fetch", "{site}/command"],
    "google unlock": ["google", "unlock", "--help"],
    "library add": ["library", "add", "{notes}"],
    "library list": ["library", "list"],
    "library remove": ["library", "remove", "{notes}"],
    "library update": ["library", "update"],
    "mcp": ["mcp"],
    "notices": ["notices"],
    "research": ["research", "list"],
    "restore": ["restore", "{scratch}/everything.tar.gz", "--replace"],
    "search": ["search", "lighthouse"],
    "searxng check": ["searxng", "check", "http://127.0.0.1:9"],
    "searxng down": ["searxng", "down", "{scratch}"],
    "searxng guide": ["searxng", "guide"],
    "searxng init": ["searxng", "init", "{scratch}"],
    "searxng logs": ["searxng", "logs", "{scratch}"],
    "searxng restart": ["searxng", "restart", "{scratch}"],
    "searxng status": ["searxng", "status", "{scratch}"],
    "searxng up": ["searxng", "up", "{scratch}"],
    "serve": ["serve", "--port", "99999"],
    "shell": ["shell"],
    "store backup": ["store", "backup", "{scratch}/store.sqlite"],
    "store migrate": ["store", "migrate", "{data}/chat.sqlite", "{scratch}/moved.sqlite"],
    "store restore": ["store", "restore", "{scratch}/store.sqlite"],
    "users add": ["users", "add", "ann"],
    "users audit": ["users", "audit"],
    "users delete": ["users", "delete", "ann", "--yes"],
    "users export": ["users", "export", "ann"],
    "users list": ["users", "list"],
    "users password": ["users", "password", "ann"],
    "users quota": ["users", "quota", "ann"],
    "users role": ["users", "role", "ann", "admin"],
    "users token": ["users", "token", "ann"],
}


def _commands(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Every command and every action that the parser takes."""
    choices = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if path and not any(action.required for action in choices):
        yield " ".join(path)
    for action in choices:
        for name, below in action.choices.items():
            yield from _commands(below, (*path, name))


def test_every_command_is_run_beside_the_server() -> None:
    assert set(RUNS) == set(_commands(build_parser(Texts("cli", "en"))))


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
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def _answer(request: Request) -> Any:
    try:
        with urlopen(request, timeout=PATIENCE) as response:
            return json.load(response)
    except HTTPError as error:
        raise AssertionError(error.read().decode()) from None


@dataclass
class Kept:
    """A server, and what it has acknowledged."""

    worker: Worker
    data: Path
    site: str
    conversations: list[str]
    pages: list[str]
    documents: list[str]

    def call(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.worker.url + path, data, {"Content-Type": "application/json"})
        return _answer(request)

    def store_more(self) -> None:
        """Let the server store one more of everything, and remember what it has acknowledged."""
        number = len(self.conversations)
        made = self.call("/api/conversations", {})
        self.conversations.append(made["id"])
        page = f"{self.site}/page-{number}"
        self.call("/api/fetch", {"url": page})
        self.pages.append(page)
        text = f"A document about the harbour, number {number}, long enough to be read by anybody. " * 3
        head = f'--x\r\nContent-Disposition: form-data; name="files"; filename="note-{number}.txt"\r\n\r\n'
        request = Request(f"{self.worker.url}/api/library", f"{head}{text}\r\n--x--\r\n".encode())
        request.add_header("Content-Type", "multipart/form-data; boundary=x")
        self.documents.append(_answer(request)["documents"][0]["id"])

    @property
    def files(self) -> dict[str, Path]:
        return {
            "chat": self.data / "chat.sqlite",
            "archive": self.data / "archive.sqlite",
            "library": self.data / "library" / "library.sqlite",
        }

    def locked(self, file: Path) -> bool:
        """Whether the server holds a lock on the file, as it must as long as it has it open."""
        assert self.worker.process is not None
        pid, inode = str(self.worker.process.pid), str(file.stat().st_ino)
        rows = [line.split() for line in _LOCKS.read_text().splitlines()]
        return any(pid in row and any(part.endswith(f":{inode}") for part in row) for row in rows)

    def lost(self) -> dict[str, set[str]]:
        """What was acknowledged and is not in the files; every file is sound."""
        queries = {
            "chat": ("SELECT id FROM suyuan_conversations", self.conversations),
            "archive": ("SELECT json_extract(document, '$.final_url') FROM documents", self.pages),
            "library": ("SELECT id FROM files", self.documents),
        }
        missing = {}
        for name, (query, expected) in queries.items():
            db = sqlite3.connect(self.files[name])
            try:
                assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], name
                missing[name] = set(expected) - {row[0] for row in db.execute(query)}
            finally:
                db.close()
        return missing


def _environ(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "VIRTUAL_ENV", "PYTHONPATH")}
    return {
        **kept,
        "HOME": str(home),
        "SUYUAN_DATA_DIR": str(home / "data"),
        "SUYUAN_STATE_DIR": str(home / "state"),
        "SUYUAN_CONFIG_DIR": str(home / "config"),
        "WEB_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
        "WEB_SEARCH_BACKEND": "stub",
        "LANG": "C.UTF-8",
    }


@pytest.fixture
def kept(tmp_path: Path, site: str) -> Iterator[Kept]:
    worker = Worker(_environ(tmp_path))
    worker.start()
    try:
        served = Kept(worker, tmp_path / "data", site, [], [], [])
        served.store_more()
        # Research is stored in the same file as conversations.
        served.call("/api/research", {"question": "how tall is the lighthouse?", "depth": "quick"})
        yield served
    finally:
        worker.end(signal.SIGKILL)


def _run(arguments: list[str], environ: dict[str, str]) -> int:
    command = [sys.executable, "-m", "suyuan", *arguments]
    done = subprocess.run(command, env=environ, input=b"a long password\n", capture_output=True, timeout=PATIENCE)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done.returncode


# Every command before a kill; before an orderly end one of each that opens the files.
_BEFORE_END = (
    "ask",
    "archive prune",
    "doctor",
    "fetch",
    "library add",
    "research",
    "backup",
    "restore",
    "store backup",
    "users list",
)


_THIRDS = [tuple(RUNS)[first::3] for first in range(3)]


@pytest.mark.parametrize(
    ("end", "names"), [*((signal.SIGKILL, third) for third in _THIRDS), (signal.SIGTERM, _BEFORE_END)]
)
def test_nothing_is_lost_whatever_runs_beside_the_server(
    kept: Kept, tmp_path: Path, site: str, end: int, names: tuple[str, ...]
) -> None:
    scratch, notes = tmp_path / "scratch", tmp_path / "notes"
    notes.mkdir()
    scratch.mkdir()
    (notes / "a.md").write_text("# Otters\n\nOtters hold hands while they sleep.")
    (tmp_path / "page.html").write_text("<html></html>")
    (tmp_path / "pages.jsonl").write_text("no page\n")
    places = {
        "pages": tmp_path / "pages.jsonl",
        "scratch": scratch,
        "notes": notes,
        "data": kept.data,
        "site": site,
        "page": tmp_path / "page.html",
    }
    environ = _environ(tmp_path)
    for name in names:
        # SQLite looks for other users of a file when it closes it: that must not be the server's last moment.
        assert _run([word.format(**places) for word in RUNS[name]], environ) in (0, 1, 2, 3), name
        if _LOCKS.exists():
            assert all(map(kept.locked, kept.files.values())), name
        kept.store_more()
    kept.worker.end(end)
    assert kept.lost() == {"chat": set(), "archive": set(), "library": set()}


_CLIENT = """
import sys
import suyuan
with suyuan.Client() as first, suyuan.Client() as second:
    first.read(sys.argv[1] + "/first")
    second.read(sys.argv[1] + "/second")
"""


def test_clients_and_mcp_on_the_folder_of_the_server_lose_nothing(kept: Kept, tmp_path: Path, site: str) -> None:
    environ = _environ(tmp_path)
    run = partial(subprocess.Popen, env=environ, stdin=subprocess.DEVNULL)
    for number in range(3):
        place = f"{site}/client-{number}"
        others = [run([sys.executable, "-c", _CLIENT, place]) for _ in range(2)]
        others.append(run([sys.executable, "-m", "suyuan", "mcp"], stdout=subprocess.DEVNULL))
        kept.store_more()
        assert until(lambda running=others: all(one.poll() is not None for one in running))  # type: ignore[misc]
        assert [one.returncode for one in others] == [0, 0, 0]
        kept.pages += [f"{place}/first", f"{place}/second"]
        kept.store_more()
    kept.worker.end(signal.SIGKILL)
    assert kept.lost() == {"chat": set(), "archive": set(), "library": set()}
