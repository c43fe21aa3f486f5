"""Where sentences end, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .scripts import HAN

_MARK = re.compile(
    # Chinese marks end a sentence wherever they stand; Latin ones only before white space and a new beginning.
    # A run of them is looked at once, from its beginning, or from its second after a capital.
    r"[。！？]++[”’」』）)\"']*+"
    r"|(?:(?<![A-Z.!?])[.!?]|(?<=[A-Z][.!?])[.!?])[.!?]*+[\"'”’)\]]*+"
    rf"(?=\s++[\"'“‘(\[]?[A-Z0-9{HAN}])|\n++"
)
_FIRST = re.compile(r"[.!?。！？\n]")
"""What each mark begins with: looked for by itself, since that takes a tenth of the time."""
_BLOCK = 100_000
"""So many characters are looked through before other threads have their turn."""
_ABBREVIATION = re.compile(
    rf"(?:^|[\s({HAN}])(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No|Fig|al|Jr|Sr|Inc|Ltd|Co|approx|[A-Z])\.$"
)
# So many sentences may stand within brackets; where none are closed, looking on at each sentence takes its time.
_MAX_WITHIN = 32
_SEMICOLON = re.compile(r"(?<=[；;])")
_BRACKETS = (("《", "》"), ("「", "」"), ("“", "”"), ("（", "）"), ("(", ")"))


def sentence_ends(text: str) -> list[int]:
    """Return the positions after each sentence of ``text``; the last is its length."""
    return list(each_sentence_end(text))


def each_sentence_end(text: str) -> Iterator[int]:
    """The same one by one: a long text has more of them than there is memory for."""
    end = 0
    for mark in _marks(text):
        start = mark.start()
        if mark[0].startswith(".") and _ABBREVIATION.search(text[max(0, start - 8) : start + 1]):
            continue
        end = mark.end()
        yield end
    if end == 0 or end < len(text):
        yield len(text)


def _marks(text: str) -> Iterator[re.Match[str]]:
    """Yield the marks at which a sentence may end."""
    at = 0
    while at < len(text):
        last = min(at + _BLOCK, len(text))
        first = _FIRST.search(text, at, last)
        if first is None:
            at = last
            continue
        mark = _MARK.match(text, first.start())
        if mark:
            yield mark
        at = mark.end() if mark else first.end()


def split_sentences(text: str, longest: int = 320) -> list[str]:
    """Return the sentences of ``text``, none ending inside brackets or a quotation unless that is too long.

    A sentence over ``longest`` characters is split at its semicolons.
    """
    found: list[str] = []
    ends = sentence_ends(text)
    brackets = [(left, right) for left, right in _BRACKETS if left in text]
    start = at = 0
    while at < len(ends):
        if brackets:
            at = _closing(text, start, ends, at, longest, brackets)
        sentence = text[start : ends[at]]
        found += [sentence] if len(sentence) <= longest else _SEMICOLON.split(sentence)
        start, at = ends[at], at + 1
    return list(filter(None, map(str.strip, found)))


def _closing(text: str, start: int, ends: list[int], at: int, longest: int, brackets: list[tuple[str, str]]) -> int:
    """Return the first of ``ends`` from ``at`` on by which all brackets are closed, or ``at`` where that is too far."""
    is_open = [0] * len(brackets)
    read = start
    for index in range(at, min(len(ends), at + _MAX_WITHIN)):
        if ends[index] - start > longest:
            break
        for number, (left, right) in enumerate(brackets):
            is_open[number] += text.count(left, read, ends[index]) - text.count(right, read, ends[index])
        read = ends[index]
        if max(is_open) <= 0:
            return index
    return at
