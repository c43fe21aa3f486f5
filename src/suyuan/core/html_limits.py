"""Limits what makes HTML parsers slow: nesting, attributes of one tag, formatting elements that are left open."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

MAX_DEPTH = 400
MAX_ATTRIBUTES = 200
MAX_OPEN_FORMATS = 30

# As the standard cuts tags; nothing that was matched is tried again, so that any text takes linear time.
_ATTRIBUTE = (
    rb"[ \t\n\f\r/]*+[^ \t\n\f\r/>][^ \t\n\f\r/>=]*+"
    rb"(?:[ \t\n\f\r]*+=[ \t\n\f\r]*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^ \t\n\f\r>\"'][^ \t\n\f\r>]*+)?+)?+"
)
_ATTRIBUTES = re.compile(_ATTRIBUTE)
# The same for most tags, and quicker: no < or > within, and quotation marks only around values.
_PLAIN = rb"[^<>\"'=]*+(?:=\"[^\"<>]*+\"[^<>\"'=]*+)*+(?=>)"
_TOKEN = re.compile(
    rb"<(?:!--(?:-?>|.*?(?:--!?>|\Z))|(/?+)([a-zA-Z][^ \t\n\f\r/>]*+)(%b|(?:%b)*+)[ \t\n\f\r/]*+>?+)"
    % (_PLAIN, _ATTRIBUTE),
    re.S,
)
# A tag shorter than this cannot have too many attributes.
_LONG_TAG = 2 * MAX_ATTRIBUTES

# These elements do not nest: the parser closes them by itself.
_FLAT_NAMES = (
    b"area base br col embed hr img input link meta source track wbr p li td th tr dd dt option path use html head body"
)
_FLAT = frozenset(_FLAT_NAMES.split())
_RAW = {name: re.compile(rb"</%b\b" % name, re.I) for name in b"script style textarea title xmp iframe".split()}
# The parser opens them again in every block until they are closed.
_FORMATS = frozenset(b"b big code em font i s small strike strong tt u".split())
_INLINE_NAMES = b"a abbr bdi bdo cite data del dfn ins kbd label mark nobr q samp span sub sup time var"
_INLINE = _FORMATS.union(_INLINE_NAMES.split())


def limited(html: bytes, is_spent_by: Callable[[bytes], bool]) -> tuple[bytes, int]:
    """``html`` up to the tag that is one too many, and where that is; what is left is parsed in linear time.

    ``is_spent_by`` counts the names of tags, and says which one is too many. Left out are the tags that would nest too
    deeply and the excess attributes of a tag.
    """
    kept: list[bytes] = []
    at = position = 0
    nesting = _Nesting()
    search = _TOKEN.search
    while (token := search(html, position)) is not None:
        start, position = token.span()
        closing, name = token.group(1, 2)
        if name is None:
            continue
        name = name.lower()
        if is_spent_by(name):
            return b"".join([*kept, html[at:start]]), start
        if position - start > _LONG_TAG and (cut := _excess(html, *token.span(3))):
            kept += (html[at:cut], b">")
            at = position
        if name in _FLAT:
            continue
        if closing:
            nesting.close(name)
        elif name in _RAW:
            end = _RAW[name].search(html, position)
            position = end.start() if end else len(html)
        elif nesting.is_too_deep_for(name):
            kept.append(html[at:start])
            at = max(at, position)
        else:
            nesting.open(name)
    return b"".join([*kept, html[at:]]) if kept else html, len(html)


class _Nesting:
    """The elements that are open, as far as they nest."""

    __slots__ = ("_formats", "_opened")

    def __init__(self) -> None:
        self._opened: list[bytes] = []
        self._formats: Counter[bytes] = Counter()

    def is_too_deep_for(self, name: bytes) -> bool:
        """Whether another element would nest too deeply, or be one of too many formatting elements."""
        if len(self._opened) >= MAX_DEPTH:
            return True
        return name in _FORMATS and self._formats.total() >= MAX_OPEN_FORMATS

    def open(self, name: bytes) -> None:
        """Open an element."""
        self._opened.append(name)
        if name in _FORMATS:
            self._formats[name] += 1

    def close(self, name: bytes) -> None:
        """Close the nearest open element of this name; an inline element only if no block was opened within it."""
        if self._formats.get(name, 0) > 0:
            self._formats[name] -= 1
        opened = self._opened
        if opened and opened[-1] == name:
            opened.pop()
            return
        inline = name in _INLINE
        for index in range(len(opened) - 1, -1, -1):
            if opened[index] == name:
                del opened[index:]
                return
            if inline and opened[index] not in _INLINE:
                return


def _excess(html: bytes, start: int, end: int) -> int:
    """Where the attributes of a tag that are too many begin; 0 if there are none."""
    for _ in range(MAX_ATTRIBUTES):
        attribute = _ATTRIBUTES.match(html, start, end)
        if attribute is None:
            return 0
        start = attribute.end()
    return start if start < end else 0
