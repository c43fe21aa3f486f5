"""Picks the sentences that answer a question: by their scores, without repetition, for each part of it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
_LEAST = math.log(0.01)
# As long as the sentences of a fact are together less probable than this to hold it, one more is quoted.
_ENOUGH = 0.95
# Where the sentences so far are more probable than this to hold a fact, one about another thing is not added.
_LIKELY = 0.8
# Of the sentences of a list, so many are looked at for new names.
_LOOK_AT = 24
# Where the newest is asked for: sentences down to this far below the best are about the subject.
_ABOUT_SUBJECT = -4.0
# How much more the row of the year that is asked about counts.
_OF_YEAR = 0.5
# How much less a sentence counts whose page has a title about something else.
_BESIDE = 1.5
# How much less a sentence counts that lacks the subject or the words of its part, or has those of another part.
_WITHOUT, _OF_ANOTHER_PART = 0.7, 0.5
_STEPS = re.compile(r"如何|怎么|怎样|步骤|\bhow (?:do|to|can|does|should)\b|\bsteps\b", re.I)


@dataclass(frozen=True, slots=True)
class SentenceLimits:
    """How many sentences are quoted."""

    most: int
    least: float = _LEAST
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
        return self.for_part if is_part else self.for_fact if asked.expected.is_fact else self.for_whole

    def share(self, taken: int, parts: int) -> SentenceLimits:
        """Return what is left for the first of several parts: it is shared with those that follow."""
        return replace(self, most=taken + max(1, (self.most - taken) // parts))


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
        named = sum(
            weight for stem, weight in self.subject.items() if stem in candidate.stems or stem in candidate.nearby
        )
        factor = 1 - _WITHOUT * (1 - named / sum(self.subject.values())) if self.subject else 1.0
        if self.own and self.others:
            near = sum(stem in candidate.stems or stem in candidate.nearby for stem in self.own) / len(self.own)
            anywhere = sum(stem in candidate.source for stem in self.own) / len(self.own)
            factor *= 1 - _WITHOUT * (1 - max(near, anywhere / 2))
            if sum(stem in candidate.stems for stem in self.others) / len(self.others) > near:
                factor *= _OF_ANOTHER_PART
        return math.log(factor)


@dataclass(frozen=True, slots=True)
class SentencePicker:
    """Picks from the sentences of all sources; those about another thing only count for what is rare and agreed on."""

    question: str
    about: str
    """What the question leaves out because it was said before."""
    thing: Subject
    limits: SentenceLimits
    recency: Recency | None

    def pick(self, candidates: Sequence[Candidate]) -> tuple[list[Pick], Outcome]:
        """Return the sentences for all parts of a question; what is true of one part is true of the whole."""
        parts = split_question(self.question) or ([self.question] if self.about else [])
        if not candidates or not parts:
            return [], "none"
        picks: list[Pick] = []
        words = [set(content_stems(part)) for part in parts]
        outcomes = set()
        for at, part in enumerate(parts):
            others = set[str]().union(*words[:at], *words[at + 1 :])
            emphasis = _Emphasis(content_stems(self.about), words[at] - others, others - words[at])
            limits = self.limits.share(len(picks), len(parts) - at)
            outcomes.add(self._pick_for(Asked.of(part, self.about), candidates, picks, limits, emphasis))
        fitting = [each for each in candidates if self.thing.allows(each)]
        add_sources(picks, fitting)
        add_announced(picks, fitting)
        found: Outcome = "answer" if "answer" in outcomes else "near" if "near" in outcomes else "none"
        if (expected := answer_type(self.question)).kinds == ("reason",):
            picks.sort(key=lambda pick: not expected.is_given_by(pick.candidate.text))
        return (_in_source_order(picks) if _STEPS.search(self.question) else picks), found

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
        rated = [pair for pair in zip(scores, candidates, strict=True) if not features.has_row_of_year(pair[1])]
        pairs = [pair for pair in rated if self.thing.allows(pair[1])]
        if found == "none" or not pairs:
            return "none"
        # A follow-up leaves out what it is about: what is not quoted counts too, or the others would seem too sure.
        unfit = [score for score, each in rated if emphasis.subject and not self.thing.allows(each)]
        most = limits.most_for(asked, is_part=bool(emphasis.others))
        _take_best(features, self._ranked(pairs, features, emphasis), unfit, picks, limits, most)
        if features.tells_something_else([each for _, each in pairs]):
            return "near"
        return found

    def _ranked(
        self, pairs: Sequence[tuple[float, Candidate]], features: SentenceFeatures, emphasis: _Emphasis
    ) -> list[tuple[float, Candidate]]:
        """Return the sentences by how well they answer; what is of the subject, of its year and newest counts more."""
        beside = self.thing.secondary
        scores = [
            score + emphasis.of(each) - _BESIDE * (id(each) in beside) + _OF_YEAR * features.is_row_of_year(each)
            for score, each in pairs
        ]
        candidates = [each for _, each in pairs]
        if self.recency:
            scores = _newer_first(scores, candidates, self.recency)
        return sorted(zip(scores, candidates, strict=True), key=lambda each: -each[0])


def _take_best(
    features: SentenceFeatures,
    ranked: list[tuple[float, Candidate]],
    unfit: Sequence[float],
    picks: list[Pick],
    limits: SentenceLimits,
    most: int,
) -> None:
    """Pick the best sentence, then others that are nearly as good and say something else, up to ``most``."""
    asked, (best, first) = features.asked, ranked[0]
    total = sum(math.exp(score - best) for score in [*(score for score, _ in ranked), *unfit])
    sure, taken = 0.0, 0
    while ranked and taken < most and len(picks) < limits.most:
        score, candidate = ranked.pop(_next(asked, ranked, picks) if limits.is_list and taken else 0)
        if score < best + limits.least or (sure >= _ENOUGH and asked.expected.is_fact and not limits.is_list):
            break
        if limits.is_list or sure <= _LIKELY or not features.is_about_another(candidate, first):
            taken += take(candidate, score, picks, asked.expected)
        sure += math.exp(score - best) / total


def _newer_first(scores: list[float], candidates: list[Candidate], recency: Recency) -> list[float]:
    """Return the scores with what is older counting less, among the sentences that are about the subject."""
    near = max(scores) + _ABOUT_SUBJECT
    about = [at for at, score in enumerate(scores) if score >= near]
    penalties = dict(zip(about, recency.penalties([candidates[at] for at in about]), strict=True))
    return [score - penalties.get(at, -_ABOUT_SUBJECT) for at, score in enumerate(scores)]


def _next(asked: Asked, ranked: list[tuple[float, Candidate]], picks: list[Pick]) -> int:
    """Return the place of the sentence to be quoted next in a list: one that names something new is worth more."""
    told = {name for pick in picks for name in asked.names_in(pick.text)}
    worth = [
        score + math.log1p(len(set(asked.names_in(candidate.text)) - told)) for score, candidate in ranked[:_LOOK_AT]
    ]
    return worth.index(max(worth))


def _in_source_order(picks: list[Pick]) -> list[Pick]:
    """Return the picks, best first, except that those of one source keep its order: they may be steps."""
    ordered = list(picks)
    for number in {pick.candidate.number for pick in picks}:
        places = [at for at, pick in enumerate(picks) if pick.candidate.number == number]
        by_position = sorted((picks[at] for at in places), key=lambda pick: pick.candidate.position)
        for at, pick in zip(places, by_position, strict=True):
            ordered[at] = pick
    return ordered
