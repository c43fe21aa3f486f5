"""Citation markers, in all the forms in which models write them.

``[1]``, ``[1][2]``, ``[1, 2]``, ``[1、2]``, ``[1-3]``, ``【1】``, ``【1†source】``, ``［1］``, ``[^1]``,
``[[1]]``, ``[来源 1]``, ``[source 1]``, and ``[[1]](url)``, where the address is part of the marker.
Code, images, footnote definitions and ``[abc]`` are not markers. An index of an array is one only within code: in a
sentence ``Paris[1]`` and ``x[1]`` are citations.

``[1](url)`` is a link that the model has written. It is a marker only where the address is that of its source, which
the text alone does not tell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, chain
from typing import Final

from .code_lines import MAX_LEAD, CodeLines

MAX_RANGE = 10
MAX_ADDRESS = 4000
_MAX_BODY = 100
_MAX_SPAN = 4000

_CLOSERS = {"[": "]", "【": "】", "［": "］"}
_LABEL_NAMES = "来源 引用 参考 资料 文献 source sources ref refs reference references citation citations"
_LABELS = sorted(_LABEL_NAMES.split(), key=len, reverse=True)
_LABEL = "|".join(_LABELS)
# The beginnings of labels: a label may still be incomplete.
_LABEL_STARTS = set(chain.from_iterable(accumulate(label) for label in _LABELS))
_LABEL_PART = "|".join(sorted(_LABEL_STARTS, key=len, reverse=True))
_NUMBER = rf"(?:(?:\^|{_LABEL})[ ]?[:：#]?[ ]?)?([0-9０-９]{{1,4}})"
_PART = re.compile(rf"[ ]{{0,3}}{_NUMBER}(?:[ ]?[-–—~～][ ]?{_NUMBER})?[ ]{{0,3}}", re.I)
_SEPARATOR = re.compile(r"[,，、;；]")
_NOTE = re.compile(r"†[^】\n]{0,60}$")
_BODY = re.compile(r"[^\[\]【】［］\n]*")
_MAY_BE_BODY = re.compile(rf"(?:[0-9０-９ ,，、;；\-–—~～^:：#]|{_LABEL_PART})*+(?:†.*)?", re.I)

_SPECIAL = re.compile(r"[\[【［`\\!\n]|\]\(")
_AMBIGUOUS = re.compile(r"[\[【［`\\\]!\n]")
_ESCAPED = re.compile(r"[!-/:-@\[-`{-~【［]")
_TICKS = re.compile(r"`+")
# A code span ends with its paragraph, even if it is not closed.
_BREAK = re.compile(r"\n[ \t>]*(?:\r?\n|[-*+•][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|```|~~~|\|)")
_TARGET = re.compile(
    r"\([ ]?(?![【［\[])(<[^<>\n]*>|[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)(?:[ ]+\"[^\"\n]*\"|[ ]+'[^'\n]*')?[ ]?\)"
)
_ADDRESS = re.compile(r"<?(?:[a-z][a-z0-9+.-]*:|/|#|\.|www\.|[^\s/]+\.[a-z]{2,})", re.I)
_DEFINITION = re.compile(r"[ \t]{0,3}\[\^[^\]\s]{1,40}\]:")
_MAY_BE_DEFINITION = re.compile(r"[ \t]{0,3}(?:\[(?:\^[^\]\s]{0,40}\]?)?)?\Z")


@dataclass(frozen=True, slots=True)
class Marker:
    """The position of a citation marker in a text, with the address that follows it, and the numbers that it cites."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a text as it was written; it is a marker if it has numbers."""

    raw: str
    numbers: tuple[int, ...] = ()
    before_parenthesis: bool = False
    """Whether ``(`` follows the marker, which would make a link of it if it were written as ``[n]``."""
    linked: tuple[int, ...] = ()
    """The numbers that the model itself has linked, to ``address``."""
    address: str = ""


def find_markers(text: str) -> tuple[Marker, ...]:
    """Return all markers of ``text``, whether their sources are known or not."""
    found, start = [], 0
    for segment in segments(text):
        end = start + len(segment.raw)
        if segment.numbers:
            found.append(Marker(start, end, segment.numbers))
        start = end
    return tuple(found)


def without_markers(text: str) -> str:
    """Return ``text`` without its markers and the blanks before them."""
    left = ""
    for segment in segments(text):
        left = left.rstrip(" ") if segment.numbers else left + segment.raw
    return left


def segments(text: str) -> list[Segment]:
    """Return the markers of ``text`` and what stands between them."""
    scanner = MarkerScanner()
    return scanner.feed(text) + scanner.close()


class _NeedMore(Enum):
    """The text so far is not enough for a decision."""

    NEED_MORE = 1


NEED_MORE: Final = _NeedMore.NEED_MORE


