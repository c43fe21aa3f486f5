"""A sentence that was picked as an answer, with the sources that say it and what it needs to be understood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .agreement import say_the_same, supports
from .answer_type import AnswerType
from .evidence import LONGEST, Candidate, announces, refers_back
from .quote import Quote, Sentence, joined

# After a sentence that announces something, so many are quoted with it.
_MAX_ANNOUNCED = 3


@dataclass(slots=True)
class Pick:
    """A picked sentence."""

    candidate: Candidate
    numbers: list[int]
    score: float
    beside: list[Candidate] = field(default_factory=list)
    """The sentences before and after it that are quoted with it."""
    lead: str = ""
    """The title of its source, where it refers back and no sentence before it can be quoted."""

    @classmethod
    def of(cls, candidate: Candidate, numbers: list[int], score: float, expected: AnswerType | None = None) -> Pick:
        """Take a sentence with those before and after it, or the title, that it needs to be understood."""
        pick = cls(candidate, numbers, score)
        if candidate.row:
            return pick
        before, title = _quotable_before(candidate), candidate.title
        if refers_back(candidate.text):
            if before and not refers_back(before.text):
                pick.beside.append(before)
            elif title and title not in candidate.text:
                colon = ": " if title.isascii() else "："
                pick.lead = f"{title}{colon}"
        elif before and expected and expected.is_left_out(candidate.text, before.text):
            pick.beside.append(before)
        return pick

    @property
    def text(self) -> str:
        """All that is quoted."""
        return joined(self.lead.rstrip(), *(candidate.text for candidate in self._in_order()))

    @property
    def dangles(self) -> bool:
        """Whether it refers back to what is not quoted."""
        return not (self.lead or self.beside) and refers_back(self.candidate.text)

    def says(self, other: Candidate) -> bool:
        """Whether ``other`` is quoted already, literally or in other words."""
        is_quoted = any(other.text in candidate.text for candidate in self._in_order())
        return is_quoted or say_the_same(other, self.candidate)

    def add_source(self, candidate: Candidate) -> None:
        """Add the number of the source of a sentence that says the same, if it may be cited for all that is quoted."""
        if candidate.number not in self.numbers and supports(candidate, self.candidate, self.text):
            self.numbers.append(candidate.number)

    def quote(self, says: str = "") -> Quote:
        """Return what is shown of it."""
        numbers = tuple(sorted(self.numbers))
        sentences = []
        for candidate in self._in_order():
            own = numbers if candidate is self.candidate else (candidate.number,)
            place = candidate.number, candidate.paragraph, candidate.position
            sentences.append(Sentence(candidate.text, own, place, self.lead.rstrip()))
        return Quote(self.text, numbers, self.score, says=says, sentences=tuple(sentences))

    def _in_order(self) -> list[Candidate]:
        return sorted((self.candidate, *self.beside), key=lambda candidate: candidate.position)


def _quotable_before(candidate: Candidate) -> Candidate | None:
    """Return the sentence before another one, where both are short enough to be quoted together."""
    before = candidate.before
    if before and len(before.text) + len(candidate.text) <= LONGEST:
        return before
    return None


def take(candidate: Candidate, score: float, picks: list[Pick], expected: AnswerType) -> bool:
    """Add ``candidate`` to the picks, or to one of them; return whether there is one more."""
    same = _pick_with(candidate, picks)
    if same:
        same.add_source(candidate)
        return False
    before = candidate.before
    quoted = _pick_with(before, picks) if before and refers_back(candidate.text) else None
    if before is None or quoted is None:
        picks.append(Pick.of(candidate, [candidate.number], score, expected))
        return True
    # The sentence before is quoted already: this one is added to it, unless it is quoted from another source.
    if quoted.text.endswith(before.text) and quoted.numbers == [candidate.number]:
        quoted.beside.append(candidate)
    return False


def _pick_with(candidate: Candidate, picks: Sequence[Pick]) -> Pick | None:
    """Return the pick that says what a sentence says."""
    return next((pick for pick in picks if pick.says(candidate)), None)


def add_sources(picks: Sequence[Pick], candidates: Sequence[Candidate]) -> None:
    """Add the numbers of the sources that say the same as what was picked, however well they answer."""
    for pick in picks:
        for candidate in candidates:
            if pick.dangles and candidate.text == pick.candidate.text and candidate.before:
                # Another source has the same sentence, with the one before it.
                pick.candidate, pick.beside = candidate, [candidate.before]
            if candidate.number not in pick.numbers and pick.says(candidate):
                pick.add_source(candidate)


def add_announced(picks: Sequence[Pick], candidates: Sequence[Candidate]) -> None:
    """Add what follows a sentence that only announces it: "There are two reasons." """
    following = {id(candidate.before): candidate for candidate in candidates if candidate.before}
    for pick in picks:
        if not announces(pick.candidate.text):
            continue
        after = following.get(id(pick.candidate))
        while after and len(pick.beside) < _MAX_ANNOUNCED:
            pick.beside.append(after)
            after = following.get(id(after))
            if after and not refers_back(after.text):
                break
