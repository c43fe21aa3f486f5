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
MONTHS = {"sept": 9} | {form.lower(): number for number, name in enumerate(MONTH_NAMES, 1) for form in (name, name[:3])}
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
_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)
_DAYS = {"day 天 日": 1, "week 周 週 星期": 7, "month 月 个月 個月": 30, "year 年": 365}
_UNITS = {name: timedelta(days=days) for names, days in _DAYS.items() for name in names.split()} | {
    "minute": _MINUTE, "min": _MINUTE, "分钟": _MINUTE, "分鐘": _MINUTE,
    "hour": _HOUR, "hr": _HOUR, "小时": _HOUR, "小時": _HOUR,
}  # fmt: skip
_DAYS_BEFORE = {"today": 0, "yesterday": 1, "今天": 0, "昨天": 1, "前天": 2}
_ISO = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?!\d)", re.A)
_DATE_MARK = re.compile(r"^(.{2,40}?)\s*[·•‧・]\s*(?=\S)")
_LONGEST = 200
"""A text that shows a date is short; what is longer is not read to its end."""


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as precise as a text gives it: a year, a month of a year, a day of a month, or all of them."""

    year: int | None
    month: int | None
    day: int | None
    certain: bool = True
    """False for ``3/4/2020``, which is in March or in April."""

    def iso(self) -> str | None:
        """Return the day in ISO form; None where it is incomplete, uncertain, impossible, or no page is so old."""
        if not self.certain or not 1900 <= (self.year or 0) < 2100:
            return None
        try:
            return date(self.year or 0, self.month or 0, self.day or 0).isoformat()
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
    if not text:
        return None
    if not (found := _first(text)):
        return _relative(text, now) if now else None
    day, time = found
    if time is None or int(time[1]) == int(time[2]) == 0:
        return day
    return f"{day}T{int(time[1]):02d}:{time[2]}" + (f":{time[3]}" if time[3] else "")


def first_day(text: str) -> date | None:
    """Return the first day of a date in ISO form that may be a year or a month only; None where there is none."""
    found = _ISO.match(text)
    try:
        return date(int(found[1]), int(found[2] or 1), int(found[3] or 1)) if found else None
    except ValueError:
        return None


def leading_date(text: str, now: datetime | None = None) -> tuple[str | None, str]:
    """Return the date that ``text`` begins with, as ``3 days ago · …``, and the text without it.

    The first value is None where there is no date, or where it is not certain which day is meant.
    """
    if not (mark := _DATE_MARK.match(text)) or not _is_date(mark[1].strip()):
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
    if not (found := _first(text)):
        return None
    day, time = found
    if time is None:
        return day
    zone = f"{time[4][:3]}:{time[4][-2:]}" if time[4] else "+00:00" if time[5] else ""
    return f"{day}T{int(time[1]):02d}:{time[2]}:{time[3] or '00'}{zone}"


def _first(text: str) -> tuple[str, re.Match[str] | None] | None:
    """Return the first certain day of ``text`` in ISO form, with the time behind it."""
    text = text[:_LONGEST]
    for form in _forms(text):
        for match in form.finditer(text):
            if day := _partial(match).iso():
                return day, _TIME.match(text, match.end())
    return None


def _forms(text: str) -> Iterator[re.Pattern[str]]:
    return (form for sign, forms in _FORMS if sign.search(text) for form in forms)


def _partial(match: re.Match[str]) -> PartialDate:
    parts = match.groupdict()
    year = int(parts["y"]) if parts.get("y") else None
    if "one" in parts:
        return _numeric(year, int(match["one"]), int(match["two"]), match["s"])
    month, day = parts["m"], parts.get("d")
    return PartialDate(year, (MONTHS.get(month.lower()) or int(month)) if month else None, int(day) if day else None)


def _numeric(year: int | None, one: int, two: int, separator: str) -> PartialDate:
    """Return the date of ``one`` and ``two``: dots are day first by custom, slashes where only that is possible."""
    if separator == "." or one > 12 or one == two:
        return PartialDate(year, two, one)
    return PartialDate(year, one, two, certain=two > 12)


def _relative(text: str, now: datetime) -> str | None:
    if found := _AGO.search(text):
        number = int(found[1]) if found[1].isdigit() else 1
        return str((now - number * _UNITS[(found[2] or found[3]).lower()]).date())
    days = _DAYS_BEFORE.get(text.strip().lower())
    return None if days is None else str(now.date() - timedelta(days=days))
