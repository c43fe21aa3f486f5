"""Converts a response to a ``Document``, or raises the error that explains why it cannot be read."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from ..core.causes.page import EMPTY_TEXT, LOGIN_WALL, NOT_FOUND, READER_FAILED, UNSUPPORTED_TYPE
from ..core.document import Document
from ..core.errors import SuyuanError
from ..core.http_status import check_status
from ..core.urls import domain_of
from ..core.wire import Response
from ..messages.catalog import Text
from ..text.words import words
from .decode import decode
from .extract import extract
from .formats import feed_text, json_text, pdf_text
from .interstitial import interstitial_error
from .kind import kind_of
from .reading import Reading, ReceivedPage
from .text_forms import in_form

log = logging.getLogger("suyuan.pages")

_EXTRACTED = ("title", "text", "author", "site_name", "published_at", "language", "canonical_url", "links")
MAX_TEXT = 2_000_000
"""The characters of a document; what is longer is cut, and a note says so."""


def read_page(page: ReceivedPage) -> Reading:
    """Return the document of a received page with its words; raises a ``SuyuanError``, or ``MemoryError``."""
    try:
        if page.form is not None:
            return Reading(Document(page.url, page.url, "", in_form(page.response, page.form), "", ""), "")
        document = to_document(page)
        return Reading(document, " ".join(words(document.text)))
    except (SuyuanError, MemoryError):
        raise
    except Exception as error:
        # The outermost edge: whatever a page provokes in a parser is a failure of that page.
        log.exception("a page could not be converted")
        where = domain_of(page.response.url) or page.response.url
        raise READER_FAILED(where=where, what=type(error).__name__) from error


def to_document(page: ReceivedPage) -> Document:
    """Return the document of a received page; raises a ``SuyuanError``."""
    response = page.response
    where = domain_of(response.url) or response.url
    content_type = response.headers.get("content-type", "")
    kind = kind_of(content_type, response.body)
    if kind == "html" and response.status != 200:
        # A challenge page has status 403 or 503, but its content is more informative than its status.
        html = decode(response.body, content_type)
        error = interstitial_error(html, extract(html, response.url).text, where, page.rendered)
        if error and error.detail_code == "captcha_required":
            raise error
    _check_status(response, where)
    base = Document(
        url=page.url,
        final_url=response.url,
        title="",
        text="",
        content_type=content_type.split(";")[0].strip().lower() or kind,
        fetched_at=datetime.now(UTC).isoformat(timespec="seconds"),
        status=response.status,
        etag=response.headers.get("etag", ""),
        last_modified=response.headers.get("last-modified", ""),
        notes=page.notes,
    )
    document = _convert(kind, base, page, where)
    if not document.text.strip():
        raise EMPTY_TEXT(where=where)
    return _bounded(_encodable(document))


def _encodable(document: Document) -> Document:
    """The document without halves of surrogate pairs, which JSON can have, and which cannot be stored or sent."""
    fields = {name: getattr(document, name) for name in ("title", "text", "author", "site_name")}
    broken = {name: text for name, text in fields.items() if not text.isascii()}
    return replace(document, **{name: text.encode("utf-8", "replace").decode() for name, text in broken.items()})


def _bounded(document: Document) -> Document:
    if (length := len(document.text)) <= MAX_TEXT:
        return document
    note = f"only the first {MAX_TEXT:,} of {length:,} characters"
    return replace(document, text=document.text[:MAX_TEXT], notes=(*document.notes, note))


def _convert(kind: str, base: Document, page: ReceivedPage, where: str) -> Document:
    body, content_type = page.response.body, page.response.headers.get("content-type", "")
    if kind in ("pdf", "docx", "epub"):
        title, text = _binary(kind)(body, where)
        return replace(base, title=title, text=text)
    if not kind:
        raise UNSUPPORTED_TYPE(where=where, kind=base.content_type or Text("fetch.detail.unknown_type"))
    text = decode(body, content_type)
    if kind == "html":
        return _convert_html(base, text, where, page.rendered)
    if kind == "xml":
        title, text = feed_text(text)
        return replace(base, title=title, text=text)
    return replace(base, text=json_text(text) if kind == "json" else text)


def _binary(kind: str) -> Callable[[bytes, str], tuple[str, str]]:
    if kind == "pdf":
        return pdf_text
    from .zip_formats import docx_text, epub_text

    return docx_text if kind == "docx" else epub_text


def _convert_html(base: Document, html: str, where: str, rendered: bool) -> Document:
    found = extract(html, base.final_url)
    if error := interstitial_error(html, found.text, where, rendered):
        raise error
    return replace(base, **{name: getattr(found, name) for name in _EXTRACTED})


def _check_status(response: Response, where: str) -> None:
    if response.status in (404, 410):
        raise NOT_FOUND(where=response.url, status=response.status)
    if response.status == 401:
        raise LOGIN_WALL(where=where)
    if not 200 <= response.status < 300:
        check_status(response, where)
