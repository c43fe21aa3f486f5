"""Splits a document into passages and selects those that are relevant for a question, without a model."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.document import Passage
from ..text.bm25 import BM25
from ..text.sentences import sentence_ends
from ..text.words import count_tokens, words

_HEADING = re.compile(r"(#{1,6})\s+(.+)")
_FENCE = re.compile(r"(```|~~~)")
_LONGEST = 700
# A pair of characters mostly repeats what its two characters say; measured on public Chinese questions.
_PAIR_WEIGHT = 0.25


@dataclass(frozen=True, slots=True)
class Selection:
    """The selected passages, in the order of the document, and the size of the whole document."""

    passages: tuple[Passage, ...]
    tokens: int
    total_tokens: int

    @property
    def cut(self) -> bool:
        """Whether anything was left out."""
        return self.tokens < self.total_tokens


def cut(text: str) -> tuple[Passage, ...]:
    """Split Markdown at headings and blank lines, and long paragraphs at sentences; tables and code stay whole."""
    passages: list[Passage] = []
    heading = ""
    for start, end in _blocks(text):
        block = text[start:end]
        if (found := _HEADING.match(block)) and "\n" not in block.strip():
            heading = found[2].strip()
        for first, last in _split(block):
            piece = text[start + first : start + last]
            left = len(piece) - len(piece.lstrip())
            piece = piece.strip()
            if piece:
                begin = start + first + left
                digest = hashlib.sha256(piece.encode("utf-8", "replace")).hexdigest()[:12]
                passages.append(Passage(digest, begin, begin + len(piece), piece, heading))
    return tuple(passages)


def rank(passages: Sequence[Passage], question: str) -> list[tuple[float, Passage]]:
    """The passages that share a word with ``question``, with their BM25 scores, best first."""
    scores = _scores(passages, question)
    scored = [(score, passage) for score, passage in zip(scores, passages, strict=True) if score > 0]
    return sorted(scored, key=lambda pair: (-pair[0], pair[1].start))


def select(text: str, question: str, budget: int) -> Selection:
    """The best passages of ``text`` for ``question`` within ``budget`` tokens; without a question, the first ones."""
    passages = cut(text)
    sizes = {passage: count_tokens(passage.text) for passage in passages}
    total = sum(sizes.values())
    if total <= budget:
        return Selection(passages, total, total)
    ranked = [passage for _, passage in rank(passages, question)] if question.strip() else []
    chosen, used = set(), 0
    for passage in dict.fromkeys([*ranked, *passages]):
        if used + sizes[passage] <= budget:
            chosen.add(passage)
            used += sizes[passage]
        elif not ranked:
            # Without a question only the beginning is wanted.
            break
    return Selection(tuple(p for p in passages if p in chosen), used, total)


def select_among(texts: Sequence[str], question: str, budget: int) -> list[Selection]:
    """The best passages of several texts for ``question``, within ``budget`` tokens for all of them together.

    The passages compete with each other, so a text that says more gets more of the budget, and one that says nothing
    gets none. Where no passage shares a word with the question, each text has its share for its beginning.
    """
    split = [cut(text) for text in texts]
    sizes = [[count_tokens(passage.text) for passage in passages] for passages in split]
    everything = [(number, at) for number, passages in enumerate(split) for at in range(len(passages))]
    if sum(map(sum, sizes)) <= budget:
        return [Selection(passages, sum(size), sum(size)) for passages, size in zip(split, sizes, strict=True)]
    scores = _scores([split[number][at] for number, at in everything], question)
    ranked = sorted((-score, place) for score, place in zip(scores, everything, strict=True) if score > 0)
    if not ranked:
        return [select(text, "", budget // len(texts)) for text in texts]
    chosen, used = set(), 0
    for _, (number, at) in ranked:
        if used + sizes[number][at] <= budget:
            chosen.add((number, at))
            used += sizes[number][at]
    return [
        Selection(
            tuple(passage for at, passage in enumerate(passages) if (number, at) in chosen),
            sum(size for at, size in enumerate(sizes[number]) if (number, at) in chosen),
            sum(sizes[number]),
        )
        for number, passages in enumerate(split)
    ]


def _scores(passages: Sequence[Passage], question: str) -> list[float]:
    query = {word: _PAIR_WEIGHT if len(word) == 2 and not word.isascii() else 1.0 for word in words(question)}
    return BM25(query, [Counter(words(f"{p.heading} {p.text}")) for p in passages]).scores()


def _blocks(text: str) -> list[tuple[int, int]]:
    """The spans between blank lines and headings; a fenced code block is one span."""
    spans: list[tuple[int, int]] = []
    start = position = 0
    fenced = False
    for line in text.splitlines(keepends=True):
        if _FENCE.match(line.lstrip()):
            fenced = not fenced
        if not fenced and (not line.strip() or _HEADING.match(line)):
            if text[start:position].strip():
                spans.append((start, position))
            start = position
            if _HEADING.match(line):
                spans.append((start, position + len(line)))
                start = position + len(line)
        position += len(line)
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def _split(block: str) -> list[tuple[int, int]]:
    if len(block) <= _LONGEST or block.lstrip().startswith(("|", "```", "~~~")):
        return [(0, len(block))]
    spans, start, previous = [], 0, 0
    for end in sentence_ends(block):
        if end - start > _LONGEST and previous > start:
            spans.append((start, previous))
            start = previous
        previous = end
    return [*spans, (start, len(block))]
