"""Where sources disagree: who says what, since when, and from how many origins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..chat.answer_disagreements import asked_disagreements
from ..citations.claims import Disagreement, SourceEvidence
from .ledger import Ledger


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


def found_by_check(question: str, ledger: Ledger, found: Iterable[tuple[str, Disagreement]]) -> tuple[Disagreed, ...]:
    """The disagreements that the check of the sentences has found, without pages about another thing."""
    pages: dict[int, str] = {}
    for row in ledger.rows:
        pages[row.source] = f"{pages.get(row.source, '')} {row.text}"
    evidence = {row.id: SourceEvidence(row.title, "", pages[row.source]) for row in ledger.rows}
    made = []
    for sentence, disagreement in found:
        for each in asked_disagreements(question, [disagreement], evidence):
            sides = [
                LedgerSide(side.text, _sentence_with(side.text, side.numbers, ledger), side.numbers)
                for side in each.sides
            ]
            made.append(Disagreed(sentence, tuple(sides)))
    return tuple(made)


def distinct(found: Iterable[Disagreed], ledger: Ledger) -> list[dict[str, Any]]:
    """The disagreements between pages as JSON, each once with all who say so; a copy may change what it copies."""
    known: dict[frozenset[str], Disagreed] = {}
    for each in found:
        pages = [{row.source for id in side.ids if (row := ledger.row(id))} for side in each.sides]
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
    rows = [row for id in side.ids if (row := ledger.row(id))]
    sources = {row.source: ledger.sources[row.source - 1] for row in rows}
    dates = sorted(source.published_at[:10] for source in sources.values() if source.published_at)
    return {
        "says": side.says,
        "sentence": side.sentence,
        "ledger": [row.id for row in rows],
        "sources": [_named(source.site, source.published_at) for source in sources.values()],
        "origins": len({row.origin for row in rows}),
        "since": dates[0] if dates else None,
    }


def _named(site: str, date: str | None) -> Mapping[str, str | None]:
    return {"site": site, "published_at": date}


def _sentence_with(words: str, ids: Sequence[int], ledger: Ledger) -> str:
    from ..text.sentences import split_sentences

    for id in ids:
        row = ledger.row(id)
        for sentence in split_sentences(row.text) if row else ():
            if words in sentence:
                return sentence
    return words
