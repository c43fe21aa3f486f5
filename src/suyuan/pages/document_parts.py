"""The parts of a long document: the pages of a PDF, elsewhere about a page of text."""

from __future__ import annotations

import re
from itertools import pairwise

from ..core.document import Document
from .passages import spans

PDF = "application/pdf"
_PART = 3000
"""About how many characters of a long text are found together: a page of a book."""
_LONGEST_PAGE = 100_000
"""A page of a PDF that has more is not one that anybody could read."""
_PAGE = re.compile(r"^## (\d+)$", re.M)


def parts_of(document: Document) -> list[tuple[int, int]]:
    """The parts of a text that are found each by itself: the pages of a PDF, elsewhere about a page of text."""
    starts = [one.start() for one in _PAGE.finditer(document.text)] if document.content_type == PDF else []
    if not starts:
        return _of_text(document.text, 0, len(document.text))
    edges = [0, *starts[1:], len(document.text)]
    parts: list[tuple[int, int]] = []
    for first, last in pairwise(edges):
        parts += _of_page(document.text, first, last)
    return parts


def _of_page(text: str, first: int, last: int) -> list[tuple[int, int]]:
    return [(first, last)] if last - first <= _LONGEST_PAGE else _of_text(text, first, last)


def _of_text(text: str, first: int, last: int) -> list[tuple[int, int]]:
    parts: list[tuple[int, int]] = []
    for start, end, _ in spans(text[first:last]):
        begun = parts[-1][0] if parts else 0
        length = first + end - begun
        if parts and length <= _PART:
            parts[-1] = (begun, first + end)
        else:
            parts.append((first + start, first + end))
    return parts


def page_at(document: Document, position: int) -> int | None:
    """The page of a PDF at a position of its text."""
    if document.content_type != PDF:
        return None
    # Backwards, since a book has thousands of pages.
    end = position + len("## ")
    while (at := document.text.rfind("## ", 0, end)) >= 0:
        if found := _PAGE.match(document.text, at):
            return int(found[1])
        end = at
    return 1
