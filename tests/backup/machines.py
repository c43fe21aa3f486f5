"""Machines for the tests of backups: a home of its own each, with commands and a server that run in it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from live.workers import Worker
from support.timing import PATIENCE


@dataclass
class Machine:
    """A home, in which everything is at the usual places."""

    home: Path
    more: Mapping[str, str] = field(default_factory=dict)
    worker: Worker | None = None
    token: str = ""

    @property
    def environ(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "VIRTUAL_ENV", "PYTHONPATH")}
        return {**kept, "HOME": str(self.home), "LANG": "C.UTF-8", **self.more}

    @property
    def data(self) -> Path:
        return self.home / ".local/share/suyuan"

    @property
    def config(self) -> Path:
        return self.home / ".config/suyuan"

    def run(self, *arguments: str | Path, text: str = "", code: int = 0) -> str:
        """What a command writes, after it has ended as it should."""
        command = [sys.executable, "-m", "suyuan", *map(str, arguments)]
        done = subprocess.run(
            command, env=self.environ, input=text, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == code and "Traceback" not in done.stderr, done.stdout + done.stderr
        return done.stdout + done.stderr

    def start(self, *arguments: str | Path) -> subprocess.Popen[bytes]:
        """A command that goes on."""
        command = [sys.executable, "-m", "suyuan", *map(str, arguments)]
        return subprocess.Popen(command, env=self.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @contextmanager
    def serving(self, end: int = signal.SIGTERM) -> Iterator[None]:
        """A server that runs in the block."""
        self.worker = Worker(self.environ)
        self.worker.start()
        try:
            yield
        finally:
            self.worker.end(end)
            self.worker = None

    def call(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """The answer of the server."""
        data = None if body is None else json.dumps(body).encode()
        return self._answer(path, data, "application/json", method)

    def upload(self, name: str, text: str) -> dict[str, Any]:
        """Send a document to the library, and return its line of the list."""
        head = f'--x\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
        answer = self._answer("/api/library", f"{head}{text}\r\n--x--\r\n".encode(), "multipart/form-data; boundary=x")
        document: dict[str, Any] = answer["documents"][0]
        return document

    def _answer(self, path: str, data: bytes | None, kind: str, method: str | None = None) -> Any:
        assert self.worker is not None
        headers = {"Content-Type": kind, **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        request = Request(self.worker.url + path, data, headers, method=method)
        try:
            with urlopen(request, timeout=PATIENCE) as response:
                return json.loads(response.read() or b"null")
        except HTTPError as error:
            raise AssertionError(error.read().decode()) from None

    def files(self) -> set[str]:
        """All files of the three folders."""
        return {str(path.relative_to(self.home)) for path in self.home.rglob("*") if path.is_file()}


def rows(file: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything in the tables of a database, which is sound; without the parts of an index of words."""
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], file
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        own = [name for name in names if "_fts" not in name and not name.startswith(("fulltext", "sqlite_"))]
        return {name: sorted(db.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr) for name in own}
