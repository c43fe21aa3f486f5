"""Where sources give different answers to one question, however differently they put it: who says what."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import NamedTuple

from ..text.dates import YEAR
from ..text.scripts import HAN
from ..text.shingles import count_origins
from ..text.tokens import tokens
from ..text.words import stems
from .answer_values import Value
from .evidence import Candidate
from .question_splitter import split_question
from .sentence_features import Asked
from .value_features import ValueFeatures, are_wanted

# Learned by ``tools/train_values.py``: the odds that a value is what its source answers,
VALUE_WEIGHTS: Mapping[str, float] = {
    "": -3.18, "day": 2.34, "person": 1.15, "asked": 0.98, "place": 0.92, "aside": -0.83, "words": 0.82,
    "repeated": 0.81, "first": 0.72, "unit": 0.69, "focus": 0.47, "followed": 0.4, "introduced": 0.29,
    "limit": -0.25, "focus_far": 0.22,
}  # fmt: skip
# and that two values are two answers to one question.
PAIR_WEIGHTS: Mapping[str, float] = {
    "": -4.8, "chance": 4.36, "rank": 2.86, "mix": -2.7, "details": 2.55, "same": 2.29, "sum": 0.89, "few": -0.76,
    "figure": -0.34,
}  # fmt: skip
_LEAST, _LEAST_ALIKE = 0.9, -0.6
"""The odds, as a logarithm, above which two values are called a disagreement: less where the same words are around."""
_LEAST_CHECKED = -1.0
"""The same for names where what the sources are about is checked too; figures differ for more reasons."""
_LEAST_FIT, _NEARBY = 0.35, 0.5
_SENTENCES, _VALUES, _GROUPS, _MENTIONS = 2, 12, 8, 12
_FORMER = re.compile(
    r"\b(?:former|formerly|ex-|previous|previously|predecessor|once|then-)\b|前任|原任|曾任|曾是|前(?=[总主首董队])",
    re.I,
)
_LIST = re.compile(r"分别|各自|哪些|有什么|名单|\bwhich \w+s\b|\bwhat are\b|\bwho are\b|\blist\b", re.I)
_ANOTHER_PART = r"\s?(?:\d(?!\d)|II)"
_HAN_CHARACTER = re.compile(f"[{HAN}]")


class Mention(NamedTuple):
    """A value in a sentence of a source, and the probability that it is what the source answers."""

    value: Value
    candidate: Candidate
    chance: float
    focus: float


@dataclass(frozen=True, slots=True)
class AnswerSide:
    """One answer, and the sentence of each source that gives it, the best first."""

    says: str
    sentences: tuple[Candidate, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The sources that say so."""
        return tuple(sorted(each.number for each in self.sentences))


@dataclass(slots=True, eq=False)
class Group:
    """The mentions of one value, by source."""

    value: Value
    mentions: dict[int, list[Mention]] = field(default_factory=dict)
    named: set[int] = field(default_factory=set)
    """The sources that name it anywhere."""

    def beside(self, other: Group) -> Group:
        """The same with the sources alone that do not name the ``other`` value."""
        return Group(self.value, {at: own for at, own in self.mentions.items() if at not in other.named}, self.named)

    def best(self, number: int) -> Mention:
        """The mention of a source that is its answer most probably."""
        return max(self.mentions[number], key=lambda each: each.chance)

    @property
    def answers(self) -> list[Mention]:
        """The best mention of each source."""
        return list(map(self.best, self.mentions))

    @property
    def is_answer(self) -> bool:
        """Whether a source gives it in a sentence with a word of what is asked."""
        return any(each.focus for each in self.answers)

    @property
    def chance(self) -> float:
        """The probability that it is the answer of the source that most probably gives it."""
        return max(each.chance for each in self.answers)

    @property
    def total(self) -> float:
        """About how many sources answer with it."""
        return sum(each.chance for each in self.answers)


