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

from .alignment import NO_CONTENT, AlignedSentence, Alignment, Gap, Range
from .lexicon import are_opposites
from .likeness import are_akin, may_be_same, without_common
from .tokens import Token, is_frequent, is_name, part_of_speech, tokens

ConflictKind = Literal["name", "word", "number", "date", "negation", "opposite"]

_MAX_SENTENCE = 600
# The least share of what stands around a difference that both sentences have, and of all tokens of one sentence; more
# for words that are no names.
_DENSE, _COVERED = 0.6, 0.5
_DENSE_WORDS, _COVERED_WORDS = 0.85, 0.8
_SAME_MATTER = 0.65
_MAX_NAME = 8
_NEGATION_REACH = 3
_NO_NAME = ("mark", "quantity", "negation")
_NOUNS = frozenset(("name", "capital", "noun"))
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


@dataclass(frozen=True, slots=True)
class _Phrase:
    """The words of one sentence in a gap."""

    tokens: Sequence[Token]
    text: str

    @property
    def is_name(self) -> bool:
        """Whether it may be a name."""
        return is_name(self.tokens, self.text)

    @property
    def has_noun(self) -> bool:
        """Whether there is a noun or a name in it."""
        return _has_kind(self.tokens, *_NOUNS)

    @property
    def has_content(self) -> bool:
        """Whether it has words that count, and no mark between them."""
        return _has_content(self.tokens) and not _has_kind(self.tokens, "mark")


def conflicts(a: str, b: str) -> Conflict | None:
    """Return what ``a`` and ``b`` say differently about the same, a certain conflict first; None without one."""
    if not _are_comparable(a, b):
        return None
    certain_first = sorted(_Comparison(a, b).conflicts(), key=lambda conflict: not conflict.is_certain)
    return certain_first[0] if certain_first else None


def disagreement(a: str, b: str, same_matter: bool = False) -> Conflict | None:
    """Return what two sentences of different sources disagree about; None where they may be about different things.

    They are much the same except for one name, figure, negation or opposite; less the same where ``same_matter`` tells
    that they are about one thing.
    """
    if not _are_comparable(a, b):
        return None
    comparison = _Comparison(a, b)
    found = comparison.conflicts()
    if len(found) != 1:
        return None
    conflict = found[0]
    if not conflict.is_certain or conflict.kind == "word":
        return None
    if conflict.alike < _SAME_MATTER and not same_matter:
        return None
    if comparison.begins_differently(conflict):
        return None
    starts_with_number = conflict.kind == "number" and 0 in (conflict.ours.start, conflict.theirs.start)
    return None if starts_with_number else conflict


def _are_comparable(a: str, b: str) -> bool:
    """Whether two sentences are short enough to be aligned."""
    # A page without full stops is one long "sentence", which would take long to align.
    return max(len(a), len(b)) <= _MAX_SENTENCE


