"""How well a source matches a sentence: word by word, and where both say different things about the same."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..text.conflicts import Conflict, conflicts
from ..text.dates import MONTHS
from ..text.keywords import STOP_WORDS
from ..text.lexicon import simplified
from ..text.numbers import figures
from ..text.quantities import Quantity, find_quantities
from ..text.sentences import split_sentences
from ..text.tokens import tokens
from ..text.words import count_cjk, words

SUPPORTED = 0.6
WEAK = 0.3
# The factors for a score when all figures or all names are missing, when only its subject is, when only one side is
# negated, and when the sentences conflict.
_MISSING_FIGURES = 0.25
_MISSING_NAMES, _MISSING_SUBJECT = 0.1, 0.75
_OTHER_NEGATION = 0.45
_CONFLICT, _MAY_CONFLICT = 0.3, 0.6
_FOREIGN, _NEARLY_ALL = 0.55, 0.65
"""The factor for a word that is nowhere in a source which has at least this share of the sentence."""
_ONE_CLAUSE = 12
"""The words of a claim in which a negation denies the whole."""
_COMPARED = 3
"""The sentences of a source, the most similar first, that are looked at for conflicts."""
_LONGEST_SENTENCE = 600
_FIGURE_WEIGHT = 4.0
_SECOND_SENTENCE = 0.05
"""How much a second sentence must add to the score to be part of the quote."""
_RELATED, _MAX_RELATED = 0.65, 4
"""The share of the best sentence's score that a similar sentence has, and how many of these there are at most."""
MAX_EVIDENCE = 100_000
"""So many characters of a source are compared with what cites it."""
_PREFIX = 7
"""English words are compared by their first letters: "constructed" equals "construction"."""
_SCALES = frozenset(("thousand", "million", "billion", "trillion"))
_NO_LETTER = re.compile(r"[\W_]+")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+")
_NAME = re.compile(r"(?<![\w'’])[A-Z][\w’'&.-]*[\w]")
# The names before the first word that is none.
_SUBJECT = re.compile(r"(?:(?:The|In|On|At|An?)\s+)?(?:[A-Z0-9][\w’'&.-]*,?\s+(?:(?:of|the|and|de|da|van|von)\s+)*)*")


@dataclass(frozen=True, slots=True)
class Match:
    """How well a source matches a sentence, from 0 to 1, and which part of it does."""

    score: float
    quote: str = ""
    missing: frozenset[str] = frozenset()
    """The figures of the sentence that the source does not contain."""
    stated: frozenset[str] = frozenset()
    related: tuple[int, ...] = ()
    """The indexes of the most similar sentences of the source, best first."""
    conflict: Conflict | None = None
    lacks_subject: bool = False
    """Whether the source has none of the names that the sentence begins with."""

    @property
    def is_supported(self) -> bool:
        """Whether the source says what the sentence says."""
        if self.missing or self.conflict or self.lacks_subject:
            return False
        return self.score >= SUPPORTED

    @property
    def is_contradicted(self) -> bool:
        """Whether the source says something else."""
        return self.conflict is not None and self.conflict.is_certain

    @property
    def is_weak(self) -> bool:
        """Whether the source has a part of the sentence."""
        if self.missing and self.missing == self.stated:
            return False
        needed = WEAK / 2 if self.missing < self.stated else WEAK
        return self.score >= needed


class SourceText:
    """The text of a source, split into sentences once and compared with many claims."""

    def __init__(self, text: str, title: str = "", sentences: Sequence[str] | None = None) -> None:
        if sentences is None:
            sentences = split_sentences(text[:MAX_EVIDENCE])
        self.sentences = tuple(sentences)
        self.title = _terms(title) | figures(title).implied
        self.figures = tuple(figures(sentence).implied for sentence in self.sentences)
        self.terms = tuple(_terms(sentence) | own for sentence, own in zip(self.sentences, self.figures, strict=True))
        self.held = self.title.union(*self.figures)
        self.plain = f"{title} {' '.join(self.sentences)}".lower()
        self.letters = _letters(self.plain)
        self.wide = _is_wide(self.plain[:2000])
        self._places: dict[str, list[int]] = {}
        for place, terms in enumerate(self.terms):
            for term in terms:
                self._places.setdefault(term, []).append(place)

    @cached_property
    def _characters(self) -> frozenset[str]:
        return frozenset(simplified(self.plain))

    def lacks_word_of(self, claim: str) -> bool:
        """Whether a Chinese word of several characters in a claim shares none of them with the source."""
        words = (token.form for token in tokens(claim) if token.kind in ("name", "noun", "word"))
        chinese = (word for word in words if len(word) > 1 and not word.isascii())
        return any(self._characters.isdisjoint(word) for word in chinese)

    def weight(self, term: str) -> float:
        """The weight of a word: higher for rare words, very low for function words."""
        if term in STOP_WORDS:
            return 0.1
        containing = len(self._places.get(term, ()))
        rarity = (len(self.terms) + 1) / (0.5 + containing)
        return math.log(1 + rarity)

    def shares(self, weights: Mapping[str, float]) -> list[float]:
        """The sum of the weights that each sentence has."""
        found = [0.0] * len(self.terms)
        for term, weight in weights.items():
            for place in self._places.get(term, ()):
                found[place] += weight
        return found


