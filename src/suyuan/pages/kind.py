"""Tells what kind of content a response has."""

from __future__ import annotations

_HTML = {"text/html", "application/xhtml+xml"}
_PLAIN = {"text/plain", "text/markdown", "text/x-markdown", "text/csv", "text/x-rst", "text/tab-separated-values"}
_ZIPPED = {
    "application/epub+zip": "epub",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
}
_HTML_STARTS = (b"<!doctype html", b"<html")
_MAY_BE_HTML = {*_PLAIN, "", "application/octet-stream"}
_XML = {"application/xml", "text/xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml"}


def kind_of(content_type: str, body: bytes) -> str:
    """``html``, ``text``, ``json``, ``xml``, ``pdf``, ``docx`` or ``epub`` by header or content; empty for others."""
    name = content_type.split(";")[0].strip().lower()
    start = body[:512].lstrip().lower()
    if name == "application/pdf" or start.startswith(b"%pdf-"):
        return "pdf"
    if name in _ZIPPED:
        return _ZIPPED[name]
    if start.startswith(b"pk\x03\x04"):
        return _zipped(body)
    if name in _HTML:
        return "html"
    if name in _MAY_BE_HTML and start.startswith(_HTML_STARTS):
        return "html"
    return _kind_of_text(name, body)


def _kind_of_text(name: str, body: bytes) -> str:
    """``json``, ``xml`` or ``text``; empty for others."""
    if name == "application/json" or name.endswith("+json"):
        return "json"
    if name in _XML or name.endswith("+xml"):
        return "xml"
    if body[:512].lstrip().lower().startswith(b"<?xml"):
        return "xml"
    if name in _PLAIN:
        return "text"
    has_no_type = name == ""
    return "text" if has_no_type and b"\x00" not in body[:1000] else ""


def _zipped(body: bytes) -> str:
    """What a ZIP file is by the names inside it, which stand in its text as they are."""
    if b"word/document.xml" in body:
        return "docx"
    return "epub" if b"application/epub+zip" in body[:200] else ""
