"""Where sources disagree: who says what, since when, and from how many origins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from ..citations.claims import Disagreement, Side
from ..text.keywords import content_stems
from ..text.lexicon import simplified
from ..text.sentences import split_sentences
from ..text.tokens import tokens
from ..text.words import stems
from .ledger import Ledger

_LEAST_HELD = 0.8
"""The share of the question's words in the sides' passages that each side must have: less is about another thing."""


@dataclass(frozen=True, slots=True)
class LedgerSide:
    """What some of the sources say: the words in question, the sentence, and the rows of the ledger."""

    says: str
    sentence: str
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Disagreed:
    """A sentence of the report, and the sides; its own comes first."""

    sentence: str
    sides: tuple[LedgerSide, ...]

    def as_dict(self, ledger: Ledger) -> dict[str, Any]:
        """The disagreement as JSON."""
        return {"sentence": self.sentence, "sides": [_side(side, ledger) for side in self.sides]}


def disagreed_from(data: Mapping[str, Any]) -> Disagreed:
    """Read what ``asdict`` has written."""
    sides = tuple(LedgerSide(side["says"], side["sentence"], tuple(side["ids"])) for side in data["sides"])
    return Disagreed(str(data["sentence"]), sides)


def found_by_check(question: str, ledger: Ledger, found: Sequence[tuple[str, Disagreement]]) -> tuple[Disagreed, ...]:
    """The disagreements that the check of the sentences has found, without pages about another thing."""
    made = [Disagreed(sentence, tuple(_ledger_side(side, ledger) for side in each.sides)) for sentence, each in found]
    return of_one_matter(question, ledger, made)


def of_one_matter(question: str, ledger: Ledger, found: Iterable[Disagreed]) -> tuple[Disagreed, ...]:
    """The disagreements without the sides whose passages lack words of the question that those of another have."""
    words = _words(question)
    made = []
    for each in found:
        held = [words & _stems(ledger, side.ids) for side in each.sides]
        least = _LEAST_HELD * len(set().union(*held))
        sides = tuple(side for side, own in zip(each.sides, held, strict=True) if len(own) >= least)
        if len(sides) > 1:
            made.append(replace(each, sides=sides))
    return tuple(made)


def _words(question: str) -> set[str]:
    """The words of a question that say what it is about; of a Chinese word the pairs of its characters."""
    question = simplified(question)
    own = set[str]().union(*(stems(question[token.start : token.end]) for token in tokens(question)))
    return {stem for stem in own & content_stems(question).keys() if len(stem) > 1 or stem.isascii()}


def _stems(ledger: Ledger, ids: Iterable[int]) -> set[str]:
    rows = map(ledger.row, ids)
    return set[str]().union(*(stems(simplified(f"{row.title} {row.heading} {row.text}")) for row in rows))


def distinct(found: Iterable[Disagreed], ledger: Ledger) -> list[dict[str, Any]]:
    """The disagreements between pages as JSON, each once with all who say so; a copy may change what it copies."""
    known: dict[frozenset[str], Disagreed] = {}
    for each in found:
        pages = [{ledger.row(id).source for id in side.ids} for side in each.sides]
        if len(each.sides) > 1 and len(set().union(*pages)) > 1:
            key = frozenset(side.says.casefold() for side in each.sides)
            known[key] = _joined(known[key], each) if key in known else each
    return [each.as_dict(ledger) for each in known.values()]


def _joined(first: Disagreed, other: Disagreed) -> Disagreed:
    """The first with the rows of the other, which has the same sides."""
    ids = {side.says.casefold(): side.ids for side in other.sides}
    sides = (replace(each, ids=tuple(dict.fromkeys((*each.ids, *ids[each.says.casefold()])))) for each in first.sides)
    return replace(first, sides=tuple(sides))


def _side(side: LedgerSide, ledger: Ledger) -> dict[str, Any]:
    rows = [ledger.row(id) for id in side.ids]
    sources = {row.source: ledger.sources[row.source - 1] for row in rows}
    dates = sorted(source.published_at[:10] for source in sources.values() if source.published_at)
    return {
        "says": side.says,
        "sentence": side.sentence,
        "ledger": [row.id for row in rows],
        "sources": [{"site": source.site, "published_at": source.published_at} for source in sources.values()],
        "origins": len({row.origin for row in rows}),
        "since": dates[0] if dates else None,
    }


def _ledger_side(side: Side, ledger: Ledger) -> LedgerSide:
    sentences = chain.from_iterable(split_sentences(ledger.row(id).text) for id in side.numbers)
    said = next((sentence for sentence in sentences if side.text in sentence), side.text)
    return LedgerSide(side.text, said, side.numbers)
