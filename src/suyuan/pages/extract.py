"""A page's main content as Markdown, with what the page says about itself. Pure: no network, no files of others."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from .block_reader import read_blocks
from .main_content import main_blocks
from .markdown import Markdown
from .metadata import about, language_of

MAX_HTML = 8_000_000
MAX_DEPTH = 400
MAX_TAGS = 4_000

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]{0,2000}>")
# These do not nest, or not for long: the parser ends them by itself.
_FLAT_NAMES = (
    "area base br col embed hr img input link meta source track wbr p li td th tr dd dt option script style path use"
)
_FLAT = frozenset(_FLAT_NAMES.split())


@dataclass(frozen=True, slots=True)
class Extract:
    """What a page says, and what it says about itself."""

    title: str
    text: str
    author: str
    published_at: str | None
    language: str
    site_name: str
    canonical_url: str
    links: tuple[tuple[str, str], ...]


def extract(html: str, url: str) -> Extract:
    """The main content of ``html`` as Markdown; any text in, an ``Extract`` out."""
    tree = LexborHTMLParser(_bounded(html))
    found = about(tree, url)
    markdown = Markdown(found.base)
    blocks = read_blocks(tree)
    text = markdown.write(main_blocks(blocks, found.title, found.description))
    language = found.language or language_of(text)
    return Extract(
        found.title,
        text,
        found.author,
        found.published_at,
        language,
        found.site_name,
        found.canonical_url,
        markdown.links,
    )


def _bounded(html: str) -> str:
    """``html`` without what makes a parser's work grow beyond its size: lone surrogates, NULs, endless nesting."""
    html = html[:MAX_HTML].replace("\x00", "")
    if not html.isascii():
        html = html.encode("utf-8", "replace").decode("utf-8")
    return html if html.count("<") < MAX_TAGS else _flattened(html)


def _flattened(html: str) -> str:
    """``html`` without the tags that are nested deeper than any reader's page (the parser is quadratic in depth)."""
    depth, cut = 0, []
    for match in _TAG.finditer(html):
        if match[2].lower() in _FLAT:
            continue
        if match[1]:
            if depth > MAX_DEPTH:
                cut.append(match.span())
            depth = max(0, depth - 1)
        else:
            depth += 1
            if depth > MAX_DEPTH:
                cut.append(match.span())
    if not cut:
        return html
    kept, at = [], 0
    for start, end in cut:
        kept.append(html[at:start])
        at = end
    return "".join([*kept, html[at:]])
