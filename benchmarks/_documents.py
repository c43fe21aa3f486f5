"""Small PDF, DOCX and EPUB files, written byte by byte: what no program that writes documents would write."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Mapping, Sequence

PDF_TYPE = "application/pdf"
DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
EPUB_TYPE = "application/epub+zip"

_FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
FIRST_OBJECT = 6
"""The number that the first of the other objects of a PDF gets."""


def stream(content: str | bytes, entries: str = "") -> bytes:
    """An object of a PDF that is a stream."""
    data = content.encode("latin-1") if isinstance(content, str) else content
    return b"<< %b /Length %d >>\nstream\n%b\nendstream" % (entries.encode("latin-1"), len(data), data)


def pdf(
    content: str,
    objects: Sequence[str | bytes] = (),
    resources: str = "",
    page: str = "/MediaBox [0 0 595 842]",
    catalog: str = "",
) -> bytes:
    """A PDF of one page; ``objects`` are numbered from ``FIRST_OBJECT``, and its font is ``/F1``."""
    bodies: list[bytes] = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode("latin-1"),
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /Contents 4 0 R {page} /Resources << /Font << /F1 5 0 R >> {resources} >> >>".encode(),
        stream(content),
        _FONT.encode(),
        *(one if isinstance(one, bytes) else one.encode("latin-1") for one in objects),
    ]
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(bodies, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(bodies) + 1, start))
    return out.getvalue()


def picture(width: int, height: int, *, plain: bool = False, entries: str = "") -> bytes:
    """An image of a PDF, in black and white: of a scanned page, as far as its size goes, or all white."""
    size = (width + 7) // 8 * height
    pixels = b"\xff" * size if plain else random.Random(7).randbytes(size)
    head = f"/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray /BitsPerComponent 1"
    return stream(pixels, f"{head} {entries}")


def form(content: str, entries: str = "", resources: str = "") -> bytes:
    """A form of a PDF: a page within a page."""
    head = "/Type /XObject /Subtype /Form /BBox [0 0 595 842]"
    return stream(content, f"{head} {entries} /Resources << /Font << /F1 5 0 R >> {resources} >>")


# --- files of parts ---------------------------------------------------------------------------------------------------
def _zipped(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text, zipfile.ZIP_STORED if name == "mimetype" else None)
    return out.getvalue()


_NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:v="urn:schemas-microsoft-com:vml"'
)
_COLOURS = {
    "dk1": '<a:sysClr val="windowText" lastClr="000000"/>', "lt1": '<a:sysClr val="window" lastClr="FFFFFF"/>',
    "dk2": '<a:srgbClr val="1F497D"/>', "lt2": '<a:srgbClr val="EEECE1"/>', "accent1": '<a:srgbClr val="4F81BD"/>',
}  # fmt: skip
_THEME = (
    f"<a:theme {_NAMESPACES}><a:themeElements><a:clrScheme>"
    + "".join(f"<a:{name}>{colour}</a:{name}>" for name, colour in _COLOURS.items())
    + "</a:clrScheme></a:themeElements></a:theme>"
)


def docx(body: str, styles: str = "", notes: str = "", before: str = "") -> bytes:
    """A Word document; ``before`` stands before its body."""
    parts = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": f"<w:document {_NAMESPACES}>{before}<w:body>{body}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {_NAMESPACES}>{styles}</w:styles>",
        "word/theme/theme1.xml": _THEME,
    }
    if notes:
        parts["word/footnotes.xml"] = (
            f"<w:footnotes {_NAMESPACES}><w:footnote w:id='1'>{notes}</w:footnote></w:footnotes>"
        )
    return _zipped(parts)


def epub(chapter: str, files: Mapping[str, str] | None = None, head: str = "", before: str = "") -> bytes:
    """A book of one chapter, with other files beside it; ``before`` stands before its root."""
    return _zipped(
        {
            "mimetype": EPUB_TYPE,
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": '<package><metadata><title>Harbour</title></metadata><manifest><item id="c" href="text/one.xhtml"/></manifest>'
            '<spine><itemref idref="c"/></spine></package>',
            "OEBPS/text/one.xhtml": '<?xml version="1.0" encoding="utf-8"?>'
            f"{before}<!DOCTYPE html>"
            f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Harbour</title>{head}</head><body>{chapter}</body></html>',
            **(files or {}),
        }
    )
