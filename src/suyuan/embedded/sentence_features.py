"""The features of a sentence that may answer a question; their weights are learned by ``tools/train_answers.py``."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from ..text.bm25 import BM25
from ..text.dates import YEAR
from ..text.keywords import content_stems, weight_in
from ..text.lexicon import simplified
from ..text.numbers import FIGURE
from ..text.scripts import HAN
from ..text.segmenter import tagged
from ..text.words import stems
from .answer_type import AnswerType, answer_type
from .cue_words import cues_for
from .evidence import Candidate

_ABOUT_WEIGHT = 0.3
_FACT = re.compile(r"\d+(?:[.,]\d+)*\s*[万亿%‰]?|[A-Z][a-zà-ž]+(?: [A-Z][a-zà-ž]+)+")
_CAPITALISED = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-zà-ž]+")
_NAME = re.compile(r"《([^《》]+)》|“([^“”]+)”|(\d+(?:\.\d+)?)|(?<!^)\b([A-Z][\w-]*)")
_NAME_TAGS = frozenset(("nr", "nz", "ns", "nt"))
# The noun that a question asks for: after its question word, or else before it.
_FOCUS = re.compile(
    r"(?:什么|哪(?:[些种个类几所部本位座家项条]|一[个种位座家部项条])?|几[个种位座家部项条次]|多少)(?!时候|[是有在为])"
    rf"(?P<after>[{HAN}]{{1,4}}?)(?=[的了来和]|[^{HAN}]|$)"
    rf"|(?P<before>[{HAN}]{{2,4}}?)[是有叫为在于由]{{0,4}}(?:什么|谁|多少|哪|何|几)"
    r"|\b(?:what|which)\s+(?:(?:is|are|was|were)\s+)?(?:the\s+|an?\s+)?(?P<what>[a-z]+)|\bhow\s+(?:many|much)\s+(?P<how>[a-z]+)"
    r"|\bwho\s+(?P<who>[a-z]+)",
    re.I,
)
_COPY = 0.9
_MAX_POSITION, _MAX_AGREED, _MAX_FACTS = 20, 4, 3


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as its words with their weights, its names, and the type of its answer."""

    question: str
    words: Mapping[str, float]
    names: tuple[str, ...]
    expected: AnswerType
    focus: Mapping[str, float]
    """The words of what is asked for."""

    @classmethod
    def of(cls, question: str, about: str = "") -> Asked:
        """Read a question; ``about`` is what it leaves out because it was said before."""
        question = simplified(question)
        subject = {stem: _ABOUT_WEIGHT * weight for stem, weight in content_stems(about).items()} if about else {}
        words = {**subject, **content_stems(question)} or dict.fromkeys(stems(question), 1.0)
        names = tuple(match[match.lastindex or 0] for match in _NAME.finditer(question))
        return cls(question, words, names, answer_type(question), _focus(question))

    def names_in(self, text: str) -> list[tuple[str, str]]:
        """Return the names in a sentence that the question does not have, for Chinese with their kind."""
        if self.is_chinese:
            words = ((word, tag[:2]) for word, tag in tagged(text))
            return [(word, kind) for word, kind in words if kind in _NAME_TAGS and word not in self.question]
        question = self.question.lower()
        return [(name, "") for name in _CAPITALISED.findall(text) if name.lower() not in question]

    def is_told_by(self, candidate: Candidate) -> bool:
        """Whether a sentence gives a figure as it is asked for, in unit and wording, where the question shows both."""
        cues = cues_for(self.question)
        if self.expected.unit is None or not cues:
            return True
        if self.expected.unit_fit(candidate.text) <= 0:
            return False
        return any(cue.search(candidate.around) for cue in cues)

    @property
    def is_chinese(self) -> bool:
        """Whether people and places are recognised by the segmenter."""
        return not self.question.isascii()


