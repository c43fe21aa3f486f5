"""Picks the sentences that answer a question: by their scores, without repetition, for each part of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from ..core.answer_length import AnswerLength
from ..text.keywords import content_stems
from .answer_type import answer_type
from .answerability import Outcome, outcome, sentence_scores
from .asked_thing import Subject
from .evidence import Candidate
from .pick import Pick, add_announced, add_sources, take
from .question_splitter import split_question
from .recency import Recency
from .sentence_features import Asked, SentenceFeatures

# A further sentence is quoted where its odds are at least this share of the best one's.
_MIN_ODDS = math.log(0.01)
# As long as the sentences of a fact are together less probable than this to hold it, one more is quoted.
_ENOUGH = 0.95
# Where the sentences so far are more probable than this to hold a fact, one about another thing is not added.
_LIKELY = 0.8
# Of the sentences of a list, so many are looked at for new names.
_MAX_CANDIDATES = 24
# Where the newest is asked for: sentences down to this far below the best are about the subject.
_ABOUT_SUBJECT = -4.0
# How much more the row of the year that is asked about counts.
_OF_YEAR = 0.5
# How much less a sentence counts whose page has a title about something else.
_SECONDARY = 1.5
# How much less a sentence counts that lacks the subject or the words of its part, or has those of another part.
_WITHOUT, _OF_ANOTHER_PART = 0.7, 0.5
_OUTCOMES: tuple[Outcome, ...] = ("answer", "near", "none")
_STEPS = re.compile(r"如何|怎么|怎样|步骤|\bhow (?:do|to|can|does|should)\b|\bsteps\b", re.I)


@dataclass(frozen=True, slots=True)
class _Rated:
    """A sentence with its score."""

    score: float
    candidate: Candidate

    def less(self, penalty: float) -> _Rated:
        """Return it with a lower score."""
        return _Rated(self.score - penalty, self.candidate)


@dataclass(frozen=True, slots=True)
class SentenceLimits:
    """How many sentences are quoted."""

    most: int
    least: float = _MIN_ODDS
    """Up to this far below the best, by score."""
    for_fact: int = 4
    for_whole: int = 4
    for_part: int = 2
    is_list: bool = False

    @classmethod
    def of(cls, form: AnswerLength, most: int) -> SentenceLimits:
        """Return the limits of a form of answer."""
        return _LIMITS.get(form) or cls(most)

    def most_for(self, asked: Asked, *, is_part: bool) -> int:
        """Return how many there are at most for a question, or for one part of several."""
        if is_part:
            return self.for_part
        return self.for_fact if asked.expected.is_fact else self.for_whole

    def enough_for(self, asked: Asked) -> float:
        """Return the probability of a fact from which on no further sentence is quoted."""
        return _ENOUGH if asked.expected.is_fact and not self.is_list else math.inf

    @property
    def likely(self) -> float:
        """The probability from which on no sentence about another thing is quoted."""
        return math.inf if self.is_list else _LIKELY

    def share(self, taken: int, parts: int) -> SentenceLimits:
        """Return what is left for the first of several parts: it is shared with those that follow."""
        left = (self.most - taken) // parts
        return replace(self, most=taken + max(1, left))


_LIMITS: dict[AnswerLength, SentenceLimits] = {
    "short": SentenceLimits(6, 0.0, 1, 1, 1),
    "full": SentenceLimits(12, math.log(0.002), 8, 8, 4, is_list=True),
    "list": SentenceLimits(8, math.log(0.01), 5, 5, 3, is_list=True),
    "table": SentenceLimits(6, 0.0, 1, 1, 1),
}


@dataclass(frozen=True, slots=True)
class _Emphasis:
    """Words that matter more than others: the subject that was said before, and what makes a part of the question."""

    subject: Mapping[str, float]
    own: set[str]
    """The words of the part that the other parts do not have."""
    others: set[str]
    """The words that only the other parts have."""

    def of(self, candidate: Candidate) -> float:
        """Return how far a sentence has them, as the logarithm of a factor."""
        return math.log(self._subject_factor(candidate) * self._part_factor(candidate))

    def _subject_factor(self, candidate: Candidate) -> float:
        """Return the factor for the words of the subject that a sentence lacks."""
        if not self.subject:
            return 1.0
        named = sum(weight for stem, weight in self.subject.items() if candidate.has_nearby(stem))
        missing = 1 - named / sum(self.subject.values())
        return 1 - _WITHOUT * missing

    def _part_factor(self, candidate: Candidate) -> float:
        """Return the factor for the words of this part and of the others."""
        if not self.own or not self.others:
            return 1.0
        near = sum(map(candidate.has_nearby, self.own)) / len(self.own)
        anywhere = len(self.own & candidate.source) / len(self.own)
        factor = 1 - _WITHOUT * (1 - max(near, anywhere / 2))
        of_others = len(self.others & candidate.stems.keys()) / len(self.others)
        return factor * _OF_ANOTHER_PART if of_others > near else factor


@dataclass(frozen=True, slots=True)
class SentencePicker:
    """Picks from the sentences of all sources; those about another thing only count for what is rare and agreed on."""

    question: str
    about: str
    """What the question leaves out because it was said before."""
    subject: Subject
    limits: SentenceLimits
    recency: Recency | None

    def pick(self, candidates: Sequence[Candidate]) -> tuple[list[Pick], Outcome]:
        """Return the sentences for all parts of a question; what is true of one part is true of the whole."""
        parts = split_question(self.question)
        if self.about and not parts:
            parts = [self.question]
        if not candidates or not parts:
            return [], "none"
        picks: list[Pick] = []
        outcomes = set()
        for at, emphasis in enumerate(self._emphases(parts)):
            limits = self.limits.share(len(picks), len(parts) - at)
            asked = Asked.of(parts[at], self.about)
            outcomes.add(self._pick_for(asked, candidates, picks, limits, emphasis))
        fitting = list(filter(self.subject.allows, candidates))
        add_sources(picks, fitting)
        add_announced(picks, fitting)
        best: Outcome = min(outcomes, key=_OUTCOMES.index)
        return self._ordered(picks), best

    def _emphases(self, parts: Sequence[str]) -> Iterator[_Emphasis]:
        """Yield the words that matter for each part of a question."""
        words = [set(content_stems(part)) for part in parts]
        for at, own in enumerate(words):
            others = set[str]().union(*words[:at], *words[at + 1 :])
            yield _Emphasis(content_stems(self.about), own - others, others - own)

    def _ordered(self, picks: list[Pick]) -> list[Pick]:
        """Return the picks with those that give a reason first where one is asked for, and steps in their order."""
        expected = answer_type(self.question)
        if expected.kinds == ("reason",):
            picks = sorted(picks, key=lambda pick: not expected.is_given_by(pick.candidate.text))
        return _in_source_order(picks) if _STEPS.search(self.question) else picks

    def _pick_for(
        self,
        asked: Asked,
        candidates: Sequence[Candidate],
        picks: list[Pick],
        limits: SentenceLimits,
        emphasis: _Emphasis,
    ) -> Outcome:
        """Pick the sentences for one part, and return how far they answer it."""
        features = SentenceFeatures(asked, candidates)
        scores = sentence_scores(features)
        found = outcome(features, scores)
        all_rated = map(_Rated, scores, candidates)
        rated = [sentence for sentence in all_rated if not features.has_row_of_year(sentence.candidate)]
        fitting = [sentence for sentence in rated if self.subject.allows(sentence.candidate)]
        if found == "none" or not fitting:
            return "none"
        unfit: list[float] = []
        if emphasis.subject:
            # A follow-up leaves out what it is about: what is not quoted counts too, or the others would seem too sure.
            unfit = [sentence.score for sentence in rated if not self.subject.allows(sentence.candidate)]
        most = limits.most_for(asked, is_part=bool(emphasis.others))
        _take_best(features, self._ranked(fitting, features, emphasis), unfit, picks, limits, most)
        if features.tells_something_else([sentence.candidate for sentence in fitting]):
            return "near"
        return found

    def _ranked(self, sentences: Sequence[_Rated], features: SentenceFeatures, emphasis: _Emphasis) -> list[_Rated]:
        """Return the sentences by how well they answer; what is of the subject, of its year and newest counts more."""
        rated = []
        for sentence in sentences:
            candidate = sentence.candidate
            score = sentence.score + emphasis.of(candidate)
            if id(candidate) in self.subject.secondary:
                score -= _SECONDARY
            if features.is_row_of_year(candidate):
                score += _OF_YEAR
            rated.append(_Rated(score, candidate))
        if self.recency:
            rated = _newer_first(rated, self.recency)
        return sorted(rated, key=lambda sentence: -sentence.score)


def _take_best(
    features: SentenceFeatures,
    ranked: list[_Rated],
    unfit: Sequence[float],
    picks: list[Pick],
    limits: SentenceLimits,
    most: int,
) -> None:
    """Pick the best sentence, then others that are nearly as good and say something else, up to ``most``."""
    asked, best = features.asked, ranked[0]
    scores = [*(sentence.score for sentence in ranked), *unfit]
    total = sum(math.exp(score - best.score) for score in scores)
    least, enough, likely = best.score + limits.least, limits.enough_for(asked), limits.likely
    sure, taken = 0.0, 0
    while ranked and taken < most:
        if len(picks) >= limits.most:
            break
        place = _next(asked, ranked, picks) if limits.is_list and taken else 0
        sentence = ranked.pop(place)
        if sure >= enough or sentence.score < least:
            break
        if sure <= likely or not features.is_about_another(sentence.candidate, best.candidate):
            taken += take(sentence.candidate, sentence.score, picks, asked.expected)
        sure += math.exp(sentence.score - best.score) / total


def _newer_first(sentences: Sequence[_Rated], recency: Recency) -> list[_Rated]:
    """Return the sentences with what is older counting less; those that are not about the subject count least."""
    least = max(sentence.score for sentence in sentences) + _ABOUT_SUBJECT
    about = [sentence for sentence in sentences if sentence.score >= least]
    others = [sentence for sentence in sentences if sentence.score < least]
    penalties = recency.penalties([sentence.candidate for sentence in about])
    rated = [sentence.less(penalty) for sentence, penalty in zip(about, penalties, strict=True)]
    return rated + [sentence.less(-_ABOUT_SUBJECT) for sentence in others]


def _next(asked: Asked, ranked: Sequence[_Rated], picks: Sequence[Pick]) -> int:
    """Return the place of the sentence to be quoted next in a list: one that names something new is worth more."""
    known = set(chain.from_iterable(asked.names_in(pick.text) for pick in picks))

    def worth(sentence: _Rated) -> float:
        new = set(asked.names_in(sentence.candidate.text)) - known
        return sentence.score + math.log1p(len(new))

    worths = list(map(worth, ranked[:_MAX_CANDIDATES]))
    return worths.index(max(worths))


def _in_source_order(picks: Sequence[Pick]) -> list[Pick]:
    """Return the picks, best first, except that those of one source keep its order: they may be steps."""
    by_source: dict[int, list[Pick]] = {}
    for pick in sorted(picks, key=lambda pick: pick.candidate.position):
        by_source.setdefault(pick.candidate.number, []).append(pick)
    return [by_source[pick.candidate.number].pop(0) for pick in picks]
