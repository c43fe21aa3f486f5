"""The target of a meta refresh, as the HTML standard reads it."""

from __future__ import annotations

import re

# The seconds, a separator, and the name of the address, which may be left out.
_BEFORE_TARGET = re.compile(r"\s{0,8}+[\d.]{1,16}+[\s;,]{1,16}+(?:url\s{0,8}+=\s{0,8}+)?+", re.I)


def refresh_target(html: bytes) -> str:
    """Return the address that the first meta refresh of a page leads to; empty where there is none."""
    if b"refresh" not in html.lower():
        # Most pages have none, and need not be parsed for it.
        return ""
    from selectolax.lexbor import LexborHTMLParser

    for node in LexborHTMLParser(html).css("meta[http-equiv='refresh' i][content]"):
        if target := _target(node.attributes.get("content") or ""):
            return target
    return ""


def _target(content: str) -> str:
    before = _BEFORE_TARGET.match(content)
    if before is None:
        return ""
    target = content[before.end() :]
    quote = target[:1]
    if quote in ("'", '"'):
        target = target[1:].partition(quote)[0]
    return target.strip()
