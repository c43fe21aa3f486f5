"""Numbers and dates as values that can be compared: "more than 5" agrees with 6, "24 October" with "October 2018"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from .dates import PartialDate, find_dates, optional_integer
from .numbers import CHINESE_NUMBER, NUMBER, SPELLED, chinese_value, read_number
from .scripts import HAN

_MORE = (
    r"more than|over|above|at least|exceed(?:s|ed|ing)?|surpass(?:es|ed|ing)?|greater than|higher than|upwards of"
    r"|no (?:less|fewer) than|minimum of"
)
_LESS = r"less than|fewer than|under|below|at most|up to|no more than|lower than|maximum of|within"
_NEARLY = r"nearly|almost|close to|just under"
_ABOUT = r"about|around|approximately|roughly|some|an estimated|circa|ca\.?|c\.|~|≈|near"
_MORE_ZH = "(?<!不)(?:超过|超出|超|逾|多于|大于|高于)|至少|不少于|不低于|突破"
_LESS_ZH = "(?<!不)(?:少于|小于|低于)|不足|不到|未满|不满|至多|最多|不超过|不多于|不大于|不高于"
_NEAR = 24
"""What stands before or after a number is looked for in so many characters."""
_HERE = rf"\s{{0,{_NEAR}}}+[$€£¥]?\s{{0,{_NEAR}}}+$"
_BEFORE = {
    "more": re.compile(rf"(?:\b(?<!no )(?:{_MORE})|{_MORE_ZH}|[>≥]){_HERE}", re.I),
    "less": re.compile(rf"(?:\b(?<!no )(?:{_LESS})|{_LESS_ZH}|[<≤]){_HERE}", re.I),
    "nearly": re.compile(rf"(?:\b(?:{_NEARLY})|将近|接近|近){_HERE}", re.I),
    "about": re.compile(rf"(?:(?<!\w)(?:{_ABOUT})|大约|约|大概|左右|上下){_HERE}", re.I),
}
_AFTER = {
    "more": re.compile(
        rf"\+|\s{{0,{_NEAR}}}+(?:or more|and (?:more|above)|plus)\b|[多余]|[^\d\s，。,.]{{0,3}}(?:以上|之上)", re.I
    ),
    "less": re.compile(rf"\s{{0,{_NEAR}}}+or (?:less|fewer)\b|[^\d\s，。,.]{{0,3}}(?:以下|以内|之内)", re.I),
    "about": re.compile(r"[^\d\s，。,.]{0,3}(?:左右|上下)"),
}
_EXCLUSIVE = re.compile(
    r"(?:(?:more|less|fewer|greater|higher|lower) than|over|above|under|below|exceed\w*|surpass\w*)"
    r"|超[过出]?|逾|[多大高少小低]于|突破|不足|不到|[未不]满|[<>]",
    re.I,
)
_EARLIER = re.compile(r"\b(?:before|prior to|by|until|till|earlier than)\s+(?:the\s+)?$", re.I)
_LATER = re.compile(r"\b(?:after|since|later than|following)\s+(?:the\s+)?$", re.I)
_EARLIER_ZH = re.compile("[底初末]?(?:之前|以前|前(?![\\w]))")
_LATER_ZH = re.compile("[底初末]?(?:之后|以后|以来|[后起](?![\\w]))")
_RANGE_END = re.compile(r"(?<=(\d\d)\d\d[-–/])(\d\d)(?![\d.%–-])")
_WORD_AFTER = re.compile(rf"[ -]?([A-Za-z]{{1,20}}|[{HAN}])")
_CURRENCY = re.compile(r"([$€£¥])\s*$")
_LONG_UNITS = "公里|千米|厘米|毫米|海里|英里|公斤|千克|公顷|平方米|平方公里|分钟|小时|美元|欧元|英镑|日元|人次"
_WHOLE_UNIT = re.compile(rf"[ -]?([A-Za-z%°]{{1,20}}|{_LONG_UNITS}|[{HAN}])")
_DAY_ALONE = re.compile(r"(?<![\d.月])(?P<d>[0-3]?\d)[日号](?!线)|(?<![\d.年])(?P<m>1[0-2]|[1-9])月(?!\s*\d)")
_SPELLED = re.compile(rf"\b(?:{'|'.join(sorted(SPELLED, key=len, reverse=True))})\b", re.I)
_BEFORE_YEAR = re.compile(
    r"(?:^|\b(?:the|in|of|since|during|until|by|early|late|summer|winter|spring|autumn)\s)$", re.I
)
_FIRST = re.compile(
    "首(?=[部个位届家座枚块所艘架条项名支张款颗批期])|第一(?=[部个位届家座枚块所艘架条项名支张款颗批期])"
)
_YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")
_AFTER_NUMBERS = "to and or in of the a an for from by on at with was is as per after before th st nd rd until"
_NO_UNIT = frozenset(_AFTER_NUMBERS.split())
_INFINITE = Decimal("1e30")
_DATE_REACH = 16
_ORDINAL_ENDINGS = ("th", "st", "nd", "rd")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, or a date, at its place in a text."""

    start: int
    end: int
    key: str
    """Equal for equal values."""
    low: Decimal = Decimal(0)
    high: Decimal = Decimal(0)
    unit: str = ""
    date: PartialDate | None = None
    is_open: bool = False
    """Whether it gives a limit and no value: "more than 5"."""
    is_exclusive: bool = False
    """Whether it is a limit that is not reached: "more than 5", unlike "at least 5"."""

    @property
    def has_day(self) -> bool:
        """Whether it is a date with its day."""
        return self.date is not None and bool(self.date.day)

    def written(self, text: str) -> str:
        """Return it as ``text`` has it, with its currency or the whole word of its unit."""
        if not self.unit or self.date:
            return text[self.start : self.end]
        currency = _currency(text, self.start)
        if currency:
            return text[currency.start() : self.end]
        after = _WHOLE_UNIT.match(text, self.end)
        if after and after[1].lower().startswith(self.unit[:3]):
            return text[self.start : after.end()]
        return text[self.start : self.end]

    def agrees(self, other: Quantity) -> bool:
        """Whether both may be the same value."""
        if "version" in (self.unit, other.unit):
            return self.key == other.key
        has_limit = self.is_open or other.is_open
        if self.date and other.date and not has_limit:
            return all(ours == theirs for ours, theirs in _common(self.date, other.date))
        if self.is_open and other.is_open and self._has_limit_of(other):
            return self.key == other.key  # "Over 200" is not "over 250".
        if bool(self.date) != bool(other.date):
            return False
        return self.low <= other.high and other.low <= self.high

    def _has_limit_of(self, other: Quantity) -> bool:
        """Whether both give the same kind of limit."""
        return self.low == other.low or self.high == other.high

    def is_limit_for(self, other: Quantity) -> bool:
        """Whether one is a limit that is not reached, and the other a value: "more than 5" is not 5."""
        return self.is_open != other.is_open and (self.is_exclusive or other.is_exclusive)

    def is_comparable(self, other: Quantity) -> bool:
        """Whether both measure the same, as far as their units show."""
        if self.date and other.date:
            return bool(_common(self.date, other.date))
        is_date = bool(self.date or other.date)
        return not is_date and self.unit == other.unit