class SentenceFeatures:
    """The sentences of all sources beside a question."""

    def __init__(self, asked: Asked, candidates: Sequence[Candidate]) -> None:
        self.asked = asked
        self.candidates = candidates
        ranking = BM25(asked.words, list(map(_stems, candidates)))
        self._weights = ranking.weights
        self._rarity = sum(ranking.weights.values()) or 1.0
        self._total = sum(asked.words.values()) or 1.0
        self._bm25 = ranking.scores()
        self._best_bm25 = max(self._bm25) or 1.0
        sources = {candidate.number: candidate.source for candidate in candidates}
        self._origins = _origins(sources)
        originals = [sources[number] for number in set(self._origins.values())]
        self._sources = Counter(chain.from_iterable(originals))
        self._others = len(originals) - 1
        self._cues = cues_for(asked.question)
        self._years = set(YEAR.findall(asked.question))
        self._by_year = {candidate.number for candidate in candidates if self.is_row_of_year(candidate)}
        self._facts = [_facts(candidate.text, asked.question) for candidate in candidates]

    def rows(self) -> Iterator[dict[str, float]]:
        """Yield the features of each sentence by name."""
        return map(self.row, range(len(self.candidates)))

    def row(self, at: int) -> dict[str, float]:
        """Return the features of one sentence by name."""
        candidate = self.candidates[at]
        follows = at > 0 and candidate.before is self.candidates[at - 1]
        bm25_before = self._bm25[at - 1] if follows else 0.0
        return {
            **self._word_features(candidate, self._bm25[at], bm25_before),
            **self._wording_features(candidate),
            **self._answer_features(candidate, self._facts[at]),
            **self._place_features(candidate),
        }

    def fit(self, candidate: Candidate) -> tuple[float, float]:
        """Return the share of the question's words that a sentence has, and that its title and neighbour add."""
        own = nearby = 0.0
        own_stems = _stems(candidate)
        for stem, weight in self.asked.words.items():
            if stem in own_stems:
                own += weight
            elif stem in candidate.nearby:
                nearby += weight
        return own / self._total, nearby / self._total

    def _word_features(self, candidate: Candidate, bm25: float, before: float) -> dict[str, float]:
        """How many words of the question the sentence has, and how rare they are."""
        own, nearby = self.fit(candidate)
        own_stems = _stems(candidate)
        rare = weight_in(self._weights, own_stems)
        return {
            "words": own,
            "rare_words": rare / self._rarity,
            "words_nearby": nearby,
            "bm25": bm25 / self._rarity,
            "of_best_bm25": bm25 / self._best_bm25,
            "bm25_before": before / self._best_bm25,
        }

    def _wording_features(self, candidate: Candidate) -> dict[str, float]:
        """How far the sentence is worded as an answer."""
        focus = self.asked.focus
        present = weight_in(focus, candidate.stems)
        cues = sum(cue.search(candidate.text) is not None for cue in self._cues)
        defines = candidate.position == 0 and "definition" in self.asked.expected.kinds
        return {
            "focus": present / sum(focus.values()) if focus else 0.5,
            "other_year": float(self.is_of_other_year(candidate)),
            "cue": 2 * cues / len(self._cues) - 1 if self._cues else 0.0,
            "opening_defines": float(defines),
        }

    def is_of_other_year(self, candidate: Candidate) -> bool:
        """Whether a sentence speaks of years, and of none that is asked about."""
        if not self._years:
            return False
        years = YEAR.findall(candidate.text)
        return bool(years) and self._years.isdisjoint(years)

    def is_about_another(self, candidate: Candidate, best: Candidate) -> bool:
        """Whether a sentence lacks a name of the question that the best one has, or is the row of another year."""
        if candidate.row and self.is_of_other_year(candidate):
            return True
        named = (name for name in self.asked.names if name in best.text and not name[0].isdigit())
        return self.asked.expected.is_fact and any(name not in candidate.around for name in named)

    def is_row_of_year(self, candidate: Candidate) -> bool:
        """Whether it is the row of a table for the year that is asked about."""
        return candidate.row is not None and not self._years.isdisjoint(YEAR.findall(candidate.text))

    def has_row_of_year(self, candidate: Candidate) -> bool:
        """Whether a sentence is of another year than the one that is asked about, for which its page has a row."""
        return candidate.number in self._by_year and self.is_of_other_year(candidate)

    def tells_something_else(self, candidates: Sequence[Candidate]) -> bool:
        """Whether there are figures in the unit that is asked for, but none of them is what is asked."""
        has_unit = any(self.asked.expected.unit_fit(candidate.text) > 0 for candidate in candidates)
        return has_unit and not any(map(self.asked.is_told_by, candidates))

    def _answer_features(self, candidate: Candidate, facts: set[str]) -> dict[str, float]:
        """How far the sentence has what may answer: a figure, a name, a fact that others agree on."""
        text, asked, expected = candidate.text, self.asked, self.asked.expected
        kinds = expected.kinds
        is_given = bool(kinds) and expected.is_given_by(text)
        people = places = 0.0
        if "name" in kinds or "place" in kinds:
            people, places = self._count_names(text)
        figures = sum(figure not in asked.question for figure in FIGURE.findall(text))
        agreed = 0
        if is_given or not kinds:
            agreed = max((len(self._origins_of[fact]) for fact in facts), default=0)
        return {
            "kind": float(is_given),
            "exact_kind": float(is_given and expected.is_exact),
            "unit": expected.unit_fit(text),
            "person": min(2.0, people) / 2 if "name" in kinds else 0.0,
            "place": min(2.0, places) / 2 if "place" in kinds else 0.0,
            "figure_for_time": min(2, figures) / 2 if "time" in kinds else 0.0,
            "figures": min(_MAX_FACTS, figures) / _MAX_FACTS,
            "facts": min(_MAX_FACTS, len(facts)) / _MAX_FACTS,
            "agreed": min(_MAX_AGREED, agreed) / _MAX_AGREED,
        }

    def _place_features(self, candidate: Candidate) -> dict[str, float]:
        """What the place of the sentence tells, and the names in it and around it."""
        names = self.asked.names
        missing = [name for name in names if name not in candidate.text]
        around = f"{candidate.title}\n{candidate.before.text if candidate.before else ''}"
        nearby = sum(name in around for name in missing)
        present = len(names) - len(missing)
        return {
            "names": present / len(names) if names else 0.5,
            "names_nearby": nearby / max(1, len(names)),
            "shared": self._shared(candidate),
            "position": math.log1p(min(candidate.position, _MAX_POSITION)),
            "length": math.log(candidate.stems.total() or 1),
            "cut_off": float(candidate.is_cut_off),
        }

    def _shared(self, candidate: Candidate) -> float:
        """How many of the other sources have a word of the sentence that the question has not, on the average."""
        new = [stem for stem in candidate.stems if len(stem) > 1 and stem not in self.asked.words]
        if not new or not self._others:
            return 0.0
        return sum(self._sources[stem] - 1 for stem in new) / len(new) / self._others

    @cached_property
    def _origins_of(self) -> dict[str, set[int]]:
        """The origins that give each fact."""
        origins: dict[str, set[int]] = {}
        for candidate, facts in zip(self.candidates, self._facts, strict=True):
            for fact in facts:
                origins.setdefault(fact, set()).add(self._origins[candidate.number])
        return origins

    def _count_names(self, text: str) -> tuple[float, float]:
        """Return about how many people and places a sentence names that the question does not."""
        names = self.asked.names_in(text)
        if not self.asked.is_chinese:
            return 0.5 * len(names), 0.5 * len(names)
        tags = Counter(tag for _, tag in names)
        return tags["nr"] + 0.5 * tags["nz"], tags["ns"] + 0.5 * tags["nt"]


