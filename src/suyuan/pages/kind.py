"""Tells what kind of content a response has."""

from __future__ import annotations

_HTML = {"text/html", "application/xhtml+xml"}
_PLAIN = {"text/plain", "text/markdown", "text/x-markdown", "text/csv", "text/x-rst", "text/tab-separated-values"}
_XML = {"application/xml", "text/xml", "application/rss+xml", "application/atom+xml", "application/rdf+xml"}


def kind_of(content_type: str, body: bytes) -> str:
    """``html``, ``text``, ``json``, ``xml`` or ``pdf`` by the header or the first bytes; empty for other formats."""
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