class MarkerScanner:
    """Splits a streamed text into markers and the text between them.

    A decision is made only when no continuation of the text could change it, so the chunks make no difference.
    """

    def __init__(self) -> None:
        self._lines = CodeLines()
        self._text = ""
        self._at = 0
        self._final = False
        self._line_start = True
        self._code_line = False
        self._span = 0
        """The number of backticks that may have opened a code span; 0 outside of one."""
        self._span_size = 0
        self._out: list[Segment] = []

    def feed(self, chunk: str) -> list[Segment]:
        """Take more text; return the segments that are certain."""
        self._text = self._text[self._at :] + chunk
        self._at = 0
        while self._at < len(self._text) and self._step():
            pass
        out, self._out = self._out, []
        return out

    def close(self) -> list[Segment]:
        """Return the remaining segments; the text is complete."""
        self._final = True
        return self.feed("")

    def _may_continue(self, end: int) -> bool:
        """Whether ``end`` is the end of the text so far and more may come."""
        return end == len(self._text) and not self._final

    def _step(self) -> bool:
        """Decide on the text at the current position; return False if that needs more text."""
        if self._span:
            return self._in_span()
        if self._line_start:
            return self._begin_line()
        if self._code_line:
            return self._rest_of_code_line()
        special = _SPECIAL.search(self._text, self._at)
        if special is None:
            # A bracket may be the first half of "](".
            end = len(self._text) - (self._text.endswith("]") and not self._final)
            moved = end > self._at
            self._emit(end)
            return moved
        if special.start() > self._at:
            self._emit(special.start())
            return True
        return self._special(special[0])

    def _special(self, sign: str) -> bool:
        if sign == "\n":
            self._emit(self._at + 1)
            self._line_start = True
            return True
        if sign == "\\":
            return self._escape()
        if sign == "`":
            return self._open_span()
        if sign == "](":
            return self._link_target()
        if sign == "!":
            return self._image()
        return self._marker()

    def _begin_line(self) -> bool:
        limit = self._at + MAX_LEAD
        end = self._text.find("\n", self._at, limit)
        if end < 0:
            end = min(len(self._text), limit)
        line = self._text[self._at : end]
        if self._may_continue(end) and (not self._lines.is_decided(line) or _MAY_BE_DEFINITION.match(line)):
            return False
        self._code_line = self._lines.classify(line)
        self._line_start = False
        if not self._code_line and (definition := _DEFINITION.match(line)):
            self._emit(self._at + definition.end())
        return True

    def _rest_of_code_line(self) -> bool:
        end = self._text.find("\n", self._at)
        if end < 0:
            self._emit(len(self._text))
        else:
            self._emit(end + 1)
            self._line_start, self._code_line = True, False
        return True

    def _escape(self) -> bool:
        if self._may_continue(self._at + 1):
            return False
        end = self._at + 1
        if _ESCAPED.match(self._text, end):
            end += 1
        self._emit(end)
        return True

    def _open_span(self) -> bool:
        ticks = _TICKS.match(self._text, self._at)
        end = ticks.end() if ticks else self._at + 1
        if self._may_continue(end):
            return False
        self._span, self._span_size = end - self._at, 0
        self._emit(end)
        return True

    def _in_span(self) -> bool:
        end = self._span_end()
        if end is not NEED_MORE:
            self._span = 0
            if end:
                self._emit(end)
            return True
        # The text up to here is written in the same way, whether it is code or not.
        ambiguous = _AMBIGUOUS.search(self._text, self._at)
        stop = ambiguous.start() if ambiguous else len(self._text)
        self._span_size += stop - self._at
        self._emit(stop)
        return False

    def _span_end(self) -> int | _NeedMore:
        """Return the end of the open code span; 0 if it is not a code span."""
        border = limit = self._at + _MAX_SPAN - self._span_size
        far = limit + 80
        stop = _BREAK.search(self._text, self._at, far)
        if stop:
            border = min(stop.start(), limit)
        for ticks in _TICKS.finditer(self._text, self._at, far):
            if ticks.start() >= border:
                break
            if self._may_continue(ticks.end()):
                return NEED_MORE
            if ticks.end() - ticks.start() == self._span:
                return ticks.end()
        return 0 if stop or self._final or len(self._text) >= far else NEED_MORE

    def _link_target(self) -> bool:
        """Skip the address of an ordinary link, which may contain brackets."""
        target = self._target(self._at + 1)
        if target is NEED_MORE:
            return False
        self._emit(target or self._at + 2)
        return True

    def _image(self) -> bool:
        if self._may_continue(self._at + 1):
            return False
        if self._text[self._at + 1 : self._at + 2] != "[":
            self._emit(self._at + 1)
            return True
        marker = self._candidate(self._at + 1)
        if marker is NEED_MORE:
            return False
        # "Great![1]" ends with a citation; "![1](url)" is an image.
        if marker is not None and self._text.startswith("](", marker.close):
            self._emit(marker.end)
        else:
            self._emit(self._at + 1)
        return True

    def _marker(self) -> bool:
        marker = self._candidate(self._at)
        if marker is NEED_MORE:
            return False
        if marker is None:
            self._emit(self._at + 1)
            return True
        if marker.address:
            self._emit(marker.end, linked=marker)
        else:
            self._emit(marker.end, marker.numbers, self._text[marker.end : marker.end + 1] == "(")
        return True

    def _candidate(self, at: int) -> _Candidate | None | _NeedMore:
        """Return the possible marker at ``at``, if there is one."""
        if self._may_continue(at + 1):
            return NEED_MORE
        sign = self._text[at]
        brackets = 2 if self._text.startswith("[[", at) else 1
        start = at + brackets
        body = _BODY.match(self._text, start, start + _MAX_BODY + 1)
        end = body.end() if body else start
        text = self._text[start:end]
        if len(text) > _MAX_BODY:
            return None
        closer = _CLOSERS[sign] * brackets
        if self._may_be_closed(end, closer):
            return NEED_MORE if _MAY_BE_BODY.fullmatch(text) else None
        if not self._text.startswith(closer, end):
            return None
        numbers = _numbers(text, sign)
        if not numbers:
            return None
        is_link_text = sign == "[" and brackets == 1
        return self._with_target(end + len(closer), numbers, is_link_text=is_link_text)

    def _may_be_closed(self, end: int, closer: str) -> bool:
        """Whether the text so far ends at ``end`` or within the closing brackets there, and more may come."""
        if self._final or len(self._text) - end >= len(closer):
            return False
        return closer.startswith(self._text[end:])

    def _with_target(self, end: int, numbers: tuple[int, ...], *, is_link_text: bool) -> _Candidate | _NeedMore:
        """Return the marker whose brackets end at ``end``, with the link target that follows."""
        if self._may_continue(end):
            return NEED_MORE
        target = self._target(end)
        if target is NEED_MORE or self._may_continue(target):
            return NEED_MORE
        address = ""
        if target and is_link_text:
            address = _bare(self._text[end + 1 : target - 1])
        return _Candidate(end - 1, target or end, numbers, address)

    def _target(self, at: int) -> int | _NeedMore:
        """Return the end of the link target that starts at ``at``; 0 if there is none."""
        if not self._text.startswith("(", at):
            return 0
        far = at + MAX_ADDRESS + 200
        found = _TARGET.match(self._text, at, far)
        if found:
            return found.end() if _ADDRESS.match(found[1]) else 0
        is_too_long = len(self._text) >= far
        if self._final or is_too_long or "\n" in self._text[at:]:
            return 0
        return NEED_MORE if _may_be_target(self._text[at:]) else 0

    def _emit(
        self,
        end: int,
        numbers: tuple[int, ...] = (),
        before_parenthesis: bool = False,
        linked: _Candidate | None = None,
    ) -> None:
        if end > self._at:
            raw = self._text[self._at : end]
            if linked is not None:
                self._out.append(Segment(raw, linked=linked.numbers, address=linked.address))
            else:
                self._out.append(Segment(raw, numbers, before_parenthesis))
            self._at = end


