"""How far a long command is: a line that is rewritten on a terminal, and a line now and then elsewhere."""

from __future__ import annotations

import sys
import time

from ..messages.catalog import Texts
from .terminal import Terminal, width_of

_TERMINAL_SECONDS, _PLAIN_SECONDS = 0.1, 5.0


class ProgressLine:
    """Shows on standard error how much is done; to be used in a ``with`` block."""

    def __init__(self, t: Texts, key: str) -> None:
        self._t, self._key = t, key
        self._err = Terminal(sys.stderr)
        self._pause = _TERMINAL_SECONDS if self._err.interactive else _PLAIN_SECONDS
        self._next = time.monotonic() + self._pause
        self._shown = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take note that ``done`` of ``total`` is done, and that ``what`` is next."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + self._pause
        percent = 100 * done // max(total, 1)
        line = self._t(self._key, what=what, done=done, total=total, percent=percent)
        if not self._err.interactive:
            self._err.line(line)
            return
        line = line[: self._err.width - 1]
        self._rewrite(line)
        self._shown = line

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            # Blanks clear the line without an escape code, so that it works on every terminal.
            self._rewrite("")
            self._err.stream.write("\r")

    def _rewrite(self, line: str) -> None:
        blanks = " " * max(0, width_of(self._shown) - width_of(line))
        self._err.stream.write(f"\r{line}{blanks}")
        self._err.stream.flush()
