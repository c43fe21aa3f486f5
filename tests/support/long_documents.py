"""Documents of any length, of every kind that is read; each unit of one has a word of its own."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import pypdf
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from support.documents import epub
from suyuan.core.wire import Response
from suyuan.pages.reading import PAGE_LIMITS, ReadingLimits, ReceivedPage

URL = "https://long.example/document"
PROSE = "The harbour master writes down what every ship has to pay, and when it leaves the quay."
_MARK = re.compile(r"mark(\d+)end")


def mark(number: int) -> str:
    """The word of a unit."""
    return f"mark{number}end"


def marks_in(text: str) -> list[int]:
    """The units of which ``text`` has the word."""
    return [int(found[1]) for found in _MARK.finditer(text)]


def sentence(number: int) -> str:
    """A sentence with the word of a unit."""
    return f"Entry {mark(number)}: {PROSE}"


def pdf_of(texts: list[str]) -> bytes:
    """A PDF with one line of text on each page."""
    writer = pypdf.PdfWriter()
    font = DictionaryObject({NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")})
    font[NameObject("/BaseFont")] = NameObject("/Helvetica")
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
    for text in texts:
        page = writer.add_blank_page(595, 842)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        drawn = DecodedStreamObject()
        drawn.set_data(f"BT /F1 11 Tf 50 780 Td ({text}) Tj ET".encode("ascii"))
        page[NameObject("/Contents")] = writer._add_object(drawn)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _pdf(units: int) -> bytes:
    return pdf_of([sentence(n) for n in range(units)])


def _docx(units: int) -> bytes:
    import docx

    document = docx.Document()
    for n in range(units):
        document.add_paragraph(sentence(n))
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _epub(units: int) -> bytes:
    return epub([f"<h1>Chapter {n}</h1><p>{sentence(n)}</p>" for n in range(units)])


def _html(units: int) -> bytes:
    body = "".join(f"<p>{sentence(n)}</p>\n" for n in range(units))
    return f"<html><head><title>Long</title></head><body><article>{body}</article></body></html>".encode()


def _feed(units: int) -> bytes:
    items = "".join(
        f"<item><title>Item {n}</title><link>https://a.example/{n}</link><description>{sentence(n)}</description></item>"
        for n in range(units)
    )
    return f'<?xml version="1.0"?><rss><channel><title>Feed</title>{items}</channel></rss>'.encode()


def _text(units: int) -> bytes:
    return "\n\n".join(sentence(n) for n in range(units)).encode()


def _old_text(units: int) -> bytes:
    return "\n\n".join(f"{sentence(n)} 港务局长记下每艘船应缴的费用。" for n in range(units)).encode("gbk")


def _csv(units: int) -> bytes:
    return "".join(f'{n},{mark(n)},"{PROSE}"\n' for n in range(units)).encode()


def _json(units: int) -> bytes:
    return json.dumps([sentence(n) for n in range(units)]).encode()


def _xml(units: int) -> bytes:
    return (
        f"<?xml version='1.0'?><ships>{''.join(f'<ship>{sentence(n)}</ship>' for n in range(units))}</ships>".encode()
    )


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document: how one is made, and what says so."""

    make: Callable[[int], bytes]
    content_type: str
    suffix: str


KINDS = {
    "pdf": Kind(_pdf, "application/pdf", ".pdf"),
    "docx": Kind(_docx, "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"),
    "epub": Kind(_epub, "application/epub+zip", ".epub"),
    "html": Kind(_html, "text/html; charset=utf-8", ".html"),
    "feed": Kind(_feed, "application/rss+xml", ".xml"),
    "text": Kind(_text, "text/plain; charset=utf-8", ".txt"),
    "old text": Kind(_old_text, "text/plain", ".txt"),
    "markdown": Kind(_text, "text/markdown", ".md"),
    "csv": Kind(_csv, "text/csv", ".csv"),
    "json": Kind(_json, "application/json", ".json"),
    "xml": Kind(_xml, "application/xml", ".xml"),
}


def received(body: bytes, kind: str, limits: ReadingLimits = PAGE_LIMITS, **more: float) -> ReceivedPage:
    """A document as it was received."""
    response = Response(200, body, URL, {"content-type": KINDS[kind].content_type})
    page = ReceivedPage(URL, response, limits=limits)
    return replace(page, **more)  # type: ignore[arg-type]
