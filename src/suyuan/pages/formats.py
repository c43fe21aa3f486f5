"""Converts formats other than HTML to readable Markdown: JSON, XML, feeds and PDF."""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..core.causes.page import EXTRA_MISSING, UNSUPPORTED_TYPE
from ..core.document import Cut
from ..messages.catalog import Text
from ..text.visible import visible_text
from .bounded import bounded
from .reading import PAGE_LIMITS, DocumentPart, ReadingLimits, ReceivedPage
from .units import read_units

_TAG = re.compile(r"<[^<>]{0,2000}>")
_ENTRY = re.compile(r"<(?:item|entry)[\s/>]", re.I)
# A broken PDF can make the library fail in many ways.
_PDF_ERRORS = (ValueError, LookupError, TypeError, AttributeError, RuntimeError, OSError, AssertionError)


@dataclass(frozen=True, slots=True)
class FoundText:
    """The title and the text of a document that is not HTML, and how much of it this is."""

    title: str
    text: str
    cut: Cut | None = None
    part: DocumentPart | None = None
    """Set where the document is read in parts."""


def json_text(text: str) -> str:
    """JSON as an indented code block; invalid JSON unchanged."""
    try:
        return "```json\n" + json.dumps(json.loads(text), ensure_ascii=False, indent=2) + "\n```"
    except (ValueError, RecursionError):
        return text


def feed_text(text: str, limits: ReadingLimits = PAGE_LIMITS) -> FoundText:
    """The title and the entries of a feed as Markdown, or the plain text of other XML."""
    # An HTML parser also reads broken feeds, and it does not resolve external entities.
    html = re.sub(r"<(/?)link\b", r"<\1x-link", text).replace("<![CDATA[", "").replace("]]>", "")
    source = bounded(html, limits)
    tree = LexborHTMLParser(source.html)
    title = " ".join(_text(tree.css_first("channel > title, feed > title, title")).split())
    entries = tree.css("item, entry")
    if not entries:
        return FoundText(title, "\n".join(line.strip() for line in _TAG.sub("\n", text).splitlines() if line.strip()))
    if source.cut is None:
        return FoundText(title, "\n\n".join(map(_entry, entries)))
    # The last one may lack its end.
    whole = entries[:-1] or entries
    total = max(len(_ENTRY.findall(html)), len(entries))
    return FoundText(title, "\n\n".join(map(_entry, whole)), Cut("entries", len(whole), total))


def _entry(entry: LexborNode) -> str:
    link = entry.css_first("x-link")
    url = ((link.attributes.get("href") or link.text()) if link is not None else "").strip()
    heading = " ".join(_text(entry.css_first("title")).split()) or url
    # The text of an entry is often HTML.
    body = " ".join(_TAG.sub(" ", _text(entry.css_first("description, summary, content"))).split())
    return (f"## [{heading}]({url})\n\n{body}" if url else f"## {heading}\n\n{body}").rstrip()


def _text(node: LexborNode | None) -> str:
    return node.text() if node is not None else ""


def pdf_text(page: ReceivedPage, where: str) -> FoundText:
    """The title of a PDF and the text of the pages that are read at once; a page is found by its number."""
    try:
        import pypdf
        from pypdf.errors import PyPdfError

        from .pdf_layers import PdfLayers
        from .pdf_sight import seen_text
    except ModuleNotFoundError:
        raise EXTRA_MISSING(what="pypdf", extra="pages") from None
    from .wrapped_lines import unwrapped

    broken = (PyPdfError, *_PDF_ERRORS)

    def read_one(at: int) -> tuple[str, bool]:
        text = visible_text(seen_text(reader.pages[at], layers)).strip()
        return f"## {at + 1}\n\n{unwrapped(text)}" if text else "", True

    try:
        reader = pypdf.PdfReader(io.BytesIO(page.response.body))
        title, total = str((reader.metadata.title if reader.metadata else "") or ""), len(reader.pages)
        layers = PdfLayers(reader.root_object)
    except broken:
        raise UNSUPPORTED_TYPE(where=where, kind=Text("fetch.detail.broken_pdf")) from None
    text, part = read_units("pages", total, read_one, broken, page)
    if part.is_nothing:
        raise UNSUPPORTED_TYPE(where=where, kind=Text("fetch.detail.broken_pdf"))
    return FoundText(title, text, part=part)
