"""Checks the sentences of a report against the ledger: what no passage says is not kept without a mark."""

from __future__ import annotations

from ..citations.claims import Claim, ClaimChecker, Disagreement, SourceEvidence, Verdict
from ..citations.markers import find_markers, segments
from ..citations.matching import Statement, match
from .ledger import Ledger, LedgerRow
from .sentence import CheckedCitation, ReportSentence

_ORDER: tuple[Verdict, ...] = ("unread", "not_found", "contradicted", "weak", "supported")
_LEAST_SHARED = 0.5
_LEAST_ADDED = 0.8
"""The match of a passage that is cited beside those that the writer has named: it counts as a further origin."""
_MOST_CITATIONS = 4


class SentenceChecker:
    """Compares sentences with the passages of one ledger, which are taken apart once."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        evidence = {row.id: SourceEvidence(_context(row), "", row.text) for row in ledger.rows}
        self._claims = ClaimChecker(evidence)
        self.disagreements: list[tuple[str, Disagreement]] = []
        """Sentences of the report with what other passages say instead."""

    def check(self, marked: str, paragraph: int = 0, rewritten: bool = False) -> ReportSentence:
        """Check one sentence with its ``[n]`` markers; numbers that are not in the ledger do not count."""
        text = _without_markers(marked)
        claims, disagreements = self._claims.check(marked, find_markers(marked))
        found = {claim.id: claim for claim in map(_citation, claims)}
        if not any(claim.verdict == "supported" for claim in found.values()):
            # It may cite the wrong passage of the right page, or none: what says so is found by code.
            found |= {id: CheckedCitation(id, "supported", quote) for id, quote in self._supporting(text, found)}
        best: Verdict = max((each.verdict for each in found.values()), key=_ORDER.index, default="not_found")
        citations = self._best_citations(text, found, best)
        origins = self._ledger.count_origins(each.id for each in citations if each.verdict == "supported")
        if best == "supported":
            self.disagreements += [(text, each) for each in disagreements]
        return ReportSentence(text, citations, best, origins, paragraph, rewritten)

    def _best_citations(
        self, text: str, found: dict[int, CheckedCitation], best: Verdict
    ) -> tuple[CheckedCitation, ...]:
        """The citations that are as good as the best, with other origins that say the same."""
        kept = [each for each in found.values() if each.verdict == best]
        if best == "supported":
            kept += [CheckedCitation(id, best, quote) for id, quote in self._supporting(text, found, _LEAST_ADDED)]
        rows = {each.id: self._ledger.row(each.id) for each in kept}
        sources = {source.number: source for source in self._ledger.sources}
        # Primary sources before copies, and one passage of each page.
        kept.sort(key=lambda each: (not sources[rows[each.id].source].is_primary, each.id not in found))
        pages: dict[int, CheckedCitation] = {}
        for each in kept:
            pages.setdefault(rows[each.id].source, each)
        return tuple(sorted(list(pages.values())[:_MOST_CITATIONS], key=lambda each: each.id))

    def _supporting(self, text: str, known: dict[int, CheckedCitation], least: float = 0) -> list[tuple[int, str]]:
        """Other passages that say what ``text`` says, with what they say."""
        statement = Statement(text)
        if not statement.terms:
            return []
        supporting = []
        for row in self._ledger.rows:
            if row.id in known:
                continue
            source = self._claims.source(row.id)
            # Across languages only names and figures can be compared, which is not enough to say it by ourselves.
            if source.wide != statement.wide:
                continue
            shared = statement.terms & source.title.union(*source.terms)
            if len(shared) < _LEAST_SHARED * len(statement.terms):
                continue
            found = match(statement, source)
            if found.is_supported and found.score >= least:
                supporting.append((row.id, found.quote))
        return supporting


def _context(row: LedgerRow) -> str:
    """What a passage need not repeat: the title of its page and the heading above it."""
    return f"{row.title} {row.heading}".strip()


def _citation(claim: Claim) -> CheckedCitation:
    instead = claim.conflict.theirs.text if claim.conflict else ""
    return CheckedCitation(claim.number, claim.verdict, claim.quote, instead)


def _without_markers(text: str) -> str:
    plain = "".join(each.raw for each in segments(text) if not each.numbers)
    return " ".join(plain.split()).replace(" .", ".").replace(" ,", ",")
