"""``Research``: a job as callers get it, and the parts of its report as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from ..store.research import StoredJob
from ..text.dates import first_day
from ..text.quantities import find_quantities
from .ledger import Ledger, SourcePage, rows_by_page
from .sentence import Section

SCHEMA_VERSION = 1
"""The version of the JSON format; it rises when a field changes its meaning."""
_LISTS = ("ledger", "sources", "claims", "disagreements", "receipts")
_MOST_FIGURES = 40


@dataclass(frozen=True, slots=True)
class Research:
    """A research job with its report, if it has one by now."""

    id: str
    state: str
    question: str
    result: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, job: StoredJob) -> Research:
        """The job as it is now."""
        return cls(job.id, job.state, job.question, job.result or {})

    @property
    def report(self) -> str:
        """The report as Markdown; empty where there is none."""
        return str(self.result.get("report") or "")

    @property
    def ledger(self) -> list[dict[str, Any]]:
        """The passages that may be cited."""
        return list(self.result.get("ledger") or ())

    @property
    def sources(self) -> list[dict[str, Any]]:
        """The pages that were read, or why not."""
        return list(self.result.get("sources") or ())

    @property
    def claims(self) -> list[dict[str, Any]]:
        """The sentences with their passages and verdicts."""
        return list(self.result.get("claims") or ())

    def as_dict(self) -> dict[str, Any]:
        """The job as JSON; a job without a report has the same fields, empty."""
        empty: dict[str, Any] = {"report": "", **{name: [] for name in _LISTS}}
        return {"id": self.id, "state": self.state, "question": self.question, **empty, **self.result}


def claims(sections: Sequence[Section], ledger: Ledger) -> list[dict[str, Any]]:
    """Every sentence of the report with its passages and verdicts, also those that were left out."""
    found: list[dict[str, Any]] = []
    for place, section in enumerate(sections):
        for sentence, kept in [(each, True) for each in section.sentences] + [
            (each, False) for each in section.dropped
        ]:
            found.append(
                {
                    "id": len(found) + 1,
                    "section": place,
                    "text": sentence.text,
                    "kept": kept,
                    "verdict": sentence.verdict,
                    "ledger": list(sentence.ids),
                    "citations": [asdict(each) for each in sentence.citations],
                    "sources": len({ledger.row(id).source for id in sentence.ids}),
                    "origins": sentence.origins,
                    "one_source": sentence.origins <= 1,
                    "rewritten": sentence.rewritten,
                    "by": section.by,
                }
            )
    return found


def ledger_ids(entries: Iterable[Mapping[str, Any]]) -> set[int]:
    """The passages that claims, or other entries of a report, name."""
    return set[int]().union(*(entry["ledger"] for entry in entries))


def figures(sections: Iterable[Section]) -> list[dict[str, Any]]:
    """The numbers of the report, each with its sentence and its passages."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for sentence in chain.from_iterable(section.sentences for section in sections):
        for quantity in find_quantities(sentence.text):
            written = quantity.written(sentence.text)
            # "One" and "two" are mostly no data, and the time of a day is none.
            if quantity.date is None and any(map(str.isdigit, written)) and ":" not in written:
                row = {
                    "figure": written,
                    "sentence": sentence.text,
                    "ledger": list(sentence.ids),
                    "origins": sentence.origins,
                }
                rows.setdefault((quantity.key, quantity.unit), row)
    return list(rows.values())[:_MOST_FIGURES]


def placed(entries: Iterable[dict[str, Any]]) -> list[tuple[dict[str, Any], float]]:
    """The entries of a timeline with their places on a line, from 0 to 1; without those that name no day."""
    days = [(entry, day.toordinal()) for entry in entries if (day := first_day(str(entry["date"])))]
    first = min((day for _, day in days), default=0)
    span = max((day - first for _, day in days), default=0) or 1
    return [(entry, (day - first) / span) for entry, day in days]


def timeline(ledger: Ledger, cited: Iterable[int]) -> list[dict[str, Any]]:
    """The dates of the sources that the report cites, the oldest first."""
    pages = rows_by_page(map(ledger.row, cited))
    entries: list[dict[str, Any]] = [
        {
            "date": source.published_at[:10],
            "title": source.title,
            "url": source.final_url,
            "ledger": [row.id for row in pages[source.number]],
        }
        for source in ledger.sources
        if source.number in pages and source.published_at
    ]
    return sorted(entries, key=lambda entry: str(entry["date"]))


def receipts(searches: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What each search did: query, results, and a row for every engine that was asked."""
    names = ("query", "sub_question", "round", "engine", "count", "took_ms", "cached", "failure", "engines")
    return [{name: search.get(name) for name in names} for search in searches]


def fetch_summaries(sources: Iterable[SourcePage]) -> list[dict[str, Any]]:
    """What happened to each page: ``{url, final_url, title, status, error}``."""
    return [
        {
            "url": source.url,
            "final_url": source.final_url,
            "title": source.title,
            "status": "ok" if source.status == "read" else "error",
            "error": source.error["message"] if source.error else None,
        }
        for source in sources
    ]
