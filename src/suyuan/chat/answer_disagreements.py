"""Where the sources of an answer give different answers to the question, whatever model wrote it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..citations.claims import Claim, Disagreement, Side, SourceEvidence
from ..embedded.answer_sides import AnswerSide, answer_sides
from ..embedded.evidence import Evidence, find_candidates
from ..text.shingles import count_origins

_LONGEST = 6000
"""The characters of a page that are looked at: what it is about stands at its beginning."""


def answer_disagreements(
    question: str, text: str, claims: Sequence[Claim], sources: Mapping[int, SourceEvidence]
) -> Iterator[Disagreement]:
    """Yield what the sources answer, at the sentence of ``text`` that gives one of the answers."""
    texts = {number: (each.page or each.snippet)[:_LONGEST] for number, each in sources.items()}
    evidence = [Evidence(number, sources[number].title, own) for number, own in texts.items()]
    sides = answer_sides(question, [candidate for each in evidence for candidate in find_candidates(each)])
    for side in sides:
        at = text.find(side.says)
        claim = next((each for each in claims if at >= 0 and each.start <= at < each.end), None)
        if claim:
            first = sorted(sides, key=lambda each: each is not side)
            yield Disagreement(claim.start, claim.end, tuple(_side(each, texts) for each in first))
            return


def _side(side: AnswerSide, texts: Mapping[int, str]) -> Side:
    return Side(side.says, side.numbers, count_origins([texts[number] for number in side.numbers]))