class _Comparison(Alignment):
    """Finds what two aligned sentences say differently."""

    def conflicts(self) -> list[Conflict]:
        """Return all conflicts."""
        if self.covered < _COVERED:
            return []
        if _has_own_negation(self.ours) != _has_own_negation(self.theirs):
            # "Not in 2018" agrees with "in 2014".
            return list(self._denied())
        found = list(filter(None, map(self._in_gap, self.gaps)))
        return found or [*self._exchanged(), *self._limited()]

    def begins_differently(self, found: Conflict) -> bool:
        """Whether both have something of their own before the conflict, which may be what they are about."""
        for gap in self.gaps:
            ours, theirs = self._parts(gap)
            is_before = ours[-1].end <= found.ours.start
            if is_before and _has_content(ours) and _has_content(theirs):
                return True
        return False

    def _parts(self, gap: Gap) -> tuple[Sequence[Token], Sequence[Token]]:
        """The tokens of both sentences in a gap."""
        return self.ours.part(gap.ours), self.theirs.part(gap.theirs)

    def _texts(self, gap: Gap) -> tuple[str, str]:
        """The texts of both sentences in a gap."""
        return self.ours.written(gap.ours), self.theirs.written(gap.theirs)

    def _in_gap(self, gap: Gap) -> Conflict | None:
        """Return what both sentences say differently in a gap."""
        density = self.density(gap)
        if density < _DENSE:
            return None
        found = self._quantity(gap) or self._opposite(gap) or self._name(gap, density)
        if found and found.is_certain:
            return found
        return self._word(gap, density) or found

    def _conflict_at(self, kind: ConflictKind, ours: int, theirs: int, is_certain: bool = True) -> Conflict:
        """Return a conflict between two tokens."""
        return self._conflict(kind, (ours, ours + 1), (theirs, theirs + 1), is_certain)

    def _conflict(self, kind: ConflictKind, ours: Range, theirs: Range, is_certain: bool = True) -> Conflict:
        """Return a conflict between two parts."""
        return Conflict(kind, _span(self.ours, ours), _span(self.theirs, theirs), is_certain, self.covered)

    def _quantity(self, gap: Gap) -> Conflict | None:
        """Return two figures or dates of a gap that cannot be the same."""
        candidates = self.theirs.quantities(gap.theirs)
        for place, quantity in self.ours.quantities(gap.ours):
            comparable = [(at, other) for at, other in candidates if quantity.is_comparable(other)]
            if not comparable or any(quantity.agrees(other) for _, other in comparable):
                continue
            at = comparable[0][0]
            if self._correspond(gap, place, at):
                kind: ConflictKind = "date" if quantity.date else "number"
                return self._conflict_at(kind, place, at)
        return None

    def _correspond(self, gap: Gap, ours: int, theirs: int) -> bool:
        """Whether one token of a gap may stand in the place of another one."""
        if gap.is_tight:
            return True
        is_elsewhere = (
            self.ours.tokens[ours].form in self.theirs.forms or self.theirs.tokens[theirs].form in self.ours.forms
        )
        return not is_elsewhere and (gap.is_short or gap.is_at_one_neighbour(ours, theirs))

    def _opposite(self, gap: Gap) -> Conflict | None:
        """Return two words of a gap that mean the opposite, or a narrow gap whose texts do."""
        for ours, theirs in product(range(*gap.ours), range(*gap.theirs)):
            if are_opposites(self.ours.tokens[ours].form, self.theirs.tokens[theirs].form):
                return self._conflict_at("opposite", ours, theirs)
        if not gap.is_tight or any(_has_kind(part, "negation") for part in self._parts(gap)):
            return None
        differing = without_common(*self._texts(gap))
        return self._conflict("opposite", *gap) if are_opposites(*differing) else None

    def _name(self, gap: Gap, density: float) -> Conflict | None:
        """Return two names of a gap that cannot be one, or words in place of names."""
        for slot in self._slots(gap):
            mine, other = self._parts(slot)
            if _has_forms(self.theirs, mine) and _has_forms(self.ours, other):
                continue
            text, other_text = map(str.lower, self._texts(slot))
            if may_be_same(text, other_text):
                return None
            phrases = _without_joined(_Phrase(mine, text), _Phrase(other, other_text))
            found = self._replaced_name(slot, phrases, density, is_tight=gap.is_tight)
            if found:
                return found
        return None

    def _replaced_name(
        self, slot: Gap, phrases: tuple[_Phrase, _Phrase], density: float, *, is_tight: bool
    ) -> Conflict | None:
        """Return two names that stand for each other, or nouns in place of them."""
        mine, other = phrases
        names = [phrase.is_name for phrase in phrases]
        if all(names):
            return self._conflict("name", *slot)
        if self.covered < _COVERED_WORDS:
            return None
        is_dense = density >= _DENSE_WORDS
        if mine.has_noun and other.has_noun:
            is_plain = not _has_kind((*mine.tokens, *other.tokens), "function")
            return self._conflict("word", *slot, is_tight and is_plain and is_dense)
        if is_dense and any(names) and mine.tokens and other.tokens:
            return self._conflict("word", *slot, is_certain=False)
        return None

    def _slots(self, gap: Gap) -> Iterator[Gap]:
        """Yield what may be exchanged names: in Chinese the whole gap, and the nouns at the same neighbour."""
        from_left, from_right = self.bounds(gap)
        if from_left and from_right and all(map(_may_be_cut, self._parts(gap))):
            yield gap
        if from_left:
            yield from self._nouns(gap, 1)
        if from_right:
            yield from self._nouns(gap, -1)

    def _nouns(self, gap: Gap, step: int) -> Iterator[Gap]:
        """Yield the nouns at the beginning or at the end of a gap, where both sentences have some."""
        ours, theirs = _nouns(self.ours, gap.ours, step), _nouns(self.theirs, gap.theirs, step)
        if not ours or not theirs:
            return
        if self.ours.tokens[ours[0]].is_aside == self.theirs.tokens[theirs[0]].is_aside:
            yield Gap(ours, theirs)

    def _word(self, gap: Gap, density: float) -> Conflict | None:
        """Return Chinese words that are replaced by others where all else is equal.

        Frequent words alone have many uses.
        """
        is_alone = density >= _DENSE_WORDS and self.covered_beside(gap) >= _COVERED_WORDS
        if not is_alone or not all(self.bounds(gap)):
            return None
        mine, other = self._phrases(gap)
        texts = mine.text, other.text
        if max(map(len, texts)) > _MAX_NAME or all(map(str.isascii, texts)) or are_akin(*texts):
            return None
        if not (mine.has_content and other.has_content) or _have_many_uses(mine, other):
            return None
        is_certain = _is_known(mine, other) and _is_known(other, mine)
        return self._conflict("word", *gap, is_certain)

    def _phrases(self, gap: Gap) -> tuple[_Phrase, _Phrase]:
        """Return the words of a gap; the segmenter may have joined one with its neighbour, which both have."""
        mine, other = self._parts(gap)
        text, other_text = self._texts(gap)
        if _have_several(mine, other):
            text, other_text = without_common(text, other_text)
            mine, other = tokens(text), tokens(other_text)
        return _Phrase(mine, text), _Phrase(other, other_text)

    def _exchanged(self) -> Iterator[Conflict]:
        """Yield two names that have changed places: "Germany beat Brazil" and "Brazil beat Germany"."""
        if bool(_PASSIVE.search(self.ours.text)) != bool(_PASSIVE.search(self.theirs.text)):
            return
        ours, theirs = _names(self.ours), _names(self.theirs)
        in_both = [name for name in ours if name in theirs]
        for one, other in combinations(in_both, 2):
            if (ours[one] < ours[other]) == (theirs[one] < theirs[other]):
                continue
            exchanged = (ours[one], theirs[other]), (ours[other], theirs[one])
            if all(self._have_one_neighbour(*places) for places in exchanged):
                yield self._conflict_at("name", ours[one], theirs[other], is_certain=False)

    def _have_one_neighbour(self, ours: int, theirs: int) -> bool:
        """Whether two tokens stand before the same word, or after it."""
        for step in (1, -1):
            neighbour = _neighbour(self.ours, ours, step)
            if neighbour is not None and neighbour == _neighbour(self.theirs, theirs, step):
                return True
        return False

    def _limited(self) -> Iterator[Conflict]:
        """Yield figures that are a limit in one sentence and the value in the other: "more than 5" is not 5."""
        if self.covered < _COVERED_WORDS:
            return
        for place, at in self.ours.matched.items():
            ours, theirs = self.ours.tokens[place].quantity, self.theirs.tokens[at].quantity
            if ours and theirs and ours.is_limit_for(theirs):
                yield self._conflict_at("number", place, at, is_certain=False)

    def _denied(self) -> Iterator[Conflict]:
        """Yield where one sentence denies what the other states."""
        for one, other in (self.sides, self.sides[::-1]):
            for at, head in _negations(one):
                place = one.matched[head]
                more = _extra_words(one, head, other, place)
                if more is None:
                    continue
                around, said = Gap((at, at + 1), (place, place)), Gap((at, head + 1), (place, place + 1))
                if one is self.theirs:
                    around, said = around.turned, said.turned
                if self.density(around) >= _DENSE:
                    yield self._conflict("negation", *said, more <= 0)


