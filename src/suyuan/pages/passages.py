"""Splits a document into passages and selects those that are relevant for a question, without a model."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

from ..core.document import Passage
from ..text.bm25 import BM25
from ..text.sentences import each_sentence_end
from ..text.words import count_tokens, words

_HEADING = re.compile(r"(#{1,6})\s++(.+)")
_FENCES = ("```", "~~~")
_TABLE_OR_CODE = re.compile(r"\s*(?:\||```|~~~)")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_AT_ONCE = 100_000
"""About so many characters are taken apart into lines at once, since their lines take many times their memory."""
_LONGEST = 700
_LONGEST_WHOLE = 6000
"""What cannot be split at sentences is one passage up to here; a longer one would fit into no budget."""
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
    """Split Markdown at headings and blank lines, and long paragraphs at sentences.

    Tables and code stay whole, unless they are so long that nobody could use them.
    """
    return tuple(_passage(text, start, end, heading) for start, end, heading in spans(text))


def spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each passage of ``text`` begins and ends, and its heading; a text of any length takes little memory."""
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
                yield begin, begin + len(piece), heading


def _passage(text: str, start: int, end: int, heading: str) -> Passage:
    piece = text[start:end]
    digest = hashlib.sha256(piece.encode("utf-8", "replace")).hexdigest()[:12]
    return Passage(digest, start, end, piece, heading)


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
    candidates_by_text = [_candidates(text) for text in texts]
    candidates = list(chain.from_iterable(candidates_by_text))
    if _total_size(candidates) <= budget:
        everything = frozenset(candidates)
        return [_selection(of_text, everything) for of_text in candidates_by_text]
    scores = _scores([candidate.passage for candidate in candidates], question)
    scored = zip(scores, candidates, strict=True)
    ranked = sorted(((-score, candidate) for score, candidate in scored if score > 0), key=itemgetter(0))
    if not ranked:
        return [select(text, "", budget // len(texts)) for text in texts]
    chosen, used = set(), 0
    for _, candidate in ranked:
        if used + candidate.size <= budget:
            chosen.add(candidate)
            used += candidate.size
    return [_selection(of_text, chosen) for of_text in candidates_by_text]


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A passage of one of several texts, equal to no other even where that says the same."""

    passage: Passage
    size: int


def _candidates(text: str) -> list[_Candidate]:
    return [_Candidate(passage, count_tokens(passage.text)) for passage in cut(text)]


def _total_size(candidates: Iterable[_Candidate]) -> int:
    return sum(candidate.size for candidate in candidates)


def _selection(candidates: Sequence[_Candidate], chosen: AbstractSet[_Candidate]) -> Selection:
    """The chosen ones among the candidates of one text."""
    selected = [candidate for candidate in candidates if candidate in chosen]
    passages = tuple(candidate.passage for candidate in selected)
    return Selection(passages, _total_size(selected), _total_size(candidates))


def _scores(passages: Sequence[Passage], question: str) -> list[float]:
    query = {word: _PAIR_WEIGHT if len(word) == 2 and not word.isascii() else 1.0 for word in words(question)}
    return BM25(query, [_counted(p, query) for p in passages]).scores()


def _counted(passage: Passage, query: Mapping[str, float]) -> Counter[str]:
    """The words of a passage; those that nobody asked for only count for its length."""
    found = words(f"{passage.heading} {passage.text}")
    counted = Counter(filter(query.__contains__, found))
    counted[""] = len(found) - counted.total()
    return counted


def _lines(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start + _AT_ONCE) + 1 or len(text)
        yield from text[start:end].splitlines(keepends=True)
        start = end


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """The spans between blank lines and headings; a fenced code block is one span."""
    start = position = 0
    fenced = False
    for line in _lines(text):
        marks = line.lstrip()
        if marks.startswith(_FENCES):
            fenced = not fenced
        is_heading = line.startswith("#") and _HEADING.match(line) is not None
        if not fenced and (not marks or is_heading):
            if text[start:position].strip():
                yield start, position
            start = position
            if is_heading:
                yield start, position + len(line)
                start = position + len(line)
        position += len(line)
    if text[start:].strip():
        yield start, len(text)


def _split(block: str) -> Iterator[tuple[int, int]]:
    is_whole = len(block) <= _LONGEST
    is_prose = not is_whole and not _TABLE_OR_CODE.match(block)
    if is_whole or (not is_prose and len(block) <= _LONGEST_WHOLE):
        yield 0, len(block)
        return
    lines = (found.end() for found in _LINE.finditer(block))
    joined = _joined(each_sentence_end(block), _LONGEST) if is_prose else _joined(lines, _LONGEST_WHOLE // 2)
    for start, end in joined:
        yield from _pieces(block, start, end)


def _joined(ends: Iterable[int], longest: int) -> Iterator[tuple[int, int]]:
    """The spans up to these ends, short ones together; the last end is that of the text."""
    start = previous = 0
    for end in ends:
        has_span = previous > start
        if has_span and end - start > longest:
            yield start, previous
            start = previous
        previous = end
    yield start, previous


def _pieces(block: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A span in pieces, where it is a single sentence or line that is too long."""
    while end - start > _LONGEST_WHOLE:
        space = block.rfind(" ", start, start + _LONGEST_WHOLE)
        middle = space + 1 if space > start else start + _LONGEST_WHOLE
        yield start, middle
        start = middle
    yield start, end
