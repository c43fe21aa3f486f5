"""Small DOCX and EPUB files, written for the purpose."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def zipped(parts: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP file with these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as file:
        for name, text in parts.items():
            file.writestr(name, text, zipfile.ZIP_STORED if name == "mimetype" else None)
    return out.getvalue()


def paragraph(text: str, style: str = "", marks: str = "") -> str:
    """A paragraph of Word."""
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}<w:r><w:rPr>{marks}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def docx_xml(body: str) -> str:
    """The main text of a Word document."""
    return f"<w:document {W}><w:body>{body}</w:body></w:document>"


def docx(body: str, title: str = "") -> bytes:
    """A Word document whose heading styles have ids that say nothing, as Word writes them in Chinese."""
    styles = "".join(
        f'<w:style w:styleId="{id}"><w:name w:val="heading {level}"/></w:style>' for id, level in (("1", 1), ("a2", 2))
    )
    core = f'<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></c>'
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": docx_xml(body),
            "word/styles.xml": f"<w:styles {W}>{styles}</w:styles>",
            "docProps/core.xml": core,
        }
    )


def epub(chapters: list[str], title: str = "A book") -> bytes:
    """A book of these chapters (HTML), in a folder of its own, with a name that is escaped."""
    items = "".join(f'<item id="c{n}" href="text/chapter%20{n}.xhtml"/>' for n in range(len(chapters)))
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
            "OEBPS/book.opf": f"<package><metadata><title>{title}</title></metadata><manifest>{items}</manifest><spine>{order}</spine></package>",
            **{f"OEBPS/text/chapter {n}.xhtml": f"<html><body>{text}</body></html>" for n, text in enumerate(chapters)},
        }
    )
