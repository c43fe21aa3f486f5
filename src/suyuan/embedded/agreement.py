"""Whether two sentences of sources say the same, one supports the other, or they say different things."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..text.conflicts import conflicts, disagreement
from ..text.numbers import FIGURE, figures
from ..text.tokens import tokens
from .evidence import Candidate
from .sentence_features import Asked
from .value_features import are_answers

# Two sentences say the same where so much of the shorter one's words is in both.
_SAME, _CERTAINLY_SAME = 0.62, 0.9
_ALIKE = 0.5
_STATEMENT_END = re.compile(r"(?<=.{5})(?:[：；]|[:;]\s)")
_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?![\d.,])")


def say_the_same(one: Candidate, other: Candidate) -> bool:
    """Whether two sentences say the same in other words."""
    shared = _shared(one, other)
    if shared < _SAME or any(conflicts(*pair) for pair in _statements(one.text, other.text)):
        return False
    if shared > _CERTAINLY_SAME:
        return True
    return figures(one.text).stated <= figures(other.text).implied


def supports(candidate: Candidate, shown: Candidate, text: str) -> bool:
    """Whether a sentence has most words of the one that is ``shown``, and every figure and name of ``text``."""
    common = len(shown.stems.keys() & candidate.stems.keys()) / max(1, len(shown.stems))
    if common < _SAME:
        return False
    said = candidate.around.lower()
    names = (text[token.start : token.end] for token in tokens(text) if token.kind == "name" and not token.is_aside)
    has_figures = figures(text).stated <= figures(candidate.text).implied
    return has_figures and all(name.lower() in said for name in names)


def answered_otherwise(
    asked: Asked, ours: Candidate, theirs: Candidate, *, of_now: bool = False
) -> tuple[str, str] | None:
    """Return what two sentences say differently in answer to a question; rows are of different things.

    Of two versions or counts the newer one holds now.
    """
    if ours.row or theirs.row or _shared(ours, theirs) < _ALIKE:
        return None
    # Two sentences with all words of the question are about the same, however they go on.
    same_matter = _has_all(ours, asked.words) and _has_all(theirs, asked.words)
    pairs = _statements(ours.text, theirs.text)
    conflict = next(filter(None, (disagreement(*pair, same_matter) for pair in pairs)), None)
    if conflict is None:
        return _other_figures(ours, theirs) if of_now else None
    if are_answers(asked, conflict, ours.text, theirs.text):
        return conflict.ours.text, conflict.theirs.text
    return None


def _other_figures(one: Candidate, other: Candidate) -> tuple[str, str] | None:
    """Return the figures that differ in two sentences of nearly the same words."""
    ours, theirs = _figures_without_years(one.text), _figures_without_years(other.text)
    if _shared(one, other) < _SAME or len(ours) != len(theirs):
        return None
    return next((pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]), None)


def _figures_without_years(text: str) -> list[str]:
    return FIGURE.findall(_YEAR.sub("", text))


def _has_all(candidate: Candidate, asked: Mapping[str, float]) -> bool:
    """Whether a sentence has all words of a question of several."""
    return len(asked) > 1 and asked.keys() <= candidate.stems.keys()


def _shared(one: Candidate, other: Candidate) -> float:
    """Return the share of the shorter sentence's words that both have."""
    return len(one.stems.keys() & other.stems.keys()) / max(1, min(len(one.stems), len(other.stems)))


def _statements(one: str, other: str) -> list[tuple[str, str]]:
    """Return two sentences, and what they say before a colon: "X is safe: nobody fell ill" says that X is safe."""
    first = _STATEMENT_END.split(one, maxsplit=1)[0], _STATEMENT_END.split(other, maxsplit=1)[0]
    return [(one, other)] if first == (one, other) else [(one, other), first]
