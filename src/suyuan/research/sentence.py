"""``ReportSentence``: a sentence of a report with the passages that it cites, and what each of them says about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..citations.claims import Verdict

KEPT: tuple[Verdict, ...] = ("supported", "weak")


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """One passage that a sentence cites, and what it says about the sentence."""

    id: int
    verdict: Verdict
    quote: str = ""
    """The part of the passage that matches best."""
    says: str = ""
    """What it says instead, where it contradicts."""


@dataclass(frozen=True, slots=True)
class ReportSentence:
    """A sentence without markers; ``verdict`` is the best of its citations."""

    text: str
    citations: tuple[CheckedCitation, ...] = ()
    verdict: Verdict = "not_found"
    origins: int = 0
    """How many independent origins say so."""
    paragraph: int = 0
    """Sentences with the same number stand in one paragraph; each of the embedded writer's has its own."""
    rewritten: bool = False

    @property
    def ids(self) -> tuple[int, ...]:
        """The rows of the ledger that it cites."""
        return tuple(citation.id for citation in self.citations)

    @property
    def is_kept(self) -> bool:
        """Whether the report shows it; one that is only partly supported is marked."""
        return self.verdict in KEPT


def sentence_from(data: Mapping[str, Any]) -> ReportSentence:
    """Read what ``asdict`` has written."""
    return ReportSentence(**{**data, "citations": tuple(CheckedCitation(**each) for each in data["citations"])})


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report; sentences that did not pass the check are kept apart."""

    title: str
    sentences: tuple[ReportSentence, ...] = ()
    dropped: tuple[ReportSentence, ...] = ()
    by: str = "embedded"
    """Who wrote it: ``embedded`` or the name of a model."""
    is_summary: bool = False
    nearest: tuple[int, ...] = ()
    """Where nothing answers the sub-question: the passages that come closest."""

    @property
    def ids(self) -> set[int]:
        """The rows of the ledger that its sentences cite."""
        return set[int]().union(*(sentence.ids for sentence in self.sentences))


def section_from(data: Mapping[str, Any]) -> Section:
    """Read what ``asdict`` has written."""
    parts = {name: tuple(map(sentence_from, data[name])) for name in ("sentences", "dropped")}
    return Section(**{**data, **parts, "nearest": tuple(data["nearest"])})


def cited_ids(sections: Iterable[Section]) -> set[int]:
    """The rows of the ledger that the sentences of some sections cite."""
    return set[int]().union(*(section.ids for section in sections))
