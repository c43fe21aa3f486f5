"""A sentence as tokens that can be aligned with those of another: words with their kind, quantities as values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from .dates import MONTHS
from .keywords import STOP_WORDS
from .lexicon import is_negation, is_surname, simplified
from .quantities import Quantity, find_quantities
from .scripts import HAN
from .segmenter import frequency, tagged
from .words import stem_word

Kind = Literal["name", "noun", "word", "capital", "quantity", "negation", "function", "mark"]

_LATIN = re.compile(rf"(?:[A-Z]\.){{2,}}|[^\W\d_{HAN}]+(?:[’'.&][^\W_{HAN}]+)*")
_HAN_RUN = re.compile(rf"[{HAN}]+(?:[·•・‧][{HAN}]+)*")
_HAS_HAN = re.compile(f"[{HAN}]")
_DROPPED = frozenset(
    ("a", "an", "the", "also", "的", "了", "地", "得", "着", "之", "所", "也", "曾", "曾经", "被", "并")
)
_AUXILIARIES = "am been being will would can could may might shall should must do does did there here"
_FUNCTION = STOP_WORDS.union(_AUXILIARIES.split())
# By the first letter of the segmenter's tag; the others are function words.
_KINDS: dict[str, Kind] = {"x": "name", **dict.fromkeys("nsjl", "noun"), **dict.fromkeys("mivatbzdfq", "word")}
_NAME_TAGS = ("nr", "ns", "nt", "nz")
# The name and the date of an agency, which say nothing about the matter.
_DATELINE = re.compile(r"[^，。,.!！?？：]{0,24}?\d{1,2}日[^，。\s（(]{0,4}?[电讯](?:\s*[（(][^()（）]*[)）])?")
# The number of a reference in an encyclopedia.
_REFERENCE = re.compile(r"\[\d{1,3}\]")
_ASIDE = re.compile(r"[(（][^()（）]*[)）]")
_MARK = re.compile("[，,：:；;。!！?？]")
_WEIGHTS = {"function": 0.3, "mark": 0.0}
_NEGATING = frozenset("不未没非")
_FREQUENT, _RARE = 500, 20
_MAX_NAME_PART = 6
_SENTENCE_START = frozenset('.!?:…"“')
_ABBREVIATION = re.compile(r"\b(?:[A-Z]|Mr|Dr|St|Jr|Sr|Mrs|Ms|vs)\.$")
_PART = re.compile(r"[^·•・‧]+")
_JOINED = "joined"


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a quantity at its place in a text; ``form`` is equal for inflections of one word."""

    form: str
    start: int
    end: int
    kind: Kind
    quantity: Quantity | None = None
    is_aside: bool = False
    """Whether it stands in brackets."""

    def overlaps(self, start: int, end: int) -> bool:
        """Whether it stands at least partly between two places."""
        return self.start < end and start < self.end

    @property
    def weight(self) -> float:
        """How much it counts when two sentences are compared."""
        return 0.2 if self.is_aside else _WEIGHTS.get(self.kind, 1.0)


