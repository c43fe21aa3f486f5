"""Where sentences end, in English and Chinese."""

from __future__ import annotations

import re

_SENTENCE = re.compile(
    # Chinese marks end a sentence wherever they stand; Latin ones only before white space and a new beginning.
    r"[。！？]+[”’」』）)\"']*|(?<![A-Z])[.!?]+[\"'”’)\]]*(?=\s+[\"'“‘(\[]?[A-Z0-9\u3400-\u9fff])|\n+"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No|Fig|al|Jr|Sr|Inc|Ltd|Co|approx|[A-Z])\.$"
)


def sentence_ends(text: str) -> list[int]:
    """The positions after each sentence of ``text``; the last is its length."""
    ends = []
    for mark in _SENTENCE.finditer(text):
        if mark[0].startswith(".") and _ABBREVIATION.search(text[max(0, mark.start() - 8) : mark.start() + 1]):
            continue
        ends.append(mark.end())
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    return ends
