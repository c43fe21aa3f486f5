"""The archive stores documents, finds them, and survives killed processes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from suyuan.core.document import Document
from suyuan.core.query import SearchQuery
from suyuan.pages.archive import Archive
from suyuan.pages.archive_engine import ArchiveEngine
from suyuan.pages.passages import cut


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
    for url in ("http://www.baidu.com/link?url=AAA", "http://www.baidu.com/link?url=BBB", "http://www.a.example/x/"):
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


def test_old_and_excess_documents_are_removed(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.sqlite", max_bytes=2500, max_days=30)
    archive.put(doc("https://old.example/", "x" * 100, fetched_at="2020-01-01T00:00:00+00:00"))
    for day in (1, 2, 3, 4):
        archive.put(doc(f"https://{day}.example/", str(day) * 1000, fetched_at=f"2026-11-0{day}T00:00:00+00:00"))
    assert archive.prune(datetime(2026, 11, 15, tzinfo=UTC)) == 3
    assert [entry.url for entry in archive.newest()] == ["4.example", "3.example"]
    assert archive.search("1111") == [] and archive.get("https://old.example/") is None and archive.check() == "ok"
    archive.close()


def test_threads(archive: Archive) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: archive.put(doc(f"https://{n}.example/", f"text {n}")), range(80)))
    assert len(archive) == 80 and len(list(archive.export())) == 80


async def test_the_engine_offers_only_pages_that_share_half_of_the_question(archive: Archive) -> None:
    archive.put(doc(text="A teapot is a vessel for brewing tea. The oldest teapot was made in Yixing."))
    engine = ArchiveEngine(archive)
    for question, found in (
        ("oldest teapot", 1),
        ("who made the oldest teapot", 1),
        ("teapot collection of the Hermitage museum in Petersburg", 0),
        ("capital of France", 0),
    ):
        assert len(await engine.search(SearchQuery(question), 10)) == found, question


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
