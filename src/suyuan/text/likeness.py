"""Whether two names or words may stand for the same: a part, an abbreviation, another spelling, a synonym."""

from __future__ import annotations

from difflib import SequenceMatcher

from .lexicon import are_synonyms

_MISSPELT = 0.75


def may_be_same(one: str, other: str) -> bool:
    """Whether two names may be one: a part, an abbreviation, another form of it."""
    if one in other or other in one or are_synonyms(one, other) or _abbreviates(one, other):
        return True
    if not one.isascii():
        return _begins_alike(*sorted((one, other), key=len))
    if len(one) > 3 and SequenceMatcher(None, one, other).ratio() >= _MISSPELT:
        return True
    ours, theirs = one.split(), other.split()
    for words, short in ((ours, other), (theirs, one)):
        if len(words) > 1 and "".join(word[0] for word in words) == short.replace(".", ""):
            return True
    return any(
        are_synonyms(mine, their) or (len(mine) > 3 and mine[:4] == their[:4]) for mine in ours for their in theirs
    )


def are_akin(one: str, other: str) -> bool:
    """Whether two Chinese words are synonyms or have most characters in common, except the first: 双性恋 and 同性恋."""
    short, long = sorted((one, other), key=len)
    if are_synonyms(one, other):
        return True
    if len(short) == len(long) > 2 and short[0] != long[0]:
        return False
    return 2 * sum(character in long for character in short) > len(short)


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
    rest = iter(long)
    return len(short) > 1 and not short.isascii() and all(character in rest for character in short)
