"""Writes a text as a PDF of one page after another; for Latin letters, with a font that every reader has."""

from __future__ import annotations

from textwrap import wrap

_COLUMNS, _LINES = 84, 48


def pdf(title: str, text: str) -> bytes:
    """A PDF with ``title`` and the paragraphs of ``text``."""
    lines = [title, ""]
    for paragraph in text.split("\n\n"):
        lines += [*wrap(paragraph, _COLUMNS), ""]
    pages = [lines[at : at + _LINES] for at in range(0, len(lines), _LINES)]
    # 1 is the catalogue, 2 the list of pages, 3 the font, 4 the title; then two objects for each page.
    numbers = [5 + 2 * at for at in range(len(pages))]
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{' '.join(f'{n} 0 R' for n in numbers)}] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Title " + _string(title) + b" >>",
    ]
    for number, page in zip(numbers, pages, strict=True):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            + f"/Contents {number + 1} 0 R >>".encode()
        )
        drawn = b"BT /F1 11 Tf 16 TL 56 780 Td " + b" ".join(_string(line) + b" Tj T*" for line in page) + b" ET"
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n".encode() + drawn + b"\nendstream")
    return _file(objects)


def _file(objects: list[bytes]) -> bytes:
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + (head + end).encode()


def _string(text: str) -> bytes:
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return b"(" + escaped.encode("cp1252", "replace") + b")"
