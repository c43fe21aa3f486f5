"""The features of a value that may answer a question; their weights are learned by ``tools/train_values.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..text.conflicts import Conflict
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
    return all(_named(value)[0] for value in values)


def are_answers(asked: Asked, conflict: Conflict, ours: str, theirs: str) -> bool:
    """Whether two sentences differ in what answers the question, and have no figure of that unit in common."""
    if conflict.kind in ("negation", "opposite"):
        return not asked.expected.is_fact
    if any(side.text in asked.question for side in (conflict.ours, conflict.theirs)):
        return False
    kinds = {kind for each in asked.expected.kinds for kind in _DIFFERENCES.get(each, ())}
    if (kinds and conflict.kind not in kinds) or not are_wanted(asked, conflict.ours.text, conflict.theirs.text):
        return False
    own = [token for token in tokens(ours) if token.end > conflict.ours.start and token.start < conflict.ours.end]
    if conflict.kind == "name" and any(token.is_aside for token in own):
        return False
    units = {token.quantity.unit for token in own if token.quantity and token.quantity.unit}
    one, other = (
        {each.form for each in tokens(text) if each.quantity and each.quantity.unit in units} for text in (ours, theirs)
    )
    return one.isdisjoint(other)


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
        focus = [at for at, each in enumerate(spans) if not self._focus.isdisjoint(each)]
        asked = [at for at, each in enumerate(spans) if not self._words.isdisjoint(each)]
        # "It is 41 metres tall" is said of what the sentence before it names.
        before = candidate.before.stems if candidate.before and refers_back(candidate.text) else {}
        held = candidate.stems.keys() | before.keys()
        words = sum(weight for stem, weight in self._asked.words.items() if stem in held) / self._total
        for value in find_values(candidate.text, self._kinds, self._asked.question):
            features = {
                "words": words,
                **_distances(value, own, focus, asked),
                **self._kind(candidate, value),
                "repeated": min(3, source.count(value.text) - 1) / 3,
                "aside": float(own[value.first].is_aside),
            }
            yield value, features

    def _kind(self, candidate: Candidate, value: Value) -> dict[str, float]:
        text, after = value.text, candidate.text[value.start + len(value.text) :]
        person, place = _named(text) if not value.quantity else (False, False)
        return {
            "person": float(person and "name" in self._kinds),
            "place": float(place and "place" in self._kinds),
            "day": float(bool(value.quantity and value.quantity.date and value.quantity.date.day)),
            "unit": self._unit_fit(value, text + after[:_UNIT]),
            "limit": float(bool(value.quantity and value.quantity.is_open)),
            "introduced": float(bool(_INTRODUCED.search(candidate.text[: value.start]))),
            "followed": float(bool(_FOLLOWED.match(after))),
        }

    def _unit_fit(self, value: Value, text: str) -> float:
        if not value.quantity or value.quantity.date:
            return 0.0
        if self._counted:
            return 1.0 if value.quantity.unit == self._counted else -1.0
        return self._asked.expected.unit_fit(text)


def _wanted(asked: Asked) -> tuple[str, ...]:
    """The kinds of value that may answer: where a time or a figure is asked for, no names."""
    kinds = asked.expected.kinds
    if "time" in kinds or _DATE.search(asked.question):
        return ("time",)
    return ("count",) if asked.expected.unit or "count" in kinds else kinds


def _distances(value: Value, own: Sequence[Token], focus: Sequence[int], asked: Sequence[int]) -> dict[str, float]:
    """How near the words of the question stand to a value."""

    def distance(at: int) -> int:
        return value.first - at if at < value.first else at - value.last

    outside = [at for at in focus if not value.first <= at <= value.last]
    in_clause = [distance(at) for at in outside if not _has_mark(own, at, value)]
    every = sorted(distance(at) for at in asked if not value.first <= at <= value.last)
    return {
        "focus": 1 / min(in_clause) if in_clause else 0.0,
        "focus_far": 1 / (1 + min(map(distance, outside)) / 4) if outside else 0.0,
        "asked": sum(1 / (1 + each / 3) for each in every[:3]) / 3,
        "first": float(value.first < 2),
    }


def _has_mark(own: Sequence[Token], at: int, value: Value) -> bool:
    between = own[at + 1 : value.first] if at < value.first else own[value.last + 1 : at]
    return any(token.kind == "mark" for token in between)


def _named(text: str) -> tuple[bool, bool]:
    """Whether a name may be a person's, and a place's."""
    if text.isascii():
        return text.count(" ") in (1, 2), " " not in text
    tags = [tag for _, tag in tagged(text)]
    return any(tag.startswith("nr") for tag in tags) or "·" in text, "ns" in tags or bool(_PLACE.search(text))


def _says_something(stem: str) -> bool:
    return len(stem) > 1 or stem.isascii()