def _stems(candidate: Candidate) -> Counter[str]:
    """The words of a sentence; of a row also those of the title, without which it says nothing."""
    return Counter([*candidate.stems.elements(), *candidate.nearby]) if candidate.row else candidate.stems


def _facts(text: str, question: str) -> set[str]:
    """Return the figures and names of a sentence that the question does not have."""
    return {fact for fact in _FACT.findall(text) if fact not in question}


def _focus(question: str) -> Mapping[str, float]:
    """Return the words of what a question asks for."""
    match = _FOCUS.search(question)
    return content_stems(match[match.lastindex or 0]) if match else {}


def _origins(sources: Mapping[int, frozenset[str]]) -> dict[int, int]:
    """Return for each source the first one of which it is a copy: what is printed twice is said once."""
    origins: dict[int, int] = {}
    for number, words in sources.items():
        copied = (origin for origin in origins.values() if _is_copy(words, sources[origin]))
        origins[number] = next(copied, number)
    return origins


def _is_copy(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sources have nearly the same words, and no other figures, so that one can stand for the other.

    This is stricter than :func:`~suyuan.text.shingles.is_reprint`, which finds the text that another was made from: a
    reprint with another figure, or a sentence that was worded anew, is one more statement when answers are compared.
    """
    least = _COPY * max(len(one), len(other))
    if min(len(one), len(other)) < least or len(one & other) < least:
        return False
    return not any(word[0].isdigit() for word in one ^ other)
