"""Where the sources of an answer give different answers to the question, whatever model wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..citations.claims import Claim, Disagreement, Side, SourceEvidence
from ..embedded.answer_sides import AnswerSide, answer_sides
from ..embedded.asked_thing import Subject
from ..embedded.evidence import Candidate, Evidence, find_candidates
from ..text.shingles import count_origins

_LONGEST = 6000
"""The characters of a page that are looked at: what it is about stands at its beginning."""


def asked_disagreements(
    question: str, disagreements: Sequence[Disagreement], sources: Mapping[int, SourceEvidence]
) -> Iterator[Disagreement]:
    """Yield the disagreements without the sources that are about another thing than ``question``."""
    about = {each.number for each in _about(question, sources)} if disagreements else set()
    for each in disagreements:
        sides = [side for side in each.sides if not about.isdisjoint(side.numbers)]
        if len(sides) > 1:
            yield replace(each, sides=tuple(sides))


def answer_disagreements(
    question: str, text: str, claims: Sequence[Claim], sources: Mapping[int, SourceEvidence]
) -> Iterator[Disagreement]:
    """Yield what the sources answer, at the sentence of ``text`` that gives one of the answers."""
    texts = {number: _text(each) for number, each in sources.items()}
    sides = answer_sides(question, _about(question, sources))
    for side in sides:
        at = text.find(side.says)
        claim = next((each for each in claims if at >= 0 and each.start <= at < each.end), None)
        if claim:
            first = sorted(sides, key=lambda each: each is not side)
            yield Disagreement(claim.start, claim.end, tuple(_side(each, texts) for each in first))
            return


def _about(question: str, sources: Mapping[int, SourceEvidence]) -> list[Candidate]:
    """The sentences of the sources that may be about what ``question`` names."""
    evidence = [Evidence(number, each.title, _text(each)) for number, each in sources.items()]
    candidates = [candidate for each in evidence for candidate in find_candidates(each)]
    thing = Subject.of(question, candidates)
    return [each for each in candidates if not each.is_heading and thing.allows(each)]


def _text(source: SourceEvidence) -> str:
    return (source.page or source.snippet)[:_LONGEST]


def _side(side: AnswerSide, texts: Mapping[int, str]) -> Side:
    return Side(side.says, side.numbers, count_origins([texts[number] for number in side.numbers]))
