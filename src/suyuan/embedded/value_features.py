"""The features of a value that may answer a question; their weights are learned by ``tools/train_values.py``."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Sequence
from itertools import chain

from ..text.conflicts import Conflict
from ..text.keywords import weight_in
from ..text.quantities import Quantity
from ..text.segmenter import tagged
from ..text.tokens import Token, tokens
from ..text.words import stems
from .answer_values import Value, find_values
from .evidence import Candidate, refers_back
from .sentence_features import Asked

_INTRODUCED = re.compile(
    r"(?:\b(?:by|is|was|are|were|to|named|as|of|called|winner|with)|[由是为叫：:、])\s*(?:the |an? )?$"
)
_FOLLOWED = re.compile(r"\s*+(?:,\s*+)?(?:who|won|wins|has|is|was|became|[的,，队夺获导执担当任首在（(])")
_DATE = re.compile(r"\b(?:date|year)\b", re.I)
# What only a person is, unlike a winner or an owner.
_PERSON = re.compile(
    r"\b(?:director|author|actor|actress|president|chancellor|minister|ceo|coach|founder|architect|keeper|mayor|king|queen)\b"
    "|导演|作者|主席|总统|总理|教练|主演|创始人|设计师|董事长|总经理|首相|校长|CEO",
    re.I,
)
# By the kind of answer: what the sentences of two sources may differ in.
_DIFFERENCES = {"time": ("date", "number"), "count": ("number",), "name": ("name",), "place": ("name",)}
_PLACE = re.compile("[省市县州国岛湾洲]$")
_UNIT = 10
"""The letters after a figure among which its unit is."""
_COUNTED = re.compile(r"(?:多少|几)([个支位名人次座家部岁米年天种项场枚块届集票张所条])")


def are_wanted(asked: Asked, *values: str) -> bool:
    """Whether values may be what is asked for: the names of people where only people are that."""
    if "name" not in asked.expected.kinds or not _PERSON.search(asked.question):
        return True
    return all(_may_name(value)[0] for value in values)


def are_answers(asked: Asked, conflict: Conflict, ours: str, theirs: str) -> bool:
    """Whether two sentences differ in what answers the question, and have no figure of that unit in common."""
    if conflict.kind in ("negation", "opposite"):
        return not asked.expected.is_fact
    values = conflict.ours.text, conflict.theirs.text
    if any(value in asked.question for value in values) or not _is_of_kind(conflict, asked):
        return False
    own = [token for token in tokens(ours) if token.overlaps(conflict.ours.start, conflict.ours.end)]
    if conflict.kind == "name" and any(token.is_aside for token in own):
        return False
    return are_wanted(asked, *values) and not _have_common_figure(ours, theirs, own)


def _is_of_kind(conflict: Conflict, asked: Asked) -> bool:
    """Whether two sentences differ in what may be asked for."""
    kinds = set(chain.from_iterable(_DIFFERENCES.get(kind, ()) for kind in asked.expected.kinds))
    return not kinds or conflict.kind in kinds


def _have_common_figure(ours: str, theirs: str, value: Sequence[Token]) -> bool:
    """Whether two sentences have a figure in common that has a unit of a value."""
    units = {token.quantity.unit for token in value if token.quantity} - {""}
    return not _figures_in(ours, units).isdisjoint(_figures_in(theirs, units))


def _figures_in(text: str, units: Container[str]) -> set[str]:
    """Return the figures of a sentence that have one of some units."""
    return {token.form for token in tokens(text) if token.quantity and token.quantity.unit in units}


class ValueFeatures:
    """The values of the sentences of a question's sources."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._total = sum(asked.words.values()) or 1.0
        names = set(stems(" ".join(asked.names)))
        # What is asked of the subject: the words that are no part of its names.
        self._focus = {stem for stem in asked.words if stem not in names and _says_something(stem)}
        self._words = {stem for stem in asked.words if _says_something(stem)}
        self._kinds = _wanted(asked)
        counted = _COUNTED.search(asked.question)
        self._counted = counted[1] if counted else ""

    def rows(self, candidate: Candidate, source: str) -> Iterator[tuple[Value, dict[str, float]]]:
        """Yield the values of a sentence with their features by name."""
        own = tokens(candidate.text)
        spans = [set(stems(candidate.text[token.start : token.end])) for token in own]
        focus = [at for at, span in enumerate(spans) if not self._focus.isdisjoint(span)]
        asked = [at for at, span in enumerate(spans) if not self._words.isdisjoint(span)]
        words = self._share(candidate)
        for value in find_values(candidate.text, self._kinds, self._asked.question):
            features = {
                "words": words,
                **_distances(value, own, focus, asked),
                **self._kind(candidate, value),
                "repeated": min(3, source.count(value.text) - 1) / 3,
                "aside": float(own[value.first].is_aside),
            }
            yield value, features

    def _share(self, candidate: Candidate) -> float:
        """Return the share of the question's words that a sentence has.

        "It is 41 metres tall" is said of what the sentence before it names.
        """
        present = set(candidate.stems)
        if candidate.before and refers_back(candidate.text):
            present.update(candidate.before.stems)
        return weight_in(self._asked.words, present) / self._total

    def _kind(self, candidate: Candidate, value: Value) -> dict[str, float]:
        """What kind of value it is, and how its sentence introduces it."""
        before, after = candidate.text[: value.start], candidate.text[value.start + len(value.text) :]
        features = {
            "person": 0.0,
            "place": 0.0,
            "day": 0.0,
            "unit": 0.0,
            "limit": 0.0,
            "introduced": float(_INTRODUCED.search(before) is not None),
            "followed": float(_FOLLOWED.match(after) is not None),
        }
        if value.quantity is None:
            person, place = _may_name(value.text)
            features["person"] = float(person and "name" in self._kinds)
            features["place"] = float(place and "place" in self._kinds)
        else:
            features["day"] = float(value.quantity.has_day)
            features["unit"] = self._unit_fit(value.quantity, value.text + after[:_UNIT])
            features["limit"] = float(value.quantity.is_open)
        return features

    def _unit_fit(self, quantity: Quantity, text: str) -> float:
        """Return 1 for a figure of the unit that is asked for, -1 for one of another, else 0."""
        if quantity.date:
            return 0.0
        if self._counted:
            return 1.0 if quantity.unit == self._counted else -1.0
        return self._asked.expected.unit_fit(text)


