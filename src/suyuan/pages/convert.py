"""Converts a response to a ``Document``, or raises the error that explains why it cannot be read."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from ..core.causes.page import EMPTY_TEXT, LOGIN_WALL, NOT_FOUND, READER_FAILED, STYLES_TOO_COMPLEX, UNSUPPORTED_TYPE
from ..core.document import Cut, Document
from ..core.errors import SuyuanError
from ..core.http_status import check_status
from ..core.urls import domain_of
from ..core.wire import Response
from ..messages.catalog import Text
from ..text.visible import shown_text
from ..text.words import words
from .css_limits import StylesTooComplex
from .decode import decode
from .extract import extract
from .formats import FoundText, feed_text, json_text, pdf_text
from .interstitial import interstitial_error
from .kind import kind_of
from .reading import DocumentPart, Reading, ReadingLimits, ReceivedPage
from .text_forms import in_form

log = logging.getLogger("suyuan.pages")

_EXTRACTED = ("title", "text", "author", "site_name", "published_at", "language", "canonical_url", "links", "cut")
_PARAGRAPH = 1_000_000
"""A paragraph that is longer is cut itself."""
_INDEXED = 200_000
"""So many characters are taken apart at once, since their words take many times their memory."""


def read_page(page: ReceivedPage) -> Reading:
    """Return the document of a received page with its words; raises a ``SuyuanError``, or ``MemoryError``."""
    try:
        if page.form is not None:
            text = shown_text(in_form(page.response, page.form))
            return Reading(Document(page.url, page.url, "", text, "", ""), "")
        document, part = _converted(page)
        index = _index(document.text) if page.indexed else ""
        return Reading(document, index, part)
    except (SuyuanError, MemoryError):
        raise
    except StylesTooComplex:
        raise STYLES_TOO_COMPLEX(where=domain_of(page.response.url) or page.response.url) from None
    except Exception as error:
        # The outermost edge: whatever a page provokes in a parser is a failure of that page.
        log.exception("a page could not be converted")
        where = domain_of(page.response.url) or page.response.url
        raise READER_FAILED(where=where, what=type(error).__name__) from error


def _index(text: str) -> str:
    """The words of a text."""
    found, start = [], 0
    while start < len(text):
        # Between two lines, so that no word is cut in two.
        end = text.find("\n", start + _INDEXED) + 1 or len(text)
        found.append(" ".join(words(text[start:end])))
        start = end
    return " ".join(found)


def _converted(page: ReceivedPage) -> tuple[Document, DocumentPart | None]:
    """The document of a received page, and which part of it where it is read in parts; raises a ``SuyuanError``."""
    response = page.response
    where = domain_of(response.url) or response.url
    content_type = response.headers.get("content-type", "")
    kind = kind_of(content_type, response.body)
    if kind == "html" and response.status != 200:
        # A challenge page has status 403 or 503, but its content is more informative than its status.
        html = decode(response.body, content_type)
        error = interstitial_error(html, extract(html, response.url, page.limits).text, where, page.rendered)
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
    found, part = _convert(kind, base, page, where)
    # Among much else, JSON can have halves of surrogate pairs, which cannot be stored or sent.
    found = found.shown()
    if part is not None:
        # Whether there is any text is known when all parts are read.
        return found, part
    if not found.text.strip():
        raise EMPTY_TEXT(where=where)
    return _bounded(found, page.limits), None


def _bounded(document: Document, limits: ReadingLimits) -> Document:
    length = len(document.text)
    # What was cut before says so in a unit of its own, and ends with a whole paragraph.
    beyond = 0 if document.cut is None else _PARAGRAPH
    if length <= limits.characters + beyond:
        return document
    return replace(document, text=document.text[: limits.characters], cut=Cut("characters", limits.characters, length))


def _convert(kind: str, base: Document, page: ReceivedPage, where: str) -> tuple[Document, DocumentPart | None]:
    body, content_type = page.response.body, page.response.headers.get("content-type", "")
    if kind in ("pdf", "docx", "epub"):
        found = _binary(kind)(page, where)
        return replace(base, title=found.title, text=found.text, cut=found.cut), found.part
    if not kind:
        raise UNSUPPORTED_TYPE(where=where, kind=base.content_type or Text("fetch.detail.unknown_type"))
    text = decode(body, content_type)
    if kind == "html":
        return _convert_html(base, text, where, page), None
    if kind == "xml":
        found = feed_text(text, page.limits)
        return replace(base, title=found.title, text=found.text, cut=found.cut), None
    if kind == "json":
        text = json_text(text)
    return replace(base, text=text), None


def _binary(kind: str) -> Callable[[ReceivedPage, str], FoundText]:
    if kind == "pdf":
        return pdf_text
    from .zip_formats import docx_text, epub_text

    return docx_text if kind == "docx" else epub_text


def _convert_html(base: Document, html: str, where: str, page: ReceivedPage) -> Document:
    found = extract(html, base.final_url, page.limits)
    if error := interstitial_error(html, found.text, where, page.rendered):
        raise error
    return replace(base, **{name: getattr(found, name) for name in _EXTRACTED})


def _check_status(response: Response, where: str) -> None:
    if response.status in (404, 410):
        raise NOT_FOUND(where=response.url, status=response.status)
    if response.status == 401:
        raise LOGIN_WALL(where=where)
    if not 200 <= response.status < 300:
        check_status(response, where)
