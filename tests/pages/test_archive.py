"""The archive stores documents, finds them, and survives killed processes."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suyuan.core.document import Document
from suyuan.core.errors import SuyuanError
from suyuan.core.query import SearchQuery
from suyuan.core.wire import Response
from suyuan.pages.archive import Archive
from suyuan.pages.archive_engine import ArchiveEngine
from suyuan.pages.async_archive import AsyncArchive
from suyuan.pages.convert import read_page
from suyuan.pages.passages import cut
from suyuan.pages.reading import ReceivedPage


def doc(url: str = "https://a.example/x", text: str = "Some text.", **fields: str) -> Document:
    values = {
        "final_url": url,
        "title": "Title",
        "content_type": "text/html",
        "fetched_at": "2026-11-15T10:00:00+00:00",
        **fields,
    }
    return Document(url=url, text=text, **values)  # type: ignore[arg-type]


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    opened = Archive(tmp_path / "deep" / "archive.sqlite")
    yield opened
    opened.close()


def test_a_stored_document_is_returned_unchanged(archive: Archive) -> None:
    original = replace(
        doc(text="# 标题\n\n正文"),
        links=(("一", "https://b.example/"),),
        notes=("n",),
        author="我",
        etag='"x"',
        published_at="2026-01-01",
    )
    archive.put(replace(original, passages=cut(original.text)))
    found = archive.get("https://a.example/x")
    assert found == replace(original, from_archive=True) and found.sha256 == original.sha256


@pytest.mark.req("T8.2")
def test_two_addresses_with_one_landing_page_are_stored_once(archive: Archive) -> None:
    for link in ("http://www.baidu.com/link?url=AAA", "http://www.baidu.com/link?url=BBB"):
        archive.put(replace(doc(), url=link))
    assert len(archive) == 1
    for url in (
        "http://www.baidu.com/link?url=AAA",
        "http://www.baidu.com/link?url=BBB",
        "https://A.example:443/x#part",
    ):
        found = archive.get(url)
        assert found is not None and found.final_url == "https://a.example/x"
    assert archive.get("http://www.baidu.com/link?url=CCC") is None


def test_both_versions_of_a_changed_page_are_stored(archive: Archive) -> None:
    old = doc(text="old words")
    archive.put(old)
    archive.put(doc(text="new words", fetched_at="2026-11-16T10:00:00+00:00"))
    newest, kept = archive.get(old.url), archive.version(old.sha256)
    assert newest is not None and newest.text == "new words" and kept is not None and kept.text == "old words"


@pytest.mark.parametrize(
    ("question", "url"),
    [
        ("部署 SearXNG", "https://zh.example/"),
        ("如何部署搜索引擎?", "https://zh.example/"),
        ("bloom filters", "https://en.example/"),
        ("false positive", "https://en.example/"),
        ("東京 タワー", "https://ja.example/"),
    ],
)
def test_full_text_in_several_languages(archive: Archive, question: str, url: str) -> None:
    archive.put(doc("https://zh.example/", "用 Docker 部署 SearXNG 搜索引擎的步骤。", title="部署指南"))
    archive.put(doc("https://en.example/", "A Bloom filter may give a false positive, never a false negative."))
    archive.put(doc("https://ja.example/", "東京タワーは東京にある塔です。"))
    hits = archive.search(question)
    assert hits[0].document.final_url == url and hits[0].coverage > 0.4 and hits[0].snippet


@pytest.mark.parametrize("question", ["", "  ", '"', 'a" OR "b', "NEAR(", "*", "-x", "title:x", "完全无关的内容"])
def test_unusual_questions_raise_no_error(archive: Archive, question: str) -> None:
    archive.put(doc())
    assert isinstance(archive.search(question), list)


@pytest.mark.parametrize(
    ("question", "coverage"),
    [
        ("怎么部署搜索?", 1.0),
        ("部署", 1.0),
        ("茶的历史是什么?", 0.5),
        ("如何卸载?", 0.0),
        ("How do I deploy it?", 1.0),
        ("How do I cook it?", 0.0),
    ],
)
def test_function_words_do_not_count_for_the_coverage(archive: Archive, question: str, coverage: float) -> None:
    archive.put(
        doc(title="部署搜索服务", text="如何部署搜索服务:先装好容器,再看历史的记录。How to deploy it: see what it is.")
    )
    assert max((hit.coverage for hit in archive.search(question)), default=0.0) == coverage


def test_old_documents_are_removed_by_a_clock_that_runs_evenly(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.sqlite", max_days=30)
    archive.put(doc("https://old.example/", "x" * 100, fetched_at="2020-01-01T00:00:00+00:00"))
    archive.put(doc("https://new.example/", "y" * 100, fetched_at="2026-11-01T00:00:00+00:00"))
    assert archive.prune(datetime(2026, 11, 5, tzinfo=UTC)) == 0, "the clock was never seen before"
    assert archive.prune(datetime(2026, 11, 15, tzinfo=UTC)) == 1
    assert [entry.url for entry in archive.newest()] == ["https://new.example/"]
    assert archive.get("https://old.example/") is None and archive.check() == "ok"
    archive.close()


@given(jumps=st.lists(st.floats(-3e8, 3e8).filter(lambda seconds: abs(seconds) > 31 * 86_400), max_size=4))
@settings(max_examples=30, deadline=None)
def test_no_jump_of_the_clock_removes_anything(jumps: list[float]) -> None:
    archive = Archive(":memory:", max_days=30)
    clock = datetime(2026, 11, 1, tzinfo=UTC)
    archive.put(doc(fetched_at=clock.isoformat()))
    for jump in jumps:
        clock += timedelta(seconds=jump)
        for _ in range(6):
            clock += timedelta(days=1)
            assert archive.prune(clock) == 0
    assert len(archive) == 1
    archive.close()


def test_the_limit_of_the_size_holds_while_documents_are_stored(tmp_path: Path) -> None:
    chance = random.Random(3)
    archive = Archive(tmp_path / "a.sqlite", max_bytes=1_000_000)
    largest = 0
    for number in range(50):
        text = " ".join(f"word{chance.randrange(10**6)}" for _ in range(3_000))
        archive.put(
            doc(f"https://{number}.example/", text, fetched_at=f"2026-11-01T00:{number // 60:02}:{number % 60:02}")
        )
        largest = max(largest, sum(file.stat().st_size for file in tmp_path.iterdir()))
    urls = [entry.url for entry in archive.newest(200)]
    assert largest < 2_750_000, "the limit, and what SQLite has not yet moved from its log to the file"
    assert urls and urls[0] == "https://49.example/" and "https://0.example/" not in urls
    assert archive.get("https://49.example/") is not None and archive.check() == "ok"
    archive.close()


def test_a_page_cannot_speak_for_another_address(archive: Archive) -> None:
    real = "https://bank.example/terms"
    for claim in (real, "http://bank.example/terms", "https://www.bank.example/terms"):
        archive.put(doc("https://evil.example/x", "The terms of an attacker.", canonical_url=claim))
    assert archive.get(real) is None
    archive.put(doc("http://bank.example/terms", "Words from an unsafe connection."))
    assert archive.get(real) is None, "what was read without encryption is not the page behind https"
    archive.put(doc(real, "The terms of the bank."))
    archive.put(doc("https://evil.example/y", "The terms of an attacker.", canonical_url=real))
    found = archive.get(real)
    assert found is not None and found.text == "The terms of the bank."
    assert archive.get(real + "?utm_source=x") is None, "another address may have another text"


def test_an_archive_of_an_older_release_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    archive = Archive(path)
    archive.put(doc("https://www.a.example/x?utm_source=1", "Some older text."))
    archive.close()
    with sqlite3.connect(path) as db:
        # What the older release wrote: keys without a scheme, and a claim of the page.
        db.execute("PRAGMA user_version=0")
        db.execute("UPDATE documents SET page = 'a.example/x'")
        db.execute("DELETE FROM addresses")
        db.execute("INSERT INTO addresses VALUES ('a.example/x', 'a.example/x'), ('bank.example', 'a.example/x')")
    db.close()
    archive = Archive(path)
    found = archive.get("https://www.a.example/x?utm_source=1")
    assert found is not None and found.text == "Some older text." and archive.search("older text")
    assert archive.get("https://bank.example/") is None and archive.get("bank.example") is None
    archive.close()


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.touch(0o644)
    archive = Archive(path)
    archive.put(doc())
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
    archive.close()


async def test_a_locked_archive_is_a_cause_and_does_not_stop_the_loop(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    archive = AsyncArchive(path)
    await archive.put(doc())
    await archive.run(lambda opened: None)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    storing = asyncio.create_task(archive.put(doc("https://b.example/")))
    turns = 0
    while not storing.done():
        await asyncio.sleep(0.005)
        turns += 1
    assert turns > 20, "the loop went on"
    assert archive.problem is not None and archive.problem.detail_code == "archive_locked" and archive.problem.retryable
    began = time.monotonic()
    for _ in range(50):
        await archive.put(doc("https://b.example/"))
    assert time.monotonic() - began < 1.0, "after a failure it is left alone for a while"
    other.execute("COMMIT")
    other.close()
    archive._resting_until = 0.0
    await archive.put(doc("https://b.example/"))
    assert archive.problem is None and await archive.get("https://b.example/") is not None
    await archive.close()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b'{"a": "half a character: \\ud800"}'),
        (
            "text/html",
            b'<script type="application/ld+json">{"headline": "H\\ud83d", "author": "A\\ude00"}</script>'
            + b"<p>Some words of a page, with a comma.</p>" * 9,
        ),
    ],
)
async def test_a_page_with_half_a_character_is_stored_too(tmp_path: Path, kind: str, body: bytes) -> None:
    archive, url = AsyncArchive(tmp_path / "a.sqlite"), "https://a.example/"
    reading = read_page(ReceivedPage(url, Response(200, body, url, {"content-type": kind})))
    await archive.put(reading.document, reading.index)
    assert await archive.get(url) is not None and archive.problem is None
    await archive.close()


async def test_pages_that_are_read_at_the_same_time_are_one_transaction(tmp_path: Path) -> None:
    archive = AsyncArchive(tmp_path / "a.sqlite")
    opened, commits = archive.open(), 0
    assert isinstance(opened, Archive)

    def count(statement: str) -> None:
        nonlocal commits
        commits += statement == "COMMIT"

    opened.run(lambda db: db.set_trace_callback(count))
    await asyncio.gather(*(archive.put(doc(f"https://{n}.example/")) for n in range(40)))
    assert len(opened) == 40 and 1 <= commits < 10
    await archive.close()


async def test_a_full_disk_is_a_cause(tmp_path: Path) -> None:
    archive = AsyncArchive(tmp_path / "a.sqlite")
    await archive.put(doc())
    opened = archive.open()
    assert isinstance(opened, Archive)
    db = opened._file._opened()
    db.execute(f"PRAGMA max_page_count={db.execute('PRAGMA page_count').fetchone()[0]}")
    await archive.put(doc("https://b.example/", "many words " * 9000))
    assert archive.problem is not None and archive.problem.detail_code == "archive_full"
    await archive.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_folder_without_write_permission_is_a_cause(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)  # noqa: ASYNC240 - a test
    archive = AsyncArchive(tmp_path / "a.sqlite")
    await archive.put(doc())
    assert archive.problem is not None and archive.problem.code == "ArchiveError"
    await archive.close()


async def test_a_place_that_is_no_file_is_a_cause(tmp_path: Path) -> None:
    for path in (tmp_path, Path(__file__) / "a.sqlite"):
        archive = AsyncArchive(path)
        await archive.put(doc())
        assert await archive.get("https://a.example/x") is None
        assert archive.problem is not None and archive.problem.detail_code == "archive_unusable"
        with pytest.raises(SuyuanError):
            await archive.search("text", 3)
        await archive.close()


def test_threads(archive: Archive) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: archive.put(doc(f"https://{n}.example/", f"text {n}")), range(80)))
    assert len(archive) == 80 and len(list(archive.export())) == 80


async def test_the_engine_offers_only_pages_that_share_half_of_the_question(archive: Archive) -> None:
    archive.put(doc(text="A teapot is a vessel for brewing tea. The oldest teapot was made in Yixing."))
    opened = AsyncArchive(archive.path)
    engine = ArchiveEngine(opened)
    for question, found in (
        ("oldest teapot", 1),
        ("who made the oldest teapot", 1),
        ("teapot collection of the Hermitage museum in Petersburg", 0),
        ("capital of France", 0),
    ):
        assert len(await engine.search(SearchQuery(question), 10)) == found, question
    await opened.close()


_WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from suyuan.pages.archive import Archive
from suyuan.core.document import Document
archive = Archive(sys.argv[1])
n = 0
while True:
    url = f"https://{sys.argv[3]}-{n}.example/"
    archive.put(Document(url, url, "T", f"words {n} " * 200, "text/html", "2026-11-15T00:00:00+00:00"))
    print(url, flush=True)
    n += 1
"""


def test_no_stored_document_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    """A writer is killed twenty times at random moments; everything it confirmed is there, and the file is valid."""
    chance = random.Random(7)
    path, source = tmp_path / "a.sqlite", Path(__file__).parents[2] / "src"
    for turn in range(20):
        process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path), str(source), str(turn)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        confirmed = [process.stdout.readline().strip()]
        killer = threading.Timer(chance.uniform(0.0, 0.15), lambda p=process: os.kill(p.pid, signal.SIGKILL))
        killer.start()
        confirmed += [line.strip() for line in process.stdout if line.endswith("\n")]
        process.wait()
        process.stdout.close()
        archive = Archive(path)
        assert archive.check() == "ok"
        missing = [url for url in confirmed if url and archive.get(url) is None]
        archive.close()
        assert not missing
