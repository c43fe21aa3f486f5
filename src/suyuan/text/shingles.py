"""Whether two texts are one text that was printed twice, with small changes."""

from __future__ import annotations

from functools import lru_cache

from .words import words

_SIZE = 5
_REPRINT = 0.5
_MIN_SHINGLES = 4


@lru_cache(maxsize=256)
def _shingles(text: str) -> frozenset[int]:
    """Return the runs of words of a text."""
    all_words = words(text)
    starts = range(len(all_words) - _SIZE + 1)
    return frozenset(hash(tuple(all_words[start : start + _SIZE])) for start in starts)


def is_reprint(one: str, other: str) -> bool:
    """Whether most of the shorter text is in the other; a few words prove nothing.

    They have one origin then, though one may have been cut, or give another figure.
    """
    ours, theirs = _shingles(one), _shingles(other)
    shorter = min(len(ours), len(theirs))
    if shorter < _MIN_SHINGLES:
        return False
    return len(ours & theirs) >= _REPRINT * shorter


def count_origins(texts: list[str]) -> int:
    """Return how many of ``texts`` are no reprint of one before them."""
    origins: list[str] = []
    for text in texts:
        if not any(is_reprint(text, known) for known in origins):
            origins.append(text)
    return len(origins)
