"""Extracts the main content of a page as Markdown, with the metadata of the page."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from ..core.document import Cut
from ..text.language import detect_language
from .block_reader import read_blocks
from .bounded import bounded
from .main_content import select_main_content
from .markdown import MarkdownWriter
from .metadata import PageMetadata, read_metadata
from .reading import PAGE_LIMITS, ReadingLimits


@dataclass(frozen=True, slots=True)
class ExtractedPage(PageMetadata):
    """The main content of a page as Markdown, and its metadata."""

    text: str
    links: tuple[tuple[str, str], ...]
    cut: Cut | None = None
    """Set where only a part of the page was read."""


def extract(html: str, url: str, limits: ReadingLimits = PAGE_LIMITS) -> ExtractedPage:
    """Return the main content of ``html``; never raises, whatever the text is."""
    source = bounded(html, limits)
    tree = LexborHTMLParser(source.html)
    metadata = read_metadata(tree, url)
    writer = MarkdownWriter(metadata.base)
    text = writer.write(select_main_content(read_blocks(tree), metadata))
    known = {name: getattr(metadata, name) for name in PageMetadata.__slots__}
    known["language"] = metadata.language or detect_language(text)
    return ExtractedPage(**known, text=text, links=writer.links, cut=source.cut)