def _without_joined(mine: _Phrase, other: _Phrase) -> tuple[_Phrase, _Phrase]:
    """Return two names without the word beside them that the segmenter has joined with them: 小威将 and 小威会."""
    texts = without_common(mine.text, other.text)
    is_joined = texts != (mine.text, other.text) and not texts[0].isascii()
    if is_joined and _have_several(mine.tokens, other.tokens):
        return _Phrase(tokens(texts[0]), texts[0]), _Phrase(tokens(texts[1]), texts[1])
    return _Phrase(mine.tokens, texts[0]), _Phrase(other.tokens, texts[1])


def _have_several(mine: Sequence[Token], other: Sequence[Token]) -> bool:
    """Whether there are more tokens than one on each side."""
    return len(mine) + len(other) > 2


def _span(sentence: AlignedSentence, places: Range) -> Span:
    """Return a part of a sentence with its text."""
    start, end = sentence.tokens[places[0]].start, sentence.tokens[places[1] - 1].end
    return Span(start, end, sentence.text[start:end])


def _names(sentence: AlignedSentence) -> dict[str, int]:
    """Return the names that a sentence has once, and where."""
    times = Counter(token.form for token in sentence.tokens)
    named = ((at, token) for at, token in enumerate(sentence.tokens) if token.kind in ("name", "capital"))
    return {token.form: at for at, token in named if times[token.form] == 1}


def _neighbour(sentence: AlignedSentence, at: int, step: int) -> str | None:
    """Return the word before or after a place."""
    neighbours = sentence.tokens[at + 1 :] if step > 0 else sentence.tokens[:at][::-1]
    return next((token.form for token in neighbours if token.kind not in NO_CONTENT), None)


def _nouns(sentence: AlignedSentence, places: Range, step: int) -> Range | None:
    """Return the nouns and names at the beginning of a gap, or at its end."""
    start, end = places
    part = sentence.part(places)[::step]
    size = len(list(takewhile(lambda token: token.kind in _NOUNS and token.is_aside == part[0].is_aside, part)))
    if not size:
        return None
    return (start, start + size) if step > 0 else (end - size, end)