class Pair(NamedTuple):
    """Two values that different sources give, and the features of both together."""

    sides: tuple[Group, Group]
    features: dict[str, float]


def answer_sides(question: str, candidates: Sequence[Candidate], *, is_checked: bool = False) -> tuple[AnswerSide, ...]:
    """Return two answers that sources give to ``question``, the one of more sources first; none without a conflict.

    Lower odds are enough where it ``is_checked`` that the sources are about one matter.
    """
    candidates = _of_year(question, candidates, or_of_none=is_checked)
    if len({candidate.number for candidate in candidates}) < 2 or _LIST.search(question):
        return ()
    if len(split_question(question)) > 1:
        return ()  # Of two things each has a value of its own.
    found = max(pairs(question, candidates), key=odds, default=None)
    if found is None or odds(found) < least(found, is_checked=is_checked):
        return ()
    sides = map(_side, found.sides)
    texts = source_texts(candidates)
    return tuple(sorted(sides, key=lambda side: (-count_origins([texts[at] for at in side.numbers]), side.numbers)))


def _of_year(question: str, candidates: Sequence[Candidate], *, or_of_none: bool) -> Sequence[Candidate]:
    """Return the sentences of sources that name the year of the question, where any of them does, or no year at all."""
    years = set(YEAR.findall(question))
    texts = source_texts(candidates) if years else {}
    numbers = {number for number, text in texts.items() if any(year in text for year in years)}
    if or_of_none and years:
        numbers |= {each.number for each in candidates if not any(map(YEAR.match, each.source - years))}
    return [each for each in candidates if each.number in numbers] if numbers else candidates


def odds(pair: Pair) -> float:
    """Return the logarithm of the odds that two values are two answers."""
    return PAIR_WEIGHTS[""] + sum(PAIR_WEIGHTS[name] * value for name, value in pair.features.items())


def least(pair: Pair, *, is_checked: bool = False) -> float:
    """Return the odds that two values need: less where the words beside them are the same, of figures one of them."""
    features = pair.features
    alike = features["same"] > (0 if features["figure"] else 0.5)
    usual = _LEAST_CHECKED if is_checked and not features["figure"] else _LEAST
    return min(_LEAST_ALIKE, usual) if alike else usual


def _side(given: Group) -> AnswerSide:
    best = sorted(given.answers, key=lambda each: -each.chance)
    says = _with_unit(best[0]) if given.value.quantity else _whole(best[0].value.text, _mentions(given))
    return AnswerSide(says, tuple(each.candidate for each in best))


def _mentions(given: Group) -> list[Mention]:
    return [each for own in given.mentions.values() for each in own]


def _whole(name: str, mentions: Sequence[Mention]) -> str:
    """Return a Chinese name with the characters that stand beside it in every sentence: the segmenter cuts names."""
    texts = {each.candidate.text for each in mentions if name in each.candidate.text}
    while len(texts) > 1 and not name.isascii():
        after = {text[at : at + 1] for text in texts if (at := text.index(name) + len(name))}
        if len(after) > 1 or not _HAN_CHARACTER.match(character := after.pop()):
            break
        name += character
    return name


# --- values ----------------------------------------------------------------------------------------------------------
def pairs(question: str, candidates: Sequence[Candidate]) -> Iterator[Pair]:
    """Yield every two values that different sources give, with their features."""
    asked = Asked.of(question)
    texts = source_texts(candidates)
    groups = sorted(_groups(mentions(asked, candidates, texts), texts), key=lambda group: -group.total)[:_GROUPS]
    for one, other in combinations(groups, 2):
        if one.value.is_of_kind(other.value) and (found := _pair(asked, one, other, groups, texts)):
            yield found


def source_texts(candidates: Sequence[Candidate]) -> dict[int, str]:
    """Return all sentences of each source as one text."""
    texts: dict[int, str] = {}
    for candidate in candidates:
        texts[candidate.number] = f"{texts.get(candidate.number, '')} {candidate.text}"
    return texts


