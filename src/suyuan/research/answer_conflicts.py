"""Where two sources answer one question with different figures or names, however differently they put it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..embedded.answer_type import answer_type
from ..embedded.topic import find_name
from ..text.conflicts import disagreement
from ..text.keywords import content_stems
from ..text.quantities import Quantity, find_quantities
from ..text.words import stems
from .disagreements import Disagreed, LedgerSide
from .ledger import Ledger
from .report import with_unit
from .sentence import ReportSentence

_SITE_NAME = re.compile(r"(?:\s[-–—·]\s|\s*[_|])[^-–—·_|]{1,40}$")
_LEAST_ABOUT, _LEAST_ASKED = 0.8, 0.5
"""The shares of the question's words that a sentence has with its title, and of what is asked that it has itself."""


def answer_conflicts(question: str, sentences: Sequence[ReportSentence], ledger: Ledger) -> list[Disagreed]:
    """Where the sentences, or the titles of their pages, give different answers to ``question``."""
    return figure_conflicts(question, sentences, ledger) or _name_conflicts(question, sentences, ledger)


def _name_conflicts(question: str, sentences: Sequence[ReportSentence], ledger: Ledger) -> list[Disagreed]:
    """Two statements that have all words of the question are about the same, and may differ in one name."""
    asked = set(content_stems(question))
    told = [(each.text, each.ids) for each in sentences]
    # A title mostly says in one clause what the page says in long sentences.
    told += [(_SITE_NAME.sub("", row.title), (id,)) for each in sentences for id in each.ids if (row := ledger.row(id))]
    whole = [(text, ids) for text, ids in told if len(asked) > 1 and asked <= set(stems(text))]
    for place, (text, ids) in enumerate(whole):
        for other, their_ids in whole[:place]:
            if ledger.sources_of(ids).isdisjoint(ledger.sources_of(their_ids)) and (
                found := disagreement(other, text, same_matter=True)
            ):
                sides = [(found.ours.text, other, their_ids), (found.theirs.text, text, ids)]
                return [Disagreed(other, tuple(_side(says, said, own, whole) for says, said, own in sides))]
    return []


def _side(says: str, said: str, ids: tuple[int, ...], told: Sequence[tuple[str, tuple[int, ...]]]) -> LedgerSide:
    """One side with all who say so."""
    every = {id for text, own in told if says in text for id in own} | set(ids)
    return LedgerSide(says, said, tuple(sorted(every)))


def figure_conflicts(question: str, sentences: Sequence[ReportSentence], ledger: Ledger) -> list[Disagreed]:
    """The sentences that give different values for what ``question`` asks, from different pages."""
    if not answer_type(question).is_exact:
        return []
    sides: list[tuple[Quantity, list[ReportSentence]]] = []
    for sentence in sentences:
        titles = " ".join(row.title for id in sentence.ids if (row := ledger.row(id)))
        if not _is_about(question, sentence.text, titles) or not (figure := _only_figure(question, sentence.text)):
            continue
        same = next((own for known, own in sides if known.is_comparable(figure) and known.agrees(figure)), None)
        if same is not None:
            same.append(sentence)
        elif not sides or _unlike(sides[0][0], figure):
            sides.append((figure, [sentence]))
    pages = [ledger.sources_of(_ids(own)) for _, own in sides]
    # A source that gives two values means two things.
    if len(sides) < 2 or any(one & other for at, one in enumerate(pages) for other in pages[:at]):
        return []
    told = [LedgerSide(with_unit(own[0].text, figure), own[0].text, _ids(own)) for figure, own in sides]
    return [Disagreed(told[0].sentence, tuple(told))]


def _is_about(question: str, text: str, titles: str) -> bool:
    """Whether a sentence is about what is asked: nearly all words of the question are in it or in its titles."""
    weights, own = content_stems(question), set(stems(text))
    known = own.union(stems(titles))
    # What the subject is may stand in the title; what is asked of it must stand in the sentence.
    asked = weights.keys() - set(stems(find_name(question)))
    covered = sum(weight for stem, weight in weights.items() if stem in known)
    return covered >= _LEAST_ABOUT * sum(weights.values()) and len(asked & own) >= _LEAST_ASKED * len(asked) > 0


def _only_figure(question: str, text: str) -> Quantity | None:
    """The one figure of a sentence that answers the question; None where there are several of its kind."""
    dates = "time" in answer_type(question).kinds
    figures = [each for each in find_quantities(text) if bool(each.date) == dates and (each.date or each.unit)]
    # The first figure is mostly what the sentence is about; another of the same unit would make that uncertain.
    first = figures[0] if figures else None
    return first if first and sum(each.unit == first.unit for each in figures) == 1 else None


def _unlike(one: Quantity, other: Quantity) -> bool:
    return one.unit == other.unit and one.is_comparable(other) and not one.agrees(other)


def _ids(sentences: Sequence[ReportSentence]) -> tuple[int, ...]:
    return tuple(sorted({id for sentence in sentences for id in sentence.ids}))
