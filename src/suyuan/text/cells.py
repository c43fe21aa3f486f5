"""Cells of a table that a spreadsheet may open."""

from __future__ import annotations

import re

# What begins a formula, also in the width of Chinese and Japanese type, which some programs take for the same sign.
_FORMULA = re.compile(
    "\\s*[=+\\-@|%\uff1d\uff0b\uff0d\uff20\u2212\u207a\u208a\u207b\u208b\u207c\u208c\ufe62\ufe63\ufe66\ufe6b\uff05\uff5c]|[\t\r\n]"
)
_NUMBER = re.compile(r"[+\-]?[0-9][0-9.,]*%?")


def cell(text: str) -> str:
    """``text`` as a cell that is a text for every spreadsheet: an apostrophe stands before what would be a formula."""
    if _NUMBER.fullmatch(text) or not _FORMULA.match(text):
        return text
    return f"'{text}"
