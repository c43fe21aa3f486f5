"""Where sources give different answers to one question, however differently they put it: who says what."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from typing import NamedTuple

from ..text.alignment import NO_CONTENT
from ..text.dates import YEAR
from ..text.quantities import Quantity
from ..text.scripts import HAN
from ..text.shingles import count_origins
from ..text.tokens import Token, tokens
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
_MIN_ODDS, _MIN_ODDS_ALIKE = 0.9, -0.6
"""The odds, as a logarithm, above which two values are called a disagreement: less where the same words are around."""
_MIN_ODDS_CHECKED = -1.0
"""The same for names where what the sources are about is checked too; figures differ for more reasons."""
_MIN_FIT, _NEARBY_WEIGHT = 0.35, 0.5
_MIN_SAME = 0.5
_MIN_DETAILS = 4
_MAX_SENTENCES, _MAX_VALUES, _MAX_GROUPS, _MAX_MENTIONS = 2, 12, 8, 12
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
        return tuple(sorted(candidate.number for candidate in self.sentences))


@dataclass(slots=True, eq=False)
class Group:
    """The mentions of one value, by source."""

    value: Value
    mentions: dict[int, list[Mention]] = field(default_factory=dict)
    named: set[int] = field(default_factory=set)
    """The sources that name it anywhere."""

    def excluding(self, other: Group) -> Group:
        """The same with the sources alone that do not name the ``other`` value."""
        mentions = {number: own for number, own in self.mentions.items() if number not in other.named}
        return Group(self.value, mentions, self.named)

    def best(self, number: int) -> Mention:
        """The mention of a source that is its answer most probably."""
        return max(self.mentions[number], key=_chance)

    @property
    def all_mentions(self) -> list[Mention]:
        """The mentions of all sources."""
        return list(chain.from_iterable(self.mentions.values()))

    def is_named_beside(self, one: Group, other: Group) -> bool:
        """Whether sources of both other values name it too."""
        return not (self.named.isdisjoint(one.mentions) or self.named.isdisjoint(other.mentions))

    @property
    def answers(self) -> list[Mention]:
        """The best mention of each source."""
        return list(map(self.best, self.mentions))

    @property
    def is_answer(self) -> bool:
        """Whether a source gives it in a sentence with a word of what is asked."""
        return any(mention.focus for mention in self.answers)

    @property
    def chance(self) -> float:
        """The probability that it is the answer of the source that most probably gives it."""
        return max(map(_chance, self.answers))

    @property
    def total(self) -> float:
        """About how many sources answer with it."""
        return sum(map(_chance, self.answers))


def _chance(mention: Mention) -> float:
    return mention.chance


class Pair(NamedTuple):
    """Two values that different sources give, and the features of both together."""

    sides: tuple[Group, Group]
    features: dict[str, float]


def answer_sides(question: str, candidates: Sequence[Candidate], *, is_checked: bool = False) -> tuple[AnswerSide, ...]:
    """Return two answers that sources give to ``question``, the one of more sources first; none without a conflict.

    Lower odds are enough where it ``is_checked`` that the sources are about one matter.
    """
    candidates = _of_year(question, candidates, or_of_none=is_checked)
    texts = source_texts(candidates)
    asks_for_several = _LIST.search(question) or len(split_question(question)) > 1
    if len(texts) < 2 or asks_for_several:
        return ()
    likeliest = max(pairs(question, candidates), key=odds, default=None)
    if likeliest is None or odds(likeliest) < least(likeliest, is_checked=is_checked):
        return ()

    def origins(side: AnswerSide) -> int:
        return count_origins([texts[number] for number in side.numbers])

    sides = map(_side, likeliest.sides)
    return tuple(sorted(sides, key=lambda side: (-origins(side), side.numbers)))


def _of_year(question: str, candidates: Sequence[Candidate], *, or_of_none: bool) -> Sequence[Candidate]:
    """Return the sentences of sources that name the year of the question, where any of them does, or no year at all."""
    years = set(YEAR.findall(question))
    if not years:
        return candidates
    texts = source_texts(candidates)
    numbers = {number for number, text in texts.items() if any(year in text for year in years)}
    if or_of_none:
        numbers |= {candidate.number for candidate in candidates if not any(map(YEAR.match, candidate.source - years))}
    return [candidate for candidate in candidates if candidate.number in numbers] or candidates


def odds(pair: Pair) -> float:
    """Return the logarithm of the odds that two values are two answers."""
    return PAIR_WEIGHTS[""] + sum(PAIR_WEIGHTS[name] * value for name, value in pair.features.items())


def least(pair: Pair, *, is_checked: bool = False) -> float:
    """Return the odds that two values need: less where the words beside them are the same, of figures one of them."""
    features = pair.features
    if features["figure"]:
        usual, is_alike = _MIN_ODDS, features["same"] > 0
    else:
        usual, is_alike = _MIN_ODDS_CHECKED if is_checked else _MIN_ODDS, features["same"] > _MIN_SAME
    return min(_MIN_ODDS_ALIKE, usual) if is_alike else usual


def _side(group: Group) -> AnswerSide:
    """Return a value as an answer, with the best sentence of each source."""
    best_first = sorted(group.answers, key=_chance, reverse=True)
    best = best_first[0]
    says = _with_unit(best) if best.value.quantity else _whole(best.value.text, group.all_mentions)
    return AnswerSide(says, tuple(mention.candidate for mention in best_first))


def _whole(name: str, mentions: Sequence[Mention]) -> str:
    """Return a Chinese name with the characters that stand beside it in every sentence: the segmenter cuts names."""
    texts = {mention.candidate.text for mention in mentions if name in mention.candidate.text}
    if len(texts) < 2 or name.isascii():
        return name
    while True:
        following = {text.partition(name)[2][:1] for text in texts}
        character = following.pop()
        if following or not _HAN_CHARACTER.match(character):
            return name
        name += character


# --- values ----------------------------------------------------------------------------------------------------------
# --- values ----------------------------------------------------------------------------------------------------------
def pairs(question: str, candidates: Sequence[Candidate]) -> Iterator[Pair]:
    """Yield every two values that different sources give, with their features."""
    asked = Asked.of(question)
    texts = source_texts(candidates)
    groups = _groups(mentions(asked, candidates, texts))
    _find_names(groups, texts)
    ranked = sorted(groups, key=lambda group: -group.total)[:_MAX_GROUPS]
    for one, other in combinations(ranked, 2):
        if not one.value.is_of_kind(other.value) or not are_wanted(asked, one.value.text, other.value.text):
            continue
        pair = _pair(asked, one, other, ranked, texts)
        if pair:
            yield pair


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
    by_source: dict[int, list[tuple[float, Candidate]]] = {}
    for candidate in candidates:
        fit = _fit(asked, candidate)
        has_subject = not subject or not subject.isdisjoint({*candidate.stems, *candidate.nearby})
        if fit >= _MIN_FIT and has_subject:
            by_source.setdefault(candidate.number, []).append((fit, candidate))
    for rated in by_source.values():
        for _, candidate in sorted(rated, key=lambda pair: -pair[0])[:_MAX_SENTENCES]:
            if asked.is_told_by(candidate) and not _is_about_another(asked, candidate.text):
                yield candidate


def _fit(asked: Asked, candidate: Candidate) -> float:
    """The share of the question's words that a sentence has; those of the title and of the one before it count half."""
    fit = 0.0
    for stem, weight in asked.words.items():
        if stem in candidate.stems:
            fit += weight
        elif stem in candidate.nearby:
            fit += weight * _NEARBY_WEIGHT
    return fit / (sum(asked.words.values()) or 1.0)