# --- what a part of a sentence may be --------------------------------------------------------------------------------
def _has_kind(parts: Sequence[Token], *kinds: str) -> bool:
    """Whether one of several tokens is of one of some kinds."""
    return any(token.kind in kinds for token in parts)


# --- what a part of a sentence may be --------------------------------------------------------------------------------
def _has_forms(sentence: AlignedSentence, parts: Sequence[Token]) -> bool:
    """Whether a sentence has all of several tokens."""
    return all(token.form in sentence.forms for token in parts)


def _has_content(parts: Sequence[Token]) -> bool:
    """Whether one of several tokens counts as much as a word."""
    return any(token.weight >= 1 for token in parts)


def _have_many_uses(mine: _Phrase, other: _Phrase) -> bool:
    """Whether all words are frequent ones, unless one word of several characters is there for one of another kind."""
    if not all(token.kind in _USUAL and is_frequent(token.form) for token in (*mine.tokens, *other.tokens)):
        return False
    are_words = len(mine.tokens) == len(other.tokens) == 1
    if not are_words or min(len(mine.text), len(other.text)) == 1:
        return True
    return part_of_speech(mine.text) == part_of_speech(other.text)


def _is_known(phrase: _Phrase, other: _Phrase) -> bool:
    """Whether words are a thing, or rare words in place of a name."""
    if _is_thing(phrase.tokens):
        return True
    are_rare = all(token.kind == "word" and not is_frequent(token.form) for token in phrase.tokens)
    return are_rare and other.is_name


def _is_thing(parts: Sequence[Token]) -> bool:
    """Whether tokens are a name, a noun or a figure, or a name that the segmenter does not know and cuts."""
    if _has_kind(parts, "function", "negation"):
        return False
    is_cut = len(parts) > 1 or len(parts[0].form) == 1
    return _has_kind(parts, *_NOUNS, "quantity") or (is_cut and _may_be_cut(parts))


def _may_be_cut(parts: Sequence[Token]) -> bool:
    """Whether tokens may be one Chinese name that the segmenter has cut."""
    if parts[-1].end - parts[0].start > _MAX_NAME or parts[0].form.isascii():
        return False
    if any(token.is_aside for token in parts) or _has_kind(parts, *_NO_NAME):
        return False
    return not any(_is_frequent_word(token) for token in parts[1:])


def _is_frequent_word(token: Token) -> bool:
    """Whether a token is a frequent Chinese word of several characters."""
    is_long_word = token.kind == "word" and len(token.form) > 1
    return is_long_word and is_frequent(token.form)


# --- negations -------------------------------------------------------------------------------------------------------
def _has_own_negation(sentence: AlignedSentence) -> bool:
    """Whether a sentence has a negation that the other does not have."""
    return any(token.kind == "negation" and at not in sentence.matched for at, token in enumerate(sentence.tokens))


def _negations(sentence: AlignedSentence) -> Iterator[tuple[int, int]]:
    """Yield each negation that only this sentence has, with the next word that both have."""
    unmatched = [at for at in range(len(sentence.tokens)) if at not in sentence.matched]
    for at in unmatched:
        if sentence.tokens[at].kind != "negation":
            continue
        head = _head(sentence, at)
        # Where it has a name or a figure of its own, it may be this that is denied.
        own = [sentence.tokens[place] for place in unmatched if place >= at]
        if head is not None and not _has_kind(own, "quantity", "name"):
            yield at, head


def _head(sentence: AlignedSentence, at: int) -> int | None:
    """Return the next word after a negation that both sentences have."""
    end = min(len(sentence.tokens), at + 1 + _NEGATION_REACH)
    return next((place for place in range(at + 1, end) if sentence.is_shared_word(place)), None)


def _extra_words(one: AlignedSentence, head: int, other: AlignedSentence, place: int) -> int | None:
    """Return how many words more one sentence has between its negation and a word; None where it denies nothing.

    "Not harmful to" agrees with "harmless to"; and after "not aware that" what follows is not denied.
    """
    mine, theirs = _own_before(one, head), _own_before(other, place)
    more = len(mine) - len(theirs)
    if more > 1 or any(are_opposites(*pair) for pair in product(mine, theirs)):
        return None
    return more


def _own_before(sentence: AlignedSentence, place: int) -> list[str]:
    """Return the words right before a place that only this sentence has, after its negation if it has one."""
    found: list[str] = []
    for at in range(place - 1, -1, -1):
        token = sentence.tokens[at]
        if token.kind == "negation" or sentence.is_shared_word(at):
            break
        if at not in sentence.matched and token.kind not in NO_CONTENT:
            found.append(token.form)
    return found
