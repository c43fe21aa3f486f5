"""Long documents are read whole, or say how much of them was read: nothing is dropped without a word."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from support.documents import docx_xml, epub, paragraph, zipped
from support.long_documents import KINDS, PROSE, mark, marks_in, pdf_of, received, sentence
from suyuan.core.document import Cut, Document
from suyuan.core.errors import SuyuanError
from suyuan.pages.convert import read_page
from suyuan.pages.document_parts import page_at, parts_of
from suyuan.pages.passages import cut as passages_of
from suyuan.pages.passages import select
from suyuan.pages.reader import PageReader
from suyuan.pages.reading import OWN_LIMITS, PAGE_LIMITS, ReadingLimits
from suyuan.pages.units import LONGEST
from suyuan.pages.zip_formats import READING_SHARE

UNITS = 40


@pytest.fixture
async def reader() -> AsyncIterator[PageReader]:
    opened = PageReader()
    yield opened
    opened.close()


async def whole_text(reader: PageReader, kind: str) -> str:
    """The text of the document of ``UNITS`` units, which no limit holds up."""
    document = (await reader.read(received(KINDS[kind].make(UNITS), kind))).document
    assert document.cut is None and marks_in(document.text) == list(range(UNITS))
    return document.text


# --- what the text itself may be ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["text", "old text", "markdown", "csv", "json", "xml", "html", "feed"])
@pytest.mark.parametrize("beyond", [-1, 0, 1])
async def test_a_text_is_whole_up_to_its_limit_and_told_to_be_cut_beyond(
    reader: PageReader, kind: str, beyond: int
) -> None:
    text = await whole_text(reader, kind)
    limits = replace(PAGE_LIMITS, characters=len(text) - beyond)
    found = (await reader.read(received(KINDS[kind].make(UNITS), kind, limits))).document
    assert found.text == text[: limits.characters]
    assert found.cut == (Cut("characters", limits.characters, len(text)) if beyond > 0 else None)


# --- HTML and feeds: the source ----------------------------------------------------------------------------------------
def _counts(kind: str) -> dict[str, int]:
    """How much the document of ``UNITS`` units has of what is limited."""
    source = KINDS[kind].make(UNITS).decode()
    if kind == "feed":
        return {"source": len(source.replace("<link", "<x-link").replace("</link", "</x-link")), "tags": 8 * UNITS + 6}
    return {"source": len(source), "tags": 2 * UNITS + 10, "blocks": 2 * UNITS + 4}


@pytest.mark.parametrize(
    ("kind", "limit"), [(kind, limit) for kind in ("html", "feed") for limit in _counts(kind)], ids="-".join
)
@pytest.mark.parametrize("less", [0, 1, 25, 60])
async def test_a_source_is_read_whole_up_to_its_limit_and_told_to_be_cut_beyond(
    reader: PageReader, kind: str, limit: str, less: int
) -> None:
    body, most = KINDS[kind].make(UNITS), _counts(kind)[limit]
    limits = replace(PAGE_LIMITS, **{limit: most - less})
    found = (await reader.read(received(body, kind, limits))).document
    read = marks_in(found.text)
    assert read == list(range(len(read))), "what was read is the beginning"
    if found.cut is None:
        assert less == 0 and len(read) == UNITS
    elif kind == "feed":
        assert found.cut == Cut("entries", len(read), UNITS) and less
    else:
        source = body.decode()
        assert found.cut == Cut("characters", found.cut.read, len(source)) and less
        assert set(marks_in(source[: found.cut.read])) >= set(read) >= set(marks_in(source[: found.cut.read])[:-1])
        assert source[found.cut.read :].startswith("<") or limit == "source"


# --- Word --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("limit", ["characters", "unpacked"])
async def test_a_word_document_is_read_as_far_as_the_limits_allow(reader: PageReader, limit: str) -> None:
    body = KINDS["docx"].make(4000)
    size = zipfile.ZipFile(io.BytesIO(body)).getinfo("word/document.xml").file_size
    whole = (await reader.read(received(body, "docx"))).document
    assert whole.cut is None and marks_in(whole.text) == list(range(4000))
    most = {"characters": len(whole.text) + 1, "unpacked": size + 1}[limit]
    assert (await reader.read(received(body, "docx", replace(PAGE_LIMITS, **{limit: most})))).document.cut is None
    found = (await reader.read(received(body, "docx", replace(PAGE_LIMITS, **{limit: most // 2})))).document
    assert found.cut == Cut("bytes", found.cut.read if found.cut else 0, size) and 0 < found.cut.read < size
    read = marks_in(found.text)
    assert read == list(range(len(read))) and 0.4 < len(read) / 4000 < 0.6
    assert 0.4 < found.cut.read / size < 0.6


async def test_what_a_word_document_says_in_its_notes_is_cut_as_well() -> None:
    notes = docx_xml("".join(paragraph(sentence(n)) for n in range(500)))
    body = zipped({"word/document.xml": docx_xml(paragraph(sentence(500))), "word/footnotes.xml": notes})
    whole = read_page(received(body, "docx")).document
    assert whole.cut is None and sorted(marks_in(whole.text)) == list(range(501))
    found = read_page(received(body, "docx", replace(PAGE_LIMITS, characters=100))).document
    assert marks_in(found.text) == [500] and found.cut is not None and found.cut.total > found.cut.read


async def test_a_word_document_is_one_table_as_well_as_many_paragraphs(reader: PageReader) -> None:
    rows = "".join(f"<w:tr><w:tc>{paragraph(sentence(n))}</w:tc></w:tr>" for n in range(3000))
    body = zipped({"word/document.xml": docx_xml(f"<w:tbl>{rows}</w:tbl>")})
    found = (await reader.read(received(body, "docx"))).document
    assert found.cut is None and marks_in(found.text) == list(range(3000))
    assert all(b - a <= 9000 for a, b in parts_of(found)), "it is found by its rows"
    chosen = select(found.text, mark(2900), 2000)
    assert 2900 in marks_in("".join(passage.text for passage in chosen.passages)), "and is shown by them"


# --- books -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("chapters", "patience"), [(3, 4.0), (60, 0.0)])
async def test_a_book_is_read_in_parts_up_to_its_limit(reader: PageReader, chapters: int, patience: float) -> None:
    body = KINDS["epub"].make(chapters)
    whole = (await reader.read(received(body, "epub", patience=patience))).document
    assert whole.cut is None and marks_in(whole.text) == list(range(chapters))
    limits = replace(PAGE_LIMITS, characters=len(whole.text) // 2)
    found = (await reader.read(received(body, "epub", limits, patience=patience))).document
    read = marks_in(found.text)
    assert read == list(range(len(read))) and found.cut == Cut("chapters", len(read), chapters)


def _book(*, missing: str = "", damaged: str = "", long: int = 0) -> bytes:
    """A book of ten chapters, one of which is not there, damaged, or very long."""
    body = epub([f"<p>{sentence(n)}</p>" + "<p>x</p>" * (long if n == 3 else 0) for n in range(10)])
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            if not missing or missing not in name:
                new.writestr(name, old.read(name))
    written = out.getvalue()
    if damaged:
        at = written.index(mark(3).encode())
        written = written[:at] + b"X" + written[at + 1 :]
    return written


@pytest.mark.parametrize("fault", ["missing", "damaged", "long"])
async def test_a_chapter_that_cannot_be_read_is_counted_and_takes_no_other(reader: PageReader, fault: str) -> None:
    body = {"missing": _book(missing="chapter 3"), "damaged": _book(damaged="3"), "long": _book(long=300)}[fault]
    limits = replace(PAGE_LIMITS, blocks=100)
    found = (await reader.read(received(body, "epub", limits))).document
    assert found.cut == Cut("chapters", 9, 10)
    assert set(range(10)) - {3} <= set(marks_in(found.text))


# --- PDF ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("pages", "patience"), [(1, 4.0), (620, 4.0), (30, 0.0)])
async def test_a_pdf_is_read_in_parts_and_whole(reader: PageReader, pages: int, patience: float) -> None:
    found = (await reader.read(received(KINDS["pdf"].make(pages), "pdf", patience=patience))).document
    assert found.cut is None and marks_in(found.text) == list(range(pages))
    assert [page_at(found, found.text.index(mark(n))) for n in range(pages)] == list(range(1, pages + 1))


@pytest.mark.parametrize("patience", [4.0, 0.0])
async def test_a_pdf_is_cut_between_two_pages(reader: PageReader, patience: float) -> None:
    body = KINDS["pdf"].make(50)
    length = len((await reader.read(received(body, "pdf"))).document.text)
    limits = replace(PAGE_LIMITS, characters=length // 2)
    found = (await reader.read(received(body, "pdf", limits, patience=patience))).document
    read = marks_in(found.text)
    assert found.cut == Cut("pages", len(read), 50) and read == list(range(len(read))) and 20 < len(read) < 30


async def test_a_pdf_ends_with_the_time_for_it_and_says_so(reader: PageReader) -> None:
    body = KINDS["pdf"].make(300)
    found = (await reader.read(received(body, "pdf", replace(PAGE_LIMITS, all_seconds=0.0), patience=0.01))).document
    read = marks_in(found.text)
    assert read == list(range(len(read))) and found.cut == Cut("pages", len(read), 300) and 0 < len(read) < 300


async def test_a_pdf_that_somebody_waits_for_is_what_was_read_in_time(reader: PageReader) -> None:
    body = KINDS["pdf"].make(300)
    soon = asyncio.get_running_loop().time() + 0.2
    found = (await reader.read(received(body, "pdf", patience=0.0), soon)).document
    read = marks_in(found.text)
    assert read == list(range(len(read))) and found.cut == Cut("pages", len(read), 300) and 0 < len(read) < 300


def _slow_page() -> str:
    return f") Tj {'(x) Tj ' * 800_000} ({mark(1)}"


async def test_a_page_that_takes_too_long_is_counted_and_takes_no_other(reader: PageReader) -> None:
    texts = [sentence(0), _slow_page(), sentence(2)]
    found = (await reader.read(received(pdf_of(texts), "pdf", patience=0.0))).document
    assert found.cut == Cut("pages", 2, 3) and marks_in(found.text) == [0, 2]
    assert page_at(found, found.text.index(mark(2))) == 3


async def test_what_was_read_before_a_reader_died_is_kept(reader: PageReader) -> None:
    """The system ends a reader that uses more time than it may; here before the page itself is given up."""
    texts = [*map(sentence, range(5)), _slow_page(), *map(sentence, range(6, 9))]
    limits = replace(PAGE_LIMITS, seconds=2.0)
    # What reading a first document loads must not use up the little time that this one has.
    await reader.read(received(KINDS["pdf"].make(1), "pdf"))
    found = (await reader.read(received(pdf_of(texts), "pdf", limits, patience=0.0))).document
    # How far it comes in its time depends on the machine; what it has read is kept, and counted.
    assert found.cut is not None and found.cut == Cut("pages", found.cut.read, 9) and 0 < found.cut.read <= 5
    assert marks_in(found.text) == list(range(found.cut.read))


@pytest.mark.parametrize("broken", [0, 7, 19])
async def test_a_page_that_is_broken_is_counted_and_takes_no_other(reader: PageReader, broken: int) -> None:
    body = KINDS["pdf"].make(20)
    # The content of this page is said to be packed in a way that nobody knows.
    head = body.rindex(b"<<", 0, body.index(mark(broken).encode()))
    body = body[:head] + b"<< /Filter /Unknown" + body[head + 2 :]
    found = (await reader.read(received(body, "pdf", patience=0.0))).document
    assert found.cut == Cut("pages", 19, 20) and marks_in(found.text) == [n for n in range(20) if n != broken]


async def test_a_pdf_without_a_single_page_that_can_be_read_is_an_error(reader: PageReader) -> None:
    body = KINDS["pdf"].make(3).replace(b"/Length", b"/Filter /Unknown /Length")
    with pytest.raises(SuyuanError) as raised:
        await reader.read(received(body, "pdf"))
    assert raised.value.detail_code == "unsupported_type"


# --- the limits that are in use ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("limits", [PAGE_LIMITS, OWN_LIMITS], ids=["page", "own"])
async def test_what_the_limits_allow_can_be_read(reader: PageReader, limits: ReadingLimits) -> None:
    """All blocks that there may be, within the memory and the time of a reader; the one behind them is cut, and told."""
    limits, blocks = replace(limits, characters=limits.source), limits.blocks // 2 + 1
    body = "".join(f"<p>{n} {PROSE}</p>" for n in range(blocks)).encode()
    found = (await reader.read(replace(received(body, "html", limits), indexed=False))).document
    assert found.cut == Cut("characters", len(body) - len(f"<p>{blocks - 1} {PROSE}</p>"), len(body))
    assert found.text.count(PROSE) == blocks - 1


@pytest.mark.parametrize("kind", ["text", "csv", "old text"])
async def test_a_file_of_30_mb_is_read_whole(reader: PageReader, kind: str) -> None:
    body = KINDS[kind].make(300_000)
    found = (await reader.read(replace(received(body, kind, OWN_LIMITS), indexed=False))).document
    assert len(body) > 30_000_000 and found.cut is None
    assert marks_in(found.text) == list(range(300_000))


def test_parts_and_passages_of_any_text_are_bounded() -> None:
    shapes = {
        "one line": PROSE * 20_000,
        "without spaces": "x" * 1_000_000,
        "Chinese without marks": "港" * 500_000,
        "table": "| a | b |\n" * 100_000,
        "code": "```\n" + "x = 1\n" * 100_000 + "```\n",
        "lines": "1,2,3\n" * 200_000,
        "paragraphs": f"{PROSE}\n\n" * 10_000,
    }
    for name, text in shapes.items():
        passages = passages_of(text)
        assert max(len(each.text) for each in passages) <= 6000, name
        assert all(text[each.start : each.end] == each.text for each in passages)
        assert sum(len("".join(each.text.split())) for each in passages) == len("".join(text.split())), name
        document = Document("a", "a", "", text, "text/plain", "2026-11-16T10:00:00+00:00")
        parts = parts_of(document)
        assert max(end - first for first, end in parts) <= 9000, name


def test_the_documentation_states_the_limits() -> None:
    text = (Path(__file__).parents[2] / "docs" / "howto" / "library.md").read_text(encoding="utf-8")
    rows = text.partition("| | your documents")[2].partition("\n\n")[0]
    for limits in (OWN_LIMITS, PAGE_LIMITS):
        for value in (limits.characters, limits.source, limits.tags, limits.blocks, limits.unpacked):
            assert f"{value:,}" in rows
        assert f"{limits.all_seconds} s" in rows and f"{round(READING_SHARE * limits.seconds)} s" in rows
    assert f"in {LONGEST:.0f} s" in rows
