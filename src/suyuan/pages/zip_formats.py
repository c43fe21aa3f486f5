"""Converts documents that are ZIP files of XML to readable Markdown: DOCX and EPUB."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborHTMLParser

from ..core.causes.page import PAGE_TOO_LARGE, UNSUPPORTED_TYPE
from ..core.xml import read_xml
from ..messages.catalog import Text
from .block_reader import read_blocks
from .bounded import bounded
from .markdown import MarkdownWriter, table_text

MAX_MEMBER = 60_000_000
"""The largest part of such a file that is unpacked; a small file can claim to hold gigabytes."""
_MAX_CHAPTERS = 2000
_HEADING = re.compile(r"(?:heading|标题)\s*([1-6])$", re.I)
_SPACE = re.compile(r"[ \t\u00a0]+")
_BROKEN = (zipfile.BadZipFile, zlib.error, KeyError, ValueError, NotImplementedError, OSError, EOFError)


class _Parts:
    """The files inside such a file, each read within the limit."""

    def __init__(self, body: bytes, where: str) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(body))
        self._where = where

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def read(self, name: str) -> bytes:
        if self._zip.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise NotImplementedError("both formats know these two only")
        with self._zip.open(name) as file:
            data = file.read(MAX_MEMBER + 1)
        if len(data) > MAX_MEMBER:
            raise PAGE_TOO_LARGE(where=self._where, limit=MAX_MEMBER)
        return data

    def xml(self, name: str) -> Element:
        return read_xml(self.read(name))


def docx_text(body: bytes, where: str) -> tuple[str, str]:
    """The title and the text of a Word document."""
    return _read(body, where, "broken_docx", _docx)


def epub_text(body: bytes, where: str) -> tuple[str, str]:
    """The title and the chapters of a book."""
    return _read(body, where, "broken_epub", _epub)


def _read(body: bytes, where: str, broken: str, read: Callable[[_Parts], tuple[str, str]]) -> tuple[str, str]:
    try:
        return read(_Parts(body, where))
    except (*_BROKEN, RuntimeError):
        # RuntimeError is what an encrypted member raises.
        raise UNSUPPORTED_TYPE(where=where, kind=Text(f"fetch.detail.{broken}")) from None


# --- Word -------------------------------------------------------------------------------------------------------------
def _docx(parts: _Parts) -> tuple[str, str]:
    styles = _heading_levels(parts.xml("word/styles.xml")) if "word/styles.xml" in parts else {}
    texts = [_docx_body(parts.xml("word/document.xml"), styles)]
    notes = [name for name in ("word/footnotes.xml", "word/endnotes.xml") if name in parts]
    texts += [_docx_body(parts.xml(name), {}) for name in notes]
    title = ""
    if "docProps/core.xml" in parts:
        title = next((one.text or "" for one in parts.xml("docProps/core.xml").iter() if _tag(one) == "title"), "")
    return title.strip(), "\n\n".join(text for text in texts if text)


def _heading_levels(styles: Element) -> dict[str, int]:
    """The level of each style of headings: their ids are numbers or words of any language, their names are not."""
    levels = {}
    for style in styles:
        name = next((_value(one) for one in style if _tag(one) == "name"), "")
        outline = next((_value(one) for one in style.iter() if _tag(one) == "outlineLvl"), "")
        if found := _HEADING.search(name):
            levels[_value(style, "styleId")] = int(found[1])
        elif outline.isdigit() and int(outline) < 6:
            levels[_value(style, "styleId")] = int(outline) + 1
        elif name.lower() == "title":
            levels[_value(style, "styleId")] = 1
    return levels


def _docx_body(root: Element, levels: dict[str, int]) -> str:
    for parent in list(root.iter()):
        for child in [one for one in parent if _tag(one) == "Fallback"]:
            # The same text once more, for old versions of Word.
            parent.remove(child)
    blocks: list[str] = []
    # A stack instead of recursion: text boxes and content controls can be nested deeply.
    stack = list(root)[::-1]
    while stack:
        child = stack.pop()
        if _tag(child) == "p":
            blocks.append(_paragraph(child, levels))
        elif _tag(child) == "tbl":
            blocks.append(_table(child))
        else:
            stack += list(child)[::-1]
    return "\n\n".join(block for block in blocks if block)


def _paragraph(paragraph: Element, levels: dict[str, int]) -> str:
    text = _SPACE.sub(" ", "".join(_runs(paragraph))).strip()
    style = next((_value(one) for one in paragraph.iter() if _tag(one) == "pStyle"), "")
    if not text:
        return ""
    if level := levels.get(style, 0):
        return f"{'#' * level} {' '.join(text.split())}"
    return f"- {text}" if any(_tag(one) == "numPr" for one in paragraph.iter()) else text


def _runs(element: Element) -> Iterator[str]:
    for run in element.iter():
        if _tag(run) != "r" or _is_hidden(run):
            continue
        for one in run:
            if (tag := _tag(one)) == "t":
                yield one.text or ""
            elif tag in ("tab", "br", "cr"):
                yield "\n" if tag != "tab" else " "


def _is_hidden(run: Element) -> bool:
    """Whether Word does not show this text."""
    marks = (mark for one in run if _tag(one) == "rPr" for mark in one if _tag(mark) == "vanish")
    return any(_value(mark) not in ("0", "false", "off") for mark in marks)


def _table(table: Element) -> str:
    return table_text(
        [
            [" ".join("".join(_runs(cell)).split()).replace("|", "\\|") for cell in row if _tag(cell) == "tc"]
            for row in table
            if _tag(row) == "tr"
        ]
    )


# --- books ------------------------------------------------------------------------------------------------------------
def _epub(parts: _Parts) -> tuple[str, str]:
    container = parts.xml("META-INF/container.xml")
    package = next((_value(one, "full-path") for one in container.iter() if _tag(one) == "rootfile"), "")
    book = parts.xml(package)
    title = next((one.text or "" for one in book.iter() if _tag(one) == "title"), "")
    items = {_value(one, "id"): _value(one, "href") for one in book.iter() if _tag(one) == "item"}
    order = [_value(one, "idref") for one in book.iter() if _tag(one) == "itemref"]
    folder = posixpath.dirname(package)
    names = [posixpath.normpath(posixpath.join(folder, unquote(items[one]))) for one in order if one in items]
    chapters = [_chapter(parts.read(name)) for name in names[:_MAX_CHAPTERS] if name in parts]
    return " ".join(title.split()), "\n\n".join(chapter for chapter in chapters if chapter)


def _chapter(page: bytes) -> str:
    """A chapter as Markdown: all of it, since a book has nothing around its text."""
    tree = LexborHTMLParser(bounded(page.decode("utf-8", "replace")))
    return MarkdownWriter("").write(read_blocks(tree))


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _value(element: Element, name: str = "val") -> str:
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")
