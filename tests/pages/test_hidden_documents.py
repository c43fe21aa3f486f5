"""No hidden text of documents gets through by any mechanism that we know, and no visible text is lost."""

from __future__ import annotations

import time

import pytest
from benchmarks._documents import PDF_TYPE
from benchmarks.hidden_documents import LINES, HiddenDocument, hidden_documents, lost_of, pdf_page, through_of

from suyuan.core.errors import SuyuanError
from suyuan.core.wire import Response
from suyuan.pages.convert import read_page
from suyuan.pages.reader import PageReader
from suyuan.pages.reading import OWN_LIMITS, PAGE_LIMITS, ReceivedPage

URL = "https://a.example/document"
KINDS = ("PDF", "DOCX", "EPUB")


def text_of(document: HiddenDocument) -> str:
    response = Response(200, document.body, URL, {"content-type": document.kind})
    try:
        return read_page(ReceivedPage(URL, response)).document.text
    except SuyuanError as error:
        return f"not read: {error.detail_code}"


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_reader_cannot_see_is_not_read_and_what_he_sees_is(kind: str) -> None:
    """Every way to hide a sentence, in every shape of document; and near misses."""
    wrong = []
    tried = [each for each in hidden_documents(every=False) if each.name.startswith(kind)]
    for document in tried:
        text = text_of(document)
        if through_of(document, text):
            wrong.append(("hidden, but read", document.name))
        if lost_of(document, text):
            wrong.append(("visible, but lost", document.name))
    assert tried and wrong == []


def test_a_scanned_page_keeps_its_recognised_text_and_says_nothing_else() -> None:
    """The picture is what a reader reads: what is recorded with it counts, and white text beside it does not."""
    scan, at = "q 595 0 0 700 0 0 cm /Scan Do Q ", "BT /F1 11 Tf 1 0 0 1 60 {} Tm ({}) Tj ET "
    content = scan + "q 3 Tr " + at.format(600, "Recognised words") + "Q 1 g " + at.format(720, "Secret words")
    text = text_of(HiddenDocument("", PDF_TYPE, pdf_page(content), is_hidden=True))
    assert "Recognised words" in text and "Secret" not in text and LINES[0] in text


def test_only_the_letters_that_are_hidden_are_left_out() -> None:
    """A line that goes on below a box or beyond the page keeps its beginning."""
    at = "BT /F1 11 Tf 1 0 0 1 {} 600 Tm ({}) Tj ET "
    for content in (
        at.format(60, "Shown words and then secret ones") + "1 g 146 590 300 24 re f",
        at.format(500, "Shown words and then secret ones"),
        "q 60 590 86 24 re W n " + at.format(60, "Shown words and then secret ones") + "Q",
    ):
        text = text_of(HiddenDocument("", PDF_TYPE, pdf_page(content), is_hidden=True))
        assert "Shown words" in text and "secret" not in text


@pytest.mark.parametrize(
    "content",
    [
        "q " * 10_000 + "Q " * 10_000,
        "1 g " + "0 0 595 842 re f " * 500,
        "/Half gs 1 g " + "1 0 595 842 re f " * 60,
        "q 0 0 m 595 842 l 300 0 l h W n " * 150 + "Q " * 150,
        "1 g 0 0 m " + "595 842 l 0 1 l " * 500 + "f",
        "/OC /Off BDC " * 3000 + "EMC " * 3000,
        "1e38 0 0 1e38 0 0 cm 0 0 9 9 re f",
        "0 0 0 0 0 0 cm BT /F1 11 Tf (x) Tj ET",
        "BT /F1 1e30 Tf (x) Tj ET",
        "BT /F1 11 Tf [(x) 1e300 (y)] TJ ET",
        "x y re W* n (a) w /No Do /No gs /No cs /No scn BI ID EI",
    ],
    ids=["states", "boxes", "tints", "clips", "lines", "layers", "far", "nothing", "large", "moved", "broken"],
)
def test_a_hostile_page_takes_little_time_and_its_text_is_read(content: str) -> None:
    started = time.process_time()
    text = text_of(HiddenDocument("", PDF_TYPE, pdf_page(content), is_hidden=False))
    assert time.process_time() - started < 4
    assert text.startswith("not read") or LINES[0] in text


async def test_the_library_and_a_fetch_read_the_same_of_a_document() -> None:
    """Both by the readers, with limits of their own."""
    chosen = [each for each in hidden_documents(every=False) if each.is_hidden][::100]
    reader = PageReader()
    try:
        for document in chosen:
            for limits in (PAGE_LIMITS, OWN_LIMITS):
                response = Response(200, document.body, URL, {"content-type": document.kind})
                text = (await reader.read(ReceivedPage(URL, response, limits=limits))).document.text
                assert not through_of(document, text) and not lost_of(document, text), document.name
    finally:
        reader.close()
