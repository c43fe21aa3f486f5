"""A chapter of a book as a page of HTML that has its style sheets in itself."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from html.entities import html5
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ..core.xml import read_xml
from .css_limits import MAX_CSS

_MOST_IMPORTS = 20
_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]{0,30});")
_XML_ENTITIES = frozenset((b"amp", b"lt", b"gt", b"quot", b"apos"))
_ATTACHED = re.compile(rb"<\?xml-stylesheet\s([^>]{0,500})\?>")
_LINK = re.compile(r"<link\b([^>]{0,2000})>", re.I)
_ATTRIBUTE = re.compile(r"(?<![a-zA-Z:-])([a-zA-Z:-]++)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_IMPORT = re.compile(r"@import\s+(?:url\(\s*)?[\"']?([^\"')\s;]{1,500})[\"']?\s*\)?([^;]{0,500});", re.I)

Read = Callable[[str], bytes | None]
"""A file of the book by its name; None if there is none."""


def chapter_html(data: bytes, name: str, read: Read) -> str:
    """The chapter ``name`` as HTML, which means what it means as XML."""
    sheets = _Sheets(read, posixpath.dirname(name))
    attached = [_attributes(found.decode("utf-8", "replace")) for found in _ATTACHED.findall(data[:20_000])]
    styles = "".join(f"<style{_media(each)}>{css}</style>" for each in attached if (css := sheets.linked(each)))
    try:
        root = read_xml(_ENTITY.sub(_character, data))
        return styles + _written(root, sheets)
    except (ValueError, RecursionError):
        # Books that are no XML are read as readers for books do it: as any page.
        text = data.decode("utf-8", "replace").replace("<![CDATA[", "").replace("]]>", "")
        return styles + _LINK.sub(lambda found: _sheet_of(found, sheets), text)


def _written(root: Element, sheets: _Sheets) -> str:
    """The tree as HTML, in which no tag closes itself and no name has a prefix."""
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        element.tag = element.tag.rpartition("}")[2].lower()
        element.attrib = {key.rpartition("}")[2]: value for key, value in element.attrib.items() if "}" not in key}
        if element.tag == "link" and (css := sheets.linked(element.attrib)):
            element.tag, element.text = "style", css
        elif element.tag == "style" and element.text:
            element.text = sheets.whole(element.text)
    return "<!doctype html>" + ElementTree.tostring(root, encoding="unicode", method="html")


def _sheet_of(found: re.Match[str], sheets: _Sheets) -> str:
    attributes = _attributes(found[1])
    css = sheets.linked(attributes)
    return f"<style{_media(attributes)}>{css}</style>" if css else found[0]


class _Sheets:
    """The style sheets that a chapter names, as far as they are in the book."""

    def __init__(self, read: Read, folder: str) -> None:
        self._read, self._folder = read, folder
        self._left, self._imports = MAX_CSS, 0

    def linked(self, attributes: dict[str, str]) -> str:
        """The sheet that a link or an instruction names; empty if there is none."""
        relation = attributes.get("rel", "stylesheet").lower().split()
        is_alternate = "alternate" in relation or attributes.get("alternate") == "yes"
        if is_alternate or "stylesheet" not in relation:
            return ""
        return self._file(attributes.get("href", ""), self._folder)

    def whole(self, css: str) -> str:
        """A sheet of the chapter itself, with those that it imports."""
        return self._with_imports(css, self._folder)

    def _file(self, address: str, folder: str) -> str:
        name = posixpath.normpath(posixpath.join(folder, unquote(address.partition("#")[0].partition("?")[0])))
        data = self._read(name) if address and self._left > 0 else None
        if data is None:
            return ""
        css = data[: self._left].decode("utf-8-sig", "replace")
        self._left -= len(css)
        return self._with_imports(css, posixpath.dirname(name))

    def _with_imports(self, css: str, folder: str) -> str:
        def imported(found: re.Match[str]) -> str:
            self._imports += 1
            if self._imports > _MOST_IMPORTS or found[1].startswith("data:"):
                return found[0]
            sheet, condition = self._file(found[1], folder), found[2].strip()
            if not sheet or condition.startswith(("layer", "supports")):
                return sheet or found[0]
            return f"@media {condition} {{{sheet}}}" if condition else sheet

        # Nothing in a sheet may end the element that it gets.
        return _IMPORT.sub(imported, css).replace("</", "<\\/")


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): one or other or bare for name, one, other, bare in _ATTRIBUTE.findall(text)}


def _media(attributes: dict[str, str]) -> str:
    media = re.sub(r"[\"<>&]", "", attributes.get("media", ""))
    return f' media="{media}"' if media else ""


def _character(found: re.Match[bytes]) -> bytes:
    """A character that HTML has a name for, and XML has not."""
    name = found[1]
    character = html5.get(f"{name.decode()};")
    if name in _XML_ENTITIES or character is None:
        return found[0]
    return "".join(f"&#{ord(each)};" for each in character).encode()
