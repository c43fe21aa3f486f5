"""Reading HTML: the few words the page-reading engines share."""

from __future__ import annotations

import re
from collections.abc import Iterable

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from ..core.causes.engine import UNDECODED, UNREADABLE
from ..core.result import SearchResult
from ..core.wire import Response

# Until glibc has seen a block of some size freed, it gives the memory of every parsed page back to the system, to take
# it again for the next one: a third of the time of reading. Freeing a block that was never touched costs nothing.
bytes(1 << 20)

# Twice what the largest result page has; the parser's time grows with the square of the nesting.
_MOST_TAGS = 25_000
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0e-\x1a\ufffd]")


def tree_of(response: Response, engine: str, start: bytes = b"") -> LexborHTMLParser:
    """Parse the page, or raise where its bytes are not text at all (a body that was never decompressed).

    With ``start``, only from the tag in which these bytes stand: parsing is most of the work, and half of a page may be its head.
    """
    body = response.utf8
    if body.count(b"<") > _MOST_TAGS:
        raise UNREADABLE(engine=engine)
    sample = body[:4000]
    if not sample.isascii():
        text = sample.decode("utf-8", "replace")
        if len(_NOT_TEXT.findall(text)) > len(text) / 20:
            raise UNDECODED(engine=engine)
    elif sample.count(0) > len(sample) / 20:
        raise UNDECODED(engine=engine)
    if start and (found := body.find(start)) > 0:
        body = body[max(body.rfind(b"<", 0, found), 0) :]
    return LexborHTMLParser(body, options=LexborDocumentOptions.WO_EVENTS)


def text_of(node: LexborNode | None) -> str:
    """The text of ``node`` with white space folded; empty where there is no node."""
    if node is None:
        return ""
    text = node.text()
    # In printable text the blank is the only white space: most texts need no folding.
    return text.strip() if text.isprintable() and "  " not in text else " ".join(text.split())


def attribute(node: LexborNode | None, name: str) -> str:
    """An attribute's value, stripped; empty where there is none."""
    if node is None:
        return ""
    return (node.attributes.get(name) or "").strip()


def first(node: LexborNode, *selectors: str) -> LexborNode | None:
    """The first node that one of ``selectors`` finds, tried in order."""
    for selector in selectors:
        if (found := node.css_first(selector)) is not None:
            return found
    return None


def has_class(node: LexborNode, *names: str) -> bool:
    """Whether ``node`` has one of the classes ``names``."""
    return not set((node.attributes.get("class") or "").split()).isdisjoint(names)


def distinct(results: Iterable[SearchResult]) -> tuple[SearchResult, ...]:
    """The results without those whose URL came before: a page may show one twice."""
    seen: dict[str, SearchResult] = {}
    for result in results:
        seen.setdefault(result.url, result)
    return tuple(seen.values())
