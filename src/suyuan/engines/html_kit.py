"""Parsing HTML: what the engines with result pages share."""

from __future__ import annotations

import re
from collections.abc import Iterable

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from ..core.causes.engine import EMPTY_BODY, UNDECODED, UNREADABLE
from ..core.html_limits import limited
from ..core.result import SearchResult
from ..core.wire import Response

# Until glibc has seen a large block freed, it returns the memory of every parsed page to the system and requests it
# again for the next one, a third of the parsing time. Freeing a block that was never touched costs nothing.
bytes(1 << 20)

# Twice as many as the largest result page has.
_MAX_TAGS = 25_000
_MAX_BYTES = 2_000_000
# An empty page may have the tags of a frame, but no element that could hold or load anything.
_SHORT = 200
_TAGS = re.compile(rb"(?i)<!doctype[^>]*>|</?(?:html|head|body|meta|title)(?:\s[^>]*)?>")
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0e-\x1a\ufffd]")


def parse_html(response: Response, engine: str, start: bytes = b"") -> LexborHTMLParser:
    """Parse the page, or raise if it is empty or its bytes are not text at all (a body that was never decompressed).

    With ``start``, parse only from the tag that contains these bytes: half of a page may be its head.
    """
    body = response.utf8
    if len(body) < _SHORT and not _TAGS.sub(b"", body).strip():
        raise EMPTY_BODY(engine=engine)
    if len(body) > _MAX_BYTES:
        raise UNREADABLE(engine=engine)
    # A tag takes three bytes or more, so most pages need not be counted.
    may_have_too_many = len(body) > 3 * _MAX_TAGS
    if may_have_too_many and body.count(b"<") > _MAX_TAGS:
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
    # The time of the parser grows with the square of the nesting, and of the attributes of one tag.
    body, _ = limited(body, lambda name: False)
    return LexborHTMLParser(body, options=LexborDocumentOptions.WO_EVENTS)


def text_of(node: LexborNode | None) -> str:
    """The text of ``node`` with white space collapsed; empty if there is no node."""
    if node is None:
        return ""
    text = node.text()
    # In printable text the blank is the only white space, so most texts are already collapsed.
    return text.strip() if text.isprintable() and "  " not in text else " ".join(text.split())


def attribute(node: LexborNode | None, name: str) -> str:
    """The value of an attribute, stripped; empty if there is none."""
    if node is None:
        return ""
    # ``attributes`` would build a dictionary of all of them.
    return (node.attrs.get(name) or "").strip()


def first(node: LexborNode, *selectors: str) -> LexborNode | None:
    """The first node that matches, with ``selectors`` tried in order."""
    usual, *others = selectors
    if (found := node.css_first(usual)) is not None or not others:
        return found
    # Each search of the node takes as long as reading its text, and most often only one of the others is there.
    candidates = node.css(", ".join(others))
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    return next((one for selector in others if (one := node.css_first(selector)) is not None), None)


def has_class(node: LexborNode, *names: str) -> bool:
    """Whether ``node`` has one of the classes ``names``."""
    return not set((node.attributes.get("class") or "").split()).isdisjoint(names)


def distinct(results: Iterable[SearchResult]) -> tuple[SearchResult, ...]:
    """The results without repeated URLs, since a page may show one twice."""
    seen: dict[str, SearchResult] = {}
    for result in results:
        seen.setdefault(result.url, result)
    return tuple(seen.values())
