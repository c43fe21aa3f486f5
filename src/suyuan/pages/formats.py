"""Texts that are not HTML: plain text, JSON, XML, feeds and PDF, each as readable Markdown."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

from ..core.causes.page import EXTRA_MISSING, UNSUPPORTED_TYPE
from ..messages.catalog import Text

_MOST_PAGES = 500
_TAG = re.compile(r"<[^>]{0,2000}>")
_HTML = {"text/html", "application/xhtml+xml"}
_PLAIN = {"text/plain", "text/markdown", "text/x-markdown", "text/csv", "text/x-rst", "text/tab-separated-values"}
_XML = {"application/xml", "text/xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml"}


def kind_of(content_type: str, body: bytes) -> str:
    """``html``, ``text``, ``json``, ``xml`` or ``pdf`` by header, and by the first bytes where the header tells nothing; else empty."""
    name = content_type.split(";")[0].strip().lower()
    start = body[:512].lstrip().lower()
    if name == "application/pdf" or start.startswith(b"%pdf-"):
        return "pdf"
    if name in _HTML or (name in ("", "application/octet-stream") and start.startswith((b"<!doctype html", b"<html"))):
        return "html"
    if name == "application/json" or name.endswith("+json"):
        return "json"
    if name in _XML or name.endswith("+xml") or start.startswith(b"<?xml"):
        return "xml"
    if name in _PLAIN or (name == "" and b"\x00" not in body[:1000]):
        return "html" if start.startswith((b"<!doctype html", b"<html")) else "text"
    return ""


def json_text(text: str) -> str:
    """JSON, set readably; broken JSON as it came."""
    try:
        return "```json\n" + json.dumps(json.loads(text), ensure_ascii=False, indent=2) + "\n```"
    except (ValueError, RecursionError):
        return text


def feed_text(text: str) -> tuple[str, str]:
    """The title and the entries of a feed as Markdown; of other XML its plain text."""
    # An HTML parser reads broken feeds too, and knows nothing of entities that open files.
    tree = LexborHTMLParser(re.sub(r"<(/?)link\b", r"<\1x-link", text).replace("<![CDATA[", "").replace("]]>", ""))
    title_node = tree.css_first("channel > title, feed > title, title")
    title = " ".join(title_node.text().split()) if title_node is not None else ""
    entries = tree.css("item, entry")
    if not entries:
        return title, "\n".join(line.strip() for line in _TAG.sub("\n", text).splitlines() if line.strip())
    parts = []
    for entry in entries[:200]:
        name, link = entry.css_first("title"), entry.css_first("x-link")
        url = ((link.attributes.get("href") or link.text()) if link is not None else "").strip()
        body = entry.css_first("description, summary, content")
        words = " ".join(_TAG.sub(" ", body.text()).split()) if body is not None else ""
        heading = " ".join(name.text().split()) if name is not None else url
        parts.append(f"## [{heading}]({url})\n\n{words}".rstrip() if url else f"## {heading}\n\n{words}".rstrip())
    return title, "\n\n".join(parts)


def pdf_text(body: bytes, where: str) -> tuple[str, str]:
    """The title and the text of a PDF, page by page."""
    try:
        import pypdf
        from pypdf.errors import PyPdfError
    except ModuleNotFoundError:
        raise EXTRA_MISSING(what="pypdf", extra="pages") from None
    try:
        reader = pypdf.PdfReader(io.BytesIO(body))
        title = str((reader.metadata.title if reader.metadata else "") or "")
        return title, "\n\n".join(_pdf_pages(reader))
    except (
        PyPdfError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        OSError,
        IndexError,
        AssertionError,
    ):
        # The many ways in which a broken PDF breaks its reader.
        raise UNSUPPORTED_TYPE(where=where, kind=Text("fetch.detail.broken_pdf")) from None


def _pdf_pages(reader: object) -> Iterator[str]:
    for number, page in enumerate(reader.pages[:_MOST_PAGES], 1):  # type: ignore[attr-defined]
        text = page.extract_text().strip()
        if text:
            yield f"## {number}\n\n{text}"
