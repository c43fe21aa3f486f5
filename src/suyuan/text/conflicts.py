"""Whether two sentences say different things about the same: another name, number or date, a negation, an opposite.

Both are aligned word by word. A conflict is a place where they differ between equal neighbours, within a stretch that
is otherwise much the same. Out of reach: other categories ("a river" for "a city"), knowledge of the world.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import combinations
from typing import Literal

from .lexicon import are_opposites
from .likeness import are_akin, may_be_same, without_common
from .tokens import Token, is_frequent, is_name, part_of_speech, tokens

ConflictKind = Literal["name", "word", "number", "date", "negation", "opposite"]

_LONGEST = 600
_WINDOW = 5
"""How many tokens on each side of a difference are looked at."""
# The least share of them that both sentences have, and of all tokens of one sentence; more for words that are no names.
_DENSE, _COVERED = 0.6, 0.5
_DENSE_WORDS, _COVERED_WORDS = 0.85, 0.8
_SAME_MATTER = 0.65
_LEAST_CONTEXT = 2.0
_LEAST_SHARED = 3.0
_SHORT = 4
"""The most tokens of a difference whose one side is the beginning or the end of a sentence."""
_LONGEST_NAME = 8
_NEGATION_REACH = 3
_NOUNS = frozenset(("name", "capital", "noun"))
_NO_CONTENT = frozenset(("function", "mark"))
_PASSIVE = re.compile(r"\bby\b|[被由遭受]", re.I)
_USUAL = frozenset(("word", "noun", "function"))


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a sentence."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """What two sentences say differently."""

    kind: ConflictKind
    ours: Span
    """In the first sentence."""
    theirs: Span
    """In the second."""
    is_certain: bool
    """False where the words may mean the same: the sentences do not support each other, and no more can be said."""
    alike: float
    """The share of the shorter sentence that the other has too, from 0.5 to 1."""


def conflicts(a: str, b: str) -> Conflict | None:
    """Return what ``a`` and ``b`` say differently about the same, a certain conflict first; None without one."""
    alignment = _aligned(a, b)
    found = alignment.conflicts() if alignment else []
    return next((conflict for conflict in found if conflict.is_certain), found[0] if found else None)


def disagreement(a: str, b: str, same_matter: bool = False) -> Conflict | None:
    """Return what two sentences of different sources disagree about; None where they may be about different things.

    They are much the same except for one name, figure, negation or opposite; less the same where ``same_matter`` tells
    that they are about one thing.
    """
    if (alignment := _aligned(a, b)) is None:
        return None
    found = alignment.conflicts()
    if len(found) != 1 or not found[0].is_certain or found[0].kind == "word":
        return None
    if found[0].alike < _SAME_MATTER and not same_matter:
        return None
    if alignment.begins_differently(found[0]):
        return None
    return found[0] if found[0].ours.start and found[0].theirs.start or found[0].kind != "number" else None


def _aligned(a: str, b: str) -> _Alignment | None:
    # A page without full stops is one long "sentence", which would take long to align.
    return _Alignment(tokens(a), tokens(b), a, b) if max(len(a), len(b)) <= _LONGEST else None


@dataclass(frozen=True, slots=True)
class _Gap:
    """A place where both sentences have something else: the ranges of tokens on both sides."""

    a_start: int
    a_end: int
    b_start: int
    b_end: int

    @property
    def is_short(self) -> bool:
        return max(self.a_end - self.a_start, self.b_end - self.b_start) <= _SHORT

    def is_at_one_neighbour(self, ours: int, theirs: int) -> bool:
        """Whether two tokens stand at the same neighbour of the gap."""
        return (ours, theirs) in ((self.a_start, self.b_start), (self.a_end - 1, self.b_end - 1))

    @property
    def is_tight(self) -> bool:
        return max(self.a_end - self.a_start, self.b_end - self.b_start) <= 2


_Range = tuple[int, int]


class _Alignment:
    """Two sentences, and which tokens of one stand for which of the other."""

    def __init__(self, a: Sequence[Token], b: Sequence[Token], a_text: str, b_text: str) -> None:
        self.a, self.b = a, b
        self._texts = a_text, b_text
        self._matcher = SequenceMatcher(None, [token.form for token in a], [token.form for token in b], autojunk=False)
        blocks = self._matcher.get_matching_blocks()
        self.pairs = {block.a + k: block.b + k for block in blocks for k in range(block.size)}
        self.back = {theirs: ours for ours, theirs in self.pairs.items()}
        self._a_forms, self._b_forms = {token.form for token in a}, {token.form for token in b}

    @cached_property
    def covered(self) -> float:
        """The share of the first sentence that the second has, or the other way round where that is more."""
        shared = sum(self.a[place].weight for place in self.pairs)
        shares = [shared / (sum(token.weight for token in side) or 1) for side in (self.a, self.b)]
        return max(shares) if shared >= _LEAST_SHARED else shares[0]

    def _covered_beside(self, gap: _Gap) -> float:
        """The share of the tokens outside a gap that both sentences have, for the sentence that has more of them."""
        outside = [
            [place for place in range(len(side)) if not start <= place < end]
            for side, start, end in ((self.a, gap.a_start, gap.a_end), (self.b, gap.b_start, gap.b_end))
        ]
        return max(_share(self.a, self.pairs, outside[0]), _share(self.b, self.back, outside[1]))

    def conflicts(self) -> list[Conflict]:
        """Return all conflicts."""
        if self.covered < _COVERED:
            return []
        denied = list(self._denied())
        if _has_own_negation(self.a, self.pairs) != _has_own_negation(self.b, self.back):
            # "Not in 2018" agrees with "in 2014".
            return denied
        found = [found for gap in self._gaps() if (found := self._in_gap(gap))]
        return found or [*self._exchanged(), *self._limited()]

    def begins_differently(self, found: Conflict) -> bool:
        """Whether both have something of their own before the conflict, which may be what they are about."""
        return any(
            self.a[gap.a_end - 1].end <= found.ours.start
            and all(_has_content(side) for side in (self.a[gap.a_start : gap.a_end], self.b[gap.b_start : gap.b_end]))
            for gap in self._gaps()
        )

    def _gaps(self) -> Iterator[_Gap]:
        for tag, *ends in self._matcher.get_opcodes():
            if tag == "replace":
                yield _Gap(*ends)

    def _in_gap(self, gap: _Gap) -> Conflict | None:
        density = self._density(gap)
        if density < _DENSE:
            return None
        found = self._quantity(gap) or self._opposite(gap) or self._name(gap, density)
        return found if found and found.is_certain else self._word(gap, density) or found

    def _density(self, gap: _Gap) -> float:
        """The share of what stands around a gap that both sentences have, as far as both go on."""
        left = _near(self.a, gap.a_start - 1, -1), _near(self.b, gap.b_start - 1, -1)
        right = _near(self.a, gap.a_end, 1), _near(self.b, gap.b_end, 1)
        before, after = min(map(len, left)), min(map(len, right))
        return min(
            _share(self.a, self.pairs, left[0][:before] + right[0][:after]),
            _share(self.b, self.back, left[1][:before] + right[1][:after]),
        )

    def _conflict(self, kind: ConflictKind, ours: _Range, theirs: _Range, is_certain: bool = True) -> Conflict:
        return Conflict(kind, self._span(0, ours), self._span(1, theirs), is_certain, self.covered)

    def _span(self, side: int, places: _Range) -> Span:
        sentence = (self.a, self.b)[side]
        start, end = sentence[places[0]].start, sentence[places[1] - 1].end
        return Span(start, end, self._texts[side][start:end])

    # --- what may differ ------------------------------------------------------------------------------------------
    def _quantity(self, gap: _Gap) -> Conflict | None:
        for i in range(gap.a_start, gap.a_end):
            ours = self.a[i].quantity
            if ours is None:
                continue
            others = range(gap.b_start, gap.b_end)
            comparable = [(j, other) for j in others if (other := self.b[j].quantity) and ours.is_comparable(other)]
            if not comparable or any(ours.agrees(other) for _, other in comparable):
                continue
            j = comparable[0][0]
            held = self.a[i].form in self._b_forms or self.b[j].form in self._a_forms
            if gap.is_tight or (not held and (gap.is_short or gap.is_at_one_neighbour(i, j))):
                return self._conflict("date" if ours.date else "number", (i, i + 1), (j, j + 1))
        return None

    def _opposite(self, gap: _Gap) -> Conflict | None:
        for i in range(gap.a_start, gap.a_end):
            for j in range(gap.b_start, gap.b_end):
                if are_opposites(self.a[i].form, self.b[j].form):
                    return self._conflict("opposite", (i, i + 1), (j, j + 1))
        ours, theirs = (gap.a_start, gap.a_end), (gap.b_start, gap.b_end)
        denied = any(token.kind == "negation" for token in (*self.a[slice(*ours)], *self.b[slice(*theirs)]))
        if (
            gap.is_tight
            and not denied
            and are_opposites(*without_common(self._span(0, ours).text, self._span(1, theirs).text))
        ):
            return self._conflict("opposite", ours, theirs)
        return None

    def _name(self, gap: _Gap, density: float) -> Conflict | None:
        for ours, theirs in self._slots(gap):
            mine, other = self.a[slice(*ours)], self.b[slice(*theirs)]
            if all(token.form in self._b_forms for token in mine) and all(
                token.form in self._a_forms for token in other
            ):
                continue
            texts = self._span(0, ours).text.lower(), self._span(1, theirs).text.lower()
            if may_be_same(*texts):
                return None
            rests = without_common(*texts)
            if rests != texts and not rests[0].isascii() and len(mine) + len(other) > 2:
                # The segmenter has joined a name with a word beside it: 小威将 and 小威会.
                mine, other = tokens(rests[0]), tokens(rests[1])
            names = is_name(mine, rests[0]), is_name(other, rests[1])
            if all(names):
                return self._conflict("name", ours, theirs)
            if self.covered >= _COVERED_WORDS and all(
                any(token.kind in _NOUNS for token in side) for side in (mine, other)
            ):
                plain = not any(token.kind == "function" for token in (*mine, *other))
                return self._conflict("word", ours, theirs, gap.is_tight and plain and density >= _DENSE_WORDS)
            if self.covered >= _COVERED_WORDS and density >= _DENSE_WORDS and any(names) and mine and other:
                return self._conflict("word", ours, theirs, is_certain=False)
        return None

    def _slots(self, gap: _Gap) -> Iterator[tuple[_Range, _Range]]:
        """Yield what may be exchanged names: in Chinese the whole gap, and the nouns at the same neighbour."""
        from_left, from_right = self._bounds(gap)
        sides = self.a[gap.a_start : gap.a_end], self.b[gap.b_start : gap.b_end]
        if from_left and from_right and all(_may_be_cut(side) for side in sides):
            yield (gap.a_start, gap.a_end), (gap.b_start, gap.b_end)
        for step in (1,) * from_left + (-1,) * from_right:
            ours = _nouns(self.a, gap.a_start, gap.a_end, step)
            theirs = _nouns(self.b, gap.b_start, gap.b_end, step)
            if ours and theirs and self.a[ours[0]].is_aside == self.b[theirs[0]].is_aside:
                yield ours, theirs

    def _word(self, gap: _Gap, density: float) -> Conflict | None:
        """Chinese words that are replaced by others where all else is equal; frequent ones alone have many uses."""
        if density < _DENSE_WORDS or self._covered_beside(gap) < _COVERED_WORDS or not all(self._bounds(gap)):
            return None
        ours, theirs = (gap.a_start, gap.a_end), (gap.b_start, gap.b_end)
        mine, other = self.a[slice(*ours)], self.b[slice(*theirs)]
        texts = self._span(0, ours).text, self._span(1, theirs).text
        if len(mine) + len(other) > 2:
            # The segmenter may have joined a word with its neighbour, which both have.
            texts = without_common(*texts)
            mine, other = tokens(texts[0]), tokens(texts[1])
        if max(map(len, texts)) > _LONGEST_NAME or all(text.isascii() for text in texts) or are_akin(*texts):
            return None
        if not all(_has_content(side) and not _has_mark(side) for side in (mine, other)):
            return None
        if all(token.kind in _USUAL and is_frequent(token.form) for token in (*mine, *other)) and not (
            len(mine) == len(other) == 1 < min(map(len, texts)) and part_of_speech(texts[0]) != part_of_speech(texts[1])
        ):
            return None
        is_certain = (_is_thing(mine) or (_is_rare(mine) and is_name(other, texts[1]))) and (
            _is_thing(other) or (_is_rare(other) and is_name(mine, texts[0]))
        )
        return self._conflict("word", ours, theirs, is_certain)

    def _exchanged(self) -> Iterator[Conflict]:
        """Yield two names that have changed places: "Germany beat Brazil" and "Brazil beat Germany"."""
        if bool(_PASSIVE.search(self._texts[0])) != bool(_PASSIVE.search(self._texts[1])):
            return
        ours, theirs = _names(self.a), _names(self.b)
        for one, other in combinations([name for name in ours if name in theirs], 2):
            if (ours[one] < ours[other]) == (theirs[one] < theirs[other]):
                continue
            places = (self.a, ours[one], self.b, theirs[other]), (self.a, ours[other], self.b, theirs[one])
            if all(_have_one_neighbour(*place) for place in places):
                yield self._conflict("name", (ours[one], ours[one] + 1), (theirs[other], theirs[other] + 1), False)

    def _limited(self) -> Iterator[Conflict]:
        """Yield figures that are a limit in one sentence and the value in the other: "more than 5" is not 5."""
        for i, j in self.pairs.items() if self.covered >= _COVERED_WORDS else ():
            ours, theirs = self.a[i].quantity, self.b[j].quantity
            if ours and theirs and ours.is_open != theirs.is_open and (ours.is_exclusive or theirs.is_exclusive):
                yield self._conflict("number", (i, i + 1), (j, j + 1), is_certain=False)

    def _bounds(self, gap: _Gap) -> tuple[bool, bool]:
        """Whether a gap has neighbours before and after it; a beginning or an end is one too, but a weak one."""
        starts = gap.a_start, gap.b_start
        ends = len(self.a) - gap.a_end, len(self.b) - gap.b_end
        return all(starts) or (not any(starts) and gap.is_short), all(ends) or (not any(ends) and gap.is_short)

    def _denied(self) -> Iterator[Conflict]:
        """Yield where one sentence denies what the other states."""
        for at, head in _negations(self.a, self.pairs):
            place = self.pairs[head]
            more = _denies(self.a, head, self.pairs, self.b, place, self.back)
            if more is not None and self._density(_Gap(at, at + 1, place, place)) >= _DENSE:
                yield self._conflict("negation", (at, head + 1), (place, place + 1), more <= 0)
        for at, head in _negations(self.b, self.back):
            place = self.back[head]
            more = _denies(self.b, head, self.back, self.a, place, self.pairs)
            if more is not None and self._density(_Gap(place, place, at, at + 1)) >= _DENSE:
                yield self._conflict("negation", (place, place + 1), (at, head + 1), more <= 0)


def _names(sentence: Sequence[Token]) -> dict[str, int]:
    """Return the names that a sentence has once, and where."""
    forms = [token.form for token in sentence]
    kinds = ("name", "capital")
    return {token.form: at for at, token in enumerate(sentence) if token.kind in kinds and forms.count(token.form) == 1}


def _have_one_neighbour(one: Sequence[Token], at: int, other: Sequence[Token], place: int) -> bool:
    """Whether two tokens stand before the same word, or after it."""
    return any(
        (mine := _neighbour(one, at, step)) is not None and mine == _neighbour(other, place, step) for step in (1, -1)
    )


def _neighbour(sentence: Sequence[Token], at: int, step: int) -> str | None:
    at += step
    while 0 <= at < len(sentence) and sentence[at].kind in _NO_CONTENT:
        at += step
    return sentence[at].form if 0 <= at < len(sentence) else None


def _is_thing(parts: Sequence[Token]) -> bool:
    """Whether tokens are a name, a noun or a figure, or a name that the segmenter does not know and cuts."""
    if any(token.kind in ("function", "negation") for token in parts):
        return False
    is_cut = len(parts) > 1 or len(parts[0].form) == 1
    return any(token.kind in (*_NOUNS, "quantity") for token in parts) or (is_cut and _may_be_cut(parts))


def _is_rare(parts: Sequence[Token]) -> bool:
    return all(token.kind == "word" and not is_frequent(token.form) for token in parts)


def _has_mark(gap: Sequence[Token]) -> bool:
    return any(token.kind == "mark" for token in gap)


def _has_content(gap: Sequence[Token]) -> bool:
    return any(token.weight >= 1 for token in gap)


def _near(sentence: Sequence[Token], at: int, step: int) -> list[int]:
    """Return the tokens before or after a place, except marks and what stands in brackets."""
    found: list[int] = []
    while 0 <= at < len(sentence) and len(found) < _WINDOW:
        if not sentence[at].is_aside and sentence[at].kind != "mark":
            found.append(at)
        at += step
    return found


def _share(sentence: Sequence[Token], matched: Mapping[int, int], places: Sequence[int]) -> float:
    total = sum(sentence[place].weight for place in places)
    return sum(sentence[place].weight for place in places if place in matched) / max(total, _LEAST_CONTEXT)


def _nouns(sentence: Sequence[Token], start: int, end: int, step: int) -> _Range | None:
    """Return the nouns and names at the beginning of a gap, or at its end."""
    first = at = start if step > 0 else end - 1
    while start <= at < end and sentence[at].kind in _NOUNS and sentence[at].is_aside == sentence[first].is_aside:
        at += step
    if at == first:
        return None
    return (first, at) if step > 0 else (at + 1, first + 1)


def _may_be_cut(gap: Sequence[Token]) -> bool:
    """Whether a gap may be one Chinese name that the segmenter has cut."""
    return (
        gap[-1].end - gap[0].start <= _LONGEST_NAME
        and not gap[0].form.isascii()
        and not any(token.kind in ("mark", "quantity", "negation") or token.is_aside for token in gap)
        and not any(token.kind == "word" and len(token.form) > 1 and is_frequent(token.form) for token in gap[1:])
    )


def _negations(sentence: Sequence[Token], matched: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield each negation that only this sentence has, with the next word that both have."""
    for at, token in enumerate(sentence):
        if token.kind != "negation" or at in matched:
            continue
        after = range(at + 1, min(len(sentence), at + 1 + _NEGATION_REACH))
        head = next((place for place in after if place in matched and sentence[place].kind not in _NO_CONTENT), None)
        # Where it has a name or a figure of its own, it may be this that is denied.
        own = (
            sentence[place].kind in ("quantity", "name") and place not in matched for place in range(at, len(sentence))
        )
        if head is not None and not any(own):
            yield at, head


def _denies(
    one: Sequence[Token],
    head: int,
    in_one: Mapping[int, int],
    other: Sequence[Token],
    place: int,
    in_other: Mapping[int, int],
) -> int | None:
    """Return how many words more one sentence has between its negation and a word; None where it denies nothing.

    "Not harmful to" agrees with "harmless to"; and after "not aware that" what follows is not denied.
    """
    mine, theirs = _own_before(one, head, in_one), _own_before(other, place, in_other)
    more = len(mine) - len(theirs)
    if more > 1 or any(are_opposites(ours.form, their.form) for ours in mine for their in theirs):
        return None
    return more


def _own_before(sentence: Sequence[Token], place: int, matched: Mapping[int, int]) -> list[Token]:
    """Return the words right before a place that only this sentence has, after its negation if it has one."""
    found: list[Token] = []
    for at in range(place - 1, -1, -1):
        token = sentence[at]
        if token.kind == "negation" or (at in matched and token.kind not in _NO_CONTENT):
            break
        if at not in matched and token.kind not in _NO_CONTENT:
            found.append(token)
    return found


def _has_own_negation(sentence: Sequence[Token], matched: Mapping[int, int]) -> bool:
    return any(token.kind == "negation" and at not in matched for at, token in enumerate(sentence))
