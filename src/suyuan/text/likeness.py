"""Whether two names or words may stand for the same: a part, an abbreviation, another spelling, a synonym."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import product

from .lexicon import are_synonyms

_MISSPELT = 0.75


def may_be_same(one: str, other: str) -> bool:
    """Whether two names may be one: a part, an abbreviation, another form of it."""
    is_part = one in other or other in one
    if is_part or are_synonyms(one, other) or _abbreviates(one, other):
        return True
    if not one.isascii():
        return _begins_alike(*sorted((one, other), key=len))
    if len(one) > 3 and SequenceMatcher(None, one, other).ratio() >= _MISSPELT:
        return True
    if _is_acronym(one, other) or _is_acronym(other, one):
        return True
    return any(_are_alike(ours, theirs) for ours, theirs in product(one.split(), other.split()))


def _is_acronym(short: str, name: str) -> bool:
    """Whether a word is made of the first letters of a name."""
    words = name.split()
    return len(words) > 1 and "".join(word[0] for word in words) == short.replace(".", "")


def _are_alike(one: str, other: str) -> bool:
    """Whether two words are synonyms or begin alike."""
    begin_alike = len(one) > 3 and one[:4] == other[:4]
    return begin_alike or are_synonyms(one, other)


def are_akin(one: str, other: str) -> bool:
    """Whether two Chinese words are synonyms or have most characters in common, except the first: 双性恋 and 同性恋."""
    if are_synonyms(one, other):
        return True
    short, long = sorted((one, other), key=len)
    are_as_long = len(short) == len(long) > 2
    if are_as_long and short[0] != long[0]:
        return False
    shared = sum(character in long for character in short)
    return 2 * shared > len(short)


def without_common(one: str, other: str) -> tuple[str, str]:
    """Return both texts without the characters that they begin and end with alike."""
    size = min(len(one), len(other))
    start = next((at for at in range(size) if one[at] != other[at]), size)
    end = next((at for at in range(size - start) if one[-1 - at] != other[-1 - at]), size - start)
    return one[start : len(one) - end], other[start : len(other) - end]


def _begins_alike(short: str, long: str) -> bool:
    """Whether most of a Chinese name is in the other: 耶伦于 in 珍妮特·耶伦."""
    most = max(2, len(short) // 2 + 1)
    return "·" not in short and short[:most] in long


def _abbreviates(one: str, other: str) -> bool:
    """Whether a Chinese name is made of characters of the other, in their order: 北大 and 北京大学."""
    short, long = sorted((one, other), key=len)
    if len(short) < 2 or short.isascii():
        return False
    rest = iter(long)
    return all(character in rest for character in short)
