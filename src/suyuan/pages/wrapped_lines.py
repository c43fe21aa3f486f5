"""Lines of a text that was set in columns: a sentence goes on in the next line."""

from __future__ import annotations

import re

from ..text.scripts import CJK

_FULL = 0.7
"""The share of the longest line from which a line is full, so that the next one goes on with it."""
_ENDS = re.compile(r"[.!?:;。！？：；…][\"'”’）)\]]*$")
_BEGINS = re.compile(r"\s*(?:[-*•–—#|]|\d{1,3}[.)、]\s|[(（]?[a-z\d][)）])")
_WIDE = re.compile(f"[{CJK}，、（《“]")


def unwrapped(text: str) -> str:
    """Return ``text`` with the lines of a sentence joined; short lines, list items and headings stay as they are."""
    lines = text.split("\n")
    longest = max(map(len, lines))
    found = lines[:1]
    for before, line in zip(lines, lines[1:], strict=False):
        is_full = len(before) >= _FULL * longest
        goes_on = is_full and before.strip() and line.strip()
        if goes_on and not _ENDS.search(before.rstrip()) and not _BEGINS.match(line):
            found[-1] = _joined(found[-1].rstrip(), line.lstrip())
        else:
            found.append(line)
    return "\n".join(found)


def _joined(before: str, after: str) -> str:
    if before.endswith("-") and before[-2:-1].isalpha() and after[:1].islower():
        return before[:-1] + after
    return before + ("" if _WIDE.match(before[-1:]) or _WIDE.match(after[:1]) else " ") + after
