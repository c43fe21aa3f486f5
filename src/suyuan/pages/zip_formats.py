"""Converts documents that are ZIP files of XML to readable Markdown: DOCX and EPUB."""

from __future__ import annotations

import io
import posixpath
import re
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborHTMLParser

from ..core.causes.page import PAGE_TOO_LARGE, UNSUPPORTED_TYPE
from ..core.document import Cut
from ..core.errors import SuyuanError
from ..core.xml import read_xml, read_xml_events
from ..messages.catalog import Text
from ..text.visible import visible_text
from .block_reader import read_blocks
from .book_chapter import chapter_html
from .bounded import bounded
from .formats import FoundText
from .markdown import MarkdownWriter, table_text
from .reading import ReadingLimits, ReceivedPage
from .units import read_units
from .word_sight import WordSight, is_known
from .word_styles import WordStyles, tag, value

MAX_MEMBER = 60_000_000
"""The largest part of such a file that is unpacked at once; a small file can claim to hold gigabytes."""
_PIECE = 16_384
READING_SHARE = 0.7
"""Of the time of a reader, for a Word document: some is needed for what was read."""
_HEADING = re.compile(r"(?:heading|标题)\s*([1-6])$", re.I)
_SPACE = re.compile(r"[ \t\u00a0]+")
# RuntimeError is what an encrypted member raises.
_BROKEN = (zipfile.BadZipFile, zlib.error, KeyError, ValueError, RuntimeError, OSError, EOFError)


class _Parts:
    """The files inside such a file, each read within the limit."""

    def __init__(self, body: bytes, where: str) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(body))
        self._where = where

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def size(self, name: str) -> int:
        """How many bytes a file has when it is unpacked."""
        return self._zip.getinfo(name).file_size

    def open(self, name: str) -> IO[bytes]:
        """A file, to be read piece by piece."""
        if self._zip.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise NotImplementedError("both formats know these two only")
        return self._zip.open(name)

    def read(self, name: str) -> bytes:
        """The whole of a file."""
        with self.open(name) as file:
            data = file.read(MAX_MEMBER + 1)
        if len(data) > MAX_MEMBER:
            raise PAGE_TOO_LARGE(where=self._where, limit=MAX_MEMBER)
        return data

    def xml(self, name: str) -> Element:
        """The root of a file of XML."""
        return read_xml(self.read(name))


def docx_text(page: ReceivedPage, where: str) -> FoundText:
    """The title and the text of a Word document."""
    return _read(page, where, "broken_docx", _docx)


def epub_text(page: ReceivedPage, where: str) -> FoundText:
    """The title of a book and the chapters that are read at once."""
    return _read(page, where, "broken_epub", _epub)


def _read(page: ReceivedPage, where: str, broken: str, read: Callable[[_Parts, ReceivedPage], FoundText]) -> FoundText:
    try:
        return read(_Parts(page.response.body, where), page)
    except _BROKEN:
        raise UNSUPPORTED_TYPE(where=where, kind=Text(f"fetch.detail.{broken}")) from None


# --- Word -------------------------------------------------------------------------------------------------------------
def _docx(parts: _Parts, page: ReceivedPage) -> FoundText:
    def optional(name: str) -> Element | None:
        return parts.xml(name) if name in parts else None

    styles = optional("word/styles.xml")
    levels = _heading_levels(styles) if styles is not None else {}
    sight = WordSight(WordStyles(styles, optional("word/theme/theme1.xml"), optional("word/settings.xml")))
    main, notes = "word/document.xml", ("word/footnotes.xml", "word/endnotes.xml")
    names = [main, *(name for name in notes if name in parts)]
    total = sum(map(parts.size, names))
    reader = _WordReader(parts, page.limits, sight)
    with suppress(_Full):
        for name in names:
            levels_of_part = levels if name == main else {}
            reader.read(name, levels_of_part)
    core = optional("docProps/core.xml")
    title = _title(core) if core is not None else ""
    cut = Cut("bytes", reader.behind, total) if reader.behind < total else None
    return FoundText(title.strip(), "\n\n".join(reader.blocks), cut)


def _title(metadata: Element) -> str:
    return next((element.text or "" for element in metadata.iter() if tag(element) == "title"), "")


_BLOCKS = ("p", "tbl")
_NOTES = ("footnote", "endnote")


class _Full(Exception):
    """A limit was reached before the end of a document."""


