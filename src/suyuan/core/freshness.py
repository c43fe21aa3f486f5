"""How old a result may be: a period before today, or a range of dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from .causes.asked import BAD_FRESHNESS

Period = Literal["day", "week", "month", "year"]

# The spellings of the tools people know: DuckDuckGo (d), Brave (pd), Bocha (oneDay), SearXNG (day).
_PERIODS: dict[str, Period] = {}
_DAYS: dict[Period, int] = {"day": 1, "week": 7, "month": 31, "year": 366}
for _period in _DAYS:
    for _word in (_period, _period[0], "p" + _period[0], "one" + _period, "past_" + _period):
        _PERIODS[_word] = _period
_EPOCH, _DAY_SECONDS = date(1970, 1, 1), 86_400
_RANGE = re.compile(r"(\d{4}-\d\d-\d\d)?\s*(?:\.\.|to|/)\s*(\d{4}-\d\d-\d\d)?", re.I)


@dataclass(frozen=True, slots=True)
class Freshness:
    """Either a ``period`` (day, week, month, year) or the dates ``since`` and ``until``, both inclusive."""

    period: Period | None = None
    since: date | None = None
    until: date | None = None

    @classmethod
    def parse(cls, text: str) -> Freshness:
        """Read ``week``, ``w``, ``pw``, ``oneWeek`` or ``2026-01-01..2026-03-31`` (an end may be open)."""
        word = text.strip().lower()
        if period := _PERIODS.get(word):
            return cls(period=period)
        match = _RANGE.fullmatch(word)
        if not match or not (match[1] or match[2]):
            raise BAD_FRESHNESS(value=text)
        try:
            since = date.fromisoformat(match[1]) if match[1] else None
            until = date.fromisoformat(match[2]) if match[2] else None
        except ValueError:
            raise BAD_FRESHNESS(value=text) from None
        if since and until and since > until:
            raise BAD_FRESHNESS(value=text)
        return cls(since=since, until=until)

    def dates(self, today: date) -> tuple[date, date]:
        """Return first and last day, for engines that take only dates."""
        if self.period:
            return today - timedelta(days=_DAYS[self.period]), today
        return self.since or date(1990, 1, 1), self.until or today

    def seconds(self, today: date) -> tuple[int, int]:
        """Return the start of the first day and the end of the last, in seconds since 1970."""
        first, last = ((day - _EPOCH).days for day in self.dates(today))
        return max(first * _DAY_SECONDS, 0), max((last + 1) * _DAY_SECONDS, 0)

    def __str__(self) -> str:
        return self.period or f"{self.since or ''}..{self.until or ''}"
