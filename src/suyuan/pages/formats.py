"""Converts formats other than HTML to readable Markdown: JSON, XML, feeds and PDF."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..core.causes.page import EXTRA_MISSING, UNSUPPORTED_TYPE
from ..messages.catalog import Text
from .bounded import bounded

_MAX_PAGES = 500
_TAG = re.compile(r"<[^<>]{0,2000}>")


def json_text(text: str) -> str:
    """JSON as an indented code block; invalid JSON unchanged."""
    try:
        return "```json\n" + json.dumps(json.loads(text), ensure_ascii=False, indent=2) + "\n```"
    except (ValueError, RecursionError):
        return text


def feed_text(text: str) -> tuple[str, str]:
    """The title and the entries of a feed as Markdown, or the plain text of other XML."""
    # An HTML parser also reads broken feeds, and it does not resolve external entities.
    html = re.sub(r"<(/?)link\b", r"<\1x-link", text).replace("<![CDATA[", "").replace("]]>", "")
    tree = LexborHTMLParser(bounded(html))
    title = " ".join(_text(tree.css_first("channel > title, feed > title, title")).split())
    entries = tree.css("item, entry")
    if not entries:
        return title, "\n".join(line.strip() for line in _TAG.sub("\n", text).splitlines() if line.strip())
    parts = []
    for entry in entries[:200]:
        link = entry.css_first("x-link")
        url = ((link.attributes.get("href") or link.text()) if link is not None else "").strip()
        heading = " ".join(_text(entry.css_first("title")).split()) or url
        # The text of an entry is often HTML.
        body = " ".join(_TAG.sub(" ", _text(entry.css_first("description, summary, content"))).split())
        parts.append(f"## [{heading}]({url})\n\n{body}".rstrip() if url else f"## {heading}\n\n{body}".rstrip())
    return title, "\n\n".join(parts)


def _text(node: LexborNode | None) -> str:
    return node.text() if node is not None else ""


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
    except (PyPdfError, ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError, AssertionError):
        # A broken PDF can make the library fail in many ways.
        raise UNSUPPORTED_TYPE(where=where, kind=Text("fetch.detail.broken_pdf")) from None


def _pdf_pages(reader: object) -> Iterator[str]:
    from .wrapped_lines import unwrapped

    for number, page in enumerate(reader.pages[:_MAX_PAGES], 1):  # type: ignore[attr-defined]
        text = page.extract_text().strip()
        if text:
            yield f"## {number}\n\n{unwrapped(text)}"
