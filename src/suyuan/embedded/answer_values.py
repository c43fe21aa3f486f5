"""The values in a sentence that may answer a question: names, dates or figures, by what the question asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ..text.dates import MONTHS
from ..text.lexicon import simplified
from ..text.likeness import may_be_same
from ..text.quantities import Quantity
from ..text.scripts import HAN
from ..text.tokens import Token, tokens

_MAX_SENTENCE = 600
# What may stand between the parts of a name.
_JOINS = re.compile(r"(?: |\. | of | of the | de | da | van | von | la |-|·| & )?$")
_MAX_NAME = 8
_LONG_WORD = re.compile(r"[A-Za-z]{4,}")
_HEADLINE = 5
"""The least long words of a line that is known as a headline."""
_DOT = re.compile("[•・‧]")
_HAN_CHARACTER = re.compile(f"[{HAN}]")
_NAMES = frozenset(("name", "place", "definition"))
_NAME_KINDS, _NOUN_KINDS = ("name", "capital"), ("name", "noun")
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_OPENINGS = "when after before since while although both home read more see"
# Capitalised words that name nobody; months are not among the names of a sentence either.
_NO_NAMES = frozenset(MONTHS).union(_WEEKDAYS.split(), _OPENINGS.split())


@dataclass(frozen=True, slots=True)
class Value:
    """A name, a date or a figure at its place among the tokens of a sentence."""

    text: str
    start: int
    first: int
    last: int
    quantity: Quantity | None = None

    def distance(self, place: int) -> int:
        """How many tokens lie from it to another place; 0 within it."""
        return max(self.first - place, place - self.last, 0)

    def may_be(self, other: Value) -> bool:
        """Whether both may be the same."""
        if self.quantity and other.quantity:
            return self.quantity.is_comparable(other.quantity) and self.quantity.agrees(other.quantity)
        return may_be_same(plain(self.text), plain(other.text))

    @property
    def key(self) -> str:
        """Equal for values that are written alike."""
        return f"{self.quantity.key} {self.quantity.unit}" if self.quantity else plain(self.text)

    @property
    def precision(self) -> int:
        """How many of year, month and day a date has."""
        if self.quantity is None or self.quantity.date is None:
            return 0
        date = self.quantity.date
        return 3 - (date.year, date.month, date.day).count(None)

    def is_of_kind(self, other: Value) -> bool:
        """Whether both can be the answer to one question: dates, figures of one unit, or names."""
        if self.quantity is None or other.quantity is None:
            return self.quantity == other.quantity
        if not self.quantity.is_comparable(other.quantity) or self.quantity.unit != other.quantity.unit:
            return False
        return abs(self.precision - other.precision) < 2


def _is_wanted(quantity: Quantity, kinds: Sequence[str]) -> bool:
    """Whether a figure is asked for, or a date; a day alone says too little."""
    if quantity.date:
        return "time" in kinds and bool(quantity.date.year or quantity.date.month)
    return "count" in kinds


@lru_cache(maxsize=1024)
def plain(name: str) -> str:
    """Return a name in the form in which it is compared."""
    return _DOT.sub("·", simplified(name)).lower()


def find_values(sentence: str, kinds: Sequence[str], question: str) -> Iterator[Value]:
    """Yield the values of a sentence that are of one of ``kinds`` and not in the question; names where it is empty."""
    own = tokens(sentence[:_MAX_SENTENCE])
    known = question.lower()
    for at, token in enumerate(own):
        text = sentence[token.start : token.end]
        if token.quantity and _is_wanted(token.quantity, kinds) and text.lower() not in known:
            yield Value(text, token.start, at, at, token.quantity)
    asks_for_name = not kinds or not _NAMES.isdisjoint(kinds)
    if asks_for_name and not _is_headline(sentence):
        yield from _names(sentence, own, known)


def _is_headline(sentence: str) -> bool:
    """Whether all long words are capitalised, so that names cannot be told from others."""
    long = _LONG_WORD.findall(sentence)
    return len(long) >= _HEADLINE and all(word[0].isupper() for word in long)


def _names(sentence: str, own: Sequence[Token], known: str) -> Iterator[Value]:
    """Yield the names of a sentence that the question does not have."""
    after = 0
    for first, token in enumerate(own):
        if first < after or not _is_name(sentence, token, known):
            continue
        after = _name_end(sentence, own, first, known)
        text = sentence[token.start : own[after - 1].end]
        if len(text) > 1:
            yield Value(text, token.start, first, after - 1)


def _name_end(sentence: str, own: Sequence[Token], first: int, known: str) -> int:
    """Return the place after the last token of a name."""
    end = first + 1
    for last, after in pairwise(own[first:]):
        if not _goes_on(sentence, own[first], last, after, known):
            break
        end += 1
    return end


def _is_name(sentence: str, token: Token, known: str) -> bool:
    """Whether a token may be a name, or the beginning of one."""
    if token.kind not in _NAME_KINDS:
        return False
    text = sentence[token.start : token.end].lower()
    return text not in _NO_NAMES and not _is_known(text, token, known)


def _is_known(text: str, token: Token, known: str) -> bool:
    """Whether the question has a token."""
    if text in known:
        return True
    return text.isascii() and token.form in known


def _goes_on(sentence: str, first: Token, last: Token, after: Token, known: str) -> bool:
    """Whether a name goes on with the next token: a surname, or the animal of a team."""
    if first.is_aside != after.is_aside or not _JOINS.match(sentence[last.end : after.start]):
        return False
    if _is_known(sentence[after.start : after.end].lower(), after, known):
        return False
    if not _HAN_CHARACTER.match(after.form):
        return after.kind in _NAME_KINDS and not _HAN_CHARACTER.match(last.form)
    if after.kind not in _NOUN_KINDS or last.end != after.start:
        return False
    return after.end - first.start <= _MAX_NAME
