"""Compares what an answer says with the sources that it cites, each number by itself: a match is not a proof."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..text.conflicts import Conflict, disagreement
from ..text.likeness import may_be_same
from ..text.shingles import count_origins
from ..text.tokens import tokens
from .cited_sentences import CitedSentence, cited_sentences
from .markers import Marker
from .matching import Match, SourceText, Statement, match

Verdict = Literal["supported", "weak", "contradicted", "not_found", "unread"]
"""What a source says about a sentence: the same, a part of it, something else, nothing; or its page was not read."""
Basis = Literal["page", "snippet", ""]
"""What was compared: the text of the page, the snippet of the search, or nothing."""

_BASES: tuple[Basis, ...] = ("page", "snippet")
_ORDER: tuple[Verdict, ...] = ("unread", "not_found", "weak", "contradicted", "supported")
_LEAST_PART = 4
"""The words of a part of a sentence that can be compared by itself."""
# Of sources that are not cited: the share of a sentence's words that one of theirs must have, and the most compared.
_LEAST_SHARED, _COMPARED = 0.5, 2
_MOST_DISAGREEMENTS = 8
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class SourceEvidence:
    """What is known of a source: its title, what the search showed of it, and what was read of its page."""

    title: str = ""
    snippet: str = ""
    page: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence with one of the numbers that it cites, and what that source says about it."""

    start: int
    """The position of the sentence in the answer."""
    end: int
    number: int
    verdict: Verdict
    basis: Basis
    quote: str = ""
    """The passage of the source that matches best."""
    conflict: Conflict | None = None
    """What the source says differently."""


@dataclass(frozen=True, slots=True)
class Side:
    """What some of the sources say."""

    text: str
    numbers: tuple[int, ...]
    origins: int = 1
    """How many texts these are: reprints count once."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A sentence of the answer that one source supports and another contradicts."""

    start: int
    """The position of the sentence in the answer."""
    end: int
    sides: tuple[Side, ...]
    """What the answer says first."""


class ClaimChecker:
    """Compares the sentences of one answer with its sources."""

    def __init__(self, evidence: Mapping[int, SourceEvidence]) -> None:
        self._evidence = evidence
        self._sources: dict[tuple[int, Basis], SourceText] = {}

    def check(self, text: str, markers: Sequence[Marker]) -> tuple[tuple[Claim, ...], tuple[Disagreement, ...]]:
        """Return what each source says about each sentence that cites it, and where sources disagree.

        Numbers of no source are left out.
        """
        claims: list[Claim] = []
        disagreements: list[Disagreement] = []
        for sentence in cited_sentences(text, markers):
            statement = Statement(sentence.body)
            parts = zip(sentence.numbers, sentence.parts, strict=True)
            if self._is_title(sentence):
                continue
            own = [self._claim(sentence, statement, number, part) for number, part in parts if number in self._evidence]
            claims += own
            if len(disagreements) < _MOST_DISAGREEMENTS:
                disagreements += self._disagreements(sentence, statement, own)
        return tuple(claims), tuple(disagreements)

    def _is_title(self, sentence: CitedSentence) -> bool:
        """Whether a line only lists the page that it cites: a title says nothing that could be checked."""
        titles = (self._evidence[number].title for number in sentence.numbers if number in self._evidence)
        return any(_WORD.findall(title) == _WORD.findall(sentence.body) != [] for title in titles)

    def _disagreements(
        self, sentence: CitedSentence, statement: Statement, claims: Sequence[Claim]
    ) -> Iterator[Disagreement]:
        """Yield what other sources, cited or not, say instead of what a source of the sentence says."""
        supporting = [claim.number for claim in claims if claim.verdict == "supported"]
        if not supporting:
            return
        conflicts = {claim.number: claim.conflict for claim in claims if claim.conflict}
        for number in self._evidence.keys() - {claim.number for claim in claims}:
            if found := self._contradiction(statement, number):
                conflicts[number] = found
        sides: dict[str, dict[str, list[int]]] = {}
        for number, conflict in sorted(conflicts.items()):
            others = sides.setdefault(conflict.ours.text, {})
            others.setdefault(_known_as(conflict, others), []).append(number)
        for ours, others in sides.items():
            texts = [self._side(ours, supporting), *(self._side(theirs, own) for theirs, own in others.items())]
            yield Disagreement(sentence.start, sentence.end, tuple(texts))

    def _contradiction(self, statement: Statement, number: int) -> Conflict | None:
        """What a source that is not cited says otherwise, if none of its most similar sentences says the same."""
        basis: Basis = "page" if self._evidence[number].page else "snippet"
        source = self.source(number, basis)
        least = _LEAST_SHARED * len(statement.terms)
        shared = ((len(statement.terms & terms), index) for index, terms in enumerate(source.terms))
        alike = sorted((pair for pair in shared if pair[0] >= least), reverse=True)[:_COMPARED]
        found = [disagreement(statement.text, source.sentences[index]) for _, index in alike]
        return found[0] if found and all(found) else None

    def _side(self, text: str, numbers: Sequence[int]) -> Side:
        known = [self._evidence[number] for number in numbers]
        return Side(text, tuple(numbers), count_origins([each.page or each.snippet for each in known]))

    def _claim(self, sentence: CitedSentence, statement: Statement, number: int, part: str) -> Claim:
        verdict, basis, best = self._compare(statement, number)
        is_part = part != sentence.body and len(tokens(part)) >= _LEAST_PART
        if is_part and verdict != "supported":
            # What stands at another number need not be in this source.
            verdict, basis, best = self._compare(Statement(part), number)
        quote = "" if verdict in ("not_found", "unread") else best.quote
        conflict = best.conflict if verdict == "contradicted" else None
        return Claim(sentence.start, sentence.end, number, verdict, basis, quote, conflict)

    def _compare(self, statement: Statement, number: int) -> tuple[Verdict, Basis, Match]:
        """The better verdict of page and snippet; where both are equal, that of the page."""
        comparisons: list[tuple[Verdict, Basis, Match]] = []
        for basis in _BASES:
            if not self._text(number, basis):
                continue
            best = match(statement, self.source(number, basis))
            verdict = verdict_of(best)
            if verdict == "supported":
                return verdict, basis, best
            is_unread = basis == "snippet" and verdict == "not_found"
            comparisons.append(("unread" if is_unread else verdict, basis, best))
        return max(comparisons, key=lambda comparison: _ORDER.index(comparison[0]), default=("unread", "", Match(0.0)))

    def source(self, number: int, basis: Basis = "page") -> SourceText:
        """The page or the snippet of a source, which is taken apart once."""
        if (number, basis) not in self._sources:
            self._sources[number, basis] = SourceText(self._text(number, basis), self._evidence[number].title)
        return self._sources[number, basis]

    def _text(self, number: int, basis: Basis) -> str:
        evidence = self._evidence[number]
        return evidence.page if basis == "page" else evidence.snippet


def _known_as(conflict: Conflict, sides: Iterable[str]) -> str:
    """What a source says instead, as another one has said it: Halden and Halden Ltd are one side."""
    said = conflict.theirs.text
    alike = (side for side in sides if conflict.kind == "name" and may_be_same(side.lower(), said.lower()))
    return next(alike, said)


def verdict_of(found: Match) -> Verdict:
    """Return the verdict for a match with a text that was read."""
    if found.is_contradicted:
        return "contradicted"
    if found.is_supported:
        return "supported"
    return "weak" if found.is_weak else "not_found"
