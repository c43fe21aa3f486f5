"""Dates as result pages show them, parsed into ISO form if they are unambiguous."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

_MONTHS = {
    m: i for i, m in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1)
}
_ISO = re.compile(
    r"(?<!\d)((?:19|20)\d\d)[-/.](\d{1,2})[-/.](\d{1,2})(?:T((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?))?(?!\d)"
)
_ZH = re.compile(r"((?:19|20)\d\d)\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日")
_MONTH = r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\.?"
_MONTH_FIRST = re.compile(rf"\b{_MONTH} (\d{{1,2}}),? ((?:19|20)\d\d)\b")
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}}) {_MONTH},? ((?:19|20)\d\d)\b")
_NUMERIC = re.compile(r"(?<!\d)(\d{1,2})([./])(\d{1,2})\2((?:19|20)\d\d)(?!\d)")
_AGO = re.compile(
    r"(?<!\d)(\d{1,3})\s*(?:(minute|hour|day|week|month|year|min|hr)s? ago|(分钟|小时|天|周|个月|年)前)", re.I
)
_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_UNITS = {
    "minute": _MINUTE, "min": _MINUTE, "hour": _HOUR, "hr": _HOUR,
    "day": _DAY, "week": 7 * _DAY, "month": 30 * _DAY, "year": 365 * _DAY,
    "分钟": _MINUTE, "小时": _HOUR, "天": _DAY, "周": 7 * _DAY, "个月": 30 * _DAY, "年": 365 * _DAY,
}  # fmt: skip
_DAYS_AGO = {"昨天": 1, "前天": 2, "今天": 0, "yesterday": 1, "today": 0}


def parse_date(text: str, now: datetime | None = None) -> str | None:
    """The date in ``text`` as ``YYYY-MM-DD``, with the time if it has one; None if there is none or it is ambiguous.

    "3 days ago" needs ``now``, the time at which the page was received.
    """
    if not text:
        return None
    if found := _ISO.search(text):
        day = _iso(found[1], found[2], found[3])
        return f"{day}T{found[4]}" if day and found[4] and found[4][:5] != "00:00" else day
    if found := _ZH.search(text):
        return _iso(found[1], found[2], found[3])
    if found := _MONTH_FIRST.search(text):
        return _iso(found[3], _MONTHS[found[1].lower()], found[2])
    if found := _DAY_FIRST.search(text):
        return _iso(found[3], _MONTHS[found[2].lower()], found[1])
    if found := _NUMERIC.search(text):
        return _numeric(found)
    return _relative(text, now) if now else None


def _numeric(found: re.Match[str]) -> str | None:
    one, two = int(found[1]), int(found[3])
    # 18.12.2020 is day first by convention; 3/4/2020 may be either, and a wrong date is worse than none.
    if found[2] == "." or one > 12 or one == two:
        return _iso(found[4], two, one)
    return _iso(found[4], one, two) if two > 12 else None


def _relative(text: str, now: datetime) -> str | None:
    if found := _AGO.search(text):
        return str((now - int(found[1]) * _UNITS[(found[2] or found[3]).lower()]).date())
    word = text.strip().lower()
    return str(now.date() - timedelta(days=_DAYS_AGO[word])) if word in _DAYS_AGO else None


def _iso(year: str | int, month: str | int, day: str | int) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
