"""Numbers and dates of a text in one spelling, so that ``1,269``, ``3.5 million``, ``1.2亿`` and ``24 October 2018`` can be compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug", "september sep sept",
         "october oct", "november nov", "december dec"), 1)
    for name in names.split()
}  # fmt: skip
_MONTH = rf"(?P<%s>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
_DAY = r"(?P<%s>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<%s>[12]\d{3})"
# Each with a sign without which it cannot occur, which is quicker to look for.
_DATES = (
    (re.compile("年|月"), (
        re.compile(rf"(?<!\d){_YEAR % 'y'}\s*年(?:\s*(?P<m>[01]?\d)\s*月(?:\s*(?P<d>[0-3]?\d)\s*[日号])?)?"),
        re.compile(r"(?<!\d)(?P<m>[01]?\d)\s*月(?:\s*(?P<d>[0-3]?\d)\s*[日号])"),
    )),
    (re.compile(r"\d[-/.]\d"), (
        re.compile(rf"(?<![\d.,]){_YEAR % 'y'}([-/.])(?P<m>[01]?\d)\2(?P<d>[0-3]?\d)(?!\d)"),
        re.compile(rf"(?<![\d.,])(?P<m>[01]?\d)/(?P<d>[0-3]?\d)/{_YEAR % 'y'}(?!\d)"),
    )),
    (re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.I), (
        re.compile(rf"\b{_MONTH % 'm'}\s+{_DAY % 'd'}\b(?!\s*[:%])(?:\s*,?\s+{_YEAR % 'y'}\b)?", re.I),
        re.compile(rf"\b{_DAY % 'd'}\s+(?:of\s+)?{_MONTH % 'm'}\b(?:\s*,?\s+{_YEAR % 'y'}\b)?", re.I),
        re.compile(rf"\b{_MONTH % 'm'}\s*,?\s+(?:of\s+)?{_YEAR % 'y'}\b", re.I),
    )),
)  # fmt: skip
_SCALES = {
    "thousand": 3, "million": 6, "billion": 9, "trillion": 12, "mn": 6, "bn": 9, "k": 3, "m": 6, "b": 9,
    "十": 1, "百": 2, "千": 3, "万": 4, "亿": 8, "萬": 4, "億": 8, "兆": 12,
    "百万": 6, "千万": 7, "十亿": 9, "百亿": 10, "千亿": 11, "万亿": 12,
}  # fmt: skip
_NUMBER = re.compile(
    r"(?<![\d.])(?P<n>\d{1,3}(?:[,，]\d{3})+(?:\.\d+)?|\d+(?:[.:]\d+)*)"
    r"(?:\s*(?P<p>%|％|percent\b|per cent\b|个百分点)"
    r"|[ -]?(?P<w>thousand|million|billion|trillion|bn|mn)\b|(?P<k>[kmb])\b"
    r"|\s*(?P<c>万亿|千亿|百亿|十亿|千万|百万|[万萬亿億兆千百十]))?",
    re.I,
)
_CHINESE = re.compile(r"(百分之)?([零〇一二两三四五六七八九十百千万亿]{1,24})(?:点([零〇一二三四五六七八九]{1,12}))?")
_DIGITS = {
    char: value
    for value, chars in enumerate(("零〇", "一", "二两", "三", "四", "五", "六", "七", "八", "九"))
    for char in chars
}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_CARDINALS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty"""
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_TENS = {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "hundred": 100,
    "dozen": 12,
}
_SPELLED = {word: value for value, word in enumerate(_CARDINALS.split())}
_SPELLED |= {word: value for value, word in enumerate(_ORDINALS.split(), 1)} | _TENS
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class Figures:
    """What a text counts and dates; ``stated`` as exactly as it says, ``held`` with all that follows from that."""

    stated: frozenset[str]
    held: frozenset[str]


def figures(text: str) -> Figures:
    """The numbers and dates of ``text``."""
    stated: set[str] = set()
    held: set[str] = set()
    rest = text
    if not _DIGIT.search(text):
        return Figures(frozenset(), frozenset(_spelled(text)))
    for form in _date_forms(text):
        if dates := list(form.finditer(rest)):
            for found in dates:
                _date(found.groupdict(), stated, held)
            rest = form.sub(" ; ", rest)
    for found in _NUMBER.finditer(rest):
        _number(found, stated, held)
    return Figures(frozenset(stated), frozenset(held | stated | _spelled(rest)))


def _date_forms(text: str) -> list[re.Pattern[str]]:
    return [form for sign, forms in _DATES if sign.search(text) for form in forms]


def _date(parts: dict[str, str | None], stated: set[str], held: set[str]) -> None:
    year, day = parts.get("y") or "", parts.get("d")
    name = (parts.get("m") or "").lower()
    month = f"{MONTHS.get(name) or int(name):02d}" if name else ""
    of_year = "-".join(part for part in (month, f"{int(day):02d}" if day else "") if part)
    # A year alone is a number like others: "in 2018" holds wherever a date of 2018 stands.
    stated.add("-".join(part for part in (year, of_year) if part))
    held.update(
        part
        for part in (year, f"{year}-{month}" if year and month else "", of_year if day else "", f"month {month}")
        if part
    )


def _number(found: re.Match[str], stated: set[str], held: set[str]) -> None:
    raw = found["n"].replace(",", "").replace("，", "")
    try:
        value = Decimal(raw)
    except InvalidOperation:  # A version or a time of day.
        stated.add(raw)
        held.add(raw.split(":")[0])
        return
    scale = _SCALES.get((found["w"] or found["k"] or found["c"] or "").lower(), 0)
    plain = _plain(value.scaleb(scale))
    stated.add(f"{plain}%" if found["p"] else plain)
    held.add(plain)
    if found["k"] or (found["c"] or "") in tuple("十百千"):
        held.add(_plain(value))  # "5 m" may be metres.


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _spelled(text: str) -> set[str]:
    """Numbers in words: what a text holds, never what it states, since such words have other uses."""
    found = {str(_SPELLED[word]) for word in _SPELLED.keys() & _WORD.findall(text.lower())}
    for percent, whole, part in _CHINESE.findall(text):
        value = _chinese(whole)
        number = f"{value}.{''.join(str(_DIGITS[char]) for char in part)}" if part else str(value)
        found.add(number)
        if percent:
            found.add(f"{number}%")
    return found


def _chinese(text: str) -> int:
    """The value of a number in Chinese characters; years are written digit by digit."""
    if len(text) > 1 and all(char in _DIGITS for char in text):
        return int("".join(str(_DIGITS[char]) for char in text))
    total = section = digit = 0
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _UNITS:
            section += (digit or 1) * _UNITS[char]
            digit = 0
        else:
            total = (total + section + digit) * (10**4 if char == "万" else 10**8)
            section = digit = 0
    return total + section + digit
