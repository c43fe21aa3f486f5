"""Of a damaged archive everything that can be read is kept, and a sound table is never set aside."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from suyuan.core.document import Document
from suyuan.core.errors import SuyuanError
from suyuan.core.notices import Notices
from suyuan.pages.archive import Archive
from suyuan.pages.archive_index import levels

_COUNT = 300
_PAGE = 4096


def document(number: int, text: str = "") -> Document:
    chance = random.Random(number)
    words = " ".join(f"word{chance.randrange(5000)}" for _ in range(120))
    return Document(
        url=f"https://{number}.example/",
        final_url=f"https://{number}.example/",
        title=f"Page {number}",
        text=text or f"Only page{number} says 第{number}号灯塔. {words}",
        content_type="text/html",
        fetched_at=f"2026-11-01T00:{number // 60 % 60:02}:{number % 60:02}+00:00",
    )


def fill(path: Path, count: int = _COUNT) -> None:
    with closing(Archive(path)) as archive:
        archive.put_all((document(number), "") for number in range(count))
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def told(folder: Path) -> list[str]:
    return [notice.failure.detail_code for notice in Notices(folder).open()]


def pages_of(path: Path, names: str) -> list[int]:
    """The pages of the file that belong to tables and indexes with such names, their inner pages included."""
    with closing(sqlite3.connect(path)) as db:
        roots = [
            row[0] for row in db.execute("SELECT rootpage FROM sqlite_master WHERE name GLOB ? AND rootpage", (names,))
        ]
    body = path.read_bytes()
    found: list[int] = []
    waiting = list(roots)
    while waiting:
        page = waiting.pop()
        found.append(page)
        head = (page - 1) * _PAGE
        if body[head] in (2, 5):
            cells = int.from_bytes(body[head + 3 : head + 5], "big")
            waiting.append(int.from_bytes(body[head + 8 : head + 12], "big"))
            for cell in range(cells):
                at = head + 12 + 2 * cell
                place = head + int.from_bytes(body[at : at + 2], "big")
                waiting.append(int.from_bytes(body[place : place + 4], "big"))
    return found


def overwrite(path: Path, pages: list[int], chance: random.Random) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek((page - 1) * _PAGE)
            file.write(chance.randbytes(_PAGE))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("names", ["fulltext*", "fulltext_data", "fulltext_content", "fulltext_docsize"])
def test_a_damaged_index_costs_no_document(tmp_path: Path, names: str, seed: int) -> None:
    path = tmp_path / "a.sqlite"
    fill(path)
    chance = random.Random(seed)
    pages = pages_of(path, names)
    overwrite(path, chance.sample(pages, min(len(pages), 1 + seed * 2)), chance)
    with closing(Archive(path)) as archive:
        for number in chance.sample(range(_COUNT), 20):
            archive.search(f"page{number}")
            archive.forget(f"https://{_COUNT + number}.example/")
            archive.put(document(_COUNT + number))
        for number in range(_COUNT):
            assert archive.get(f"https://{number}.example/") == kept(document(number))
        archive.search("word1 word2 word3")
        archive.prune()
        if told(tmp_path):
            # Where the damage was met, the index is whole again.
            assert all(archive.search(f"page{number}") for number in range(0, _COUNT, 7))


def kept(original: Document) -> Document:
    return replace(original, from_archive=True)


@pytest.mark.parametrize("seed", range(12))
def test_all_that_can_be_read_of_damaged_tables_is_kept(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "a.sqlite"
    fill(path)
    chance = random.Random(seed)
    leaves = [page for page in pages_of(path, "documents") if path.read_bytes()[(page - 1) * _PAGE] == 13]
    broken = chance.sample(leaves, 3)
    overwrite(path, broken, chance)
    before = path.read_bytes()
    with closing(Archive(path)) as archive:
        list(archive.export())
        archive.check()
        archive.search("word1")
        found = {number for number in range(_COUNT) if archive.get(f"https://{number}.example/")}
        assert len(found) >= _COUNT * (1 - 2 * len(broken) / len(leaves))
        assert all(archive.get(f"https://{number}.example/") == kept(document(number)) for number in found)
        assert all(archive.search(f"page{number}") for number in sorted(found)[::7])
        archive.put(document(1000))
        assert archive.get("https://1000.example/") is not None and archive.check() == "ok"
    assert told(tmp_path) == ["archive_damaged"]
    (aside,) = (each for each in tmp_path.glob("a.sqlite.damaged-*") if not each.name.endswith(("-wal", "-shm")))
    assert aside.read_bytes()[_PAGE:] == before[_PAGE:]


def _lose_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\0" * 100)


def _lose_first_page_start(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"This is not a database. " * 4)


def _lose_the_end(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2 // _PAGE * _PAGE)


@pytest.mark.parametrize(
    ("damage", "at_least"), [(_lose_header, _COUNT), (_lose_first_page_start, _COUNT), (_lose_the_end, _COUNT // 5)]
)
def test_other_damage_costs_no_more_than_what_is_gone(
    tmp_path: Path, damage: Callable[[Path], None], at_least: int
) -> None:
    path = tmp_path / "a.sqlite"
    fill(path)
    damage(path)
    with closing(Archive(path)) as archive:
        assert len(list(archive.export())) >= at_least
        assert archive.check() == "ok"
    assert told(tmp_path) == ["archive_damaged"]


@pytest.mark.parametrize(
    "content", [b"not a database at all, only text " * 200, b"SQLite format 3\x00" + b"\xff" * 9000]
)
def test_a_file_that_is_no_archive_is_set_aside_and_begun_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.sqlite"
    for time in (1, 2):
        path.write_bytes(content)
        with closing(Archive(path)) as archive:
            archive.put(document(time))
            assert archive.get(f"https://{time}.example/") is not None and archive.check() == "ok"
        asides = sorted(tmp_path.glob("a.sqlite.damaged-*"))
        assert [each.read_bytes() for each in asides] == [content] * time, "each keeps a name of its own"
    assert told(tmp_path) == ["archive_damaged"]
    assert all(file.stat().st_mode & 0o077 == 0 for file in tmp_path.glob("a.sqlite*") if "damaged" not in file.name)


def test_an_emptied_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.touch()
    os.utime(path, (0, 0))
    with closing(Archive(path)) as archive:
        archive.put(document(1))
    assert told(tmp_path) == ["archive_emptied"]


def test_a_file_of_another_program_or_a_newer_release_is_left_alone(tmp_path: Path) -> None:
    other, newer = tmp_path / "other.sqlite", tmp_path / "newer.sqlite"
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("CREATE TABLE recipes (name TEXT)")
    fill(newer, 3)
    with closing(sqlite3.connect(newer)) as db:
        db.execute("PRAGMA user_version=99")
    for path, code in ((other, "archive_not_ours"), (newer, "archive_too_new")):
        before = path.read_bytes()
        with pytest.raises(SuyuanError) as refused:
            Archive(path)
        assert refused.value.detail_code == code and path.read_bytes() == before


def test_any_number_of_removals_leaves_the_index_as_flat_as_it_was(tmp_path: Path) -> None:
    """SQLite refuses an index with two thousand levels; every release before 0.3 added one with each removal."""
    path = tmp_path / "a.sqlite"
    with closing(Archive(path)) as archive:
        for number in range(400):
            archive.put(document(number % 5, text=f"text {number} of page{number % 5}"))
            archive.forget(f"https://{number % 5}.example/")
            if number % 100 == 0:
                archive.prune()
        archive.put(document(1))
        assert archive.search("page1") and archive.check() == "ok"
        assert archive.run(levels) < 20
    assert told(tmp_path) == []


def test_an_index_that_an_older_release_has_worn_out_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    fill(path, 50)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN")
        try:
            for _ in range(2_100):
                db.execute("INSERT INTO fulltext (fulltext, rank) VALUES ('merge', -1000)")
                db.execute("INSERT INTO fulltext (rowid, title, body) VALUES (99999, 'a', 'b')")
                db.execute("DELETE FROM fulltext WHERE rowid = 99999")
            refused = False
        except sqlite3.DatabaseError:
            refused = True
        db.execute("COMMIT")
    assert refused or sqlite3.sqlite_version_info > (3, 45), "newer releases of SQLite do not wear it out"
    with closing(Archive(path)) as archive:
        for number in range(50):
            archive.put(document(number, text=f"changed page{number}"))
            assert archive.search(f"page{number}")
        assert len(archive) == 100
    assert told(tmp_path) == ["archive_index_damaged"] * refused and not list(tmp_path.glob("*.damaged*"))