class Statement:
    """A sentence without its markers, prepared for the comparison with sources."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.figures = figures(text).stated
        self.words = _terms(text)
        self.terms = self.words | self.figures
        self.names = _names(text)
        found = _SUBJECT.match(text)
        self.subject = {name for name in self.names if name in found[0]} if found else set()
        self.wide = _is_wide(text)

    @property
    def is_one_clause(self) -> bool:
        """Whether it is so short that a negation in it denies the whole."""
        return sum(token.kind not in ("function", "mark") for token in tokens(self.text)) <= _ONE_CLAUSE


def match(claim: Statement, source: SourceText) -> Match:
    """Compare one sentence with one source."""
    stated = claim.figures
    if not claim.terms or not source.sentences:
        return Match(0.0, stated=stated, missing=stated)
    best = _best(claim, claim.terms, source)
    if _letters(claim.text) in source.letters:
        # The source contains the sentence literally.
        return Match(1.0, best.quote, stated=stated, related=best.related)
    missing = stated - source.held
    agreeing = missing & _agreeing(claim, source, best.related) if missing else frozenset[str]()
    if agreeing:
        missing -= agreeing
        best = _best(claim, claim.terms - agreeing, source)
    figures_factor = _MISSING_FIGURES ** (len(missing) / len(stated)) if missing else 1.0
    if source.wide != claim.wide:
        # A source in another script spells names and words differently.
        return Match(_across(claim, source) * figures_factor, best.quote, missing, stated, best.related)
    absent = _absent_names(claim, source)
    lacks_subject = bool(claim.subject) and claim.subject <= absent
    share = best.share * figures_factor
    score = share * (_names_factor(claim, absent) * _negation_factor(claim, source, best.related))
    conflicting = _conflict(claim, source, best.related)
    if conflicting:
        conflict, sentence = conflicting
        score *= _CONFLICT if conflict.is_certain else _MAY_CONFLICT
        return Match(score, sentence, missing, stated, best.related, conflict, lacks_subject)
    if _is_foreign(claim, source, share):
        score *= _FOREIGN
    return Match(score, best.quote, missing, stated, best.related, None, lacks_subject)


def _absent_names(claim: Statement, source: SourceText) -> set[str]:
    return {name for name in claim.names if name.lower() not in source.plain}


def _is_foreign(claim: Statement, source: SourceText, share: float) -> bool:
    """Whether a source has nearly all of a Chinese claim, but not one of its words at all."""
    if not claim.wide or share < _NEARLY_ALL:
        return False
    return source.lacks_word_of(claim.text)


def _conflict(claim: Statement, source: SourceText, related: Sequence[int]) -> tuple[Conflict, str] | None:
    """The conflict of a claim with a source, and its sentence; none where another sentence says the same."""
    first: tuple[Conflict, str] | None = None
    for index in related[:_COMPARED]:  # The most similar first: where it says the same, others do not matter.
        sentence = source.sentences[index]
        found = conflicts(claim.text, sentence)
        if found is None:
            if first is None:
                return None
            shared = len(claim.terms & source.terms[index]) / len(claim.terms)
            if shared >= SUPPORTED and first[0].ours.text.lower() in sentence.lower():
                return None
        elif first is None or (found.is_certain and not first[0].is_certain):
            first = found, sentence
    return first


def _names_factor(claim: Statement, absent: set[str]) -> float:
    """What names that the source does not have leave of a score; a page may leave out its subject, but nothing else."""
    factor = 1.0
    others = claim.names - claim.subject
    if others:
        factor *= _MISSING_NAMES ** (len(absent & others) / len(others))
    if absent & claim.subject:
        factor *= _MISSING_SUBJECT
    return factor


def _negation_factor(claim: Statement, source: SourceText, related: Sequence[int]) -> float:
    if not related or not claim.is_one_clause:
        return 1.0
    if _has_negation(claim.text) == _has_negation(source.sentences[related[0]]):
        return 1.0
    return _OTHER_NEGATION


def _has_negation(text: str) -> bool:
    return any(token.kind == "negation" for token in tokens(text[:_LONGEST_SENTENCE]))


def _agreeing(claim: Statement, source: SourceText, related: Sequence[int]) -> frozenset[str]:
    """The figures of a claim that agree with one of the source: "more than 5" with 6."""
    theirs: list[Quantity] = []
    for index in related:
        theirs += find_quantities(source.sentences[index])
    agreeing = (
        figures(claim.text[ours.start : ours.end]).stated
        for ours in find_quantities(claim.text)
        if any(ours.is_comparable(other) and ours.agrees(other) for other in theirs)
    )
    return frozenset().union(*agreeing)


def _letters(text: str) -> str:
    """``text`` reduced to letters and digits, so that markup makes no difference."""
    return _NO_LETTER.sub("", text.lower())


@dataclass(frozen=True, slots=True)
class _Best:
    """The share of a claim that one or two adjacent sentences contain, these sentences, and the most similar ones."""

    share: float
    quote: str
    related: tuple[int, ...]


def _best(claim: Statement, terms: frozenset[str], source: SourceText) -> _Best:
    """Find the sentences of a source that contain most of a claim."""
    weights = {term: _FIGURE_WEIGHT if term in claim.figures else source.weight(term) for term in terms}
    total = sum(weights.values()) or 1.0
    title = source.title & terms

    def share(held: Iterable[str]) -> float:
        return sum(map(weights.__getitem__, terms.intersection(held))) / total

    single = [own / total for own in source.shares(weights)]
    with_title = [share(own | title) for own in source.terms] if title else single
    score = max(with_title)
    first = with_title.index(score)
    end = first + 1
    needed = score + _SECOND_SENTENCE
    for i in range(len(single) - 1):
        # The sum is an upper bound: most pairs cannot improve the score.
        if with_title[i] + single[i + 1] <= score + _SECOND_SENTENCE:
            continue
        both = share(source.terms[i] | source.terms[i + 1] | title)
        if both > needed:
            score, first, end = both, i, i + 2
            # What replaces a pair is a pair as well.
            needed = score
    return _Best(score, " ".join(source.sentences[first:end]), _related(single))


def _related(shares: Sequence[float]) -> tuple[int, ...]:
    """The indexes of the sentences with nearly as much of a claim as the best one has."""
    order = sorted(range(len(shares)), key=lambda i: -shares[i])
    needed = _RELATED * shares[order[0]]
    if needed <= 0:
        return ()
    return tuple(i for i in order[:_MAX_RELATED] if shares[i] >= needed)


def _across(claim: Statement, source: SourceText) -> float:
    """The score where claim and source use different scripts: only figures and Latin names can be compared."""
    shared = {name.lower() for name in _LATIN_WORD.findall(claim.text)} & set(_LATIN_WORD.findall(source.plain))
    anchors = len(claim.figures) + len(shared)
    if claim.figures and anchors >= 2:
        return SUPPORTED
    return (SUPPORTED + WEAK) / 2


def _names(claim: str) -> set[str]:
    """Capitalised Latin words, except the first of the sentence and the months."""
    found = {found[0].removesuffix("'s").removesuffix("’s") for found in _NAME.finditer(claim) if found.start() > 0}
    return {name for name in found if name.lower() not in MONTHS}


def _is_wide(text: str) -> bool:
    return count_cjk(text) * 4 > len(text)


def _terms(text: str) -> frozenset[str]:
    """The words to compare; numbers are left to :func:`figures`."""
    own = (word for word in words(text) if not word[0].isdigit() and word not in _SCALES)
    return frozenset(word[:_PREFIX] if word.isascii() else word for word in own)