def _currency(text: str, start: int) -> re.Match[str] | None:
    """Return the sign of a currency before a number."""
    return _CURRENCY.search(text, max(0, start - 3), start)


def _common(one: PartialDate, other: PartialDate) -> list[tuple[int, int]]:
    """Return year, month and day of two dates, as far as both have them."""
    pairs = ((one.year, other.year), (one.month, other.month), (one.day, other.day))
    return [(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None]


def find_quantities(text: str) -> list[Quantity]:
    """Return the numbers and dates of ``text``, in their order; numbers in words too, except "one"."""
    dates, rest = find_dates(text)
    for match in _RANGE_END.finditer(rest):
        dates.append((PartialDate(int(match[1] + match[2]), None, None), *match.span()))
    for match in _DAY_ALONE.finditer(rest):
        month, day = optional_integer(match["m"]), optional_integer(match["d"])
        dates.append((PartialDate(None, month, day), *match.span()))
    rest = _without(rest, [(start, end) for _, start, end in dates])
    found = [_date(text, start, end, date) for date, start, end in dates]
    found += [_number(rest, match) for match in NUMBER.finditer(rest)]
    found += _spelled(NUMBER.sub(lambda match: " " * len(match[0]), rest))
    return sorted(found, key=lambda quantity: quantity.start)


def _without(text: str, places: list[tuple[int, int]]) -> str:
    """Return ``text`` with a semicolon and spaces at these places; of those within one another, the last counts."""
    signs = list(text)
    for start, end in places:
        signs[start:end] = ";".ljust(end - start)
    return "".join(signs)


def _date(text: str, start: int, end: int, date: PartialDate) -> Quantity:
    """Return a date, with its year as the value: "before 1967" agrees with 1965."""
    low = high = Decimal(date.year or 0)
    reach = max(0, start - _DATE_REACH)
    if _EARLIER.search(text, reach, start) or _EARLIER_ZH.match(text, end):
        return Quantity(start, end, date.key, -_INFINITE, high, date=date, is_open=True)
    if _LATER.search(text, reach, start) or _LATER_ZH.match(text, end):
        return Quantity(start, end, date.key, low, _INFINITE, date=date, is_open=True)
    return Quantity(start, end, date.key, low, high, date=date)


def _number(text: str, match: re.Match[str]) -> Quantity:
    """Return a number with its unit, or a year."""
    start, end = match.span()
    digits, value, scale = read_number(match)
    if value is None:
        return Quantity(start, end, digits, unit="version")
    unit = "%" if match["p"] else _unit(text, start, end)
    is_year = _YEAR.fullmatch(digits) and not scale
    if is_year and _may_be_year(text, start, unit):
        return _date(text, start, end, PartialDate(int(digits), None, None))
    # "3.5 million" stands for what is rounded to it; a plain whole number stands for itself.
    blur = Decimal(0)
    is_rounded = scale or "." in digits
    if is_rounded or unit == "%":
        last_place = scale + min(0, int(value.as_tuple().exponent))
        blur = Decimal(5).scaleb(last_place - 1)
    return _with_limits(text, start, end, value.scaleb(scale), blur, unit)


def _may_be_year(text: str, start: int, unit: str) -> bool:
    """Whether four digits have no unit, or stand after a word for a time, as in "in 1998 she"."""
    if not unit:
        return True
    return unit.isascii() and _BEFORE_YEAR.search(text, 0, start) is not None


def _with_limits(text: str, start: int, end: int, value: Decimal, blur: Decimal, unit: str) -> Quantity:
    """Return a number with the values that it may stand for: "nearly 5", "more than 5"."""
    limit, words = _limit(text, start, end)
    low, high = value - blur, value + blur
    if limit == "more":
        low, high = value, _INFINITE
    elif limit == "less":
        low, high = -_INFINITE, value
    elif limit == "nearly":
        low = value * Decimal("0.85")
    elif limit == "about":
        low, high = value * Decimal("0.9"), value * Decimal("1.1")
    percent = "%" if unit == "%" else ""
    key = f"{value.normalize():f}{percent}"
    is_open = limit in ("more", "less")
    is_exclusive = is_open and _EXCLUSIVE.match(words) is not None
    return Quantity(start, end, key, low, high, unit, is_open=is_open, is_exclusive=is_exclusive)


def _limit(text: str, start: int, end: int) -> tuple[str, str]:
    """Return which kind of limit a number is, and the words before it that say so."""
    before = text[max(0, start - _NEAR) : start]
    for limit, sign in _BEFORE.items():
        if found := sign.search(before):
            return limit, found[0]
    return next((limit for limit, sign in _AFTER.items() if sign.match(text, end)), ""), ""


def _unit(text: str, start: int, end: int) -> str:
    """Return the currency before a number, or the unit after it."""
    if currency := _currency(text, start):
        return currency[1]
    if text[end : end + 2].lower() in _ORDINAL_ENDINGS:
        return "th"
    after = _WORD_AFTER.match(text, end)
    if after is None:
        return ""
    word = after[1].lower()
    if word in _NO_UNIT:
        return ""
    return word.rstrip("s") if word.isascii() else word


def _spelled(text: str) -> Iterator[Quantity]:
    """Yield the numbers in words; "one" and 一 are mostly articles."""
    for match in _SPELLED.finditer(text):
        value = SPELLED[match[0].lower()]
        if value != 1:
            yield _with_limits(text, *match.span(), Decimal(value), Decimal(0), _unit(text, *match.span()))
    if not text.isascii():
        yield from _spelled_in_chinese(text)


def _spelled_in_chinese(text: str) -> Iterator[Quantity]:
    """Yield the numbers in Chinese characters."""
    for match in _FIRST.finditer(text):
        yield Quantity(*match.span(), "1", Decimal(1), Decimal(1), text[match.end()])
    for match in CHINESE_NUMBER.finditer(text):
        value = chinese_value(match[2])
        if value < 2 or match[3]:
            continue
        if len(match[2]) > 1 or _WORD_AFTER.match(text, match.end()):
            unit = "%" if match[1] else _unit(text, *match.span())
            yield _with_limits(text, *match.span(), Decimal(value), Decimal(0), unit)
