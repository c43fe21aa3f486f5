"""A sentence as tokens that can be aligned with those of another: words with their kind, quantities as values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
_LONGEST_PART = 6
_SENTENCE_START = frozenset('.!?:…"“')
_ABBREVIATION = re.compile(r"\b(?:[A-Z]|Mr|Dr|St|Jr|Sr|Mrs|Ms|vs)\.$")
_MIDDLE_DOT = re.compile("[·•・‧]")


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

    @property
    def weight(self) -> float:
        """How much it counts when two sentences are compared."""
        return 0.2 if self.is_aside else _WEIGHTS.get(self.kind, 1.0)


@lru_cache(maxsize=256)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a sentence; articles and marks are left out."""
    plain = simplified(text)
    if dateline := _DATELINE.match(plain):
        plain = " " * dateline.end() + plain[dateline.end() :]
    plain = _REFERENCE.sub(lambda found: " " * len(found[0]), plain)
    quantities = {quantity.start: quantity for quantity in find_quantities(plain)}
    rest = list(plain)
    for quantity in quantities.values():
        rest[quantity.start : quantity.end] = " " * (quantity.end - quantity.start)
    found = [Token(each.key, each.start, each.end, "quantity", each) for each in quantities.values()]
    found += [Token(",", mark.start(), mark.end(), "mark") for mark in _MARK.finditer("".join(rest))]
    found += _latin("".join(rest))
    if _HAS_HAN.search(plain):
        found += _chinese("".join(rest))
    asides = [match.span() for match in _ASIDE.finditer(plain)]
    if asides:
        found = [
            replace(token, is_aside=True) if any(start < token.start < end for start, end in asides) else token
            for token in found
        ]
    return tuple(sorted(found, key=lambda token: token.start))


def _latin(text: str) -> Iterator[Token]:
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
    kind: Kind = "function" if lower in _FUNCTION else "word"
    if not word[0].isupper():
        return kind
    before = text[: match.start()].rstrip()
    is_first = not before or (before[-1] in _SENTENCE_START and not _ABBREVIATION.search(before))
    if lower in MONTHS or (kind == "function" and len(word) > 1 and word.isupper() and not is_first):
        return "name"
    if kind == "function" or not is_first or word[1:] != word[1:].lower():
        return kind if kind == "function" else "name"
    after = _LATIN.match(text, match.end() + 1)
    return "name" if after and after[0][0].isupper() else "capital"


def _chinese(text: str) -> Iterator[Token]:
    for run in _HAN_RUN.finditer(text):
        if _MIDDLE_DOT.search(run[0]):
            yield from _with_names(run[0], run.start())
            continue
        yield from _words(tagged(run[0]), run.start())


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
    return 2 <= len(text) <= 4 and is_surname(text[0]) and not is_frequent(text)


def _words(found: list[tuple[str, str]], at: int) -> Iterator[Token]:
    for word, tag in found:
        start, at = at, at + len(word)
        if word[0] in _NEGATING and len(word) > 2 and not is_negation(word) and frequency(word) < _RARE:
            yield Token("not", start, start + 1, "negation")
            word, start = word[1:], start + 1
        if word in _DROPPED:
            continue
        if is_negation(word):
            yield Token("not", start, at, "negation")
        else:
            yield Token(word, start, at, _kind(word, tag))


def _kind(word: str, tag: str) -> Kind:
    if tag.startswith(_NAME_TAGS):
        return "name"
    return _KINDS.get(tag[:1], "function")


def _with_names(run: str, at: int) -> Iterator[Token]:
    """Yield the tokens of a run of Chinese in which a dot joins the parts of transliterated names: one token a name."""
    parts = _MIDDLE_DOT.split(run)
    name: tuple[int, int] | None = None
    for index, part in enumerate(parts):
        is_inner = 0 < index < len(parts) - 1
        words = [(part, "nr")] if is_inner and len(part) <= _LONGEST_PART else tagged(part)
        first, last = words[0][0], words[-1][0]
        begins = at + len(part) - len(last)
        if name:
            name = name[0], at + len(first)
            if len(words) > 1 or index + 1 == len(parts):
                yield _name(run, *name, at - sum(len(each) + 1 for each in parts[:index]))
                yield from _words(words[1:-1] if index + 1 < len(parts) else words[1:], name[1])
                name = (begins, begins) if index + 1 < len(parts) else None
        else:
            yield from _words(words[:-1], at)
            name = begins, begins
        at += len(part) + 1


def _name(run: str, start: int, end: int, offset: int) -> Token:
    return Token(_MIDDLE_DOT.sub("·", run[start - offset : end - offset]), start, end, "name")
