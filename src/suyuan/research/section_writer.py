"""``SectionWriter``: writes the sections of a report, with the model of the job or by quoting."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

from .author import Author
from .checking import SentenceChecker
from .disagreements import Disagreed, found_by_check
from .ledger import Ledger, LedgerRow
from .model_writer import checked_section, rewrite_prompt, section_prompt, with_rewritten
from .quoting import QuotingWriter
from .request import ResearchRequest, label
from .sentence import Section, cited_ids

_MOST_REWRITTEN = 12
_MAX_NEAREST = 3


class SectionWriter:
    """Gives each section as the data of its step."""

    def __init__(self, request: ResearchRequest, ledger: Ledger, checker: SentenceChecker, author: Author) -> None:
        self._request = request
        self._ledger = ledger
        self._checker = checker
        self._author = author
        self._quoting = QuotingWriter(ledger, checker)

    async def write(self, at: int, question: str, rows: Sequence[LedgerRow], told: Sequence[Section]) -> dict[str, Any]:
        """The section about a sub-question, without sentences that stand in the sections before it."""
        self._checker.disagreements.clear()
        quoted = await asyncio.to_thread(self._quoting.write, question, rows, self._request.effort.sentences)
        section = await self._by_model(at, question, rows) or quoted.section
        known = {sentence.text for sentence in chain.from_iterable(section.sentences for section in told)}
        new = tuple(sentence for sentence in section.sentences if sentence.text not in known)
        section = replace(section, sentences=new or section.sentences[:1])
        # The answers of the sources to the question come before what else they differ in.
        found = quoted.disagreements or await asyncio.to_thread(
            found_by_check, question, self._ledger, self._checker.disagreements
        )
        return self._data(section, found)

    async def summarise(self, question: str, sections: Sequence[Section]) -> dict[str, Any]:
        """The summary: by the model from what the sections cite, or the first sentence of each: what answers best."""
        cited = cited_ids(sections)
        rows = [row for row in self._ledger.rows if row.id in cited]
        title = label("summary", self._request.lang)
        section = await self._by_model(0, question, rows, title)
        if section is None:
            section = _first_sentences(title, sections)
        return self._data(section, ())

    async def _by_model(self, at: int, question: str, rows: Sequence[LedgerRow], title: str = "") -> Section | None:
        """The section as the model writes it; None where it cannot, or nothing of it is supported."""
        author = self._author
        if not author.model or not rows:
            return None
        text = await author.ask(
            f"model:write:{at}", *section_prompt(self._request, question, rows, author.context_tokens)
        )
        if not text:
            return None
        section = await asyncio.to_thread(
            checked_section, title or question, text, author.model, self._checker, bool(title)
        )
        failing = section.dropped[:_MOST_REWRITTEN]
        if failing:
            prompt = rewrite_prompt(self._request, failing, self._for_rewriting(section, rows))
            again = await author.ask(f"model:rewrite:{at}", *prompt)
            section = await asyncio.to_thread(with_rewritten, section, again or "", self._checker)
        return section if section.sentences else None

    def _for_rewriting(self, section: Section, rows: Sequence[LedgerRow]) -> list[LedgerRow]:
        wanted = set[int]().union(*(sentence.ids for sentence in section.dropped))
        chosen = [row for row in rows if row.id in wanted]
        return chosen or list(rows[:8])

    def _data(self, section: Section, found: Sequence[Disagreed]) -> dict[str, Any]:
        notice = self._author.failure_data()
        told = [asdict(each) for each in found]
        return {"section": asdict(section), "disagreements": told, "notice": notice}


def _first_sentences(title: str, sections: Sequence[Section]) -> Section:
    """A summary of the first sentence of each section, or of the nearest passages where there are none."""
    first = {section.sentences[0].text: section.sentences[0] for section in sections if section.sentences}
    if first:
        return Section(title, tuple(first.values()), is_summary=True)
    nearest = dict.fromkeys(chain.from_iterable(section.nearest for section in sections))
    return Section(title, is_summary=True, nearest=tuple(nearest)[:_MAX_NEAREST])
