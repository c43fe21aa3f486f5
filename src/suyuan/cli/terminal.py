"""Output to a terminal or a pipe: colours, folded lines, progress; Chinese characters count as two columns."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
import time
import unicodedata
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Literal, TextIO, TypeVar

from ..config.ui import wants_colour
from ..messages.catalog import Texts
from ..text.visible import shown_text

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_RESET = "\x1b[0m"
_COLOUR = re.compile(rf"(\x1b\[(?:0|{'|'.join(_CODES.values())})m)")
# Characters that must not begin or end a line; a citation marker like [1] belongs to the text before it.
_NOT_FIRST = frozenset("，。、；：？！）》〉」』】〕”’…—～·％,.;:?!)]}%[")
_NOT_LAST = frozenset("（《〈「『【〔“‘([{")


class Terminal:
    """One output stream."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.interactive = stream.isatty()
        self.colour = self.interactive and wants_colour()
        """Whether escape codes may be written."""
        self.width = min(shutil.get_terminal_size((100, 24)).columns, 120)

    def line(self, text: str = "") -> None:
        """Write one line; of its control characters only the colours of :meth:`paint` remain."""
        if self.colour:
            parts = _COLOUR.split(text)
            clean = "".join(part if i % 2 else printable(part) for i, part in enumerate(parts))
            self.stream.write(f"{clean}{_RESET}\n" if len(parts) > 1 else f"{clean}\n")
        else:
            self.stream.write(printable(text) + "\n")

    def text(self, text: str, head: str = "", style: str = "") -> None:
        """Write a text, on a terminal in lines that break between words, with its ``head`` in a colour."""
        first, *rest = (self.folded(text, "") if self.interactive else [text]) or [""]
        self.line(first.replace(head, self.paint(head, style), 1))
        for line in rest:
            self.line(line)

    def paint(self, text: str, style: str) -> str:
        """Return ``text`` in a colour, where colours are wanted."""
        text = printable(text)
        return f"\x1b[{_CODES[style]}m{text}{_RESET}" if self.colour and style else text

    def folded(self, text: str, indent: str) -> list[str]:
        """Return ``text`` in lines that fit, each with ``indent`` in front."""
        text = printable(text)
        breaks = [0, *line_breaks(text, max(20, self.width - width_of(indent))), len(text)]
        return [indent + text[a:b].rstrip() for a, b in zip(breaks, breaks[1:], strict=False) if text[a:b].strip()]

    def console(self) -> Console:
        """Return a console of ``rich`` for this stream; it is imported here because that takes time."""
        from rich.console import Console

        color_system: Literal["auto"] | None = "auto" if self.colour else None
        # On a dumb terminal rich would always take 80 columns.
        width, height = (None, None) if self.colour else shutil.get_terminal_size((100, 24))
        return Console(
            file=self.stream,
            force_terminal=True,
            color_system=color_system,
            width=width,
            height=height,
            highlight=False,
            markup=False,
        )


def asked(question: str, read: Callable[[str], str] = input) -> str:
    """Return what the user answers; Ctrl-D ends the command as Ctrl-C does."""
    try:
        return read(question)
    except EOFError:
        raise KeyboardInterrupt from None


def print_json(data: object) -> None:
    """Write ``data`` to standard output for other programs."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def printable(text: str) -> str:
    """Return ``text`` on one line: a page must not move the cursor, recolour the screen or reorder what is on it."""
    return shown_text(text).replace("\n", "")


def width_of(text: str) -> int:
    """Return the columns that ``text`` takes: East Asian characters take two, combining ones none."""
    return len(text) if text.isascii() else sum(_char_width(c) for c in text)


def padded(text: str, columns: int) -> str:
    """Return ``text`` filled up with blanks to ``columns``."""
    return text + " " * max(0, columns - width_of(text))


def line_breaks(text: str, width: int, measure: Callable[[str], int] = width_of) -> list[int]:
    """Return where to break ``text`` into lines of at most ``width`` columns: between words and Chinese characters."""
    breaks, line_start, used = [], 0, 0
    for start, end in _unbreakable(text):
        if start > line_start and used + measure(text[start:end].rstrip()) > width:
            breaks.append(start)
            line_start, used = start, 0
        while measure(text[start:end].rstrip()) > width - used:
            start += _cut(text[start:end], width - used, measure)
            breaks.append(start)
            line_start, used = start, 0
        used += measure(text[start:end])
    return breaks


def _cut(word: str, width: int, measure: Callable[[str], int]) -> int:
    """Return where to cut a word that is longer than a line: after a separator, if there is one near the end."""
    fits = next((n for n in range(1, len(word)) if measure(word[: n + 1]) > width), 1)
    separator = max(word.rfind(c, fits // 2, fits) for c in "/.,:-_&=?")
    return separator + 1 or fits


async def with_progress(work: Awaitable[T], t: Texts, key: str) -> T:
    """Await ``work``, and show the text ``key`` with the time on a terminal."""
    task = asyncio.ensure_future(work)
    err = Terminal(sys.stderr)
    if not err.interactive:
        return await task
    started = time.monotonic()
    line = ""
    try:
        while not (await asyncio.wait([task], timeout=0.1))[0]:
            line = t(key, seconds=time.monotonic() - started)
            err.stream.write("\r" + line)
            err.stream.flush()
        return task.result()
    finally:
        task.cancel()
        # Blanks clear the line without an escape code, so that it works on every terminal.
        err.stream.write("\r" + " " * width_of(line) + "\r" if line else "")
        err.stream.flush()


def _char_width(c: str) -> int:
    if unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def _unbreakable(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each part of ``text`` that stays on one line, with the blanks after it."""
    start = 0
    for i in range(1, len(text)):
        if _may_break(text[i - 1], text[i]):
            yield start, i
            start = i
    if text:
        yield start, len(text)


def _may_break(before: str, after: str) -> bool:
    if after == " " or before in _NOT_LAST:
        return False
    if before == " ":
        return True
    wide = "WF"
    either = unicodedata.east_asian_width(before) in wide or unicodedata.east_asian_width(after) in wide
    return either and after not in _NOT_FIRST and _char_width(after) > 0 and before != "\u200d"