class _WordReader:
    """Reads the paragraphs and tables of a Word document one by one, as far as the limits allow."""

    def __init__(self, parts: _Parts, limits: ReadingLimits, sight: WordSight) -> None:
        self.blocks: list[str] = []
        self.behind = 0
        """How many bytes of its XML were read."""
        self._parts, self._sight = parts, sight
        self._characters, self._bytes = limits.characters, limits.unpacked
        self._end = time.process_time() + READING_SHARE * limits.seconds

    def read(self, name: str, levels: dict[str, int]) -> None:
        """Add the text of one of its files; raises ``_Full``."""
        path: list[Element] = []
        variants = _Variants()
        block: Element | None = None
        for event, element in read_xml_events(self._pieces(name)):
            name_of = tag(element)
            if event == "start":
                parent = path[-1] if path else element
                variants.begin(element, name_of, parent)
                path.append(element)
                if block is None and name_of in _BLOCKS and self._is_shown(path, variants):
                    block = element
                continue
            path.pop()
            is_unused = variants.end(element, name_of)
            if element is block:
                self._add_block(element, name_of, levels)
                block = None
            if name_of == "background":
                self._sight.paint_page(element)
            if path and (block is None or is_unused):
                path[-1].remove(element)

    def _add_block(self, block: Element, name: str, levels: dict[str, int]) -> None:
        text = self._paragraph(block, levels) if name == "p" else self._table(block)
        if text:
            self.blocks.append(text)
            self._characters -= len(text)

    def _is_shown(self, path: list[Element], variants: _Variants) -> bool:
        """Whether a block is in no other variant, and the text refers to the note that it is in."""
        if variants.is_left_out:
            return False
        notes = [(tag(element), value(element, "id")) for element in path if tag(element) in _NOTES]
        return all(note in self._sight.notes for note in notes if note[1])

    def _paragraph(self, paragraph: Element, levels: dict[str, int]) -> str:
        text = _SPACE.sub(" ", visible_text(self._sight.text_of(paragraph))).strip()
        style = next((value(one) for one in paragraph.iter() if tag(one) == "pStyle"), "")
        if not text:
            return ""
        if level := levels.get(style, 0):
            return f"{'#' * level} {' '.join(text.split())}"
        return f"- {text}" if any(tag(one) == "numPr" for one in paragraph.iter()) else text

    def _table(self, table: Element) -> str:
        rows = self._sight.rows_of(table)
        return table_text([[" ".join(visible_text(text).split()).replace("|", "\\|") for text in row] for row in rows])

    def _pieces(self, name: str) -> Iterator[bytes]:
        with self._parts.open(name) as file:
            while piece := file.read(_PIECE):
                is_full = self._characters <= 0 or self.behind >= self._bytes
                if is_full or time.process_time() > self._end:
                    raise _Full
                self.behind += len(piece)
                yield piece


def _heading_levels(styles: Element) -> dict[str, int]:
    """The level of each style of headings: their ids are numbers or words of any language, their names are not."""
    levels = {}
    for style in styles:
        name = next((value(one) for one in style if tag(one) == "name"), "")
        outline = next((value(one) for one in style.iter() if tag(one) == "outlineLvl"), "")
        if found := _HEADING.search(name):
            levels[value(style, "styleId")] = int(found[1])
        elif outline.isdigit() and int(outline) < 6:
            levels[value(style, "styleId")] = int(outline) + 1
        elif name.lower() == "title":
            levels[value(style, "styleId")] = 1
    return levels


class _Variants:
    """The variants of a part for different programs, one of which is shown."""

    def __init__(self) -> None:
        self._chosen: set[int] = set()
        self._unused: list[Element] = []

    @property
    def is_left_out(self) -> bool:
        """Whether what is read now is in a variant that is not shown."""
        return bool(self._unused)

    def begin(self, element: Element, name: str, parent: Element) -> None:
        """An element begins."""
        is_taken = id(parent) in self._chosen
        if name == "Choice":
            if is_taken or not is_known(value(element, "Requires")):
                self._unused.append(element)
            else:
                self._chosen.add(id(parent))
        elif name == "Fallback" and is_taken:
            self._unused.append(element)

    def end(self, element: Element, name: str) -> bool:
        """An element ends; return whether it was a variant that is not shown."""
        if name == "AlternateContent":
            self._chosen.discard(id(element))
        is_unused = bool(self._unused) and self._unused[-1] is element
        if is_unused:
            self._unused.pop()
        return is_unused


# --- books ------------------------------------------------------------------------------------------------------------
def _epub(parts: _Parts, page: ReceivedPage) -> FoundText:
    container = parts.xml("META-INF/container.xml")
    package = next((value(root, "full-path") for root in container.iter() if tag(root) == "rootfile"), "")
    book = parts.xml(package)
    title = _title(book)
    names = _chapter_names(book, posixpath.dirname(package))

    def file(name: str) -> bytes | None:
        return parts.read(name) if name in parts else None

    def read_one(at: int) -> tuple[str, bool]:
        return _chapter(chapter_html(parts.read(names[at]), names[at], file), page.limits)

    text, part = read_units("chapters", len(names), read_one, (*_BROKEN, SuyuanError), page)
    if part.is_nothing:
        raise KeyError("none of its chapters can be read")
    return FoundText(" ".join(title.split()), text, part=part)


def _chapter_names(book: Element, folder: str) -> list[str]:
    """The files of the chapters in the order of reading."""
    items = {value(item, "id"): value(item, "href") for item in book.iter() if tag(item) == "item"}
    order = [value(reference, "idref") for reference in book.iter() if tag(reference) == "itemref"]
    addresses = (unquote(items.get(item, "")) for item in order)
    return [posixpath.normpath(posixpath.join(folder, address)) for address in addresses]


def _chapter(html: str, limits: ReadingLimits) -> tuple[str, bool]:
    """A chapter as Markdown, since a book has nothing around its text; and whether that is all of it."""
    source = bounded(html, limits)
    return MarkdownWriter("").write(read_blocks(LexborHTMLParser(source.html))), source.cut is None
