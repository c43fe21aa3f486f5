"""Whether two sentences say different things about the same: another name, number or date, a negation, an opposite.

Both are aligned word by word. A conflict is a place where they differ between equal neighbours, within a stretch that
is otherwise much the same. Out of reach: exchanged roles, other categories ("a river" for "a city"), knowledge of the
world.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal

from .lexicon import are_opposites, are_synonyms
from .tokens import Token, is_frequent, is_name, tokens

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
_MISSPELT = 0.75
_NEGATION_REACH = 3
_NOUNS = frozenset(("name", "capital", "noun"))
_NO_CONTENT = frozenset(("function", "mark"))


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
    found = _all(a, b)
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


def _all(a: str, b: str) -> list[Conflict]:
    alignment = _aligned(a, b)
    return alignment.conflicts() if alignment else []


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

    def conflicts(self) -> list[Conflict]:
        """Return all conflicts."""
        if self.covered < _COVERED:
            return []
        denied = list(self._denied())
        if _has_own_negation(self.a, self.pairs) != _has_own_negation(self.b, self.back):
            # "Not in 2018" agrees with "in 2014".
            return denied
        return [found for gap in self._gaps() if (found := self._in_gap(gap))]

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
        return self._quantity(gap) or self._opposite(gap) or self._name(gap, density) or self._word(gap, density)

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

    def _has_moved(self, ours: int, theirs: int) -> bool:
        """Whether both tokens of a gap stand elsewhere in the other sentence, so that neither is replaced."""
        return self.a[ours].form in self._b_forms and self.b[theirs].form in self._a_forms

    # --- what may differ ------------------------------------------------------------------------------------------
    def _quantity(self, gap: _Gap) -> Conflict | None:
        for i in range(gap.a_start, gap.a_end):
            ours = self.a[i].quantity
            if ours is None:
                continue
            others = range(gap.b_start, gap.b_end)
            comparable = [(j, other) for j in others if (other := self.b[j].quantity) and ours.is_comparable(other)]
            if not comparable or any(ours.agrees(other) or self._has_moved(i, j) for j, other in comparable):
                continue
            j = comparable[0][0]
            held = self.a[i].form in self._b_forms or self.b[j].form in self._a_forms
            if gap.is_tight or (not held and (gap.is_short or gap.is_at_one_neighbour(i, j))):
                return self._conflict("date" if ours.date else "number", (i, i + 1), (j, j + 1))
        return None

    def _opposite(self, gap: _Gap) -> Conflict | None:
        for i in range(gap.a_start, gap.a_end):
            for j in range(gap.b_start, gap.b_end):
                if are_opposites(self.a[i].form, self.b[j].form) and not self._has_moved(i, j):
                    return self._conflict("opposite", (i, i + 1), (j, j + 1))
        ours, theirs = (gap.a_start, gap.a_end), (gap.b_start, gap.b_end)
        denied = any(token.kind == "negation" for token in (*self.a[slice(*ours)], *self.b[slice(*theirs)]))
        if (
            gap.is_tight
            and not denied
            and are_opposites(*_without_common(self._span(0, ours).text, self._span(1, theirs).text))
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
            if _may_be_same(*texts):
                return None
            rests = _without_common(*texts)
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
        starts = gap.a_start, gap.b_start
        ends = len(self.a) - gap.a_end, len(self.b) - gap.b_end
        # A beginning or an end is a neighbour too, but a weak one.
        from_left = all(starts) or (not any(starts) and gap.is_short)
        from_right = all(ends) or (not any(ends) and gap.is_short)
        sides = self.a[gap.a_start : gap.a_end], self.b[gap.b_start : gap.b_end]
        if from_left and from_right and all(_may_be_cut(side) for side in sides):
            yield (gap.a_start, gap.a_end), (gap.b_start, gap.b_end)
        for step in (1,) * from_left + (-1,) * from_right:
            ours = _nouns(self.a, gap.a_start, gap.a_end, step)
            theirs = _nouns(self.b, gap.b_start, gap.b_end, step)
            if ours and theirs and self.a[ours[0]].is_aside == self.b[theirs[0]].is_aside:
                yield ours, theirs

    def _word(self, gap: _Gap, density: float) -> Conflict | None:
        """Chinese words that are replaced by others, where one is not frequent: frequent ones have many uses."""
        if not gap.is_short or density < _DENSE_WORDS or self.covered < _COVERED_WORDS:
            return None
        ours, theirs = self.a[gap.a_start : gap.a_end], self.b[gap.b_start : gap.b_end]
        if any(token.kind not in ("word", "noun") for token in (*ours, *theirs)):
            return None
        mine, other = ("".join(token.form for token in side) for side in (ours, theirs))
        if set(mine) & set(other) or all(is_frequent(token.form) for token in (*ours, *theirs)):
            return None
        return self._conflict("word", (gap.a_start, gap.a_end), (gap.b_start, gap.b_end), is_certain=False)

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


def _may_be_same(one: str, other: str) -> bool:
    """Whether two names may be one: a part, an abbreviation, another form of it."""
    if one in other or other in one or are_synonyms(one, other) or _abbreviates(one, other):
        return True
    if not one.isascii():
        return _begins_alike(*sorted((one, other), key=len))
    if len(one) > 3 and SequenceMatcher(None, one, other).ratio() >= _MISSPELT:
        return True
    ours, theirs = one.split(), other.split()
    for words, short in ((ours, other), (theirs, one)):
        if len(words) > 1 and "".join(word[0] for word in words) == short.replace(".", ""):
            return True
    return any(
        are_synonyms(mine, their) or (len(mine) > 3 and mine[:4] == their[:4]) for mine in ours for their in theirs
    )


def _begins_alike(short: str, long: str) -> bool:
    """Whether most of a Chinese name is in the other: 耶伦于 in 珍妮特·耶伦."""
    most = max(2, len(short) // 2 + 1)
    return "·" not in short and short[:most] in long


def _abbreviates(one: str, other: str) -> bool:
    """Whether a Chinese name is made of characters of the other, in their order: 北大 and 北京大学."""
    short, long = sorted((one, other), key=len)
    rest = iter(long)
    return len(short) > 1 and not short.isascii() and all(character in rest for character in short)


def _without_common(one: str, other: str) -> tuple[str, str]:
    """Return both texts without the characters that they begin and end with alike."""
    size = min(len(one), len(other))
    start = next((at for at in range(size) if one[at] != other[at]), size)
    end = next((at for at in range(size - start) if one[-1 - at] != other[-1 - at]), size - start)
    return one[start : len(one) - end], other[start : len(other) - end]


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
