"""Writes a section without a model: the sentences of the ledger that answer a sub-question, quoted and cited."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from ..embedded.answer_sides import answer_sides
from ..embedded.answer_type import answer_type
from ..embedded.asked_thing import Subject, sources_about_others
from ..embedded.evidence import Candidate, Evidence, find_candidates
from ..embedded.quote import Quote
from ..embedded.quotes import find_quotes, pick_quotes
from ..embedded.source_ranking import coverage, rank_sources
from ..text.words import stems
from .checking import SentenceChecker
from .disagreements import Disagreed, LedgerSide, of_one_matter
from .ledger import Ledger, LedgerRow, rows_by_page
from .sentence import ReportSentence, Section

_NEAREST = 3
_SAME = 0.7
"""The share of a sentence's words that another has which says the same."""
_LEAST_COVERED = 0.25
"""The share of the question's words in a sentence of a further page that may not quite answer it."""
_OF_PAGE = 3
"""The best sentence of a page may be said already, or give another fact than the one that is asked for."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A section, and where its quotes are contradicted."""

    section: Section
    disagreements: tuple[Disagreed, ...]


class QuotingWriter:
    """Chooses sentences from the passages of a ledger."""

    def __init__(self, ledger: Ledger, checker: SentenceChecker) -> None:
        self._ledger = ledger
        self._checker = checker

    def write(self, question: str, rows: Sequence[LedgerRow], most: int) -> Quoted:
        """The section about ``question`` from ``rows``."""
        evidence = self._evidence(rows)
        candidates = list(chain.from_iterable(map(find_candidates, evidence)))
        others = sources_about_others(question, candidates)
        quotes = list(pick_quotes(question, evidence, most))
        pages = [page for page in rank_sources(question, evidence) if page.number not in others]
        quotes += self._further(question, pages, quotes, most)
        section = self._section(question, quotes, rows)
        if not section.sentences:
            section = replace(section, nearest=tuple(self._nearest(question, evidence, rows)))
        disputed = [quote for quote in quotes if quote.others] or _disputed(question, candidates)
        sides = [_disagreed(quote, rows, section.sentences) for quote in disputed]
        return Quoted(section, of_one_matter(question, self._ledger, sides))

    def _section(self, question: str, quotes: Iterable[Quote], rows: Sequence[LedgerRow]) -> Section:
        """The section with the quotes that their passages support."""
        texts = (_marked(quote, rows) for quote in _with_others(quotes))
        sentences = [self._checker.check(text, paragraph) for paragraph, text in enumerate(texts)]
        supported = tuple(sentence for sentence in sentences if sentence.verdict == "supported")
        dropped = tuple(sentence for sentence in sentences if sentence.verdict != "supported")
        return Section(question, supported, dropped)

    def _evidence(self, rows: Sequence[LedgerRow]) -> list[Evidence]:
        """The passages by page: what is said twice in one page is not said by two sources."""
        return [
            Evidence(number, own[0].title, "\n\n".join(row.text for row in own))
            for number, own in rows_by_page(rows).items()
        ]

    def _further(self, question: str, pages: Iterable[Evidence], quotes: Sequence[Quote], most: int) -> list[Quote]:
        """What the other pages say, where it is not said already."""
        quoted = _with_others(quotes)
        said = [set(stems(quote.text)) for quote in quoted]
        numbers = set[int]().union(*(quote.numbers for quote in quoted))
        known = {self._origin(number) for number in numbers}
        # First what the other origins say, then what is left to say of those that are quoted already.
        further: list[Quote] = []
        for page in sorted(pages, key=lambda page: self._origin(page.number) in known):
            new = (each for each in _fitting(question, page) if not any(_repeats(each.text, other) for other in said))
            if len(quotes) + len(further) < most and (quote := next(new, None)):
                further.append(quote)
                said.append(set(stems(quote.text)))
        return further

    def _origin(self, number: int) -> str:
        return self._ledger.sources[number - 1].origin

    def _nearest(self, question: str, evidence: Sequence[Evidence], rows: Sequence[LedgerRow]) -> Iterable[int]:
        for page in rank_sources(question, evidence)[:_NEAREST]:
            yield next(row.id for row in rows if row.source == page.number)


def _with_others(quotes: Iterable[Quote]) -> list[Quote]:
    """The quotes, each followed by those that say otherwise."""
    return list(chain.from_iterable((quote, *quote.others) for quote in quotes))


def _disputed(question: str, candidates: Sequence[Candidate]) -> list[Quote]:
    """Two answers to the question in sentences that have little in common, as one quote with the other beside it."""
    thing = Subject.of(question, candidates)
    about = [each for each in candidates if thing.allows(each) and not each.is_heading]
    sides = answer_sides(question, about, is_checked=True)
    quotes = [Quote(each.sentences[0].text, each.numbers, 0, says=each.says) for each in sides]
    return [replace(quotes[0], others=tuple(quotes[1:]))] if quotes else []


def _disagreed(quote: Quote, rows: Sequence[LedgerRow], kept: Sequence[ReportSentence]) -> Disagreed:
    """The sides of a quote; whose other sentence in the section has the words of one side alone is of that side."""
    sides = {each.says: (each, _ids(each, rows)) for each in (quote, *quote.others)}
    for sentence in kept:
        named = [says for says in sides if _has_words(says, sentence.text)]
        if len(named) == 1:
            sides[named[0]][1].extend(id for id in sentence.ids if id not in sides[named[0]][1])
    told = (LedgerSide(says, each.text, tuple(sorted(ids))) for says, (each, ids) in sides.items() if ids)
    return Disagreed(quote.text, tuple(told))


def _has_words(words: str, text: str) -> bool:
    """Whether ``text`` has the words, not as a part of a longer word or figure."""
    return bool(re.search(rf"(?<![A-Za-z\d]){re.escape(words)}(?![A-Za-z\d]|[.,]\d)", text))


def _marked(quote: Quote, rows: Sequence[LedgerRow]) -> str:
    return quote.text + "".join(f"[{id}]" for id in _ids(quote, rows))


def _ids(quote: Quote, rows: Sequence[LedgerRow]) -> list[int]:
    """The passage of each page that has most words of the quote."""
    own = set(stems(quote.text))
    best: dict[int, tuple[int, int]] = {}
    for row in rows:
        if row.source in quote.numbers:
            shared = len(own & set(stems(row.text)))
            if shared > best.get(row.source, (0, 0))[0]:
                best[row.source] = shared, row.id
    return [id for _, id in best.values()]


def _fitting(question: str, page: Evidence) -> Iterator[Quote]:
    """Yield the sentences of a page that are about the question; to one that asks for a fact, those that give one."""
    expected = answer_type(question)
    found = find_quotes(question, [page], _OF_PAGE)
    for quote in found.quotes:
        is_near = found.outcome == "answer" or coverage(question, [quote.text]) >= _LEAST_COVERED
        if is_near and (not expected.is_fact or expected.is_given_by(quote.text)):
            yield quote


def _repeats(text: str, said: set[str]) -> bool:
    own = set(stems(text))
    return len(own & said) >= _SAME * len(own)
