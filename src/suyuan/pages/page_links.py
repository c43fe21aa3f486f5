"""The addresses that a page links to, also outside its main text, and those of a sitemap.

Both are for a thread: they take a tag after the other, each of limited length.
"""

from __future__ import annotations

import html
import re
from itertools import islice

from ada_url import URL, join_url

from ..core.wire import Response

_LARGEST = 2_000_000
_MOST, _MOST_TAGS = 2000, 20_000
# No part of these can be cut in two ways, so that no page can make them slow.
_TAG = re.compile(rb"<(a|area|base)\s([^<>]{1,5000})", re.I)
_HREF = re.compile(rb"\bhref\s*+=\s*+(?:\"([^\"]{0,2000})\"|'([^']{0,2000})'|([^\s\"']{1,2000}))", re.I)
_LOCATION = re.compile(rb"<loc>([^<]{1,3000})</loc>", re.I)


def page_links(response: Response) -> list[str]:
    """The absolute addresses that a page links to, each once, without fragments."""
    base, found = response.url, dict[str, None]()
    for tag in islice(_TAG.finditer(response.body[:_LARGEST]), _MOST_TAGS):
        if (link := _HREF.search(tag[2])) is None:
            continue
        target = html.unescape((link[1] or link[2] or link[3] or b"").decode("utf-8", "replace")).strip()
        if not (address := _absolute(base, target)):
            continue
        if tag[1].lower() == b"base":
            base = address
        elif len(found) < _MOST:
            found[address] = None
    return list(found)


def sitemap_links(response: Response) -> list[str]:
    """The addresses in a sitemap, or in an index of sitemaps."""
    places = islice(_LOCATION.finditer(response.body[:_LARGEST]), _MOST_TAGS)
    found = (html.unescape(each[1].decode("utf-8", "replace")).strip() for each in places)
    return list(dict.fromkeys(address for each in found if (address := _absolute(response.url, each))))[:_MOST]


def _absolute(base: str, target: str) -> str:
    try:
        url = URL(join_url(base, target))
    except ValueError:
        return ""
    url.hash = ""
    return url.href if url.protocol in ("http:", "https:") else ""
