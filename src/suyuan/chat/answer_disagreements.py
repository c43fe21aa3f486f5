"""Where the sources of an answer give different answers to the question, whatever model wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..citations.claims import Claim, Disagreement, Side, SourceEvidence
from ..embedded.answer_sides import AnswerSide, answer_sides
from ..embedded.asked_thing import AskedThing
from ..embedded.evidence import Evidence, find_candidates
from ..text.shingles import count_origins

_LONGEST = 6000
"""The characters of a page that are looked at: what it is about stands at its beginning."""


def asked_disagreements(
    question: str, disagreements: Sequence[Disagreement], sources: Mapping[int, SourceEvidence]
) -> Iterator[Disagreement]:
    """Yield the disagreements without the sources that are about another thing than ``question``."""
    subject = _subject(question, sources)
    for each in disagreements:
        sides = [side for side in each.sides if any(subject.may_be_of(at, sources[at].title) for at in side.numbers)]
        if len(sides) > 1:
            yield replace(each, sides=tuple(sides))


def answer_disagreements(
    question: str, text: str, claims: Sequence[Claim], sources: Mapping[int, SourceEvidence]
) -> Iterator[Disagreement]:
    """Yield what the sources answer, at the sentence of ``text`` that gives one of the answers."""
    texts = {number: _text(each) for number, each in sources.items()}
    evidence = [Evidence(number, sources[number].title, own) for number, own in texts.items()]
    candidates = [candidate for each in evidence for candidate in find_candidates(each) if not candidate.is_heading]
    sides = answer_sides(question, candidates, _subject(question, sources))
    for side in sides:
        at = text.find(side.says)
        claim = next((each for each in claims if at >= 0 and each.start <= at < each.end), None)
        if claim:
            first = sorted(sides, key=lambda each: each is not side)
            yield Disagreement(claim.start, claim.end, tuple(_side(each, texts) for each in first))
            return


def _subject(question: str, sources: Mapping[int, SourceEvidence]) -> AskedThing:
    return AskedThing.of(question, {number: f"{each.title} {_text(each)}" for number, each in sources.items()})


def _text(source: SourceEvidence) -> str:
    return (source.page or source.snippet)[:_LONGEST]


def _side(side: AnswerSide, texts: Mapping[int, str]) -> Side:
    return Side(side.says, side.numbers, count_origins([texts[number] for number in side.numbers]))
