"""Write the data folder of an older version as text, by using that version: its server is asked over HTTP, then killed.

python tests/upgrade/make_data.py PYTHON_OF_0.1.0 tests/upgrade/data-0.1.0

``PYTHON_OF_0.1.0`` (or of another version) belongs to an environment in which the last commit of that version is installed. Engine and pages are
on loopback, and nothing else is reached.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

PORT, SITE = 28642, 28643
PAGE = """<!doctype html><html lang="en"><head><title>{title}</title></head><body><article><h1>{title}</h1>
<p>{text}</p><p>{text} This page is part of a small set that was written for a test of upgrades.</p></article></body></html>"""
PAGES = {
    "/bridge": ("The Tern Bridge", "The Tern Bridge is 1,204 metres long. It was opened in 1987 by the town of Ember."),
    "/qiao": ("听潮大桥", "听潮大桥全长 36 公里，于 2011 年建成通车，是当时世界上最长的跨海大桥。"),
}
QUESTIONS = {
    "How long is the Tern Bridge?": {"mode": "chat", "search": True, "lang": "en"},
    "听潮大桥全长多少公里？": {"mode": "agent", "lang": "zh"},
    "Who lives under the Tern Bridge? FAIL": {"mode": "chat", "search": True, "lang": "en"},
}


class Site(BaseHTTPRequestHandler):
    """A SearXNG and two pages; a query with FAIL is refused, one with STALL is never answered."""

    def do_GET(self) -> None:
        """Answer."""
        url = urlsplit(self.path)
        query = parse_qs(url.query).get("q", [""])[0]
        if url.path in PAGES:
            title, text = PAGES[url.path]
            return self._send(200, PAGE.format(title=title, text=text), "text/html; charset=utf-8")
        if url.path == "/healthz":
            return self._send(200, "OK", "text/plain")
        if url.path.startswith("/ddg"):
            return self._send(429, "", "text/plain", {"Retry-After": "3600"})
        if "STALL" in query:
            threading.Event().wait()
        if url.path != "/search" or "FAIL" in query:
            return self._send(503, "", "text/plain")
        rows = [
            {"title": title, "url": f"http://127.0.0.1:{SITE}{path}", "content": text, "engine": "x"}
            for path, (title, text) in PAGES.items()
        ]
        body = {"query": query, "results": rows, "unresponsive_engines": []}
        return self._send(200, json.dumps(body), "application/json")

    do_POST = do_GET

    def _send(self, status: int, body: str, kind: str, headers: dict[str, str] | None = None) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def main() -> None:
    """Run the older version, use it, and write what it left behind."""
    python, target = sys.argv[1], Path(sys.argv[2])
    target.mkdir(parents=True, exist_ok=True)
    site = ThreadingHTTPServer(("127.0.0.1", SITE), Site)
    site.daemon_threads = True
    threading.Thread(target=site.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = {
            "tools": {"webSearch": {"defaultProvider": "searxng", "providers": {"brave": {"apiKey": "no-real-key"}}}},
            "web": {
                "fetch": {"allowHosts": ["127.0.0.1"]},
                "providers": {"searxng": {"baseUrl": f"http://127.0.0.1:{SITE}"}},
            },
            "chat": {"search": True},
        }
        (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        with running(python, folder) as server:
            use()
            server.send_signal(signal.SIGKILL)
        refused(python, folder)
        for database in ("chat.sqlite", "archive.sqlite"):
            with contextlib.closing(sqlite3.connect(folder / database)) as connection:
                (target / f"{database}.sql").write_text("".join(statements(connection)), encoding="utf-8")
        for file in ("config.json", "engines.json"):
            (target / file).write_text((folder / file).read_text(encoding="utf-8"), encoding="utf-8")


@contextlib.contextmanager
def running(python: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The server of the older version, with all of its folders in one."""
    command = [python, "-m", "suyuan", "serve", "--no-open", "--port", str(PORT)]
    server = subprocess.Popen(command, env=environment(folder))
    try:
        for _ in range(200):
            with contextlib.suppress(OSError):
                ask("GET", "/healthz")
                break
            time.sleep(0.1)
        yield server
    finally:
        server.kill()
        server.wait()


def environment(folder: Path) -> dict[str, str]:
    """The variables of this process, with all folders of Suyuan in one."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("SUYUAN_", "WEB_"))}
    return environ | {f"SUYUAN_{name}_DIR": str(folder) for name in ("CONFIG", "DATA", "STATE")}


def refused(python: str, folder: Path) -> None:
    """Search with an engine that asks for an hour without requests: the breaker keeps that."""
    environ = environment(folder) | {"DDG_BASE_URL": f"http://127.0.0.1:{SITE}/ddg"}
    command = [python, "-m", "suyuan", "search", "--engine", "ddg_html", "anything"]
    assert subprocess.run(command, env=environ, check=False, stderr=subprocess.DEVNULL).returncode == 3


def statements(connection: sqlite3.Connection) -> Iterator[str]:
    """What makes the database again; a full-text index is filled by its rows, not by the tables behind it."""
    indexes = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"))
    for statement in connection.iterdump():
        named = [name for name in indexes if f"{name}_" in statement.partition("VALUES")[0]]
        if statement.startswith("INSERT INTO sqlite_master"):
            yield next(f"{sql};\n" for name, sql in indexes.items() if f"'{name}'" in statement)
        elif not named and "writable_schema" not in statement:
            yield f"{statement}\n"
    yield f"PRAGMA user_version = {connection.execute('PRAGMA user_version').fetchone()[0]};\n"


def use() -> None:
    """Ask questions in every mode, read a page, delete a conversation, and leave an answer unfinished."""
    ask("POST", "/api/fetch", {"url": f"http://127.0.0.1:{SITE}/bridge"})
    for question, settings in QUESTIONS.items():
        conversation = ask("POST", "/api/conversations", settings)["id"]
        answered(conversation, question)
    answered(conversation, "When was it opened?")
    deleted = ask("POST", "/api/conversations", {"lang": "en"})["id"]
    answered(deleted, "How long is the Tern Bridge, once more?")
    ask("DELETE", f"/api/conversations/{deleted}")
    unfinished = ask("POST", "/api/conversations", {"lang": "en", "search": True})["id"]
    ask("POST", f"/api/conversations/{unfinished}/messages", {"text": "What is never answered? STALL"})
    time.sleep(1)


def answered(conversation: str, text: str) -> None:
    """Ask, and wait for the end of the answer."""
    run = ask("POST", f"/api/conversations/{conversation}/messages", {"text": text})["run"]
    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/api/runs/{run}/events", timeout=60) as events:
        events.read()


def ask(method: str, path: str, body: Any = None) -> Any:
    """Send a request, and return what came."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", data, {"Content-Type": "application/json"})
    request.method = method
    with urllib.request.urlopen(request, timeout=60) as response:
        text = response.read().decode()
    return json.loads(text) if text.startswith(("{", "[")) else text


if __name__ == "__main__":
    main()
