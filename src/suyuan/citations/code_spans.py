"""Where code stands in Markdown, line by line: nothing in it is a citation."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LEAD = re.compile(r"([ \t]{0,3}(?:>[ \t]?)+)?([ \t]*)(.*)", re.S)
_FENCE = re.compile(r"(`{3,})[^`\n]*$|(~{3,})")
_MAY_BE_FENCE = re.compile(r"`{1,2}$|`{3,}[^`\n]*$|~{1,2}$")
_ITEM = re.compile(r"(?:[-*+•]|\d{1,9}[.)])(?:[ \t]|$)")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_UNDECIDED = re.compile(r"(?:[-*+•]|\d{1,9}[.)]?|#{1,6})$")

MAX_LEAD = 400
"""So much of a line tells all; a longer one need not be waited for."""


@dataclass(frozen=True, slots=True)
class _Fence:
    sign: str
    quoted: bool


class CodeLines:
    """Follows the lines of a text and tells which are code; a line is known by its beginning, if that is long enough."""

    def __init__(self) -> None:
        self._fence: _Fence | None = None
        self._paragraph = False
        self._list = False

    def decided(self, line: str) -> bool:
        """Whether ``line``, of which more may come, is long enough for :meth:`enter`."""
        if len(line) >= MAX_LEAD:
            return True
        quoted, _, rest = _parts(line)
        if self._fence is not None and (quoted or not self._fence.quoted):
            # All that matters in a fence is whether this line closes it.
            return bool(rest.strip(self._fence.sign[0] + " \t\r"))
        return bool(rest.strip(" \t\r>")) and not _MAY_BE_FENCE.match(rest) and not _UNDECIDED.match(rest)

    def enter(self, line: str) -> bool:
        """Take the next line, or a decided beginning of it; whether it is code."""
        quoted, indent, rest = _parts(line[:MAX_LEAD].rstrip("\r\n"))
        if self._fence is not None:
            if quoted or not self._fence.quoted:
                return self._inside(rest.rstrip())
            self._fence = None  # The quotation is over, and the code in it.
        return self._outside(rest, indent, quoted)

    def _inside(self, rest: str) -> bool:
        sign = self._fence.sign if self._fence else ""
        if len(rest) >= len(sign) and not rest.strip(sign[0]):
            self._fence = None
            self._paragraph = False
        return True

    def _outside(self, rest: str, indent: int, quoted: bool) -> bool:
        if not rest:
            self._paragraph = False
            return False
        if indent >= 4 and not self._paragraph and not self._list:
            return True
        if (indent < 4 or self._list) and (fence := _FENCE.match(rest)):
            self._fence = _Fence(fence[1] or fence[2], quoted)
            return True
        if _ITEM.match(rest):
            self._list = self._paragraph = True
            return False
        if indent == 0 and not self._paragraph:
            self._list = False
        self._paragraph = not _HEADING.match(rest)
        return False


def _parts(line: str) -> tuple[bool, int, str]:
    """Whether a line is quoted, how far it is indented, and the rest of it."""
    lead = _LEAD.match(line)
    quote, indent, rest = lead.groups(default="") if lead else ("", "", line)
    return bool(quote), len(indent.expandtabs(4)), rest
