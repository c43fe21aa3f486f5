"""Two sentences aligned word by word: which tokens of one stand for which of the other, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple

from .quantities import Quantity
from .tokens import Token, tokens

NO_CONTENT = frozenset(("function", "mark"))

_WINDOW = 5
"""How many tokens on each side of a difference are looked at."""
_MIN_CONTEXT = 2.0
_MIN_SHARED = 3.0
_SHORT, _TIGHT = 4, 2
"""The most tokens of a difference whose one side is the beginning or the end of a sentence, and of a narrow one."""

Range = tuple[int, int]
"""The first of several tokens, and the one after the last."""


class Gap(NamedTuple):
    """A place where both sentences have something else."""

    ours: Range
    theirs: Range

    @property
    def is_short(self) -> bool:
        """Whether neither side has more than a few tokens,"""
        return max(end - start for start, end in self) <= _SHORT

    @property
    def is_tight(self) -> bool:
        """or more than two."""
        return max(end - start for start, end in self) <= _TIGHT

    @property
    def turned(self) -> Gap:
        """The same, seen from the other sentence."""
        return Gap(self.theirs, self.ours)

    def is_at_one_neighbour(self, ours: int, theirs: int) -> bool:
        """Whether two tokens stand at the same neighbour of the gap."""
        return (ours, theirs) in ((self.ours[0], self.theirs[0]), (self.ours[1] - 1, self.theirs[1] - 1))


class AlignedSentence:
    """One of the two sentences; ``matched`` has the places of its tokens that stand for tokens of the other."""

    def __init__(self, text: str, matched: dict[int, int]) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.matched = matched

    @cached_property
    def weight(self) -> float:
        """The weight of all tokens."""
        return sum(token.weight for token in self.tokens)

    @cached_property
    def forms(self) -> frozenset[str]:
        """The forms of all tokens."""
        return frozenset(token.form for token in self.tokens)

    def part(self, places: Range) -> Sequence[Token]:
        """The tokens of a part."""
        return self.tokens[slice(*places)]

    def quantities(self, places: Range) -> list[tuple[int, Quantity]]:
        """The figures and dates of a part, with their places."""
        return [(at, quantity) for at in range(*places) if (quantity := self.tokens[at].quantity)]

    def is_shared_word(self, place: int) -> bool:
        """Whether the token at a place is a word with a meaning that the other sentence has too."""
        return place in self.matched and self.tokens[place].kind not in NO_CONTENT

    def written(self, places: Range) -> str:
        """The text of a part."""
        start, end = places
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]

    def share(self, places: Sequence[int]) -> float:
        """How much of the tokens at some places the other sentence has."""
        total = sum(self.tokens[place].weight for place in places)
        shared = sum(self.tokens[place].weight for place in places if place in self.matched)
        return shared / max(total, _MIN_CONTEXT)

    def near(self, at: int, step: int) -> list[int]:
        """The few tokens before or after a place, except marks and what stands in brackets."""
        found: list[int] = []
        places = range(at, len(self.tokens)) if step > 0 else range(at, -1, -1)
        for place in places:
            token = self.tokens[place]
            if token.is_aside or token.kind == "mark":
                continue
            found.append(place)
            if len(found) == _WINDOW:
                break
        return found


class Alignment:
    """Two sentences side by side."""

    def __init__(self, ours: str, theirs: str) -> None:
        self.ours, self.theirs = self.sides = AlignedSentence(ours, {}), AlignedSentence(theirs, {})
        a, b = ([token.form for token in side.tokens] for side in self.sides)
        self._matcher = SequenceMatcher(None, a, b, autojunk=False)
        for block in self._matcher.get_matching_blocks():
            for at in range(block.size):
                self.ours.matched[block.a + at] = block.b + at
                self.theirs.matched[block.b + at] = block.a + at

    @cached_property
    def covered(self) -> float:
        """The share of the first sentence that the second has, or the other way round where that is more."""
        shared = sum(self.ours.tokens[place].weight for place in self.ours.matched)
        shares = [shared / (side.weight or 1) for side in self.sides]
        return max(shares) if shared >= _MIN_SHARED else shares[0]

    @cached_property
    def gaps(self) -> Sequence[Gap]:
        """Where both have something else, in their order."""
        codes = self._matcher.get_opcodes()
        return [Gap((start, end), (first, last)) for tag, start, end, first, last in codes if tag == "replace"]

    def covered_beside(self, gap: Gap) -> float:
        """The share of the tokens outside a gap that both sentences have, for the sentence that has more of them."""
        return max(side.share([*range(start), *range(end, len(side.tokens))]) for side, (start, end) in self._at(gap))

    def density(self, gap: Gap) -> float:
        """The share of what stands around a gap that both sentences have, as far as both go on."""
        before = [side.near(start - 1, -1) for side, (start, _) in self._at(gap)]
        after = [side.near(end, 1) for side, (_, end) in self._at(gap)]
        first, last = min(map(len, before)), min(map(len, after))
        sides = zip(self.sides, before, after, strict=True)
        return min(side.share(left[:first] + right[:last]) for side, left, right in sides)

    def bounds(self, gap: Gap) -> tuple[bool, bool]:
        """Whether a gap has neighbours before and after it; a beginning or an end is one too, but a weak one."""
        before = [start > 0 for start, _ in gap]
        after = [end < len(side.tokens) for side, (_, end) in self._at(gap)]
        return _is_bound(before, gap), _is_bound(after, gap)

    def _at(self, gap: Gap) -> Iterator[tuple[AlignedSentence, Range]]:
        return zip(self.sides, gap, strict=True)


def _is_bound(has_neighbour: Sequence[bool], gap: Gap) -> bool:
    """Whether both sentences go on at one end of a gap; neither may where the gap is short."""
    return all(has_neighbour) or (gap.is_short and not any(has_neighbour))
