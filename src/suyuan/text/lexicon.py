"""What words mean, from ``lexicon.json``: opposites, synonyms, negations, surnames, and simplified characters."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any

from .words import stem_word


@cache
def _lexicon() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(files(__package__).joinpath("lexicon.json").read_text("utf-8"))
    return data


def simplified(text: str) -> str:
    """Return ``text`` with simplified Chinese characters; its length stays the same."""
    return text if text.isascii() else text.translate(_simplified())


@cache
def _simplified() -> dict[int, str]:
    return {ord(old): new for old, new in zip(*_lexicon()["traditional"], strict=True)}


def are_opposites(one: str, other: str) -> bool:
    """Whether two words, in the form of :func:`~suyuan.text.tokens.tokens`, mean the opposite of each other."""
    if other in _opposites().get(one, ()):
        return True
    if one.isascii() or other.isascii():
        return False
    if len(one) != len(other):
        return _has_opposite(*sorted((one, other), key=len))
    # 升学 and 降学: Chinese words that differ in one character, and that one is turned round.
    pairs = [frozenset(pair) for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return len(pairs) == 1 and pairs[0] in _opposite_characters()


def _has_opposite(short: str, long: str) -> bool:
    """Whether a longer Chinese word begins or ends with the opposite of another: 危险 and 安全监管."""
    if len(short) < 2:
        return False
    opposites = _opposites().get(short, frozenset())
    return long[: len(short)] in opposites or long[-len(short) :] in opposites


def _lines(section: str) -> list[str]:
    """All lines of a section of the lexicon."""
    return list(chain.from_iterable(_lexicon()[section].values()))


@cache
def _opposites() -> dict[str, frozenset[str]]:
    """The opposites of each word."""
    found: dict[str, set[str]] = {}
    for line in _lines("opposites"):
        left, right = (set(map(stem_word, side.split("|"))) for side in line.split(" / "))
        for word in left - right:
            found.setdefault(word, set()).update(right - left)
        for word in right - left:
            found.setdefault(word, set()).update(left - right)
    return {word: frozenset(others) for word, others in found.items()}


@cache
def _opposite_characters() -> frozenset[frozenset[str]]:
    return frozenset(frozenset(pair) for pair in _lexicon()["opposite_characters"].split())


def is_negation(word: str) -> bool:
    """Whether a word in lower case denies what follows it."""
    return word in _negations()


@cache
def _negations() -> frozenset[str]:
    return frozenset(_lexicon()["negations"].split())


def is_surname(character: str) -> bool:
    """Whether a Chinese character is a frequent surname."""
    return character in _lexicon()["surnames"]


def are_synonyms(one: str, other: str) -> bool:
    """Whether two words or names may stand for each other."""
    return bool(_synonyms().get(one.lower(), frozenset()) & _synonyms().get(other.lower(), frozenset()))


@cache
def _synonyms() -> dict[str, frozenset[int]]:
    """The places of the lines on which each word stands."""
    found: dict[str, set[int]] = {}
    for place, line in enumerate(_lines("synonyms")):
        for word in line.lower().split("|"):
            found.setdefault(word, set()).add(place)
    return {word: frozenset(places) for word, places in found.items()}
