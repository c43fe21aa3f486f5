"""Where sources disagree: who says what, since when, and from how many origins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..chat.answer_disagreements import sources_about
from ..citations.claims import Disagreement, Side, SourceEvidence
from ..text.sentences import split_sentences
from .ledger import Ledger, LedgerRow, rows_by_page


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
    if not found:
        return ()
    about = sources_about(question, {number: _evidence(rows) for number, rows in rows_by_page(ledger.rows).items()})
    made = []
    for sentence, disagreement in found:
        sides = [side for side in disagreement.sides if any(ledger.row(id).source in about for id in side.numbers)]
        if len(sides) > 1:
            made.append(Disagreed(sentence, tuple(_ledger_side(side, ledger) for side in sides)))
    return tuple(made)


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
    sentences = (sentence for id in side.numbers for sentence in split_sentences(ledger.row(id).text))
    said = next((sentence for sentence in sentences if side.text in sentence), side.text)
    return LedgerSide(side.text, said, side.numbers)


def _evidence(rows: Sequence[LedgerRow]) -> SourceEvidence:
    return SourceEvidence(rows[0].title, "", " ".join(row.text for row in rows))