@dataclass(frozen=True, slots=True)
class _Candidate:
    close: int
    end: int
    numbers: tuple[int, ...]
    address: str
    """Where the number itself is the text of a link, its address."""


def _may_be_target(text: str) -> bool:
    """Whether ``text``, which starts with ``(``, can still become a link target: an address and then a title."""
    address, _, rest = text[1:].lstrip(" ").partition(" ")
    title = rest.lstrip(" ")
    return not title or title[0] in "\"')" or address.startswith("<")


def _bare(target: str) -> str:
    """The address of a link target, without its angle brackets and its title."""
    words = target.split()
    return words[0].strip("<>") if words else ""


def _numbers(body: str, opener: str) -> tuple[int, ...]:
    """Return the numbers between the brackets, each once; none if this is not a marker."""
    if opener == "【" and (note := _NOTE.search(body)):
        body = body[: note.start()]
    found: dict[int, None] = {}
    at = 0
    while part := _PART.match(body, at):
        first = int(part[1])
        last = int(part[2] or first)
        if not first <= last < first + MAX_RANGE:
            return ()
        found.update(dict.fromkeys(range(first, last + 1)))
        at = part.end()
        if at == len(body):
            # A list that contains zero is not a list of sources.
            is_list_with_zero = 0 in found and len(found) > 1
            return () if is_list_with_zero else tuple(found)
        if not (comma := _SEPARATOR.match(body, at)):
            return ()
        at = comma.end()
    return ()
