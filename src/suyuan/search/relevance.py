"""How well results fit their query: an engine that answers something else has refused."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..core.causes.engine import OFF_TOPIC
from ..core.errors import SuyuanError
from ..core.query import SearchQuery
from ..core.result import SearchResult
from ..text.keywords import keywords
from ..text.language import chinese_variant, detect_language, frequent_languages, script_language
from ..text.scripts import CJK
from ..text.words import count_cjk, stem

RELEVANT = 0.34
"""Results that hold less are not about the query: genuine pages have at least 0.5, decoys one word of many."""
_GENUINE = 0.5
"""From here on the results are surely about the query, and nothing else needs to be looked at."""
_MIN_TERMS = 3
_MIN_RESULTS = 3
_MIN_LETTERS = 60
"""Of title and snippet: results with less text cannot hold the words of a query."""
_TOP = 10
_BEST = 3
_MOST, _FEW, _MANY = 0.8, 0.1, 3.0
_HEAVY = 1.5
"""The weight of names and numbers, which tell more about what was asked than other words."""
_ENOUGH = 8.0
"""A result that holds words of this weight is about the query, however long that is."""

_OPERATORS = "site|inurl|intitle|allintitle|intext|inbody|filetype|ext|lang|language|loc|location|url|before|after"
_OPERATOR = re.compile(rf"(?:^|(?<=[\s(]))(?:-[^\s-]\S*|(?:{_OPERATORS}):\S+)", re.I)
_TOKEN = re.compile(r"[^\W_]+")
# Compiled when it is first needed.
_TOKEN_OR_RUN = rf"[{CJK}]+|[^\W_{CJK}]+"
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff\uff01-\uff5e\u0300-\u036f]")
_BY_PAIRS = ("zh", "ja", "ko")
_LATIN = re.compile("[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of the query, or a run of Chinese, Japanese or Korean characters."""

    text: str
    weight: float
    language: str
    """What its script stands for; empty for the Latin script."""
    named: bool = False
    numbered: bool = False
    size: int = 1


def relevance(query: SearchQuery, results: Sequence[SearchResult]) -> float | None:
    """The share of the query's words that the three best of the first results hold, on average.

    None where there is too little to judge: few words in the query, little text, or another language.
    """
    terms: Sequence[_Term] = _terms(query.text)
    if len(results) < _MIN_RESULTS or sum(term.size for term in terms) < _MIN_TERMS:
        return None
    top = results[:_TOP]
    if sum(len(result.title) + 1 + len(result.snippet) for result in top) < _MIN_LETTERS * len(top):
        return None
    if (share := _best(_shares(terms, map(_searched, top), _held))) >= _GENUINE:
        return share
    texts = list(map(_searched, top))
    one_site = len({result.source for result in top}) == 1 and not _asks_for_site(query)
    if not _about_a_word(terms, texts, one_site):
        terms = _comparable(terms, query.text, " ".join(f"{result.title} {result.snippet}" for result in top))
    if sum(term.size for term in terms) < _MIN_TERMS:
        return None
    # Engines correct spelling, so words that look alike count where the words themselves are missing.
    return _best(_shares(terms, texts, _held_alike))


def check_relevance(engine: str, query: SearchQuery, results: Sequence[SearchResult]) -> float | None:
    """The relevance of ``results``; raises where they are not about the query, which is how an engine refuses."""
    share = relevance(query, results)
    if share is not None and share < RELEVANT:
        raise OFF_TOPIC(engine=engine, percent=100 * share)
    return None if share is None else round(share, 2)


def relevance_of(error: SuyuanError) -> float | None:
    """The relevance for which ``error`` was raised; None for other errors."""
    percent = error.failure.params.get("percent") if error.failure.key == OFF_TOPIC.key else None
    return round(percent / 100, 2) if isinstance(percent, float) else None


def shares(query: str, results: Sequence[SearchResult]) -> list[float]:
    """The share of the query's words that each of ``results`` holds, from 0 to 1."""
    terms = _terms(query)
    if not terms:
        return [0.0] * len(results)
    return list(_shares(terms, (_folded(f"{result.title} {result.snippet}") for result in results), _held))


def _asks_for_site(query: SearchQuery) -> bool:
    return bool(query.allowed_domains) or "site:" in query.text.lower()


def _searched(result: SearchResult) -> str:
    return _folded(f"{result.title} {result.snippet} {result.url}")


def _shares(terms: Sequence[_Term], texts: Iterable[str], held: Callable[[_Term, str], float]) -> Iterator[float]:
    """The share of the terms' weight that each of ``texts`` holds, from 0 to 1."""
    whole = min(sum(term.weight for term in terms), _ENOUGH)
    for text in texts:
        yield min(sum([term.weight * held(term, text) for term in terms]) / whole, 1.0)


