"""How well results fit their query: an engine that answers something else has refused."""

from __future__ import annotations

import re
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
from ..text.unicode_forms import in_form
from ..text.words import count_cjk, stem

RELEVANT = 0.34
"""Results that hold less are not about the query: genuine pages have at least 0.5, decoys one word of many."""
_GENUINE = 0.5
"""From here on the results are surely about the query, and nothing else needs to be looked at."""
_MIN_TERMS = 3
_MIN_RESULTS = 3
_MIN_LETTERS = 60
"""Of title and snippet: results with less text cannot hold the words of a query."""
_JUDGED_RESULTS = 10
_BEST_RESULTS = 3
_REPEATED_SHARE = 0.8
"""A word in so many of the results is repeated by them."""
_IGNORED_SHARE, _MIN_IGNORED_WEIGHT = 0.1, 3.0
"""Results ignore the other words where these weigh something and the results hold at most so much of them."""
_NAME_WEIGHT = 1.5
"""The weight of names and numbers, which tell more about what was asked than other words."""
_MAX_WEIGHT = 8.0
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
    top = results[:_JUDGED_RESULTS]
    if not _can_be_judged(terms, top):
        return None
    share = _best(_shares(terms, map(_searched_text, top), _coverage))
    if share >= _GENUINE:
        return share
    texts = [_searched_text(result) for result in top]
    if not _repeat_one_word(terms, texts, is_one_site=_is_unasked_site(query, top)):
        shown_text = " ".join(f"{result.title} {result.snippet}" for result in top)
        terms = _comparable_terms(terms, query.text, shown_text)
    if _size(terms) < _MIN_TERMS:
        return None
    # Engines correct spelling, so words that look alike count where the words themselves are missing.
    return _best(_shares(terms, texts, _fuzzy_coverage))


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
    return list(_shares(terms, (_folded(f"{result.title} {result.snippet}") for result in results), _coverage))


def _can_be_judged(terms: Sequence[_Term], top: Sequence[SearchResult]) -> bool:
    """Whether there are enough words in the query, enough results, and enough text in them."""
    if len(top) < _MIN_RESULTS or _size(terms) < _MIN_TERMS:
        return False
    letters = sum(len(result.title) + 1 + len(result.snippet) for result in top)
    return letters >= _MIN_LETTERS * len(top)


def _size(terms: Sequence[_Term]) -> int:
    return sum(term.size for term in terms)


def _is_unasked_site(query: SearchQuery, top: Sequence[SearchResult]) -> bool:
    """Whether all results are of one site, though the query does not ask for one."""
    if query.allowed_domains or "site:" in query.text.lower():
        return False
    return len({result.source for result in top}) == 1


def _searched_text(result: SearchResult) -> str:
    return _folded(f"{result.title} {result.snippet} {result.url}")


def _shares(terms: Sequence[_Term], texts: Iterable[str], coverage: Callable[[_Term, str], float]) -> Iterator[float]:
    """The share of the terms' weight that each of ``texts`` holds, from 0 to 1."""
    whole = min(sum(term.weight for term in terms), _MAX_WEIGHT)
    for text in texts:
        held_weight = sum([term.weight * coverage(term, text) for term in terms])
        yield min(held_weight / whole, 1.0)


def _best(shares: Iterable[float]) -> float:
    """The mean of the three largest; nothing is larger than three that hold all."""
    judged = []
    for share in shares:
        judged.append(share)
        if judged.count(1.0) == _BEST_RESULTS:
            return 1.0
    largest = sorted(judged, reverse=True)[:_BEST_RESULTS]
    return sum(largest) / _BEST_RESULTS


@lru_cache(maxsize=256)
def _terms(query: str) -> tuple[_Term, ...]:
    """The content words of a query, each once."""
    terms: dict[str, _Term] = {}
    content = " ".join(keywords(_OPERATOR.sub(" ", query)))
    pattern = _TOKEN_OR_RUN if count_cjk(content) else _TOKEN
    for word in re.findall(pattern, content):
        text = _folded(word)
        if count_cjk(text[0]):
            # A pair of characters says about as much as a word.
            terms[text] = _Term(text, len(text) / 2, script_language(text), size=len(text) - 1)
        elif len(text) > 1:
            terms[text] = _term_of_word(word, text)
    return tuple(terms.values())


def _term_of_word(word: str, folded: str) -> _Term:
    """The term of a word in an alphabet, without its inflection."""
    is_number = any(map(str.isdigit, folded))
    is_name = is_number or word[:1].isupper()
    singular = folded.removesuffix("s") if len(folded) > 4 else folded
    text = stem(singular)
    if len(text) <= 3:
        text = folded
    weight = _NAME_WEIGHT if is_name else 1.0
    return _Term(text, weight, script_language(folded), is_name, is_number)


