"""The parts of a long document: the pages of a PDF, elsewhere about a page of text."""

from __future__ import annotations

import re

from ..core.document import Document
from .passages import cut

PDF = "application/pdf"
_PART = 3000
"""About how many characters of a long text are found together: a page of a book."""
_PAGE = re.compile(r"^## (\d+)$", re.M)


def parts_of(document: Document) -> list[tuple[int, int]]:
    """The parts of a text that are found each by itself: the pages of a PDF, elsewhere about a page of text."""
    starts = [one.start() for one in _PAGE.finditer(document.text)] if document.content_type == PDF else []
    if starts:
        return list(zip([0, *starts[1:]], [*starts[1:], len(document.text)], strict=True))
    parts: list[tuple[int, int]] = []
    for passage in cut(document.text):
        first = parts[-1][0] if parts else 0
        if parts and passage.end - first <= _PART:
            parts[-1] = (first, passage.end)
        else:
            parts.append((passage.start, passage.end))
    return parts


def page_at(document: Document, position: int) -> int | None:
    """The page of a PDF at a position of its text."""
    if document.content_type != PDF:
        return None
    page = 1
    for one in _PAGE.finditer(document.text):
        if one.start() > position:
            break
        page = int(one[1])
    return page
