"""Tells what kind of content a response has."""

from __future__ import annotations

_HTML = {"text/html", "application/xhtml+xml"}
_PLAIN = {"text/plain", "text/markdown", "text/x-markdown", "text/csv", "text/x-rst", "text/tab-separated-values"}
_ZIPPED = {
    "application/epub+zip": "epub",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
}
_XML = {"application/xml", "text/xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml"}


def kind_of(content_type: str, body: bytes) -> str:
    """``html``, ``text``, ``json``, ``xml``, ``pdf``, ``docx`` or ``epub`` by header or content; empty for others."""
    name = content_type.split(";")[0].strip().lower()
    start = body[:512].lstrip().lower()
    if name == "application/pdf" or start.startswith(b"%pdf-"):
        return "pdf"
    if name in _ZIPPED or start.startswith(b"pk\x03\x04"):
        return _ZIPPED.get(name) or _zipped(body)
    if name in _HTML or (name in ("", "application/octet-stream") and start.startswith((b"<!doctype html", b"<html"))):
        return "html"
    if name == "application/json" or name.endswith("+json"):
        return "json"
    if name in _XML or name.endswith("+xml") or start.startswith(b"<?xml"):
        return "xml"
    if name in _PLAIN or (name == "" and b"\x00" not in body[:1000]):
        return "html" if start.startswith((b"<!doctype html", b"<html")) else "text"
    return ""


def _zipped(body: bytes) -> str:
    """What a ZIP file is by the names inside it, which stand in its text as they are."""
    if b"word/document.xml" in body:
        return "docx"
    return "epub" if b"application/epub+zip" in body[:200] else ""
