"""Word documents and books are read as Markdown."""

from __future__ import annotations

import io
import zipfile

import pytest

from support.documents import docx, docx_xml, epub, paragraph, zipped
from suyuan.core.errors import SuyuanError
from suyuan.core.wire import Response
from suyuan.pages import zip_formats
from suyuan.pages.convert import read_page
from suyuan.pages.kind import kind_of
from suyuan.pages.reading import ReceivedPage

ENTITY = '<?xml version="1.0" encoding="{}"?><!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>'
DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def read(body: bytes, content_type: str = "application/octet-stream") -> tuple[str, str]:
    page = ReceivedPage(
        "https://a.example/x", Response(200, body, "https://a.example/x", {"content-type": content_type})
    )
    document = read_page(page).document
    return document.title, document.text


def claiming(size: int) -> bytes:
    """A file whose only member is said to be as long as this, and ends before."""
    body = bytearray(zipped({"word/document.xml": "<x/>"}, zipfile.ZIP_STORED))
    directory = body.rindex(b"PK\x01\x02")
    body[directory + 20 : directory + 28] = size.to_bytes(4, "little") * 2
    return bytes(body)


def test_headings_lists_tables_and_hidden_text_of_word() -> None:
    cell = "<w:tc>{}</w:tc>"
    table = (
        "<w:tbl>"
        + "".join(
            "<w:tr>" + "".join(cell.format(paragraph(text)) for text in row) + "</w:tr>"
            for row in (("Name", "Alter"), ("Ada | B", "36"))
        )
        + "</w:tbl>"
    )
    bullet = "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Ein Punkt</w:t></w:r></w:p>"
    deleted = "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:t>stays</w:t><w:tab/><w:t>here</w:t></w:r></w:p>"
    twice = "<w:p><w:r><AlternateContent><Choice><w:r><w:t>box</w:t></w:r></Choice><Fallback><w:r><w:t>box</w:t></w:r></Fallback></AlternateContent></w:r></w:p>"
    body = "".join(
        (
            paragraph("第一章", "1"), paragraph("Abschnitt", "a2"), paragraph("Ein Satz."), bullet, table, deleted, twice,
            paragraph("unsichtbar", marks="<w:vanish/>"), paragraph("sichtbar", marks='<w:vanish w:val="0"/>'),
        )
    )  # fmt: skip
    title, text = read(docx(body, "Der Titel"), DOCX_TYPE)
    assert title == "Der Titel"
    assert text.split("\n\n") == [
        "# 第一章", "## Abschnitt", "Ein Satz.", "- Ein Punkt", "| Name | Alter |\n| --- | --- |\n| Ada \\| B | 36 |",
        "stays here", "box", "sichtbar",
    ]  # fmt: skip


def test_the_chapters_of_a_book_are_in_its_order_and_complete() -> None:
    chapters = ["<h1>第一章</h1><p>开头。</p>", "<h1>Two</h1><p>Short.</p><ul><li>one</li></ul>"]
    title, text = read(epub(chapters))
    assert title == "A book" and text == "# 第一章\n\n开头。\n\n# Two\n\nShort.\n\n- one"


def test_kinds_are_recognised_by_content() -> None:
    assert kind_of("", docx(paragraph("x"))) == "docx" == kind_of(DOCX_TYPE, b"")
    assert kind_of("application/zip", epub(["x"])) == "epub"
    assert kind_of("application/zip", zipped({"a.txt": "x"})) == ""


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"PK\x03\x04 not a zip", DOCX_TYPE),
        (zipped({"word/document.xml": "<w:document"}), DOCX_TYPE),
        (zipped({"word/document.xml": '<?xml version="1.0" encoding="nonsense"?><x/>'}), DOCX_TYPE),
        (claiming(5000), DOCX_TYPE),
        (zipped({"word/document.xml": "<x/>"}, zipfile.ZIP_LZMA), DOCX_TYPE),
        (zipped({"META-INF/container.xml": "<container/>"}), "application/epub+zip"),
    ],
)
def test_a_damaged_file_is_a_cause(body: bytes, content_type: str) -> None:
    with pytest.raises(SuyuanError) as raised:
        read(body, content_type)
    assert raised.value.detail_code == "unsupported_type" and raised.value.hint


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-7", "utf-32", "cp037"])
def test_entities_are_refused_in_every_encoding(encoding: str) -> None:
    """By the parser: their bytes differ."""
    declared = "utf-16" if encoding.startswith("utf-16") else encoding
    for body, content_type in (
        (zipped({"word/document.xml": ENTITY.format(declared).encode(encoding)}), DOCX_TYPE),
        (zipped({"META-INF/container.xml": ENTITY.format(declared).encode(encoding)}), "application/epub+zip"),
    ):
        with pytest.raises(SuyuanError) as raised:
            read(body, content_type)
        assert raised.value.detail_code == "unsupported_type"


def test_a_document_type_without_entities_and_utf_16_are_read() -> None:
    body = docx(paragraph("可以读"))
    text = zipfile.ZipFile(io.BytesIO(body)).read("word/document.xml").decode()
    wide = f'<?xml version="1.0" encoding="utf-16"?><!DOCTYPE x>{text}'.encode("utf-16")
    assert read(zipped({"word/document.xml": wide}), DOCX_TYPE)[1] == "可以读"


def test_what_unpacks_to_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_formats, "MAX_MEMBER", 1000)
    body = zipped({"word/document.xml": docx_xml(paragraph("x")), "word/styles.xml": "<x>" + " " * 100_000 + "</x>"})
    with pytest.raises(SuyuanError) as raised:
        read(body, DOCX_TYPE)
    assert raised.value.detail_code == "too_large"
