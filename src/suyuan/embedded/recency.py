"""Questions about the latest state of something: which sources are newer, and as of when an answer holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from ..text.dates import extract_dates
from .evidence import Candidate, Evidence

_NEWEST = re.compile(
    r"\b(?:latest|newest|most recent|currently|current|now|nowadays|today|this (?:year|month|week)|so far|as of)\b"
    r"|最新|最近|目前|现在|如今|当前|今年|本月|今天|现任|眼下|至今",
    re.I,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# How much less a sentence counts for each year that it is older than the newest, and for one without a date.
_A_YEAR, _MOST_YEARS, _UNDATED = 1.5, 4.0, 1.0


def asks_for_newest(question: str) -> bool:
    """Whether a question is about how things are now."""
    return bool(_NEWEST.search(question)) and not _YEAR.search(question)


class Recency:
    """The dates of sentences: of their sources, or else the last one that they name."""

    def __init__(self, evidence: Iterable[Evidence]) -> None:
        self._published = {source.number: source.published for source in evidence}

    def date_of(self, candidate: Candidate) -> str:
        """Return the day as of which a sentence holds, as precise as it is known; empty where it is not."""
        if published := self._published.get(candidate.number, ""):
            return published
        found = [iso for each in extract_dates(candidate.text)[0] if (iso := each.iso())]
        return max([*found, *_YEAR.findall(candidate.text)], default="")

    def newest(self, candidates: Sequence[Candidate]) -> str:
        """Return the newest day of several sentences."""
        return max(map(self.date_of, candidates), default="")

    def penalties(self, candidates: Sequence[Candidate]) -> list[float]:
        """Return how much less each of several sentences counts because another one is newer."""
        dates = [self.date_of(candidate) for candidate in candidates]
        newest = max(dates, default="")
        return [min(_MOST_YEARS, _A_YEAR * _years(day, newest)) if day else _UNDATED * bool(newest) for day in dates]


def _years(day: str, newest: str) -> float:
    return (_day(newest) - _day(day)).days / 365


def _day(text: str) -> date:
    """The first day of what is known only as a year or a month."""
    year, month, day = [*(int(part) for part in text.split("-")), 1, 1][:3]
    return date(year, month, day)
