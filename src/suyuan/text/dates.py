"""Dates in English and Chinese texts: partial ones for comparing texts, certain ones in ISO form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

MONTH_NAMES = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
MONTHS = {
    "sept": 9,
    **{name.lower(): number for number, name in enumerate(MONTH_NAMES, 1)},
    **{name[:3].lower(): number for number, name in enumerate(MONTH_NAMES, 1)},
}
"""The numbers of months by their names and abbreviations in lower case."""

YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")
"""Four digits that may be a year."""
_YEAR = r"(?P<y>[12]\d{3})"
_DAY = r"(?P<d>[0-3]?\d)(?:st|nd|rd|th)?"
_NUMBERED_MONTH, _NUMBERED_DAY = r"(?P<m>[01]?\d)", r"(?P<d>[0-3]?\d)"
_MONTH = rf"(?P<m>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
# Possessive: a long run of white space on a page must not take long.
_COMMA = r"(?:\s*+,\s*+|\s++)"
_START = r"(?<!\d)(?<!\d[.,])"
# Each group with a sign without which none of its forms can occur, which is quicker to look for.
_FORMS = (
    (re.compile(r"\d\s?[-/.]\s?\d"), (
        re.compile(rf"{_START}{_YEAR}\s?(?P<s>[-/.])\s?{_NUMBERED_MONTH}\s?(?P=s)\s?{_NUMBERED_DAY}(?!\d)"),
        re.compile(rf"{_START}(?P<one>[0-3]?\d)(?P<s>[/.])(?P<two>[0-3]?\d)(?P=s){_YEAR}(?!\d)"),
    )),
    (re.compile("[年月]"), (
        re.compile(rf"(?<!\d){_YEAR}\s*年(?:\s*{_NUMBERED_MONTH}\s*月(?:\s*{_NUMBERED_DAY}\s*[日号])?)?"),
        re.compile(rf"(?<!\d){_NUMBERED_MONTH}\s*月\s*{_NUMBERED_DAY}\s*[日号]"),
    )),
    (re.compile(rf"\b(?:{'|'.join(name[:3] for name in MONTH_NAMES)})", re.I), (
        re.compile(rf"\b{_MONTH}\s+{_DAY}\b(?!\s*[:%])(?:{_COMMA}{_YEAR}\b)?", re.I),
        re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:{_COMMA}{_YEAR}\b)?", re.I),
        re.compile(rf"\b{_MONTH}{_COMMA}(?:of\s++)?{_YEAR}\b", re.I),
    )),
)  # fmt: skip
# Not before "pm": the hour would be wrong.
_TIME = re.compile(
    r"[T\s]{0,3}([01]?\d|2[0-3])[:：时]([0-5]\d)(?!\d)(?::([0-5]\d))?+(?:\.\d+)?+"
    r"(?:\s?(?:GMT|UTC)?([+-](?:0\d|1[0-4]):?[0-5]\d)|\s?(Z|GMT|UTC)\b)?+(?!\s*[ap]\.?m\b)",
    re.I,
)
_AGO = re.compile(
    r"(?<!\d)(\d{1,3}|an?(?= ))\s*(?:(minute|hour|day|week|month|year|min|hr)s? ago"
    r"|(分钟|分鐘|小时|小時|天|日|周|週|星期|个月|個月|月|年)\s*[之以]?前)",
    re.I,
)
_MINUTE, _HOUR, _DAY_LENGTH = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_WEEK, _MONTH_LENGTH, _YEAR_LENGTH = timedelta(days=7), timedelta(days=30), timedelta(days=365)
_UNITS = {
    "minute": _MINUTE, "min": _MINUTE, "分钟": _MINUTE, "分鐘": _MINUTE,
    "hour": _HOUR, "hr": _HOUR, "小时": _HOUR, "小時": _HOUR,
    "day": _DAY_LENGTH, "天": _DAY_LENGTH, "日": _DAY_LENGTH,
    "week": _WEEK, "周": _WEEK, "週": _WEEK, "星期": _WEEK,
    "month": _MONTH_LENGTH, "月": _MONTH_LENGTH, "个月": _MONTH_LENGTH, "個月": _MONTH_LENGTH,
    "year": _YEAR_LENGTH, "年": _YEAR_LENGTH,
}  # fmt: skip
_DAYS_BEFORE = {"today": 0, "yesterday": 1, "今天": 0, "昨天": 1, "前天": 2}
_ISO = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?!\d)", re.A)
_YEARS_OF_PAGES = range(1900, 2100)
_DATE_MARK = re.compile(r"^(.{2,40}?)\s*[·•‧・]\s*(?=\S)")
_MAX_TEXT = 200
"""A text that shows a date is short; what is longer is not read to its end."""


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as precise as a text gives it: a year, a month of a year, a day of a month, or all of them."""

    year: int | None
    month: int | None
    day: int | None
    certain: bool = True
    """False for ``3/4/2020``, which is in March or in April."""

    @property
    def key(self) -> str:
        """Equal for equal dates."""
        return "-".join(str(part or "") for part in (self.year, self.month, self.day))

    def iso(self) -> str | None:
        """Return the day in ISO form; None where it is incomplete, uncertain, impossible, or no page is so old."""
        year = self.year or 0
        if not self.certain or year not in _YEARS_OF_PAGES:
            return None
        try:
            return date(year, self.month or 0, self.day or 0).isoformat()
        except ValueError:
            return None


