"""Where sentences end, in English and Chinese."""

from __future__ import annotations

import re

from .scripts import HAN

_MARK = re.compile(
    # Chinese marks end a sentence wherever they stand; Latin ones only before white space and a new beginning.
    rf"[。！？]+[”’」』）)\"']*|(?<![A-Z])[.!?]+[\"'”’)\]]*(?=\s+[\"'“‘(\[]?[A-Z0-9{HAN}])|\n+"
)
_ABBREVIATION = re.compile(
    rf"(?:^|[\s({HAN}])(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No|Fig|al|Jr|Sr|Inc|Ltd|Co|approx|[A-Z])\.$"
)
_BRACKETS = (("《", "》"), ("「", "」"), ("“", "”"), ("（", "）"), ("(", ")"))


def sentence_ends(text: str) -> list[int]:
    """Return the positions after each sentence of ``text``; the last is its length."""
    ends = []
    for mark in _MARK.finditer(text):
        if mark[0].startswith(".") and _ABBREVIATION.search(text[max(0, mark.start() - 8) : mark.start() + 1]):
            continue
        ends.append(mark.end())
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    return ends


def split_sentences(text: str, longest: int = 320) -> list[str]:
    """Return the sentences of ``text``, none ending inside brackets or a quotation unless that is too long.

    A sentence over ``longest`` characters is split at its semicolons.
    """
    found: list[str] = []
    ends = sentence_ends(text)
    brackets = [(left, right) for left, right in _BRACKETS if left in text]
    start = at = 0
    while at < len(ends):
        at = _closing(text, start, ends, at, longest, brackets) if brackets else at
        sentence = text[start : ends[at]]
        found += [sentence] if len(sentence) <= longest else re.split(r"(?<=[；;])", sentence)
        start, at = ends[at], at + 1
    return [stripped for sentence in found if (stripped := sentence.strip())]


def _closing(text: str, start: int, ends: list[int], at: int, longest: int, brackets: list[tuple[str, str]]) -> int:
    """Return the first of ``ends`` from ``at`` on by which all brackets are closed, or ``at`` where that is too far."""
    for index in range(at, len(ends)):
        if ends[index] - start > longest:
            break
        sentence = text[start : ends[index]]
        if all(sentence.count(left) <= sentence.count(right) for left, right in brackets):
            return index
    return at
