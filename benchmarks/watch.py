"""How long a server says nothing while it works on what others send: asked all the time, by a process of its own.

    with watching(server.url, server.process.pid) as watch:
        await read(page)
        silence = watch.silence()      # since it began, or since it was asked before
    assert silence.seconds <= MOST_SILENT, silence

What the machine took is no silence of the server: the time during which its threads, or the process that asks, were
ready to run and had to wait for a processor.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

MOST_SILENT = 0.1
"""Seconds that a server may be silent at most."""
MOST_TO_END = 1.0
"""Seconds in which a server has ended that is told to."""
_PAUSE = 0.01
_PATIENCE = 120.0


@dataclass(frozen=True)
class Silence:
    """The longest that a server let somebody wait for an answer."""

    seconds: float
    """Without what the machine took."""
    by_the_clock: float
    asked: int
    """How many times it was asked meanwhile."""


@dataclass
class Watch:
    """Asks a server all the time."""

    process: subprocess.Popen[str]

    def silence(self) -> Silence:
        """The longest silence since the last call; one that lasts is waited for."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "nobody watches any more"
        return Silence(**json.loads(line))


@contextmanager
def watching(url: str, pid: int, path: str = "/healthz") -> Iterator[Watch]:
    """Ask the server at ``url``, which is the process ``pid``, for the length of a ``with`` block."""
    command = [sys.executable, __file__, url, str(pid), path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            watch = Watch(process)
            # From here on, and not from the start of a server that is still loading.
            watch.silence()
            yield watch
        finally:
            process.kill()


def seconds_to_end(process: subprocess.Popen[bytes]) -> float:
    """How long a server that is told to end (SIGTERM) needs for it, without what the machine took."""
    waits = Waits(process.pid)
    begun, waited = time.monotonic(), 0.0
    process.terminate()
    while process.poll() is None and time.monotonic() < begun + _PATIENCE:
        waited = max(waited, waits.seconds())
        time.sleep(_PAUSE)
    return time.monotonic() - begun - waited


def megabytes(pid: int) -> float:
    """The most memory that a process has had so far."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


class Waits:
    """How long the threads of processes have waited for a processor since this was made."""

    def __init__(self, *pids: int) -> None:
        self._pids = pids
        self._before = self._now()

    def seconds(self) -> float:
        """The time so far, of all threads together; those that have ended do not count."""
        return sum(waited - self._before.get(thread, 0) for thread, waited in self._now().items()) / 1e9

    def _now(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for pid in self._pids:
            for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
                try:
                    found[str(file)] = int(file.read_text().split()[1])
                except (OSError, IndexError):
                    # The thread, or the process, has just ended.
                    continue
        return found


class _Asking:
    """Asks, in the process that watches."""

    def __init__(self, url: str, pid: int, path: str) -> None:
        self._netloc, self._path = urlsplit(url).netloc, path
        self._pids = (pid, os.getpid())
        self._lock = threading.Lock()
        self._longest = Silence(0.0, 0.0, 0)

    def run(self) -> None:
        """Ask until this process is ended."""
        connection = http.client.HTTPConnection(self._netloc, timeout=_PATIENCE)
        while True:
            with self._lock:
                self._longest = self._asked_once(connection)
            time.sleep(_PAUSE)

    def taken(self) -> Silence:
        """The longest silence so far, at least one answer seen; the next begins at nothing."""
        while True:
            with self._lock:
                if self._longest.asked:
                    longest, self._longest = self._longest, Silence(0.0, 0.0, 0)
                    return longest
            time.sleep(_PAUSE)

    def _asked_once(self, connection: http.client.HTTPConnection) -> Silence:
        before = self._longest
        waits, begun = Waits(*self._pids), time.monotonic()
        connection.request("GET", self._path)
        connection.getresponse().read()
        took = time.monotonic() - begun
        own = max(0.0, took - waits.seconds())
        asked = before.asked + 1
        return Silence(max(before.seconds, own), max(before.by_the_clock, took), asked)


def main() -> None:
    """Watch the server that the arguments name; each line on standard input asks for what was seen."""
    asking = _Asking(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    threading.Thread(target=asking.run, daemon=True).start()
    for _ in sys.stdin:
        sys.stdout.write(json.dumps(asdict(asking.taken())) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
