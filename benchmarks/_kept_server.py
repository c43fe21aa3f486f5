"""A server of a filled folder: how long it takes to start, to answer and to end."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._machine import cpu_seconds
from ._suyuan import free_port

PATIENCE = 120.0


@dataclass(slots=True)
class KeptServer:
    """A server that runs."""

    process: subprocess.Popen[bytes]
    port: int
    environ: dict[str, str]
    started: float = 0.0
    """Seconds until it said that it is healthy."""
    spent: float = 0.0
    """Seconds of CPU until then."""
    ended: float = 0.0
    """Seconds from the signal to its end."""

    def took(self, path: str, body: dict[str, Any] | None = None) -> float:
        """Ask once, and return the seconds until the whole answer is here."""
        begun = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        sent = json.dumps(body) if body else None
        connection.request("POST" if body else "GET", path, sent, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{path} {body}: HTTP {answer.status} {text[:400]!r}")
        return time.monotonic() - begun


@contextmanager
def serving(folder: Path) -> Iterator[KeptServer]:
    """Serve what is kept in ``folder`` while the block lasts."""
    with tempfile.TemporaryDirectory(prefix="suyuan-home-") as home:
        begun, port, environ = time.monotonic(), free_port(), environ_of(folder, home)
        command = [sys.executable, "-m", "suyuan", "serve", "--no-supervise", "--no-open", "--port", str(port)]
        quiet = subprocess.DEVNULL
        server = KeptServer(subprocess.Popen(command, env=environ, stdout=quiet, stderr=quiet), port, environ)
        try:
            _wait_until_healthy(server)
            server.started, server.spent = time.monotonic() - begun, cpu_seconds(server.process.pid)
            yield server
        finally:
            begun = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(PATIENCE)
            server.ended = time.monotonic() - begun


def environ_of(folder: Path, home: str) -> dict[str, str]:
    """The environment of a server that removes nothing of what is kept: its size is what is measured."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}
    limits = {"SUYUAN_ARCHIVE_MAX_MB": "1000000", "SUYUAN_ARCHIVE_MAX_DAYS": "36500"}
    own = {"HOME": home, "LANG": "C.UTF-8", "SUYUAN_DATA_DIR": str(folder), "WEB_SEARCH_CACHE_TTL_MINUTES": "0"}
    return {**kept, **limits, **own}


def _wait_until_healthy(server: KeptServer) -> None:
    deadline = time.monotonic() + PATIENCE
    while server.process.poll() is None and time.monotonic() < deadline:
        with suppress(ConnectionError):
            server.took("/healthz")
            return
        time.sleep(0.005)
    raise RuntimeError(f"the server does not start: {server.process.poll()}")