def _is_about_another(asked: Asked, text: str) -> bool:
    """Whether a sentence is about another year, another part of a series, or who it was before."""
    if _FORMER.search(text) and not _FORMER.search(asked.question):
        return True
    theirs = _quantities(text)
    if any(_is_contradicted(quantity, theirs) for quantity in _quantities(asked.question)):
        return True
    return any(_is_another_part(re.escape(name), text) for name in asked.names if not name[-1].isdigit())


def _quantities(text: str) -> list[Quantity]:
    """Return the figures and dates of a sentence."""
    return [token.quantity for token in tokens(text) if token.quantity]


def _is_contradicted(quantity: Quantity, others: Sequence[Quantity]) -> bool:
    """Whether there are others of the unit of a quantity, or other dates, and none that may be the same."""
    if not quantity.date and not quantity.unit:
        return False
    comparable = [other for other in others if other.is_comparable(quantity) and other.unit == quantity.unit]
    return bool(comparable) and not any(other.agrees(quantity) for other in comparable)


def _is_another_part(name: str, text: str) -> bool:
    """Whether a text names another part of a series, and nowhere the whole."""
    return bool(re.search(name + _ANOTHER_PART, text)) and not re.search(f"{name}(?!{_ANOTHER_PART})", text)


def _groups(found: Iterator[Mention]) -> list[Group]:
    """Return the values with all their mentions; a date that may be one of two counts for neither."""
    equal: dict[str, Group] = {}
    for mention in found:
        group = equal.setdefault(mention.value.key, Group(mention.value))
        group.mentions.setdefault(mention.candidate.number, []).append(mention)
    likely = sorted(equal.values(), key=lambda group: -group.total)[:_MAX_VALUES]
    groups: list[Group] = []
    for group in sorted(likely, key=lambda group: -group.value.precision):
        same = [known for known in groups if known.value.may_be(group.value)]
        if not same:
            groups.append(group)
        elif len(same) == 1 or not group.value.quantity:
            for number, own in group.mentions.items():
                same[0].mentions.setdefault(number, []).extend(own)
    return groups


def _find_names(groups: Sequence[Group], texts: Mapping[int, str]) -> None:
    """Set which sources name the value of each group; that of a date is not looked for."""
    for group in groups:
        group.named = set(group.mentions)
        if group.value.precision == 0:
            forms = set(map(_with_unit, group.all_mentions))
            group.named |= {number for number, text in texts.items() if any(form in text for form in forms)}


