"""How well results fit their query: an engine that answers something else has refused."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice

from ..core.result import SearchResult
from ..text.keywords import STOP_WORDS
from ..text.scripts import CJK

# Genuine pages hold at least half of the query's words, decoys one or two of them.
THRESHOLD = 0.4
_MIN_TERMS = 3
_MIN_RESULTS = 3
_TOP = 10
# Names and numbers tell more about what was asked than other words.
_HEAVY = 1.5

_OPERATOR = re.compile(r"(?:^|(?<=\s))(?:-\S+|(?:site|inurl|intitle|filetype|lang|language|url):\S+)", re.I)
_TOKEN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_CJK = re.compile(f"[{CJK}]")


def relevance(query: str, results: Sequence[SearchResult]) -> float | None:
    """The share of the query's words that the first results hold; None where there is too little to judge."""
    if len(results) < _MIN_RESULTS:
        return None
    texts = [_folded(f"{result.title} {result.snippet} {result.url}") for result in islice(results, _TOP)]
    scripts = {_script(char) for text in texts for char in set(text) if char.isalpha()}
    # Words in a script that no result uses may have been translated: they show nothing.
    terms = {term: weight for term, weight in _terms(query).items() if term.isdigit() or _script(term[0]) in scripts}
    if len(terms) < _MIN_TERMS:
        return None
    held = set().union(*(_held(terms, text) for text in texts))
    return sum(terms[term] for term in held) / sum(terms.values())


def _terms(query: str) -> dict[str, float]:
    """The content words of a query with their weights; Chinese, Japanese and Korean by pairs of characters."""
    terms: dict[str, float] = {}
    for word in _TOKEN.findall(_OPERATOR.sub(" ", query)):
        term = _folded(word)
        if _CJK.match(term):
            terms.update((term[i : i + 2], 1.0) for i in range(max(1, len(term) - 1)))
        elif len(term) > 1 and term not in STOP_WORDS:
            named = word[:1].isupper() or any(char.isdigit() for char in term)
            terms[term] = _HEAVY if named else 1.0
    return terms


def _held(terms: Iterable[str], text: str) -> set[str]:
    words = {word for token in _TOKEN.findall(text) for word in (token, _singular(token))}
    return {term for term in terms if _holds(term, text, words)}


def _holds(term: str, text: str, words: set[str]) -> bool:
    if _CJK.match(term):
        return term in text
    if term in words or _singular(term) in words or (len(term) > 3 and term in text):
        return True
    # Engines correct spelling.
    return len(term) > 4 and any(abs(len(word) - len(term)) < 3 and _alike(term, word) for word in words)


def _alike(one: str, other: str) -> bool:
    first, second = _trigrams(one), _trigrams(other)
    return 2 * len(first & second) >= len(first | second)


def _trigrams(word: str) -> set[str]:
    word = f"^{word}$"
    return {word[i : i + 3] for i in range(len(word) - 2)}


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _folded(text: str) -> str:
    """``text`` in lower case and without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.lower())
    # Korean syllables and Japanese voiced characters are put together again.
    return unicodedata.normalize("NFC", "".join(char for char in decomposed if not "\u0300" <= char <= "\u036f"))


def _script(char: str) -> str:
    if char.isascii():
        return "LATIN"
    return "CJK" if _CJK.match(char) else unicodedata.name(char, "").partition(" ")[0]
