"""Writing to a terminal: colours where they are welcome, lines that fit, Chinese counted as two columns."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
import unicodedata
from collections.abc import Awaitable
from typing import TextIO, TypeVar

from ..config.ui import wants_colour
from ..messages.catalog import Texts

T = TypeVar("T")

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Terminal:
    """One output stream."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.interactive = stream.isatty()
        self._colour = self.interactive and wants_colour()
        self.width = min(shutil.get_terminal_size((100, 24)).columns, 110)

    def line(self, text: str = "") -> None:
        """Write one line."""
        self.stream.write(printable(text) + "\n" if not self._colour else text + "\n")

    def paint(self, text: str, style: str) -> str:
        """``text`` in a colour, where colours are welcome."""
        text = printable(text)
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self._colour else text

    def folded(self, text: str, indent: str) -> list[str]:
        """``text`` in lines that fit, each with ``indent`` in front."""
        room = max(20, self.width - width_of(indent))
        lines, current, used = [], "", 0
        for piece in _pieces(printable(text)):
            size = width_of(piece)
            if used + size > room and current.strip():
                lines.append(indent + current.rstrip())
                current, used, piece = "", 0, piece.lstrip()
                size = width_of(piece)
            current += piece
            used += size
        return lines + [indent + current.rstrip()] if current.strip() else lines


def printable(text: str) -> str:
    """``text`` without control characters: a page's title must not move the cursor or recolour the screen."""
    return "".join(c for c in text if c >= " " and not "\x7f" <= c <= "\x9f" or c == "\t")


def width_of(text: str) -> int:
    """The columns that ``text`` takes: East Asian characters take two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def padded(text: str, columns: int) -> str:
    """``text`` filled up with blanks to ``columns``."""
    return text + " " * max(0, columns - width_of(text))


async def with_progress(work: Awaitable[T], texts: Texts) -> T:
    """Await ``work``, and on a terminal say how long it has been going on."""
    task = asyncio.ensure_future(work)
    err = Terminal(sys.stderr)
    if not err.interactive:
        return await task
    started = time.monotonic()
    try:
        while not (await asyncio.wait([task], timeout=0.1))[0]:
            err.stream.write("\r" + texts("searching", seconds=time.monotonic() - started))
            err.stream.flush()
        return task.result()
    finally:
        task.cancel()
        err.stream.write("\r\x1b[K")
        err.stream.flush()


def _pieces(text: str) -> list[str]:
    """Where a line may break: after blanks, and around each East Asian character."""
    pieces, word = [], ""
    for c in text:
        if unicodedata.east_asian_width(c) in "WF":
            if word:
                pieces.append(word)
            pieces.append(c)
            word = ""
        else:
            word += c
            if c == " ":
                pieces.append(word)
                word = ""
    return [*pieces, word] if word else pieces
