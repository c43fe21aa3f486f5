"""Whether two sentences say different things about the same: another name, number or date, a negation, an opposite.

Both are aligned word by word. A conflict is a place where they differ between equal neighbours, within a stretch that
is otherwise much the same. Out of reach: other categories ("a river" for "a city"), knowledge of the world.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product, takewhile
from typing import Literal

from .alignment import AlignedSentence, Alignment, Gap, Range
from .lexicon import are_opposites
from .likeness import are_akin, may_be_same, without_common
from .tokens import Token, is_frequent, is_name, part_of_speech, tokens

ConflictKind = Literal["name", "word", "number", "date", "negation", "opposite"]

_LONGEST = 600
# The least share of what stands around a difference that both sentences have, and of all tokens of one sentence; more
# for words that are no names.
_DENSE, _COVERED = 0.6, 0.5
_DENSE_WORDS, _COVERED_WORDS = 0.85, 0.8
_SAME_MATTER = 0.65
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
    found = _Comparison(a, b).conflicts() if _are_comparable(a, b) else []
    return next((conflict for conflict in found if conflict.is_certain), found[0] if found else None)


def disagreement(a: str, b: str, same_matter: bool = False) -> Conflict | None:
    """Return what two sentences of different sources disagree about; None where they may be about different things.

    They are much the same except for one name, figure, negation or opposite; less the same where ``same_matter`` tells
    that they are about one thing.
    """
    if not _are_comparable(a, b):
        return None
    comparison = _Comparison(a, b)
    all_found = comparison.conflicts()
    if len(all_found) != 1 or not all_found[0].is_certain or all_found[0].kind == "word":
        return None
    [found] = all_found
    if (found.alike < _SAME_MATTER and not same_matter) or comparison.begins_differently(found):
        return None
    return found if (found.ours.start and found.theirs.start) or found.kind != "number" else None


def _are_comparable(a: str, b: str) -> bool:
    # A page without full stops is one long "sentence", which would take long to align.
    return max(len(a), len(b)) <= _LONGEST


class _Comparison(Alignment):
    """Finds what two aligned sentences say differently."""

    def conflicts(self) -> list[Conflict]:
        """Return all conflicts."""
        if self.covered < _COVERED:
            return []
        if _has_own_negation(self.ours) != _has_own_negation(self.theirs):
            # "Not in 2018" agrees with "in 2014".
            return list(self._denied())
        found = [found for gap in self.gaps if (found := self._in_gap(gap))]
        return found or [*self._exchanged(), *self._limited()]

    def begins_differently(self, found: Conflict) -> bool:
        """Whether both have something of their own before the conflict, which may be what they are about."""
        return any(
            self.ours.part(gap.ours)[-1].end <= found.ours.start
            and _has_content(self.ours.part(gap.ours))
            and _has_content(self.theirs.part(gap.theirs))
            for gap in self.gaps
        )

    def _in_gap(self, gap: Gap) -> Conflict | None:
        density = self.density(gap)
        if density < _DENSE:
            return None
        found = self._quantity(gap) or self._opposite(gap) or self._name(gap, density)
        return found if found and found.is_certain else self._word(gap, density) or found

    def _conflict(self, kind: ConflictKind, ours: Range, theirs: Range, is_certain: bool = True) -> Conflict:
        return Conflict(kind, _span(self.ours, ours), _span(self.theirs, theirs), is_certain, self.covered)

    def _quantity(self, gap: Gap) -> Conflict | None:
        for i in range(*gap.ours):
            ours = self.ours.tokens[i].quantity
            theirs = [(j, other) for j in range(*gap.theirs) if (other := self.theirs.tokens[j].quantity)]
            comparable = [(j, other) for j, other in theirs if ours and ours.is_comparable(other)]
            if not ours or not comparable or any(ours.agrees(other) for _, other in comparable):
                continue
            j = comparable[0][0]
            held = self.ours.tokens[i].form in self.theirs.forms or self.theirs.tokens[j].form in self.ours.forms
            if gap.is_tight or (not held and (gap.is_short or gap.is_at_one_neighbour(i, j))):
                return self._conflict("date" if ours.date else "number", (i, i + 1), (j, j + 1))
        return None

    def _opposite(self, gap: Gap) -> Conflict | None:
        for i, j in product(range(*gap.ours), range(*gap.theirs)):
            if are_opposites(self.ours.tokens[i].form, self.theirs.tokens[j].form):
                return self._conflict("opposite", (i, i + 1), (j, j + 1))
        both = (*self.ours.part(gap.ours), *self.theirs.part(gap.theirs))
        if not gap.is_tight or any(token.kind == "negation" for token in both):
            return None
        rests = without_common(self.ours.written(gap.ours), self.theirs.written(gap.theirs))
        return self._conflict("opposite", *gap) if are_opposites(*rests) else None

    def _name(self, gap: Gap, density: float) -> Conflict | None:
        for slot in self._slots(gap):
            mine, other = self.ours.part(slot.ours), self.theirs.part(slot.theirs)
            if _has_forms(self.theirs, mine) and _has_forms(self.ours, other):
                continue
            texts = self.ours.written(slot.ours).lower(), self.theirs.written(slot.theirs).lower()
            if may_be_same(*texts):
                return None
            rests = without_common(*texts)
            if rests != texts and not rests[0].isascii() and len(mine) + len(other) > 2:
                # The segmenter has joined a name with a word beside it: 小威将 and 小威会.
                mine, other = tokens(rests[0]), tokens(rests[1])
            names = is_name(mine, rests[0]), is_name(other, rests[1])
            if all(names):
                return self._conflict("name", *slot)
            if self.covered < _COVERED_WORDS:
                continue
            if _has_noun(mine) and _has_noun(other):
                plain = not any(token.kind == "function" for token in (*mine, *other))
                return self._conflict("word", *slot, gap.is_tight and plain and density >= _DENSE_WORDS)
            if density >= _DENSE_WORDS and any(names) and mine and other:
                return self._conflict("word", *slot, is_certain=False)
        return None

    def _slots(self, gap: Gap) -> Iterator[Gap]:
        """Yield what may be exchanged names: in Chinese the whole gap, and the nouns at the same neighbour."""
        from_left, from_right = self.bounds(gap)
        parts = self.ours.part(gap.ours), self.theirs.part(gap.theirs)
        if from_left and from_right and all(map(_may_be_cut, parts)):
            yield gap
        for step in (1,) * from_left + (-1,) * from_right:
            ours, theirs = _nouns(self.ours, gap.ours, step), _nouns(self.theirs, gap.theirs, step)
            if ours and theirs and self.ours.tokens[ours[0]].is_aside == self.theirs.tokens[theirs[0]].is_aside:
                yield Gap(ours, theirs)

    def _word(self, gap: Gap, density: float) -> Conflict | None:
        """Chinese words that are replaced by others where all else is equal; frequent ones alone have many uses."""
        if density < _DENSE_WORDS or self.covered_beside(gap) < _COVERED_WORDS or not all(self.bounds(gap)):
            return None
        mine, other = self.ours.part(gap.ours), self.theirs.part(gap.theirs)
        texts = self.ours.written(gap.ours), self.theirs.written(gap.theirs)
        if len(mine) + len(other) > 2:
            # The segmenter may have joined a word with its neighbour, which both have.
            texts = without_common(*texts)
            mine, other = tokens(texts[0]), tokens(texts[1])
        if max(map(len, texts)) > _LONGEST_NAME or all(text.isascii() for text in texts) or are_akin(*texts):
            return None
        if not _is_content(mine) or not _is_content(other) or _have_many_uses(mine, other, texts):
            return None
        return self._conflict("word", *gap, _is_known(mine, other, texts[1]) and _is_known(other, mine, texts[0]))

    def _exchanged(self) -> Iterator[Conflict]:
        """Yield two names that have changed places: "Germany beat Brazil" and "Brazil beat Germany"."""
        if bool(_PASSIVE.search(self.ours.text)) != bool(_PASSIVE.search(self.theirs.text)):
            return
        ours, theirs = _names(self.ours), _names(self.theirs)
        for one, other in combinations([name for name in ours if name in theirs], 2):
            if (ours[one] < ours[other]) == (theirs[one] < theirs[other]):
                continue
            places = (ours[one], theirs[other]), (ours[other], theirs[one])
            if all(self._have_one_neighbour(*place) for place in places):
                yield self._conflict("name", (ours[one], ours[one] + 1), (theirs[other], theirs[other] + 1), False)

    def _have_one_neighbour(self, at: int, place: int) -> bool:
        """Whether two tokens stand before the same word, or after it."""
        pairs = ((_neighbour(self.ours, at, step), _neighbour(self.theirs, place, step)) for step in (1, -1))
        return any(mine is not None and mine == other for mine, other in pairs)

    def _limited(self) -> Iterator[Conflict]:
        """Yield figures that are a limit in one sentence and the value in the other: "more than 5" is not 5."""
        for i, j in self.ours.matched.items() if self.covered >= _COVERED_WORDS else ():
            ours, theirs = self.ours.tokens[i].quantity, self.theirs.tokens[j].quantity
            if ours and theirs and ours.is_open != theirs.is_open and (ours.is_exclusive or theirs.is_exclusive):
                yield self._conflict("number", (i, i + 1), (j, j + 1), is_certain=False)

    def _denied(self) -> Iterator[Conflict]:
        """Yield where one sentence denies what the other states."""
        for one, other in (self.sides, self.sides[::-1]):
            for at, head in _negations(one):
                place = one.matched[head]
                more = _denies(one, head, other, place)
                around, said = Gap((at, at + 1), (place, place)), Gap((at, head + 1), (place, place + 1))
                if one is self.theirs:
                    around, said = around.turned, said.turned
                if more is not None and self.density(around) >= _DENSE:
                    yield self._conflict("negation", *said, more <= 0)


def _span(sentence: AlignedSentence, places: Range) -> Span:
    start, end = sentence.tokens[places[0]].start, sentence.tokens[places[1] - 1].end
    return Span(start, end, sentence.text[start:end])


def _names(sentence: AlignedSentence) -> dict[str, int]:
    """Return the names that a sentence has once, and where."""
    times = Counter(token.form for token in sentence.tokens)
    named = ((at, token) for at, token in enumerate(sentence.tokens) if token.kind in ("name", "capital"))
    return {token.form: at for at, token in named if times[token.form] == 1}


def _neighbour(sentence: AlignedSentence, at: int, step: int) -> str | None:
    """Return the word before or after a place."""
    places = range(at + step, len(sentence.tokens) if step > 0 else -1, step)
    found = (sentence.tokens[place] for place in places)
    return next((token.form for token in found if token.kind not in _NO_CONTENT), None)


def _nouns(sentence: AlignedSentence, places: Range, step: int) -> Range | None:
    """Return the nouns and names at the beginning of a gap, or at its end."""
    part = sentence.part(places)[::step]
    run = takewhile(lambda token: token.kind in _NOUNS and token.is_aside == part[0].is_aside, part)
    size = sum(1 for _ in run)
    if not size:
        return None
    return (places[0], places[0] + size) if step > 0 else (places[1] - size, places[1])


# --- what a part of a sentence may be --------------------------------------------------------------------------------
def _has_forms(sentence: AlignedSentence, parts: Sequence[Token]) -> bool:
    return all(token.form in sentence.forms for token in parts)


def _has_noun(parts: Sequence[Token]) -> bool:
    return any(token.kind in _NOUNS for token in parts)


def _has_content(parts: Sequence[Token]) -> bool:
    return any(token.weight >= 1 for token in parts)


def _is_content(parts: Sequence[Token]) -> bool:
    return _has_content(parts) and not any(token.kind == "mark" for token in parts)


def _have_many_uses(mine: Sequence[Token], other: Sequence[Token], texts: tuple[str, str]) -> bool:
    """Whether all words are frequent ones, unless one word of several characters is there for one of another kind."""
    if not all(token.kind in _USUAL and is_frequent(token.form) for token in (*mine, *other)):
        return False
    are_words = len(mine) == len(other) == 1 < min(map(len, texts))
    return not are_words or part_of_speech(texts[0]) == part_of_speech(texts[1])


def _is_known(parts: Sequence[Token], others: Sequence[Token], text: str) -> bool:
    """Whether tokens are a thing, or rare words in place of a name."""
    return _is_thing(parts) or (_is_rare(parts) and is_name(others, text))


def _is_thing(parts: Sequence[Token]) -> bool:
    """Whether tokens are a name, a noun or a figure, or a name that the segmenter does not know and cuts."""
    if any(token.kind in ("function", "negation") for token in parts):
        return False
    is_cut = len(parts) > 1 or len(parts[0].form) == 1
    return any(token.kind in (*_NOUNS, "quantity") for token in parts) or (is_cut and _may_be_cut(parts))


def _is_rare(parts: Sequence[Token]) -> bool:
    return all(token.kind == "word" and not is_frequent(token.form) for token in parts)


def _may_be_cut(gap: Sequence[Token]) -> bool:
    """Whether a gap may be one Chinese name that the segmenter has cut."""
    return (
        gap[-1].end - gap[0].start <= _LONGEST_NAME
        and not gap[0].form.isascii()
        and not any(token.kind in ("mark", "quantity", "negation") or token.is_aside for token in gap)
        and not any(token.kind == "word" and len(token.form) > 1 and is_frequent(token.form) for token in gap[1:])
    )


# --- negations -------------------------------------------------------------------------------------------------------
def _has_own_negation(sentence: AlignedSentence) -> bool:
    return any(token.kind == "negation" and at not in sentence.matched for at, token in enumerate(sentence.tokens))


def _negations(sentence: AlignedSentence) -> Iterator[tuple[int, int]]:
    """Yield each negation that only this sentence has, with the next word that both have."""
    own, matched = sentence.tokens, sentence.matched
    for at, token in enumerate(own):
        if token.kind != "negation" or at in matched:
            continue
        after = range(at + 1, min(len(own), at + 1 + _NEGATION_REACH))
        head = next((place for place in after if place in matched and own[place].kind not in _NO_CONTENT), None)
        # Where it has a name or a figure of its own, it may be this that is denied.
        alone = (own[place] for place in range(at, len(own)) if place not in matched)
        if head is not None and not any(each.kind in ("quantity", "name") for each in alone):
            yield at, head


def _denies(one: AlignedSentence, head: int, other: AlignedSentence, place: int) -> int | None:
    """Return how many words more one sentence has between its negation and a word; None where it denies nothing.

    "Not harmful to" agrees with "harmless to"; and after "not aware that" what follows is not denied.
    """
    mine, theirs = _own_before(one, head), _own_before(other, place)
    more = len(mine) - len(theirs)
    if more > 1 or any(are_opposites(ours.form, their.form) for ours in mine for their in theirs):
        return None
    return more


def _own_before(sentence: AlignedSentence, place: int) -> list[Token]:
    """Return the words right before a place that only this sentence has, after its negation if it has one."""
    found: list[Token] = []
    for at in range(place - 1, -1, -1):
        token = sentence.tokens[at]
        if token.kind == "negation" or (at in sentence.matched and token.kind not in _NO_CONTENT):
            break
        if at not in sentence.matched and token.kind not in _NO_CONTENT:
            found.append(token)
    return found
