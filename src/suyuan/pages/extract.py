"""Extracts the main content of a page as Markdown, with the metadata of the page."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from ..text.language import detect_language
from .block_reader import read_blocks
from .bounded import bounded
from .main_content import select_main_content
from .markdown import MarkdownWriter
from .metadata import PageMetadata, read_metadata


@dataclass(frozen=True, slots=True)
class ExtractedPage(PageMetadata):
    """The main content of a page as Markdown, and its metadata."""

    text: str
    links: tuple[tuple[str, str], ...]


def extract(html: str, url: str) -> ExtractedPage:
    """Return the main content of ``html``; never raises, whatever the text is."""
    tree = LexborHTMLParser(bounded(html))
    metadata = read_metadata(tree, url)
    writer = MarkdownWriter(metadata.base)
    text = writer.write(select_main_content(read_blocks(tree), metadata))
    known = {name: getattr(metadata, name) for name in PageMetadata.__slots__}
    known["language"] = metadata.language or detect_language(text)
    return ExtractedPage(**known, text=text, links=writer.links)