def mentions(asked: Asked, candidates: Sequence[Candidate], texts: Mapping[int, str]) -> Iterator[Mention]:
    """Yield the values in the sentences that are about the question."""
    features = ValueFeatures(asked)
    for candidate in about(asked, candidates):
        for value, row in features.rows(candidate, texts[candidate.number]):
            score = VALUE_WEIGHTS[""] + sum(VALUE_WEIGHTS[name] * number for name, number in row.items())
            yield Mention(value, candidate, 1 / (1 + math.exp(-score)), row["focus_far"])


def about(asked: Asked, candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yield the few sentences of each source that have most words of the question and are not about another thing."""
    subject = set(stems(" ".join(name for name in asked.names if not name.isdigit())))
    found: dict[int, list[tuple[float, Candidate]]] = {}
    for candidate in candidates:
        fit = _fit(asked, candidate)
        if fit >= _LEAST_FIT and (not subject or not subject.isdisjoint({*candidate.stems, *candidate.nearby})):
            found.setdefault(candidate.number, []).append((fit, candidate))
    for own in found.values():
        for _, candidate in sorted(own, key=lambda each: -each[0])[:_SENTENCES]:
            if asked.is_told_by(candidate) and not _is_about_another(asked, candidate.text):
                yield candidate


def _fit(asked: Asked, candidate: Candidate) -> float:
    """The share of the question's words that a sentence has; those of the title and of the one before it count half."""
    held = sum(
        weight * (1.0 if stem in candidate.stems else _NEARBY)
        for stem, weight in asked.words.items()
        if stem in candidate.stems or stem in candidate.nearby
    )
    return held / (sum(asked.words.values()) or 1.0)


def _is_about_another(asked: Asked, text: str) -> bool:
    """Whether a sentence is about another year, another part of a series, or who it was before."""
    if _FORMER.search(text) and not _FORMER.search(asked.question):
        return True
    ours = [token.quantity for token in tokens(asked.question) if token.quantity]
    theirs = [token.quantity for token in tokens(text) if token.quantity] if ours else []
    for quantity in ours:
        if not quantity.date and not quantity.unit:
            continue
        comparable = [each for each in theirs if each.is_comparable(quantity) and each.unit == quantity.unit]
        if comparable and not any(each.agrees(quantity) for each in comparable):
            return True
    return any(_is_another_part(re.escape(name), text) for name in asked.names if not name[-1].isdigit())


def _is_another_part(name: str, text: str) -> bool:
    return bool(re.search(name + _ANOTHER_PART, text)) and not re.search(f"{name}(?!{_ANOTHER_PART})", text)


def _groups(found: Iterator[Mention], texts: Mapping[int, str]) -> Iterator[Group]:
    """Yield the values with all their mentions; a date that may be one of two counts for neither."""
    equal: dict[str, Group] = {}
    for mention in found:
        group = equal.setdefault(mention.value.key, Group(mention.value))
        group.mentions.setdefault(mention.candidate.number, []).append(mention)
    groups: list[Group] = []
    likely = sorted(equal.values(), key=lambda group: -group.total)[:_VALUES]
    for group in sorted(likely, key=lambda group: -group.value.precision):
        same = [known for known in groups if known.value.may_be(group.value)]
        if not same:
            groups.append(group)
        elif len(same) == 1 or not group.value.quantity:
            for number, own in group.mentions.items():
                same[0].mentions.setdefault(number, []).extend(own)
    for group in groups:
        group.named = set(group.mentions)
        if group.value.precision == 0:
            forms = {_with_unit(each) for own in group.mentions.values() for each in own}
            group.named |= {number for number, text in texts.items() if any(form in text for form in forms)}
        yield group


def _with_unit(mention: Mention) -> str:
    """The words of a value, a figure with its unit."""
    value = mention.value
    return value.quantity.written(mention.candidate.text) if value.quantity else value.text


# --- pairs of values -------------------------------------------------------------------------------------------------
def _pair(asked: Asked, one: Group, other: Group, ranked: Sequence[Group], texts: Mapping[int, str]) -> Pair | None:
    sides = one.beside(other), other.beside(one)
    if not all(side.is_answer for side in sides) or not are_wanted(asked, one.value.text, other.value.text):
        return None
    shared = [each for each in ranked if not any(each.named.isdisjoint(side.mentions) for side in sides)]
    told = list(product(*(side.answers for side in sides)))
    if any(_is_preferred(each, one, other) for each in shared) or not any(_are_of_one_time(*each) for each in told):
        return None
    # What both sides name is not what they differ in.
    own = [each for each in ranked if each not in shared]
    mixed = len(one.mentions.keys() & other.named) + len(other.mentions.keys() & one.named)
    return Pair(sides, {
        "same": _same(*map(_mentions, sides)),
        "details": max(_details(asked, *each) for each in told),
        "sum": math.log(min(side.total for side in sides) + 0.05),
        "chance": min(side.chance for side in sides),
        "mix": mixed / (len(one.mentions) + len(other.mentions)),
        "figure": float(bool(one.value.quantity)),
        "few": float(min(count_origins([texts[at] for at in side.mentions]) for side in sides) == 1),
        "rank": 1 / (1 + _better(one, own, other) + _better(other, own, one)),
    })  # fmt: skip


def _better(group: Group, ranked: Sequence[Group], rival: Group) -> int:
    """How many values its sources give that are more probable than it."""
    before, numbers = ranked[: ranked.index(group)], group.beside(rival).mentions
    return sum(each is not rival and not each.mentions.keys().isdisjoint(numbers) for each in before)


def _is_preferred(shared: Group, one: Group, other: Group) -> bool:
    """Whether sources of both sides rather answer with one and the same value."""
    if shared.total > max(one.total, other.total) and shared.chance > min(one.chance, other.chance):
        return True
    sides = one.beside(other), other.beside(one)
    return all(any(_prefers(number, shared, side) for number in side.mentions) for side in sides)


def _prefers(number: int, shared: Group, group: Group) -> bool:
    return number in shared.mentions and shared.best(number).chance > group.best(number).chance


def _are_of_one_time(one: Mention, other: Mention) -> bool:
    """Whether the dates of two sentences do not show that they are of different times."""
    ours, theirs = (
        [token.quantity for token in tokens(each.candidate.text) if token.quantity and token.quantity.date]
        for each in (one, other)
    )
    if one.value.quantity and one.value.quantity.date:
        return True
    comparable = [(a, b) for a in ours for b in theirs if a.is_comparable(b)]
    return not comparable or any(a.agrees(b) for a, b in comparable)


def _same(ours: Sequence[Mention], theirs: Sequence[Mention]) -> float:
    """How far the words right beside two values are the same: those before them, those after them, or both."""
    one, other = ({_beside(each) for each in side[:_MENTIONS]} for side in (ours, theirs))
    return max(sum(a == b != "" for a, b in zip(*pair, strict=True)) for pair in product(one, other)) / 2


def _beside(mention: Mention) -> tuple[str, str]:
    """The word before a value and the one after it."""
    own, value = tokens(mention.candidate.text), mention.value
    sides = reversed(own[: value.first]), own[value.last + 1 :]
    before, after = (next((each.form for each in side if each.kind not in ("function", "mark")), "") for side in sides)
    return before, after


def _details(asked: Asked, one: Mention, other: Mention) -> float:
    """The share of the words that both sentences have beside the question and the values."""
    values = {*stems(one.value.text), *stems(other.value.text)}
    ours, theirs = (
        {stem for stem in each.candidate.stems if len(stem) > 1 and stem not in asked.words and stem not in values}
        for each in (one, other)
    )
    return len(ours & theirs) / max(4, min(len(ours), len(theirs)))
