"""Invented text in English and Chinese: many words, few of them frequent, and the same text for the same number."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from itertools import accumulate

WORDS = 60_000
"""Words of each language."""
_SHIFT = 2.7
# Of about 2,700 characters in 8 kB, as of 8,000 letters.
_CHINESE_LETTERS = 3
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwz", "aeiou"
_FIRST_CHARACTER, _CHARACTERS = 0x4E00, 2_500


def is_chinese(number: int) -> bool:
    """Whether the text of this number is Chinese: every other one is."""
    return number % 2 == 1


def text(number: int, size: int, kind: str = "page") -> str:
    """About ``size`` bytes in paragraphs, with ``serial`` of its number once in it."""
    chance = random.Random(f"{kind} {number}")
    chinese = is_chinese(number)
    average = 2 * _CHINESE_LETTERS if chinese else 7
    words = _drawn(chance, chinese, max(8, size // average))
    sentences = list(_sentences(chance, words, chinese))
    sentences.insert(
        len(sentences) // 2, f"{serial(number, kind)}。" if chinese else f"Record {serial(number, kind)}. "
    )
    each = chance.randint(4, 8)
    paragraphs = ("".join(sentences[at : at + each]).strip() for at in range(0, len(sentences), each))
    return "\n\n".join(paragraphs)


def title(number: int, kind: str = "title") -> str:
    """A title of a few words."""
    chance = random.Random(f"title of {kind} {number}")
    chinese = is_chinese(number)
    return ("" if chinese else " ").join(_drawn(chance, chinese, chance.randint(3, 7)))


def serial(number: int, kind: str = "page") -> str:
    """A word that only the text of this number has."""
    return f"{kind}x{number:06d}"


def word(rank: int, *, chinese: bool = False) -> str:
    """The word of this rank: the lower, the more frequent."""
    return _vocabulary(chinese)[rank]


def _drawn(chance: random.Random, chinese: bool, count: int) -> Sequence[str]:
    return chance.choices(_vocabulary(chinese), cum_weights=_weights(), k=count)


def _sentences(chance: random.Random, words: Sequence[str], chinese: bool) -> Sequence[str]:
    found, at = [], 0
    while at < len(words):
        length = chance.randint(6, 16)
        part = words[at : at + length]
        found.append("".join(part) + "。" if chinese else " ".join(part).capitalize() + ". ")
        at += length
    return found


@cache
def _weights() -> list[float]:
    """Zipf's law, as Mandelbrot has it."""
    return list(accumulate(1 / (rank + _SHIFT) for rank in range(1, WORDS + 1)))


@cache
def _vocabulary(chinese: bool) -> list[str]:
    chance = random.Random(f"vocabulary {chinese}")
    found: dict[str, None] = {}
    while len(found) < WORDS:
        found[_chinese_word(chance) if chinese else _english_word(chance, len(found))] = None
    return list(found)


def _chinese_word(chance: random.Random) -> str:
    return "".join(chr(_FIRST_CHARACTER + chance.randrange(_CHARACTERS) * 8) for _ in range(2))


def _english_word(chance: random.Random, rank: int) -> str:
    # Frequent words are short.
    syllables = 2 if rank < 1_000 else chance.randint(2, 4)
    made = "".join(chance.choice(_CONSONANTS) + chance.choice(_VOWELS) for _ in range(syllables))
    return made + chance.choice(_CONSONANTS)