@lru_cache(maxsize=256)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a sentence; articles and marks are left out."""
    plain = simplified(text)
    dateline = _DATELINE.match(plain)
    if dateline:
        plain = _blank(dateline) + plain[dateline.end() :]
    plain = _REFERENCE.sub(_blank, plain)
    quantities = {quantity.start: quantity for quantity in find_quantities(plain)}
    rest = _without(plain, quantities.values())
    found = [Token(value.key, value.start, value.end, "quantity", value) for value in quantities.values()]
    found += [Token(",", mark.start(), mark.end(), "mark") for mark in _MARK.finditer(rest)]
    found += _latin(rest)
    if _HAS_HAN.search(plain):
        found += _chinese(rest)
    asides = [match.span() for match in _ASIDE.finditer(plain)]
    if asides:
        found = [_marked(token, asides) for token in found]
    return tuple(sorted(found, key=lambda token: token.start))


def _blank(match: re.Match[str]) -> str:
    """Return as many spaces as a match is long."""
    return " " * len(match[0])


def _without(text: str, quantities: Iterable[Quantity]) -> str:
    """Return ``text`` with spaces in place of its quantities."""
    characters = list(text)
    for quantity in quantities:
        characters[quantity.start : quantity.end] = " " * (quantity.end - quantity.start)
    return "".join(characters)


def _marked(token: Token, asides: Sequence[tuple[int, int]]) -> Token:
    """Return a token as an aside where it stands in brackets."""
    is_aside = any(start < token.start < end for start, end in asides)
    return replace(token, is_aside=True) if is_aside else token


def _latin(text: str) -> Iterator[Token]:
    """Yield the words of the Latin script."""
    for match in _LATIN.finditer(text):
        word = match[0].removesuffix("'s").removesuffix("’s")
        lower = word.lower().replace("’", "'")
        if lower in _DROPPED:
            continue
        if is_negation(lower) or lower.endswith("n't"):
            yield Token("not", match.start(), match.end(), "negation")
        else:
            end = match.start() + len(word)
            yield Token(stem_word(lower.replace(".", "")), match.start(), end, _latin_kind(text, match, word, lower))


def _latin_kind(text: str, match: re.Match[str], word: str, lower: str) -> Kind:
    """The kind of a Latin word by its capitals; the first word of a sentence has one anyway."""
    is_function = lower in _FUNCTION
    if not word[0].isupper():
        return "function" if is_function else "word"
    if lower in MONTHS:
        return "name"
    is_first = _is_first(text[: match.start()].rstrip())
    if is_function:
        is_acronym = len(word) > 1 and word.isupper()
        return "name" if is_acronym and not is_first else "function"
    has_inner_capital = word[1:] != word[1:].lower()
    if has_inner_capital or not is_first:
        return "name"
    after = _LATIN.match(text, match.end() + 1)
    return "name" if after and after[0][0].isupper() else "capital"


def _is_first(before: str) -> bool:
    """Whether what stands before a word shows that it begins a sentence."""
    if not before:
        return True
    return before[-1] in _SENTENCE_START and _ABBREVIATION.search(before) is None


def _chinese(text: str) -> Iterator[Token]:
    """Yield the Chinese words."""
    for run in _HAN_RUN.finditer(text):
        yield from _words(_segments(run[0], run.start()))


@dataclass(frozen=True, slots=True)
class _Segment:
    """A word of the segmenter, or a whole transliterated name, at its place in a text."""

    text: str
    tag: str
    start: int

    @property
    def end(self) -> int:
        """The place after it."""
        return self.start + len(self.text)


def is_frequent(word: str) -> bool:
    """Whether a Chinese word is frequent."""
    return word.isascii() or frequency(word) >= _FREQUENT


def part_of_speech(word: str) -> str:
    """Return the segmenter's letter for the part of speech of a Chinese word."""
    return str(tagged(word)[0][1][:1])


def is_name(parts: Sequence[Token], text: str) -> bool:
    """Whether tokens hold a name, or their text is one that the segmenter does not know: its surname shows it."""
    if any(token.kind == "name" for token in parts):
        return True
    has_surname = 2 <= len(text) <= 4 and is_surname(text[0])
    return has_surname and not is_frequent(text)


def _words(segments: Iterable[_Segment]) -> Iterator[Token]:
    """Yield the tokens of the segmenter's words."""
    for segment in segments:
        if segment.tag == _JOINED:
            yield Token(segment.text, segment.start, segment.end, "name")
            continue
        word, start, end = segment.text, segment.start, segment.end
        if _is_negated(word):
            yield Token("not", start, start + 1, "negation")
            word, start = word[1:], start + 1
        if word in _DROPPED:
            continue
        if is_negation(word):
            yield Token("not", start, end, "negation")
        else:
            yield Token(word, start, end, _kind(segment.tag))


def _is_negated(word: str) -> bool:
    """Whether the segmenter has joined a word with the negation before it."""
    if word[0] not in _NEGATING or len(word) < 3:
        return False
    return not is_negation(word) and frequency(word) < _RARE


def _segments(run: str, start: int) -> list[_Segment]:
    """Return the words of a run of Chinese; a dot joins the words on both sides of it to one transliterated name."""
    parts = list(_PART.finditer(run))
    segments: list[_Segment] = []
    for index, part in enumerate(parts):
        is_inner = 0 < index < len(parts) - 1
        is_name_part = is_inner and len(part[0]) <= _MAX_NAME_PART
        words = [(part[0], "nr")] if is_name_part else tagged(part[0])
        at = start + part.start()
        for word, tag in words:
            segments.append(_Segment(word, tag, at))
            at += len(word)
        if index:
            joined = len(segments) - len(words)
            last, first = segments[joined - 1 : joined + 1]
            segments[joined - 1 : joined + 1] = [_Segment(f"{last.text}·{first.text}", _JOINED, last.start)]
    return segments


def _kind(tag: str) -> Kind:
    """Return the kind of a Chinese word by the segmenter's tag."""
    if tag.startswith(_NAME_TAGS):
        return "name"
    return _KINDS.get(tag[:1], "function")