def _wanted(asked: Asked) -> tuple[str, ...]:
    """The kinds of value that may answer: where a time or a figure is asked for, no names."""
    kinds = asked.expected.kinds
    if "time" in kinds or _DATE.search(asked.question):
        return ("time",)
    if "count" in kinds or asked.expected.unit:
        return ("count",)
    return kinds


def _distances(value: Value, own: Sequence[Token], focus: Sequence[int], asked: Sequence[int]) -> dict[str, float]:
    """How near the words of the question stand to a value."""
    outside = [at for at in focus if value.distance(at)]
    in_clause = [value.distance(at) for at in outside if not _has_mark(own, at, value)]
    nearest = min(map(value.distance, outside), default=math.inf)
    asked_distances = sorted(filter(None, map(value.distance, asked)))
    return {
        "focus": 1 / min(in_clause, default=math.inf),
        "focus_far": 1 / (1 + nearest / 4),
        "asked": sum(1 / (1 + distance / 3) for distance in asked_distances[:3]) / 3,
        "first": float(value.first < 2),
    }


def _has_mark(own: Sequence[Token], at: int, value: Value) -> bool:
    """Whether a comma or another mark stands between a place and a value."""
    between = own[at + 1 : value.first] if at < value.first else own[value.last + 1 : at]
    return any(token.kind == "mark" for token in between)


def _may_name(text: str) -> tuple[bool, bool]:
    """Whether a name may be a person's, and a place's."""
    if text.isascii():
        return text.count(" ") in (1, 2), " " not in text
    tags = {tag[:2] for _, tag in tagged(text)}
    return "nr" in tags or "·" in text, "ns" in tags or _PLACE.search(text) is not None


def _says_something(stem: str) -> bool:
    """Whether a word is more than a single Chinese character."""
    return len(stem) > 1 or stem.isascii()