def _repeat_one_word(terms: Sequence[_Term], texts: Sequence[str], *, is_one_site: bool) -> bool:
    """Whether the results repeat one ordinary word of the query, as dictionaries do, and ignore the rest.

    They are then no translation, in whatever language they are.
    """
    for word in terms:
        if word.named or word.language:
            continue
        repeated = sum(_coverage(word, text) for text in texts)
        if repeated < _REPEATED_SHARE * len(texts):
            continue
        others = [term for term in terms if term is not word]
        if is_one_site or _are_ignored(others, texts):
            return True
    return False


def _are_ignored(terms: Sequence[_Term], texts: Sequence[str]) -> bool:
    """Whether hardly any of these terms stands in any of the texts, though they weigh something."""
    weight = sum(term.weight for term in terms)
    if weight < _MIN_IGNORED_WEIGHT:
        return False
    held_weight = sum(term.weight for term in terms if any(_coverage(term, text) for text in texts))
    return held_weight <= _IGNORED_SHARE * weight


def _comparable_terms(terms: Sequence[_Term], query: str, shown: str) -> list[_Term]:
    """The terms that results in their language can hold: translated pages have other words, but the same names."""
    language = detect_language(shown)
    if language and script_language(shown):
        # Names are written in the other script, too; only numbers stay. Other scripts are inflected in unknown ways.
        spoken = language[:2]
        is_compared = spoken in _BY_PAIRS and chinese_variant(query) in ("", language)
        return [term for term in terms if term.numbered or (is_compared and term.language == spoken)]
    is_same = _may_be_in(language, query, shown)
    return [term for term in terms if not term.language and (is_same or term.named)]


def _may_be_in(language: str, query: str, shown: str) -> bool:
    """Whether ``query`` may be in the language of the results."""
    asked = frequent_languages(query)
    if asked:
        return not language or language in asked
    # Nothing shows the language of these words: they are English unless they have accents.
    many_accents = len(_ACCENTED.findall(shown)) > len(shown) / 50
    is_foreign = many_accents or language not in ("", "en")
    return not is_foreign or not query.isascii()


def _coverage(term: _Term, text: str) -> float:
    """How much of ``term`` stands in ``text``: of Chinese the share of characters that stand there in pairs."""
    word = term.text
    # This is asked for every word and every result.
    if word not in text:
        return _pair_coverage(word, text) if term.language in _BY_PAIRS else 0.0
    if len(word) > 4 or term.language in _BY_PAIRS:
        return 1.0
    return 1.0 if _stands_apart(word, text) else 0.0


def _pair_coverage(run: str, text: str) -> float:
    covered = set()
    for start in range(len(run) - 1):
        if run[start : start + 2] in text:
            covered |= {start, start + 1}
    return len(covered) / len(run)


def _stands_apart(word: str, text: str) -> bool:
    """Whether a word begins somewhere in the text where no other word goes on; a short one must end there too."""
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        begins_a_word = start == 0 or not text[start - 1].isalnum()
        ends_a_word = end == len(text) or not text[end].isalnum()
        if begins_a_word and (ends_a_word or len(word) > 3):
            return True
        start = text.find(word, start + 1)
    return False


def _fuzzy_coverage(term: _Term, text: str) -> float:
    """How much of ``term`` stands in ``text``, where a word that looks alike counts too."""
    covered = _coverage(term, text)
    if covered or len(term.text) < 4 or term.language:
        return covered
    words = set(_LATIN.findall(text))
    of_like_length = [word for word in words if abs(len(word) - len(term.text)) < 3]
    return float(any(_look_alike(term.text, word) for word in of_like_length))


def _look_alike(word: str, other: str) -> bool:
    first, second = _trigrams(word), _trigrams(other)
    return 2 * len(first & second) >= len(first | second)


@lru_cache(maxsize=4096)
def _trigrams(word: str) -> frozenset[str]:
    word = f"^{word}$"
    return frozenset(word[i : i + 3] for i in range(len(word) - 2))


def _folded(text: str) -> str:
    """``text`` in lower case and without accents."""
    if text.isascii() or not _ACCENTED.search(text):
        return text.lower()
    decomposed = in_form("NFKD", text.lower())
    # Korean syllables and Japanese voiced characters are put together again.
    return in_form("NFC", "".join(char for char in decomposed if not "\u0300" <= char <= "\u036f"))