def _with_unit(mention: Mention) -> str:
    """The words of a value, a figure with its unit."""
    value = mention.value
    return value.quantity.written(mention.candidate.text) if value.quantity else value.text


# --- pairs of values -------------------------------------------------------------------------------------------------
# --- pairs of values -------------------------------------------------------------------------------------------------
def _pair(asked: Asked, one: Group, other: Group, ranked: Sequence[Group], texts: Mapping[int, str]) -> Pair | None:
    """Return two values as one pair where they may be two answers."""
    ours, theirs = sides = one.excluding(other), other.excluding(one)
    if not (ours.is_answer and theirs.is_answer):
        return None
    shared = [group for group in ranked if group.is_named_beside(ours, theirs)]
    if any(_is_preferred(group, one, other) for group in shared):
        return None
    answers = list(product(ours.answers, theirs.answers))
    if not any(_are_of_one_time(*pair) for pair in answers):
        return None
    # What both sides name is not what they differ in.
    unshared = [group for group in ranked if group not in shared]
    better = _count_better(one, unshared, other) + _count_better(other, unshared, one)
    mixed = len(one.mentions.keys() & other.named) + len(other.mentions.keys() & one.named)
    return Pair(sides, {
        "same": _same(ours.all_mentions, theirs.all_mentions),
        "details": max(_details(asked, *pair) for pair in answers),
        "sum": math.log(min(ours.total, theirs.total) + 0.05),
        "chance": min(ours.chance, theirs.chance),
        "mix": mixed / (len(one.mentions) + len(other.mentions)),
        "figure": float(one.value.quantity is not None),
        "few": float(1 in (_count_origins(ours, texts), _count_origins(theirs, texts))),
        "rank": 1 / (1 + better),
    })  # fmt: skip


def _count_origins(side: Group, texts: Mapping[int, str]) -> int:
    """Return how many sources of a value are no reprints of others."""
    return count_origins([texts[number] for number in side.mentions])


def _count_better(group: Group, ranked: Sequence[Group], rival: Group) -> int:
    """Return how many values its sources give that are more probable than it."""
    before, numbers = ranked[: ranked.index(group)], group.excluding(rival).mentions
    return sum(better is not rival and not better.mentions.keys().isdisjoint(numbers) for better in before)


def _is_preferred(shared: Group, one: Group, other: Group) -> bool:
    """Whether sources of both sides rather answer with one and the same value."""
    is_frequent = shared.total > max(one.total, other.total)
    if is_frequent and shared.chance > min(one.chance, other.chance):
        return True
    return _is_preferred_by(one.excluding(other), shared) and _is_preferred_by(other.excluding(one), shared)


def _is_preferred_by(side: Group, shared: Group) -> bool:
    """Whether a source of a side more probably answers with a value that both sides give."""
    numbers = side.mentions.keys() & shared.mentions.keys()
    return any(shared.best(number).chance > side.best(number).chance for number in numbers)


def _are_of_one_time(one: Mention, other: Mention) -> bool:
    """Whether the dates of two sentences do not show that they are of different times."""
    if one.value.quantity and one.value.quantity.date:
        return True
    dates = product(_dates(one.candidate.text), _dates(other.candidate.text))
    comparable = [(ours, theirs) for ours, theirs in dates if ours.is_comparable(theirs)]
    return not comparable or any(ours.agrees(theirs) for ours, theirs in comparable)


def _dates(text: str) -> list[Quantity]:
    """Return the dates of a sentence."""
    return [quantity for quantity in _quantities(text) if quantity.date]


def _same(ours: Sequence[Mention], theirs: Sequence[Mention]) -> float:
    """How far the words right beside two values are the same: those before them, those after them, or both."""
    before_and_after = product(
        set(map(_neighbours, ours[:_MAX_MENTIONS])), set(map(_neighbours, theirs[:_MAX_MENTIONS]))
    )
    return max(_count_same(*neighbours) for neighbours in before_and_after) / 2


def _count_same(ours: tuple[str, str], theirs: tuple[str, str]) -> int:
    """Return at how many of two places both have the same word."""
    return sum(one == other != "" for one, other in zip(ours, theirs, strict=True))


def _neighbours(mention: Mention) -> tuple[str, str]:
    """The word before a value and the one after it."""
    own, value = tokens(mention.candidate.text), mention.value
    return _first_word(own[: value.first][::-1]), _first_word(own[value.last + 1 :])


def _first_word(own: Sequence[Token]) -> str:
    """Return the form of the first token that is a word with a meaning."""
    return next((token.form for token in own if token.kind not in NO_CONTENT), "")


def _details(asked: Asked, one: Mention, other: Mention) -> float:
    """The share of the words that both sentences have beside the question and the values."""
    known = {*asked.words, *stems(one.value.text), *stems(other.value.text)}
    ours, theirs = _long_words(one.candidate) - known, _long_words(other.candidate) - known
    return len(ours & theirs) / max(_MIN_DETAILS, min(len(ours), len(theirs)))


def _long_words(candidate: Candidate) -> set[str]:
    """Return the words of a sentence without single characters."""
    return {stem for stem in candidate.stems if len(stem) > 1}
