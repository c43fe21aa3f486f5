"""Texts that nobody writes, and that work on a text may be slow with: runs of one sign, or of few, as long as one likes.

They are generated: from each punctuation mark, kind of space and kind of character, alone and with each other.
"""

from __future__ import annotations

import string
from collections.abc import Iterator

SPACES = (" ", "\t", "\n", "\r\n", "\xa0", "\u3000", "\u200b", "\u2028")
MARKS = (*string.punctuation, *"。，、；：？！…—·「」『』（）【】《》“”‘’«»–•％￥°§†×≤→")
MEMBERS = (
    "a",
    "A",
    "7",
    "é",
    "е",
    "中",
    "の",
    "한",
    "ض",
    "ไ",
    "²",
    "①",
    "\u0301",
    "\u200d",
    "\U0001f469",
    "\ud7ff",
    "👩\u200d🔬",
    "👩\u200d",
    "❤\ufe0f",
    "\u0316\u0301",
    "\ufdfa",
    "㌖",
    "ΐ",
    "🇨🇳",
)
# What opens, divides or numbers something in a text, with what often stands beside it.
WORDS = (
    "a ", "7 ", "中。", "a. ", "a.\n", "A. ", "7. ", "7, ", "7.7", "1,000 ", "2025-01-01 ", "a@a.", "http://a.a/ ", "www.",
    "[1]", "[1] ", "[[1", "[a](", "![", "](", "<a>", "</", "<!--", "&amp;", "&#", "**a", "__a", "``a", "```\n", "~~~\n", "$$a\n",
    "\\(", "\\[", "|a|\n", "|-|\n", "# a\n", "> ", "- a\n", "* ", "\n\n", " \n", "\n ", "\t\n", "a\n", "中\n", "：\n", "and ",
    "or ", "is ", "what is ", "not ", "1. a\n", "a, ", "a; ", "a: ", "a-", "a'", "Mr. ", "e.g. ", "U.S. ", "第一", "二零", "“a", "《中",
    "？！", "和", "的", "%20", "a=b&", "site:a ", '"a ', "-a ", "(a ", "a) ", "2025年1月", "100%", "$1 ", "1 km ",
)  # fmt: skip


def units(*, long: bool = False) -> tuple[str, ...]:
    """What is repeated: every sign alone and those words; ``long`` adds each mark with each space and member."""
    alone = (*SPACES, *MARKS, *MEMBERS, *WORDS)
    return tuple(dict.fromkeys((*alone, *_pairs()))) if long else alone


def _pairs() -> Iterator[str]:
    for mark in MARKS:
        for other in (*SPACES[:4], *MEMBERS[:10]):
            yield mark + other
            yield other + mark
    for first in string.punctuation:
        for second in string.punctuation:
            yield first + second


def run(unit: str, size: int) -> str:
    """A text of ``size`` characters that repeats ``unit``."""
    return (unit * (size // len(unit) + 1))[:size]


def all_runs(size: int, part: int) -> str:
    """A text of at most ``size`` characters with a run of ``part`` of each unit, as many as there is room for."""
    runs, left = [], size
    for unit in units():
        if left < part:
            break
        runs.append(run(unit, part))
        left -= part
    return "".join(runs)


def name_of(unit: str) -> str:
    """The unit as a test names it."""
    return ascii(unit)
