"""Whether the sources answer a question, come near, or do not speak of it: a small calibrated score."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

from ..text.keywords import weight_in
from ..text.words import stems
from .evidence import Candidate
from .sentence_features import SentenceFeatures

Outcome = Literal["answer", "near", "none"]

_ANSWER, _NEAR = 0.3, 0.12
# A sentence with less of the words of the question is about something else, whatever its other features.
_MIN_WORDS = 0.15
_BRACKETS = re.compile(r"(?<!\s)\s*+[(（][^\n()（）]*+[)）]")
_DEFINES = re.compile(r".{0,80}?\b(?:is|are|was|were|refers to|means)\b (?:an?|the|one)\b|.{1,40}?(?:是|指|为)")
_QUESTION_WORD = re.compile(r"\b(?:who|whom|whose|what|when|where|why|which|how)\b", re.I)


@cache
def weights() -> Mapping[str, Mapping[str, float]]:
    """The weights of the features: of a sentence, and of all sources together, each with a constant under ``""``."""
    found: dict[str, dict[str, float]] = json.loads((files(__package__) / "weights.json").read_text("utf-8"))
    return found


def sentence_scores(features: SentenceFeatures) -> list[float]:
    """Return how well each sentence answers, as the logarithm of its odds against the others."""
    learned = weights()["sentence"]
    return [_sum(learned, row) for row in features.rows()]


def probability(features: SentenceFeatures, scores: Sequence[float]) -> float:
    """Return the probability that one of the sentences answers the question."""
    return 1 / (1 + math.exp(-_sum(weights()["sources"], source_features(features, scores))))


def outcome(features: SentenceFeatures, scores: Sequence[float]) -> Outcome:
    """Return whether the sentences answer the question, come near, or have nothing to do with it."""
    if max(own + nearby / 2 for own, nearby in map(features.fit, features.candidates)) < _MIN_WORDS:
        return "none"
    chance = probability(features, scores)
    if chance < _NEAR:
        return "none"
    expected = features.asked.expected
    # Where a time or a figure is asked for and none is there, nothing is the answer.
    texts = (candidate.text for candidate in features.candidates)
    is_there = not expected.is_exact or any(map(expected.is_given_by, texts))
    return "answer" if chance >= _ANSWER and is_there else "near"


def source_features(features: SentenceFeatures, scores: Sequence[float]) -> dict[str, float]:
    """Return the features of all sources together, by name."""
    asked, candidates = features.asked, features.candidates
    ranked = sorted(range(len(scores)), key=lambda at: -scores[at])
    best = candidates[ranked[0]]
    three = [scores[at] for at in ranked[:3]]
    fits = [features.fit(candidate) for candidate in candidates]
    row = features.row(ranked[0])
    own = [candidate for candidate in candidates if candidate.number == best.number]
    return {
        "best": three[0],
        "second": three[min(1, len(three) - 1)],
        "mean_of_three": sum(three) / len(three),
        "words": max(own for own, _ in fits),
        "words_nearby": max(own + nearby for own, nearby in fits),
        "words_of_best": row["words"],
        "kind": row["kind"],
        "agreed": row["agreed"],
        "shared": row["shared"],
        "no_kind": float(not asked.expected.kinds),
        "exact": float(asked.expected.is_exact),
        "one_source": float(len(own) == len(candidates)),
        "no_question_word": float(not asked.is_chinese and not _QUESTION_WORD.search(asked.question)),
        "question_length": math.log(len(asked.words) or 1),
        **_beyond_title(asked.words, best, own),
    }


def _beyond_title(words: Mapping[str, float], best: Candidate, source: Sequence[Candidate]) -> dict[str, float]:
    """Return how far the best source has what is asked about the subject that its title names."""
    title = set(stems(_BRACKETS.sub("", best.title)))
    rest = {stem: weight for stem, weight in words.items() if stem not in title}
    text = set[str]().union(*(candidate.stems for candidate in source))
    title_asked = len(title & words.keys()) / len(title) if title else 0.5
    return {
        "title_asked": title_asked,
        "rest_in_sentence": max(_share(rest, candidate.stems) for candidate in source),
        "rest_in_pair": max(_share(rest, _with_sentence_before(candidate)) for candidate in source),
        "rest_in_source": _share(rest, text),
        "missing": weight_in(rest, rest.keys() - text),
        "defines": float(_DEFINES.match(source[0].text) is not None),
    }


def _with_sentence_before(candidate: Candidate) -> Container[str]:
    """Return the words of a sentence and of the one before it."""
    return {*candidate.stems, *candidate.before.stems} if candidate.before else candidate.stems


def _share(weighted: Mapping[str, float], words: Container[str]) -> float:
    """Return the share of weighted words that are among others."""
    if not weighted:
        return 1.0
    return weight_in(weighted, words) / sum(weighted.values())


def _sum(learned: Mapping[str, float], row: Mapping[str, float]) -> float:
    """Return the weighted sum of some features."""
    return learned[""] + sum(learned[name] * value for name, value in row.items())
