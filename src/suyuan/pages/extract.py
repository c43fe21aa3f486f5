"""Extracts the main content of a page as Markdown, with the metadata of the page."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from ..text.language import detect_language
from .block_reader import read_blocks
from .main_content import select_main_content
from .markdown import MarkdownWriter
from .metadata import read_metadata

MAX_HTML = 8_000_000
MAX_DEPTH = 400
MAX_TAGS = 4_000

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]{0,2000}>")
# These elements do not nest: the parser closes them by itself.
_FLAT_NAMES = (
    "area base br col embed hr img input link meta source track wbr p li td th tr dd dt option script style path use"
)
_FLAT = frozenset(_FLAT_NAMES.split())


@dataclass(frozen=True, slots=True)
class ExtractedPage:
    """The main content of a page as Markdown, and its metadata."""

    title: str
    text: str
    author: str
    published_at: str | None
    language: str
    site_name: str
    canonical_url: str
    links: tuple[tuple[str, str], ...]


def extract(html: str, url: str) -> ExtractedPage:
    """Return the main content of ``html``; never raises, whatever the text is."""
    tree = LexborHTMLParser(_bounded(html))
    metadata = read_metadata(tree, url)
    writer = MarkdownWriter(metadata.base)
    text = writer.write(select_main_content(read_blocks(tree), metadata.title, metadata.description))
    return ExtractedPage(
        metadata.title,
        text,
        metadata.author,
        metadata.published_at,
        metadata.language or detect_language(text),
        metadata.site_name,
        metadata.canonical_url,
        writer.links,
    )


def _bounded(html: str) -> str:
    """``html`` of limited size and nesting, without surrogates and NULs."""
    html = html[:MAX_HTML].replace("\x00", "")
    if not html.isascii():
        html = html.encode("utf-8", "replace").decode("utf-8")
    return html if html.count("<") < MAX_TAGS else _flattened(html)


def _flattened(html: str) -> str:
    """``html`` without the tags that are nested too deeply: the parser is quadratic in depth."""
    kept, depth, at = [], 0, 0
    for match in _TAG.finditer(html):
        if match[2].lower() in _FLAT:
            continue
        closing = bool(match[1])
        depth += not closing
        if depth > MAX_DEPTH:
            kept.append(html[at : match.start()])
            at = match.end()
        depth = max(0, depth - closing)
    return "".join([*kept, html[at:]]) if kept else html
