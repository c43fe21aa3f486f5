"""Finds the code blocks of a Markdown text, line by line; code contains no citations."""

from __future__ import annotations

import re

_LEAD = re.compile(r"([ \t]{0,3}(?:>[ \t]?)+)?([ \t]*)(.*)", re.S)
_FENCE = re.compile(r"(`{3,})[^`\n]*$|(~{3,})")
_MAY_BE_FENCE = re.compile(r"`{1,2}$|`{3,}[^`\n]*$|~{1,2}$")
_ITEM = re.compile(r"(?:[-*+•]|\d{1,9}[.)])(?:[ \t]|$)")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_UNDECIDED = re.compile(r"(?:[-*+•]|\d{1,9}[.)]?|#{1,6})$")

MAX_LEAD = 400
"""How much of a line is needed at most to classify it."""


class CodeLines:
    """Classifies the lines of a text as code or not; the beginning of a line is enough if it is long enough."""

    def __init__(self) -> None:
        self._fence = ""
        """The sign that closes the code; empty outside of one."""
        self._fence_quoted = False
        self._paragraph = False
        self._list = False

    def is_decided(self, line: str) -> bool:
        """Whether ``line``, which may continue, is long enough for :meth:`classify`."""
        if len(line) >= MAX_LEAD:
            return True
        quoted, _, rest = _parts(line)
        if self._fence and (quoted or not self._fence_quoted):
            # Inside a fence the only question is whether this line closes it.
            return bool(rest.strip(self._fence[0] + " \t\r"))
        return bool(rest.strip(" \t\r>")) and not _MAY_BE_FENCE.match(rest) and not _UNDECIDED.match(rest)

    def classify(self, line: str) -> bool:
        """Take the next line, or enough of its beginning; return whether it is code."""
        quoted, indent, rest = _parts(line[:MAX_LEAD].rstrip("\r\n"))
        if self._fence:
            if quoted or not self._fence_quoted:
                return self._inside(rest.rstrip())
            self._fence = ""  # The code ends with the quotation.
        return self._outside(rest, indent, quoted)

    def _inside(self, rest: str) -> bool:
        if len(rest) >= len(self._fence) and not rest.strip(self._fence[0]):
            self._fence = ""
            self._paragraph = False
        return True

    def _outside(self, rest: str, indent: int, quoted: bool) -> bool:
        if not rest:
            self._paragraph = False
            return False
        if indent >= 4 and not self._paragraph and not self._list:
            return True
        if (indent < 4 or self._list) and (fence := _FENCE.match(rest)):
            self._fence, self._fence_quoted = fence[1] or fence[2], quoted
            return True
        if _ITEM.match(rest):
            self._list = self._paragraph = True
            return False
        if indent == 0 and not self._paragraph:
            self._list = False
        self._paragraph = not _HEADING.match(rest)
        return False


def _parts(line: str) -> tuple[bool, int, str]:
    """Whether a line is quoted, its indentation, and the rest of it."""
    lead = _LEAD.match(line)
    quote, indent, rest = lead.groups(default="") if lead else ("", "", line)
    return bool(quote), len(indent.expandtabs(4)), rest
