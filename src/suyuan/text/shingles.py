"""Whether two texts are one text that was printed twice, with small changes."""

from __future__ import annotations

from functools import lru_cache

from .words import words

_SIZE = 5
_REPRINT = 0.5
_LEAST = 4


@lru_cache(maxsize=256)
def _shingles(text: str) -> frozenset[int]:
    found = words(text)
    return frozenset(hash(tuple(found[at : at + _SIZE])) for at in range(len(found) - _SIZE + 1))


def is_reprint(one: str, other: str) -> bool:
    """Whether most of the shorter text is in the other; a few words prove nothing.

    They have one origin then, though one may have been cut, or give another figure.
    """
    ours, theirs = _shingles(one), _shingles(other)
    least = min(len(ours), len(theirs))
    return least >= _LEAST and len(ours & theirs) >= _REPRINT * least


def count_origins(texts: list[str]) -> int:
    """Return how many of ``texts`` are no reprint of one before them."""
    origins: list[str] = []
    for text in texts:
        if not any(is_reprint(text, known) for known in origins):
            origins.append(text)
    return len(origins)
