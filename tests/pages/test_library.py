"""The user's own documents: added, kept up to date, found, read and cited, and never sent anywhere."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest

from support.documents import docx, epub, paragraph
from support.site import Reply, Seen, reply, serve
from support.timing import until
from suyuan.client import AsyncClient
from suyuan.config.settings import PageSettings, SearchSettings, Settings
from suyuan.core.document import Document
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import SuyuanError
from suyuan.core.person import Person, current_person
from suyuan.demo.pdf import pdf
from suyuan.pages import library as library_module
from suyuan.pages.document_parts import page_at, parts_of
from suyuan.pages.library import Library
from suyuan.pages.reading import Reading, ReceivedPage

BASE = "http://127.0.0.1:8642/library/"
LINES = [f"Paragraph {n} of the handbook says little about anything." for n in range(120)]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[AsyncClient]:
    nowhere = {"ddg_html": EngineSettings(base_url="http://127.0.0.1:9", rate_per_minute=0)}
    search = SearchSettings(cache_minutes=0, seconds=30)
    pages = PageSettings(allow_networks=("127.0.0.0/8",))
    async with AsyncClient(Settings(search, pages=pages, engines=nowhere, data_dir=tmp_path / "data")) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "notes"
    (made / "deep").mkdir(parents=True)
    (made / ".git").mkdir()
    lines = [*LINES[:100], "The quarterly budget of the lighthouse project is 4,200 kroner.", *LINES[100:]]
    (made / "handbook.pdf").write_bytes(pdf("Handbook", "\n\n".join(lines)))
    (made / "deep" / "灯塔.md").write_text("# 灯塔笔记\n\n灯塔的守护人每天晚上点亮煤油灯。\n", encoding="utf-8")
    (made / "old.txt").write_bytes("这是一份用旧编码保存的会议记录，讨论了渔船的登记办法。".encode("gbk"))
    (made / "letter.docx").write_bytes(docx(paragraph("The harbour master writes about seagulls.")))
    (made / "book.epub").write_bytes(epub(["<h1>One</h1><p>A whale of a time in Nantucket.</p>"]))
    (made / "page.html").write_text(
        "<html><title>Recipe</title><body><article><p>Boil the potatoes for twenty minutes, then add salt.</p></article></body></html>"
    )
    (made / ".git" / "hidden.md").write_text("secret words of git")
    (made / "program.exe").write_bytes(b"MZ")
    return made


def _is_file(path: str) -> bool:
    return Path(path).is_file()


async def found(client: AsyncClient, question: str, plan: str = "library") -> list[tuple[str, str]]:
    page = await client.search(question, engines=plan)
    return [(result.details.file if result.details else "", result.url) for result in page.results]


async def test_a_folder_is_searched_offline_in_two_languages_and_cited_by_page(
    client: AsyncClient, folder: Path
) -> None:
    change = await client.library.add(str(folder))
    assert (change.read, change.problems) == (6, [])
    assert [path for path, _ in await found(client, "灯塔的守护人晚上做什么")] == ["notes/deep/灯塔.md"]
    assert [path for path, _ in await found(client, "渔船登记办法")] == ["notes/old.txt"]
    assert [path for path, _ in await found(client, "harbour master seagulls")] == ["notes/letter.docx"]
    assert [path for path, _ in await found(client, "whale Nantucket")] == ["notes/book.epub"]
    assert [path for path, _ in await found(client, "potatoes twenty minutes salt")] == ["notes/page.html"]
    page = await client.search("quarterly budget of the lighthouse project", focus="mine")
    result = page.results[0]
    assert result.url.startswith(BASE) and result.url.endswith("/handbook.pdf#page=5")
    assert result.details and result.details.as_dict() == {"file": "notes/handbook.pdf", "page": 5}
    assert "4,200 kroner" in result.snippet and result.source == "library" == page.engine and not page.degraded
    document = await client.read(result.url, question="lighthouse budget", max_tokens=400)
    assert document.title == "Handbook" and document.private
    assert any("4,200 kroner" in " ".join(passage.text.split()) for passage in document.passages)
    assert not await found(client, "secret words of git")


async def test_changes_are_seen_by_the_next_search(
    client: AsyncClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_module, "_CHECK_SECONDS", 0.0)
    monkeypatch.setattr(library_module, "_PATIENCE", 60.0)
    await client.library.add(str(folder))
    (folder / "deep" / "灯塔.md").write_text("灯塔现在用电灯，不再需要煤油。", encoding="utf-8")
    (folder / "new.md").write_text("The ferry leaves at noon.")
    (folder / "letter.docx").unlink()
    os.utime(folder / "old.txt")
    assert "现在用电灯" in (await client.search("灯塔 电灯", engines="library")).results[0].snippet
    assert await found(client, "灯塔笔记 守护人") == []
    assert [path for path, _ in await found(client, "ferry leaves noon")] == ["notes/new.md"]
    assert await found(client, "harbour master seagulls") == []
    # A file that is only touched is not read again; a disk that is gone takes nothing with it.
    assert (await client.library.update()).same == 6
    os.rename(folder, f"{folder}-away")
    assert await found(client, "ferry leaves noon")


async def test_one_file_that_cannot_be_read_does_not_stop_the_others(client: AsyncClient, tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "bad.pdf").write_bytes(b"%PDF-1.4 broken")
    (tmp_path / "n" / "good.md").write_text("A good file about otters.")
    change = await client.library.add(str(tmp_path / "n"))
    assert change.read == 1 and [path for path, _ in change.problems] == ["n/bad.pdf"]
    bad = next(entry for entry in await client.library.entries() if entry.file.problem)
    assert bad.file.name == "bad.pdf" and bad.file.problem and bad.file.problem.detail_code == "unsupported_type"
    with pytest.raises(SuyuanError) as raised:
        await client.library.add(str(tmp_path / "n" / "bad.pdf"))
    assert raised.value.detail_code == "unsupported_type"


async def test_a_file_whose_name_is_no_text_is_a_problem_of_that_file(client: AsyncClient, tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "good.md").write_text("A good file about otters.")
    bad = tmp_path / "n" / os.fsdecode(b"\xb5\xc6\xcb\xfe.txt")
    try:
        bad.write_bytes(b"Words.")
    except OSError:
        pytest.skip("this file system takes no such names")
    change = await client.library.add(str(tmp_path / "n"))
    assert change.read == 1 and [path for path, _ in change.problems] == [r"n/\udcb5\udcc6\udccb\udcfe.txt"]
    with pytest.raises(SuyuanError) as raised:
        await client.library.add(str(bad))
    assert raised.value.detail_code == "file_unreadable"


async def test_a_file_in_two_folders_that_were_added_is_read_once(client: AsyncClient, folder: Path) -> None:
    await client.library.add(str(folder))
    assert (await client.library.add(str(folder / "deep"))).read == 0
    assert (await client.library.update()).read == 0
    assert await client.library.remove(str(folder)) == 6
    assert (await client.library.update()).read == 1 and len(await client.library.entries()) == 1


async def test_what_is_removed_while_it_is_read_does_not_come_back(tmp_path: Path) -> None:
    (tmp_path / "otters.md").write_text("A file about otters.")
    reading, removed = asyncio.Event(), asyncio.Event()

    async def read(page: ReceivedPage) -> Reading:
        reading.set()
        await removed.wait()
        document = Document(page.url, page.url, "Otters", "A file about otters.", "text/plain", "2026-11-18")
        return Reading(document, "")

    async def fetch(url: str) -> Document:
        raise AssertionError(url)

    library = Library(tmp_path / "library", ("http://127.0.0.1:8642",), read, fetch)
    adding = asyncio.create_task(library.add(str(tmp_path / "otters.md")))
    await reading.wait()
    await library.remove(str(tmp_path / "otters.md"))
    removed.set()
    await adding
    assert await library.entries() == [] and await library.search("otters", 5) == []
    await library.close()


async def test_web_pages_are_read_again_only_when_asked(client: AsyncClient) -> None:
    asked = []

    def answer(seen: Seen) -> Reply:
        asked.append(seen.path)
        return reply(
            f"<title>Tides</title><article><p>Reading number {len(asked)} of the tide tables of Bergen.</p></article>"
        )

    async with serve(answer) as site:
        url = f"{site.url}/tides"
        await client.library.add(url)
        await client.library.update()
        assert (await found(client, "tide tables Bergen"))[0][1] == url and len(asked) == 1
        await client.library.add(site.url)
        assert [entry.title for entry in await client.library.entries()] == ["Tides", "Tides"]
        await client.library.remove(site.url)
        await client.library.update(force=True)
    # The server is gone, the page can still be read and searched.
    assert "number 3" in (await client.read(url)).text and not (await client.read(url)).private


async def test_what_was_added_can_be_removed(client: AsyncClient, folder: Path) -> None:
    await client.library.add(str(folder))
    sent = await client.library.upload("../../up load.md", b"# Sent\n\nUploaded words about puffins.")
    assert sent.name == "up load.md" and _is_file(sent.path) and client.library.url_of(sent).endswith("/up%20load.md")
    assert [path for path, _ in await found(client, "uploaded puffins")] == ["up load.md"]
    assert await client.library.remove(sent.id) == 1 and not _is_file(sent.path)
    assert await client.library.remove(str(folder)) == 6 and (folder / "handbook.pdf").exists()
    assert await client.library.entries() == []
    for what in ("nonsense", str(folder)):
        with pytest.raises(SuyuanError) as raised:
            await client.library.remove(what)
        assert raised.value.detail_code == "not_in_library"


async def test_failures_have_causes(client: AsyncClient) -> None:
    for work, code in (
        (client.search("x y z", focus="mine"), "library_empty"),
        (client.library.add("/no/such/file"), "no_such_file"),
        (client.read(f"{BASE}0123456789abcdef/x.md"), "not_in_library"),
    ):
        with pytest.raises(SuyuanError) as raised:
            await work
        assert raised.value.detail_code == code and raised.value.hint


async def test_the_library_beside_auto_and_before_it(client: AsyncClient, folder: Path) -> None:
    await client.library.add(str(folder))
    beside = await client.search("whale Nantucket", engines="library+auto")
    assert [result.engine for result in beside.results] == ["library"]
    assert {attempt.engine for attempt in beside.attempts} >= {"library", "ddg_html"} and beside.degraded
    before = await client.search("whale Nantucket", engines="library,auto")
    assert [attempt.engine for attempt in before.attempts if attempt.outcome != "skipped"] == ["library"]
    # Where the library has nothing, the others are asked.
    with pytest.raises(SuyuanError) as raised:
        await client.search("zebra crossing rules", engines="library,ddg_html")
    assert {attempt.engine: attempt.outcome for attempt in raised.value.attempts}["library"] == "empty"


async def test_nobody_else_finds_what_was_found_beside_auto(tmp_path: Path, folder: Path) -> None:
    nowhere = {"ddg_html": EngineSettings(base_url="http://127.0.0.1:9", rate_per_minute=0)}
    settings = Settings(SearchSettings(cache_minutes=5), engines=nowhere, data_dir=tmp_path / "data")
    async with AsyncClient(settings) as client:
        who = current_person.set(Person("ann", "Ann"))
        await client.library.add(str(folder))
        assert (await client.search("whale Nantucket", engines="library+auto")).results
        current_person.reset(who)
        who = current_person.set(Person("ben", "Ben"))
        with pytest.raises(SuyuanError):
            await client.search("whale Nantucket", engines="library+auto")
        current_person.reset(who)


def test_a_long_text_is_found_by_its_parts() -> None:
    text = "\n\n".join(f"## {n}\n\n" + "word " * 300 for n in range(1, 6))
    document = Document("library:1/x.pdf", "library:1/x.pdf", "T", text, "application/pdf", "2026-11-16T10:00:00+00:00")
    parts = parts_of(document)
    assert [page_at(document, first) for first, _ in parts] == [1, 2, 3, 4, 5] and "".join(
        text[a:b] for a, b in parts
    ) == text
    book = Document("library:1/x.md", "library:1/x.md", "T", text, "text/markdown", "2026-11-16T10:00:00+00:00")
    assert len(parts_of(book)) == 5 and page_at(book, 10) is None


# --- what was sent is there, whatever becomes of the list --------------------------------------------------------------
def _overwritten(first: int, count: int) -> Callable[[Path], None]:
    def harm(file: Path) -> None:
        body = bytearray(file.read_bytes())
        body[first : first + count] = b"\xa5" * len(body[first : first + count])
        file.write_bytes(body)

    return harm


def _emptied(file: Path) -> None:
    file.write_bytes(b"")


_HARM: dict[str, Callable[[Path], None]] = {
    "deleted": Path.unlink,
    "emptied": _emptied,
    "all of it overwritten": _overwritten(0, 1 << 30),
    **{f"{count} bytes overwritten": _overwritten(0, count) for count in (100, 2_000, 8_192, 20_000)},
    **{f"overwritten from page {page} on": _overwritten(page * 4096, 1 << 30) for page in (1, 2, 3, 5, 8, 12)},
}


@pytest.mark.parametrize("harm", _HARM)
async def test_what_was_sent_is_read_again_whatever_becomes_of_the_list(
    client: AsyncClient, tmp_path: Path, harm: str
) -> None:
    texts = {f"note-{n}.txt": f"The unmistakable word of note {n} is zebra{n}, and it says so twice." for n in range(6)}
    ids = {name: (await client.library.upload(name, text.encode())).id for name, text in texts.items()}
    assert await client.library.remove(ids.pop("note-5.txt")) == 1
    await client.library.close()
    _HARM[harm](client.library.path)
    await client.library.update(force=True)
    entries = await client.library.entries()
    assert {entry.file.name: entry.file.id for entry in entries if entry.kind == "upload"} == ids
    for number in range(5):
        hits = await client.library.search(f"zebra{number}", 3)
        assert any(f"zebra{number}" in hit.document.text for hit in hits)
    assert not await client.library.search("zebra5", 3), "what was removed does not come back"
    assert (await client.library.update()).read == 0


async def test_a_file_that_cannot_be_read_leaves_nothing_to_be_found_again(client: AsyncClient) -> None:
    with pytest.raises(SuyuanError):
        await client.library.upload("broken.pdf", b"%PDF-1.4 nothing of a document")
    assert not [path for path in (client.library.path.parent / "uploads").rglob("*") if path.is_file()]
    assert (await client.library.update()).as_dict() == {"read": 0, "same": 0, "removed": 0, "cut": [], "problems": []}


def test_a_document_during_which_the_program_ended_is_told_and_not_begun_again_by_itself(tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    big.write_text("The harbour of Arvika is made of granite.\n" * 400_000)
    data = tmp_path / "data"
    environ = {**os.environ, "SUYUAN_DATA_DIR": str(data), "LANG": "C.UTF-8"}

    def suyuan(*arguments: str) -> str:
        command = [sys.executable, "-m", "suyuan", "--ui", "en", *arguments]
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=False).stdout

    def begun() -> bool:
        file = data / "library" / "library.sqlite"
        if not file.exists():
            return False
        try:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as library:
                return bool(library.execute("SELECT 1 FROM files WHERE problem LIKE '%file_interrupted%'").fetchone())
        except sqlite3.Error:
            return False

    with subprocess.Popen([sys.executable, "-m", "suyuan", "library", "add", str(big)], env=environ) as adding:
        assert until(begun)
        adding.kill()
    [listed] = json.loads(suyuan("library", "list", "--json"))
    assert listed["problem"]["detail_code"] == "file_interrupted"
    assert "big.txt" not in suyuan("search", "-e", "library", "harbour granite") and begun(), (
        "it is not begun again by itself"
    )
    assert "1 read" in suyuan("library", "update") and not begun()
    assert "big.txt" in suyuan("search", "-e", "library", "harbour granite")
