"""Numbers and dates of a text in one spelling: ``1,269``, ``3.5 million``, ``1.2亿`` and ``24 October 2018``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from .dates import PartialDate, find_dates

_SCALES = {
    "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "mn": 6, "bn": 9, "k": 3, "m": 6, "b": 9,
    "十": 1, "百": 2, "千": 3, "万": 4, "亿": 8, "萬": 4, "億": 8, "兆": 12,
    "百万": 6, "千万": 7, "十亿": 9, "百亿": 10, "千亿": 11, "万亿": 12,
}  # fmt: skip
FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
"""The digits of a number."""
NUMBER = re.compile(
    r"(?<![\d.])(?P<n>\d{1,3}(?:[,，]\d{3})+(?:\.\d+)?|\d+(?:[.:]\d+)*)"
    r"(?:\s*(?P<p>%|％|percent\b|per cent\b|个百分点)"
    r"|[ -]?(?P<w>thousand|million|billion|trillion|bn|mn)\b|(?P<k>[kmb])\b"
    r"|\s*(?P<c>万亿|千亿|百亿|十亿|千万|百万|[万萬亿億兆千百十]))?",
    re.I,
)
CHINESE_NUMBER = re.compile(
    r"(百分之)?([零〇一二两三四五六七八九十百千万亿]{1,24})(?:点([零〇一二三四五六七八九]{1,12}))?"
)
_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_CARDINALS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
SPELLED = {
    "dozen": 12, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "hundred": 100,
    **{word: value for value, word in enumerate(_CARDINALS.split())},
    **{word: value for value, word in enumerate(_ORDINALS.split(), 1)},
}  # fmt: skip
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[a-z]+")
_MAY_BE_UNITS = ("十", "百", "千")


@dataclass(frozen=True, slots=True)
class Figures:
    """The numbers and dates of a text."""

    stated: frozenset[str]
    """Each as precise as the text gives it."""
    implied: frozenset[str]
    """Those and all that follow from them: a date implies its year, twelve percent implies twelve."""


def figures(text: str) -> Figures:
    """Return the numbers and dates of ``text``."""
    if not _DIGIT.search(text):
        return Figures(frozenset(), frozenset(_spelled(text)))
    stated: set[str] = set()
    implied: set[str] = set()
    dates, rest = find_dates(text)
    for date, _, _ in dates:
        _add_date(date, stated, implied)
    for number in NUMBER.finditer(rest):
        _add_number(number, stated, implied)
    return Figures(frozenset(stated), frozenset(implied | stated | _spelled(rest)))


def _add_date(date: PartialDate, stated: set[str], implied: set[str]) -> None:
    """Add what a date states, and what follows from it."""
    year = str(date.year or "")
    month = f"{date.month:02d}" if date.month else ""
    day = f"{month}-{date.day:02d}" if date.day else ""
    # A year alone is a number like others: "in 2018" is implied by every date of 2018.
    stated.add("-".join(filter(None, (year, day or month))))
    implied.update(filter(None, (year, day)))
    if year and month:
        implied.add(f"{year}-{month}")


def read_number(found: re.Match[str]) -> tuple[str, Decimal | None, int]:
    """Return the digits of a match of ``NUMBER``, their value, and the power of ten behind them.

    A version, a score or a time of day has no value.
    """
    digits = found["n"].replace(",", "").replace("，", "")
    scale = _SCALES.get((found["w"] or found["k"] or found["c"] or "").lower(), 0)
    try:
        return digits, Decimal(digits), scale
    except InvalidOperation:
        return digits, None, 0


def _add_number(match: re.Match[str], stated: set[str], implied: set[str]) -> None:
    """Add what a number states, and what follows from it."""
    digits, value, scale = read_number(match)
    if value is None:
        stated.add(digits)
        implied.add(digits.split(":")[0])
        return
    plain = _plain(value.scaleb(scale))
    percent = "%" if match["p"] else ""
    stated.add(f"{plain}{percent}")
    implied.add(plain)
    if match["k"] or match["c"] in _MAY_BE_UNITS:
        implied.add(_plain(value))  # "5 m" may be metres.


def _plain(value: Decimal) -> str:
    """Return a number without an exponent and without zeros at its end."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _spelled(text: str) -> set[str]:
    """Return the numbers in words: implied and never stated, since such words have other uses."""
    found = {str(SPELLED[word]) for word in SPELLED.keys() & _WORD.findall(text.lower())}
    if text.isascii():
        return found
    for percent, whole, fraction in CHINESE_NUMBER.findall(text):
        number = str(chinese_value(whole))
        if fraction:
            number += f".{_digits(fraction)}"
        found.add(number)
        if percent:
            found.add(f"{number}%")
    return found


def _digits(text: str) -> str:
    """Return Chinese digits as Arabic ones."""
    return "".join(str(_DIGITS[character]) for character in text)


def chinese_value(text: str) -> int:
    """Return the value of a number in Chinese characters; years are written digit by digit."""
    if len(text) > 1 and _DIGITS.keys() >= set(text):
        return int(_digits(text))
    total = section = digit = 0
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character in _UNITS:
            section += (digit or 1) * _UNITS[character]
            digit = 0
        else:
            section += digit
            if character == "万":
                total += section * 10**4
            else:
                total = (total + section) * 10**8
            section = digit = 0
    return total + section + digit
