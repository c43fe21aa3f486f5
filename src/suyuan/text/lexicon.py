"""What words mean, from ``lexicon.json``: opposites, synonyms, negations, surnames, and simplified characters."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
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
    # 升学 and 降学: Chinese words that differ in one character, and that one is turned round.
    if one.isascii() or other.isascii() or not one or not other:
        return False
    if len(one) != len(other):
        short, long = sorted((one, other), key=len)
        # 危险 and 安全监管: the segmenter keeps some compounds whole.
        return len(short) > 1 and not {long[: len(short)], long[-len(short) :]}.isdisjoint(_opposites().get(short, ()))
    pairs = [(ours, theirs) for ours, theirs in zip(one, other, strict=True) if ours != theirs]
    return len(pairs) == 1 and frozenset(pairs[0]) in _opposite_characters()


@cache
def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in (line for lines in _lexicon()["opposites"].values() for line in lines):
        left, right = ({stem_word(word) for word in side.split("|")} for side in line.split(" / "))
        for one, other in ((left - right, right - left), (right - left, left - right)):
            for word in one:
                found.setdefault(word, set()).update(other)
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
    found: dict[str, set[int]] = {}
    lines = [line for lines in _lexicon()["synonyms"].values() for line in lines]
    for place, line in enumerate(lines):
        for word in line.lower().split("|"):
            found.setdefault(word, set()).add(place)
    return {word: frozenset(places) for word, places in found.items()}
