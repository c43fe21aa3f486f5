"""Limits what makes HTML parsers slow: size, nesting, attributes of one tag, formatting elements that are left open."""

from __future__ import annotations

import re
from collections import Counter

MAX_HTML = 8_000_000
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


def bounded(html: str) -> bytes:
    """Return ``html`` of limited size and nesting in UTF-8, without surrogates and NULs."""
    return _limited(html[:MAX_HTML].encode("utf-8", "replace").replace(b"\x00", b""))


def _limited(html: bytes) -> bytes:
    """``html`` without the tags that would nest too deeply and without the excess attributes of a tag."""
    kept: list[bytes] = []
    opened: list[bytes] = []
    formats: Counter[bytes] = Counter()
    at = position = 0
    search = _TOKEN.search
    while (token := search(html, position)) is not None:
        start, position = token.span()
        closing, name = token.group(1, 2)
        if name is None:
            continue
        if position - start > _LONG_TAG and (cut := _excess(html, *token.span(3))):
            kept += (html[at:cut], b">")
            at = position
        if (name := name.lower()) in _FLAT:
            continue
        if closing:
            if formats.get(name, 0) > 0:
                formats[name] -= 1
            _close(name, opened)
            continue
        if name in _RAW:
            end = _RAW[name].search(html, position)
            position = end.start() if end else len(html)
        elif len(opened) >= MAX_DEPTH or (name in _FORMATS and formats.total() >= MAX_OPEN_FORMATS):
            kept.append(html[at:start])
            at = max(at, position)
        else:
            opened.append(name)
            if name in _FORMATS:
                formats[name] += 1
    return b"".join([*kept, html[at:]]) if kept else html


def _close(name: bytes, opened: list[bytes]) -> None:
    """Close the nearest open element of this name; an inline element only if no block was opened within it."""
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
        if (found := _ATTRIBUTES.match(html, start, end)) is None:
            return 0
        start = found.end()
    return start if start < end else 0
