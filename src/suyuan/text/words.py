"""Words of a text, for comparing texts: Latin words, and Chinese, Japanese and Korean by character and pair."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import filterfalse
from operator import add

from .scripts import CJK

# For a text without Chinese, Japanese and Korean, and for ASCII: that takes a third of the time of ``_runs``.
_WORDS = re.compile(r"[^\W_]++(?:['’.\-][^\W_]++)*+")
_ASCII_WORDS = re.compile(r"[a-z0-9]++(?:['.\-][a-z0-9]++)*+")
# Characters of function words and question words: alone they say nothing about a text.
_STOP_CHARACTERS = frozenset("的了是在和与及或吗呢啊吧什么哪怎样为何多少几谁个位")
_MIN_STEM, _MIN_INFLECTED = 3, 5
_ENDINGS = ("ing", "edly", "ed", "ly", "er", "or", "es", "e")


_AT_ONCE = 20_000


def words(text: str) -> list[str]:
    """Return the words of ``text`` in lower case and singular; CJK runs give characters and pairs of neighbours."""
    return _words(text, _singular)


def stems(text: str) -> list[str]:
    """Return the words of ``text`` without their English endings."""
    return _words(text, stem_word)


def stem(word: str) -> str:
    """Return a rough stem of an English word, so that "founded" equals "founding"; other words stay as they are."""
    if len(word) < _MIN_INFLECTED or not _is_english(word):
        return word
    root = next((word[: -len(ending)] for ending in _ENDINGS if _ends_with(word, ending)), word)
    has_double_letter = len(root) > _MIN_STEM and root[-1] == root[-2]
    return root[:-1] if has_double_letter else root


def _is_english(word: str) -> bool:
    """Whether a word has only the letters of English."""
    return word.isascii() and word.isalpha()


def _ends_with(word: str, ending: str) -> bool:
    """Whether a word has an ending after a stem that is long enough."""
    return word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM


def count_cjk(text: str) -> int:
    """Return how many characters of ``text`` are Chinese, Japanese or Korean."""
    if text.isascii():
        return 0
    # A part at a time, so that others have their turn.
    return sum(len(_cjk().findall(text, at, at + _AT_ONCE)) for at in range(0, len(text), _AT_ONCE))


def count_tokens(text: str) -> int:
    """Return about how many tokens a language model counts, rather too many than too few."""
    wide = count_cjk(text)
    narrow = len(text) - wide
    return wide + (narrow + 2) // 3


def _words(text: str, normal: Callable[[str], str]) -> list[str]:
    """Return the words of a text, each in a normal form."""
    text = text.lower()
    if text.isascii():
        return list(map(normal, _ASCII_WORDS.findall(text)))
    if _cjk().search(text) is None:
        return list(map(normal, _WORDS.findall(text)))
    found: list[str] = []
    for run, word in _runs().findall(text):
        if word:
            found.append(normal(word))
        else:
            found.extend(filterfalse(_STOP_CHARACTERS.__contains__, run))
            found.extend(map(add, run, run[1:]))
    return found


# Sets of so many characters take milliseconds to compile, and English text needs none of them.
@cache
def _cjk() -> re.Pattern[str]:
    return re.compile(f"[{CJK}]")


@cache
def _runs() -> re.Pattern[str]:
    return re.compile(rf"([{CJK}]+)|([^\W_{CJK}]+(?:['’.\-][^\W_{CJK}]+)*)")


@lru_cache(maxsize=20_000)
def _singular(word: str) -> str:
    """Return an English word without its plural or possessive ending."""
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    if not word.isascii() or len(word) < 4:
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=20_000)
def stem_word(word: str) -> str:
    """Return the stem of one word in lower case, which may be a plural or possessive."""
    return stem(_singular(word))
