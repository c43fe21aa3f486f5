"""What the documentation says of how conversations are found, in as many words: for comparison with the index."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import groupby

_UNSPACED = {"CJK", "KATAKANA", "HIRAGANA", "HANGUL", "GRINNING"}


def is_found(query: str, texts: Sequence[str]) -> bool:
    """Whether every word of a query is in one of the texts; what has neither letters nor digits is no word."""
    words = [runs for word in _normal(query).split() if (runs := _runs(word))]
    if not words:
        return not query.strip()
    kept = [_runs(_normal(text)) for text in texts]
    return all(any(_is_in(word, runs) for runs in kept) for word in words)


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _kind(char: str) -> str:
    if unicodedata.name(char, "").split(" ")[0] in _UNSPACED:
        return "unspaced"
    if char.isalnum():
        return "letter"
    return "sign" if char in "+#" else ""


def _runs(text: str) -> list[str]:
    """The words of a text, and its runs of characters of scripts without spaces."""
    found: list[str] = []
    before = ""
    for kind, chars in groupby(text, _kind):
        run = "".join(chars)
        if kind == "sign" and before == "letter":
            # C++ is another word than C.
            found[-1] += run
        elif kind in ("unspaced", "letter"):
            found.append(run)
        before = kind
    return found


def _is_unspaced(run: str) -> bool:
    return _kind(run[0]) == "unspaced"


def _is_in(word: Sequence[str], runs: Sequence[str]) -> bool:
    """Whether the parts of a word follow one another; the last one may be the beginning of what is there."""
    if len(word) == 1 and _is_unspaced(word[0]):
        return any(word[0] in run for run in runs)
    return any(_fits(word, runs[at : at + len(word)]) for at in range(len(runs) - len(word) + 1))


def _fits(word: Sequence[str], runs: Sequence[str]) -> bool:
    first = runs[0].endswith(word[0]) if _is_unspaced(word[0]) and len(word) > 1 else runs[0] == word[0]
    if len(word) == 1:
        return runs[0].startswith(word[0])
    return first and list(word[1:-1]) == list(runs[1:-1]) and runs[-1].startswith(word[-1])
