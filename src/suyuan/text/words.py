"""Words of a text, for comparing texts: Latin words, and Chinese, Japanese and Korean by character pairs."""

from __future__ import annotations

import re
from functools import lru_cache

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUNS = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:['’.\-][^\W_{_CJK}]+)*")
# Characters that stand in every question and tell nothing about the answer.
_EMPTY = frozenset("的了是在和与及或吗呢啊吧什么哪怎样为何多少几谁个位")
_IS_CJK = re.compile(f"[{_CJK}]")


def words(text: str) -> list[str]:
    """The comparable words of ``text``, lower-case; CJK runs give single characters and pairs of neighbours."""
    found: list[str] = []
    for run in _RUNS.findall(text.lower()):
        if _IS_CJK.match(run):
            found.extend(char for char in run if char not in _EMPTY)
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
        else:
            found.append(_stem(run))
    return found


def tokens(text: str) -> int:
    """About how many tokens a language model counts, rather too many than too few."""
    wide = len(_IS_CJK.findall(text))
    return wide + (len(text) - wide + 2) // 3


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """A very light stem for English: plural and possessive endings off."""
    if not word.isascii() or len(word) < 4:
        return word
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
