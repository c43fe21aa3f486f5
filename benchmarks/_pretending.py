"""Texts, addresses, names and cells that pretend to be something else, and how many of them still do when they are shown."""

from __future__ import annotations

import sys
import unicodedata
from itertools import product
from urllib.parse import urlsplit

from suyuan.core.file_names import file_name, file_stem
from suyuan.core.query import SearchQuery
from suyuan.core.result import Details, EngineResults, SearchResult
from suyuan.search.normalize import normalized
from suyuan.text.cells import cell
from suyuan.text.shown_address import shown_address

# Signs that stand before a number and are seen, joiners that are spelling, and what ends a line or a cell of a text.
_SEEN = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\u200c\u200d\t\n"
)
_FRONTS = (
    "bank.example@", "bank.example%40", "bank.example:443@", "bank.example%2f@", "bаnk.", "bank。", "ｂank.", "xn--bnk-6cd.", "bank\u00ad.",
    "bank\u202e.", "a@b@", "@", "bank.example#@", "bank.example?@", "bank.example\\@", "bank.example\t@",
)  # fmt: skip


def pretending() -> list[tuple[str, int, int]]:
    """Name, number of tries and number of those that got through, of each family."""
    return [_characters(), _addresses(), _names(), _cells()]


def _characters() -> tuple[str, int, int]:
    every = map(chr, range(sys.maxunicode + 1))
    hostile = [one for one in every if unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp") and one not in _SEEN]
    through = 0
    for one in hostile:
        text = f"a{one}b"
        result = SearchResult(
            text, "https://a.example/", text, summary=text, details=Details((text,), text, topics=(text,))
        )
        [shown] = normalized(EngineResults((result,)), SearchQuery("q")).results
        assert shown.details is not None
        fields = (shown.title, shown.snippet, shown.summary, *shown.details.authors, shown.details.venue)
        through += any(one in field for field in fields)
    return "characters that hide or reorder, in a result", len(hostile), through


def _addresses() -> tuple[str, int, int]:
    urls = [f"{scheme}://{front}evil.example/" for scheme, front in product(("http", "https", "HTTPS"), _FRONTS)]
    return "addresses with another host in front", len(urls), sum(map(_pretends, urls))


def _pretends(url: str) -> bool:
    shown = shown_address(url)
    parts = urlsplit(shown)
    return "@" in parts.netloc or not shown.isascii() or (shown != "" and not parts.hostname)


def _names() -> tuple[str, int, int]:
    parts = ("..", "/", "\\", "\u202e", "\r\n", "con", "a", ".exe", ".", "-", "\0", '"', ":", "／")
    sent = ["".join(each) for each in product(parts, repeat=3)]
    bad = set('/\\\0\r\n":\u202e／')
    named = [name for each in sent for name in (file_name(each), f"{file_stem(each)}.md")]
    return "names of files", len(named), sum(bool(set(name) & bad) or name[0] in ".-" or ".." in name for name in named)


def _cells() -> tuple[str, int, int]:
    texts = [f"{before}{sign}cmd" for before, sign in product(("", " ", "\u3000"), "=+-@＝＋－＠−|%")]
    return "cells that begin a formula", len(texts), sum(not cell(text).startswith("'") for text in texts)
