"""Questions about the latest state of something: which sources are newer, and as of when an answer holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..text.dates import find_dates, first_day
from .evidence import Candidate, Evidence

_NEWEST = re.compile(
    r"\b(?:latest|newest|most recent|currently|current|now|nowadays|today|this (?:year|month|week)|so far|as of)\b"
    r"|最新|最近|目前|现在|如今|当前|今年|本月|今天|现任|眼下|至今"
    # A price in the present tense is the one that is paid now.
    r"|\bhow much (?:is|are|(?:does|do) .{1,200} cost)\b|\bwhat (?:does|do) .{1,200} cost\b"
    r"|\bwhat is the (?:price|fare|cost)\b"
    r"|多少钱|(?:票价|价格|售价|定价|收费)[是为]?多少",
    re.I,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# Words of a sentence that says how things were when it was written.
_SAYS_NOW = re.compile(r"\b(?:currently|now|at present|to date|still)\b|现[任为有在由]|^现|目前|如今|当前|至今", re.I)
# How much less a sentence counts for each year that it is older than the newest, and for one without a date.
_YEAR_PENALTY, _MAX_PENALTY, _UNDATED_PENALTY = 1.5, 4.0, 1.0


def asks_for_newest(question: str) -> bool:
    """Whether a question is about how things are now."""
    return bool(_NEWEST.search(question)) and not _YEAR.search(question)


class Recency:
    """The dates of sentences: of their sources, or else the last one that they name."""

    def __init__(self, evidence: Iterable[Evidence]) -> None:
        self._published = {source.number: source.published for source in evidence if first_day(source.published)}

    def published(self, candidate: Candidate) -> str:
        """Return the day on which the source of a sentence appeared; empty where it is not known."""
        return self._published.get(candidate.number, "")

    def penalties(self, candidates: Sequence[Candidate]) -> list[float]:
        """Return how much less each of several sentences counts because another one is newer."""
        dates = [self._date_of(candidate) for candidate in candidates]
        newest = max(dates, default="")
        if not newest:
            return [0.0] * len(candidates)
        return [_penalty(candidate, day, newest) for candidate, day in zip(candidates, dates, strict=True)]

    def _date_of(self, candidate: Candidate) -> str:
        """Return the day as of which a sentence holds: that of its source, or else the last one that it names."""
        published = self.published(candidate)
        if published or _SAYS_NOW.search(candidate.text):
            return published
        days = [date.iso() or "" for date, _, _ in find_dates(candidate.text)[0]]
        return max([*days, *_YEAR.findall(candidate.text)], default="")


def _penalty(candidate: Candidate, day: str, newest: str) -> float:
    """Return how much less a sentence counts than one of the newest day."""
    if day:
        return min(_MAX_PENALTY, _YEAR_PENALTY * _years(day, newest))
    return 0.0 if _SAYS_NOW.search(candidate.text) else _UNDATED_PENALTY


def _years(day: str, newest: str) -> float:
    """Return how many years lie between two days."""
    first, last = first_day(day), first_day(newest)
    return (last - first).days / 365 if first and last else 0.0