def find_dates(text: str) -> tuple[list[tuple[PartialDate, int, int]], str]:
    """Return the dates of ``text`` with their positions, and the text with a semicolon and spaces in their place."""
    found: list[tuple[PartialDate, int, int]] = []

    def take(match: re.Match[str]) -> str:
        found.append((_partial(match), *match.span()))
        return ";".ljust(len(match[0]))

    for form in _forms(text):
        text = form.sub(take, text)
    return found, text


def read_date(text: str, now: datetime | None = None) -> str | None:
    """Return the first certain date that ``text`` shows as ``YYYY-MM-DD``, with the time where given, or None.

    "3 days ago" needs ``now``, the moment when the page was received.
    """
    found = _first(text)
    if found is None:
        return _relative(text, now) if now else None
    day, time = found
    if time is None:
        return day
    hour, minute, seconds = int(time[1]), time[2], time[3]
    if hour == int(minute) == 0:
        return day
    clock = f"{hour:02d}:{minute}:{seconds}" if seconds else f"{hour:02d}:{minute}"
    return f"{day}T{clock}"


def first_day(text: str) -> date | None:
    """Return the first day of a date in ISO form that may be a year or a month only; None where there is none."""
    found = _ISO.match(text)
    if found is None:
        return None
    year, month, day = found.groups("1")
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def leading_date(text: str, now: datetime | None = None) -> tuple[str | None, str]:
    """Return the date that ``text`` begins with, as ``3 days ago · …``, and the text without it.

    The first value is None where there is no date, or where it is not certain which day is meant.
    """
    mark = _DATE_MARK.match(text)
    if mark is None or not _is_date(mark[1].strip()):
        return None, text
    return read_date(mark[1], now), text[mark.end() :]


def _is_date(text: str) -> bool:
    """Whether ``text`` is nothing but a date."""
    if text.lower() in _DAYS_BEFORE or _AGO.fullmatch(text):
        return True
    found, rest = find_dates(text)
    return bool(found) and not rest.strip(" ;,")


def read_timestamp(text: str) -> str | None:
    """Return the first certain date that ``text`` shows in ISO form, with time and zone where given, or None."""
    found = _first(text)
    if found is None:
        return None
    day, time = found
    if time is None:
        return day
    hour, minute, seconds = int(time[1]), time[2], time[3] or "00"
    return f"{day}T{hour:02d}:{minute}:{seconds}{_zone(time)}"


def _zone(time: re.Match[str]) -> str:
    """Return the offset of a time from UTC, empty where it is not given."""
    offset, universal = time[4], time[5]
    if offset:
        return f"{offset[:3]}:{offset[-2:]}"
    return "+00:00" if universal else ""


def _first(text: str) -> tuple[str, re.Match[str] | None] | None:
    """Return the first certain day of ``text`` in ISO form, with the time behind it."""
    text = text[:_MAX_TEXT]
    for form in _forms(text):
        for match in form.finditer(text):
            if day := _partial(match).iso():
                return day, _TIME.match(text, match.end())
    return None


def _forms(text: str) -> Iterator[re.Pattern[str]]:
    """Yield the forms of dates that a text may have."""
    for sign, forms in _FORMS:
        if sign.search(text):
            yield from forms


def _partial(match: re.Match[str]) -> PartialDate:
    """Return the date of a match of one of the forms."""
    parts = match.groupdict()
    year = optional_integer(parts.get("y"))
    if "one" in parts:
        return _numeric(year, int(match["one"]), int(match["two"]), match["s"])
    month = parts["m"]
    number = MONTHS[month.lower()] if month and month.isalpha() else optional_integer(month)
    return PartialDate(year, number, optional_integer(parts.get("d")))


def optional_integer(digits: str | None) -> int | None:
    """Return the value of digits, where there are any."""
    return int(digits) if digits else None


def _numeric(year: int | None, one: int, two: int, separator: str) -> PartialDate:
    """Return the date of ``one`` and ``two``: dots are day first by custom, slashes where only that is possible."""
    is_day_first = separator == "." or one > 12
    if is_day_first or one == two:
        return PartialDate(year, two, one)
    return PartialDate(year, one, two, certain=two > 12)


def _relative(text: str, now: datetime) -> str | None:
    """Return the day of "3 days ago" or "yesterday"."""
    found = _AGO.search(text)
    if found:
        number, unit = found[1], found[2] or found[3]
        count = int(number) if number.isdigit() else 1
        return str((now - count * _UNITS[unit.lower()]).date())
    days = _DAYS_BEFORE.get(text.strip().lower())
    return None if days is None else str(now.date() - timedelta(days=days))