def _best(shares: Iterable[float]) -> float:
    """The mean of the three largest; nothing is larger than three that hold all."""
    seen = []
    for share in shares:
        seen.append(share)
        if seen.count(1.0) == _BEST:
            return 1.0
    return sum(sorted(seen, reverse=True)[:_BEST]) / _BEST


@lru_cache(maxsize=256)
def _terms(query: str) -> tuple[_Term, ...]:
    """The content words of a query, each once."""
    found: dict[str, _Term] = {}
    content = " ".join(keywords(_OPERATOR.sub(" ", query)))
    for word in re.findall(_TOKEN_OR_RUN if count_cjk(content) else _TOKEN, content):
        text = _folded(word)
        language = script_language(text)
        if count_cjk(text[0]):
            # A pair of characters says about as much as a word.
            found[text] = _Term(text, len(text) / 2, language, size=len(text) - 1)
        elif len(text) > 1:
            numbered = any(map(str.isdigit, text))
            named = numbered or word[:1].isupper()
            short = stem(text.removesuffix("s") if len(text) > 4 else text)
            weight = _HEAVY if named else 1.0
            found[text] = _Term(short if len(short) > 3 else text, weight, language, named, numbered)
    return tuple(found.values())


def _about_a_word(terms: Sequence[_Term], texts: Sequence[str], one_site: bool) -> bool:
    """Whether the results repeat one ordinary word of the query, as dictionaries do, and ignore the rest.

    They are then no translation, in whatever language they are.
    """
    for word in terms:
        if word.named or word.language or sum(_held(word, text) for text in texts) < _MOST * len(texts):
            continue
        others = [term for term in terms if term is not word]
        weight = sum(term.weight for term in others)
        held = sum(term.weight for term in others if any(_held(term, text) for text in texts))
        if one_site or (weight >= _MANY and held <= _FEW * weight):
            return True
    return False


def _comparable(terms: Sequence[_Term], query: str, shown: str) -> list[_Term]:
    """The terms that results in their language can hold: translated pages have other words, but the same names."""
    there = detect_language(shown)
    if there and script_language(shown):
        # Names are written in the other script, too; only numbers stay. Other scripts are inflected in unknown ways.
        asian = there[:2] in _BY_PAIRS and chinese_variant(query) in ("", there)
        return [term for term in terms if term.numbered or (asian and term.language == there[:2])]
    same = _is_language(query, there, shown)
    return [term for term in terms if not term.language and (same or term.named)]


def _is_language(query: str, there: str, shown: str) -> bool:
    """Whether ``query`` may be in the language ``there`` of the results."""
    if asked := frequent_languages(query):
        return there in asked or not there
    # Nothing shows the language of these words: they are English unless they have accents.
    foreign = there not in ("", "en") or len(_ACCENTED.findall(shown)) > len(shown) / 50
    return not foreign or not query.isascii()


def _held(term: _Term, text: str) -> float:
    """How much of ``term`` stands in ``text``: of Chinese the share of characters that stand there in pairs."""
    word = term.text
    # This is asked for every word and every result.
    if word in text:
        return 1.0 if len(word) > 4 or term.language in _BY_PAIRS or _stands_apart(word, text) else 0.0
    return _pairs_held(word, text) if term.language in _BY_PAIRS else 0.0


def _pairs_held(run: str, text: str) -> float:
    held = set()
    for i in range(len(run) - 1):
        if run[i : i + 2] in text:
            held |= {i, i + 1}
    return len(held) / len(run)


def _stands_apart(word: str, text: str) -> bool:
    """Long words may stand inside others (compounds, addresses), short ones at the start, the shortest alone."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (at and text[at - 1].isalnum()) and (len(word) > 3 or end == len(text) or not text[end].isalnum()):
            return True
        at = text.find(word, at + 1)
    return False


def _held_alike(term: _Term, text: str) -> float:
    held = _held(term, text)
    if held or len(term.text) < 4 or term.language:
        return held
    near = (word for word in set(_LATIN.findall(text)) if abs(len(word) - len(term.text)) < 3)
    return float(any(_alike(term.text, word) for word in near))


def _alike(one: str, other: str) -> bool:
    first, second = _trigrams(one), _trigrams(other)
    return 2 * len(first & second) >= len(first | second)


@lru_cache(maxsize=4096)
def _trigrams(word: str) -> frozenset[str]:
    word = f"^{word}$"
    return frozenset(word[i : i + 3] for i in range(len(word) - 2))


def _folded(text: str) -> str:
    """``text`` in lower case and without accents."""
    if text.isascii() or not _ACCENTED.search(text):
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.lower())
    # Korean syllables and Japanese voiced characters are put together again.
    return unicodedata.normalize("NFC", "".join(char for char in decomposed if not "\u0300" <= char <= "\u036f"))
