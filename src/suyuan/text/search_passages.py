"""The passage of a text in which a query is, and what of it is the query."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from .search_words import Term, normal, position

_LENGTH = 140
_BEFORE = 36
"""So much of the passage is before what was sought."""
_NEAR = 250
_CITATION = re.compile(r"\[\[\d+\]\]\([^\s)]{0,1000}\)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^\s)]{0,1000}\)")
_LINE_MARK = re.compile(r"^ {0,3}(?:#{1,6}|>|[-*+]) ", re.M)


def passage(text: str, query: Sequence[Term]) -> str:
    """The passage of a Markdown text where most of the query is; empty where nothing of it is."""
    near = _best_place(text, query)
    if near is None:
        return ""
    start, end = max(0, near - _NEAR), near + _NEAR
    part = text[start:end]
    # What is in an address only is shown as it is written.
    for line in (_without_marks(part), " ".join(part.split())):
        place = _best_place(line, query)
        if place is not None:
            return _around(line, place, more_before=start > 0, more_after=end < len(text))
    return ""


def marked(passage: str, query: Sequence[Term]) -> list[tuple[str, bool]]:
    """The passage in pieces, each with whether it is what was sought."""
    shape = normal(passage)
    pieces: list[tuple[str, bool]] = []
    done = 0
    for first, last in sorted(chain.from_iterable(term.places(shape) for term in query)):
        start, end = max(done, position(passage, first)), position(passage, last)
        if start < end:
            pieces += [(passage[done:start], False), (passage[start:end], True)]
            done = end
    return [piece for piece in [*pieces, (passage[done:], False)] if piece[0]]


def _best_place(text: str, query: Sequence[Term]) -> int | None:
    """The first place of a term after which the first places of most others follow soon."""
    shape = normal(text)
    first_spans = (next(term.places(shape), None) for term in query)
    places = [span[0] for span in first_spans if span]
    if not places:
        return None

    def followers(place: int) -> int:
        end = place + _LENGTH - _BEFORE
        return sum(place <= other < end for other in places)

    return position(text, max(places, key=followers))


def _around(line: str, place: int, *, more_before: bool, more_after: bool) -> str:
    """Return the part of a line that begins shortly before a place."""
    start = max(0, place - _BEFORE)
    end = start + _LENGTH
    first_blank = line.find(" ", start, place)
    if start and first_blank >= 0:
        start = first_blank + 1
    before = "…" if start or more_before else ""
    after = "…" if end < len(line) or more_after else ""
    return before + line[start:end].strip() + after


def _without_marks(text: str) -> str:
    """A Markdown text on one line, without addresses and marks."""
    if "](" in text:
        text = _LINK.sub(r"\1", _CITATION.sub("", text))
    text = _LINE_MARK.sub("", text).replace("**", "").replace("`", "").replace("|", " ")
    return " ".join(text.split())
