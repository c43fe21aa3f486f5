"""A command on a terminal of a given size, and what a person sees on it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyte

from support.timing import PATIENCE

# Makes the terminal the controlling one, so that Ctrl-C reaches the command, also where the tests run in the background.
_START = (
    "import fcntl, os, signal, sys, termios; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, sys.argv[1:])"
)


class Screen:
    """The screen of a running command; ``raw`` is everything that was written to it."""

    def __init__(self, fd: int, process: subprocess.Popen[bytes], columns: int, rows: int) -> None:
        self.raw = ""
        self._fd = fd
        self._process = process
        self._screen = pyte.HistoryScreen(columns, rows, history=10_000, ratio=1.0)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def lines(self) -> list[str]:
        """What a person sees, with what was scrolled away."""
        columns = self._screen.columns
        gone = ["".join(row[x].data for x in range(columns)) for row in self._screen.history.top]
        return [line.rstrip() for line in (*gone, *self._screen.display)]

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines).rstrip()

    def type(self, keys: str) -> None:
        """Type ``keys``."""
        os.write(self._fd, keys.encode())

    def wait_for(self, text: str, seconds: float = PATIENCE) -> None:
        """Read until ``text`` is on the screen."""
        end = time.monotonic() + seconds
        while text not in self.text:
            assert self._read(end), f"{text!r} did not come:\n{self.text}"

    def wait(self, seconds: float = PATIENCE) -> int:
        """Read until the command ends and return its exit code."""
        end = time.monotonic() + seconds
        while self._read(end):
            pass
        return self._process.wait(seconds)

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._fd], [], [], max(0.0, end - time.monotonic()))
        assert ready, f"nothing more came:\n{self.text}"
        try:
            data = os.read(self._fd, 4096)
        except OSError:
            # The other side is closed.
            return False
        self.raw += data.decode(errors="replace")
        self._stream.feed(data)
        return bool(data)


@contextmanager
def on_terminal(
    *args: str,
    env: Mapping[str, str] | None = None,
    variables: Mapping[str, str] | None = None,
    columns: int = 80,
    rows: int = 50,
) -> Iterator[Screen]:
    """Run ``suyuan`` with ``args`` on a terminal of its own; ``variables`` are added to the environment ``env``."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    command = [sys.executable, "-c", _START, sys.executable, "-m", "suyuan", *args]
    own = {name: value for name, value in (env or os.environ).items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    environ = {**own, "TERM": "xterm-256color", **(variables or {})}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, start_new_session=True)
    os.close(theirs)
    try:
        yield Screen(ours, process, columns, rows)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
