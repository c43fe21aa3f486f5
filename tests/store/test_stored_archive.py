"""The archive in PostgreSQL: found in several languages, each person's alone, moved and removed with the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pages.test_archive import doc
from support.postgres import Postgres
from suyuan.cli.main import main
from suyuan.client import AsyncClient
from suyuan.config.settings import Settings
from suyuan.core.person import Person, current_person
from suyuan.core.secret import Secret
from suyuan.pages.archive import Archive
from suyuan.store.archive import StoredArchive, StoredArchives
from suyuan.store.conversations import Store
from suyuan.store.transfer import copy_store


@pytest.fixture(scope="module")
def archives(server: Postgres) -> Iterator[StoredArchives]:
    opened = StoredArchives(server.fresh(), max_bytes=2_000, max_days=30)
    yield opened
    opened.close()


@pytest.fixture
def archive(archives: StoredArchives, request: pytest.FixtureRequest) -> StoredArchive:
    return archives.of(request.node.name)


def test_a_document_comes_back_unchanged_by_all_addresses_that_led_to_it(archive: StoredArchive) -> None:
    original = replace(
        doc(text="# 标题\n\n正文"), url="http://short.example/1", links=(("一", "https://b.example/"),), notes=("n",)
    )
    assert archive.put(original) == archive.put(replace(original, url="http://short.example/2")) == 1
    for url in ("http://short.example/1", "http://short.example/2", "https://A.example:443/x#part"):
        found = archive.get(url)
        assert found is not None and replace(found, url=original.url) == replace(original, from_archive=True)
    archive.put(replace(original, text="new words", fetched_at="2026-11-16T10:00:00+00:00"))
    newest, older = archive.get(original.url), archive.version(original.sha256)
    assert newest is not None and newest.text == "new words" and older is not None and older.text == original.text
    assert [entry.id for entry in archive.newest()] == [2, 1] and len(list(archive.export())) == len(archive) == 2
    assert archive.by_number(2) == newest and archive.forget("https://a.example/x") == 2 and not len(archive)
    assert archive.get("http://short.example/1") is None


def test_what_no_database_can_hold_is_left_out_of_a_document(archive: StoredArchive) -> None:
    archive.put(doc(text="half \ud800 a pair, and \0 nothing", title="a\0b"))
    found = archive.get("https://a.example/x")
    assert found is not None and "nothing" in found.text and archive.search("nothing")
    archive.put(doc("https://long.example/", " ".join(f"w{n}" for n in range(60_000)) + " " + "x" * 5_000))
    assert archive.search("w7")


@pytest.mark.parametrize(
    ("question", "url"),
    [
        ("部署 SearXNG", "https://zh.example/"),
        ("如何部署搜索引擎?", "https://zh.example/"),
        ("bloom filters", "https://en.example/"),
        ("false positive", "https://en.example/"),
        ("東京 タワー", "https://ja.example/"),
        ("Guide", "https://title.example/"),
    ],
)
def test_full_text_in_several_languages_as_in_the_file(
    archive: StoredArchive, tmp_path: Path, question: str, url: str
) -> None:
    file = Archive(tmp_path / "a.sqlite")
    for each in (archive, file):
        each.put(doc("https://zh.example/", "用 Docker 部署 SearXNG 搜索引擎的步骤。", title="部署指南"))
        each.put(doc("https://en.example/", "A Bloom filter may give a false positive, never a false negative. Guide."))
        each.put(doc("https://ja.example/", "東京タワーは東京にある塔です。"))
        each.put(doc("https://title.example/", "Words about other things.", title="A guide"))
    [here, *_], [there, *_] = archive.search(question), file.search(question)
    assert here.document.final_url == there.document.final_url == url
    assert (here.coverage, here.snippet, here.start) == (there.coverage, there.snippet, there.start)
    file.close()


@pytest.mark.parametrize("question", ["", '"', 'a" OR "b', "NEAR(", "*", "-x", "it's", "a\\b & !c | <->", "完全无关"])
def test_unusual_questions_raise_no_error(archive: StoredArchive, question: str) -> None:
    archive.put(doc())
    assert isinstance(archive.search(question), list)


def test_nobody_finds_what_another_has_read(archives: StoredArchives) -> None:
    anna, ben = archives.of("anna"), archives.of("ben")
    document = doc("https://secret.example/", "The plan of the lighthouse.")
    number = anna.put(document)
    assert anna.search("lighthouse") and not ben.search("lighthouse") and not len(ben) and not ben.newest()
    assert ben.get(document.url) is None and ben.version(document.sha256) is None and ben.by_number(number) is None
    assert not ben.forget(document.url) and not list(ben.export())
    ben.prune(datetime(2030, 1, 1, tzinfo=UTC))
    assert len(anna) == 1
    # The product's own pages are everybody's, and nobody's.
    anna.pin([doc("https://guide.example/", "How to deploy.", title="Deploying")])
    assert [hit.document.title for hit in ben.search("deploying", guides=True)] == ["Deploying"]
    assert not ben.search("deploying") and ben.get("https://guide.example/") is not None


def test_what_is_too_old_or_too_much_is_removed(archive: StoredArchive) -> None:
    archive.put(doc("https://old.example/", "x" * 10, fetched_at="2020-01-01T00:00:00+00:00"))
    for number in range(5):
        archive.put(doc(f"https://{number}.example/", f"{number} " + "y" * 600, fetched_at=f"2026-11-1{number}T00:00"))
    assert archive.prune(datetime(2028, 11, 15, tzinfo=UTC)) == 3, (
        "the oldest of what is too much, and nothing by a clock that jumped"
    )
    archive.put(doc("https://old.example/", "x" * 10, fetched_at="2020-01-01T00:00:00+00:00"))
    assert archive.prune(datetime(2026, 11, 20, tzinfo=UTC)) == 1
    assert [entry.url for entry in archive.newest()] == [f"https://{n}.example/" for n in (4, 3, 2)]
    assert archive.get("https://old.example/") is None and archive.check() == "ok"


def test_the_pages_of_people_move_are_exported_and_deleted(
    tmp_path: Path, server: Postgres, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(f"sqlite:///{tmp_path / 'chat.sqlite'}")
    anna, ben = (store.people.add(name, "hash", "admin") for name in ("anna", "ben"))
    store.close()
    for person in (anna, ben):
        file = Archive(tmp_path / "people" / person.id / "archive.sqlite")
        file.put(doc("https://a.example/", f"What {person.name} has read about lighthouses."))
        file.close()
    there, back = server.fresh(), tmp_path / "backup.sqlite"
    assert main(["store", "migrate", str(tmp_path / "chat.sqlite"), there, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["suyuan_pages"] == 2
    client = AsyncClient(Settings(store_url=Secret(there), data_dir=tmp_path / "elsewhere"))
    try:
        [page] = client.export_person("anna")["archive"]
        assert page["text"] == "What anna has read about lighthouses."
        who = current_person.set(Person(ben.id, "ben"))
        assert client.archive is not None
        assert [hit.document.text for hit in client.archive.open().search("lighthouses")] == [
            "What ben has read about lighthouses."
        ]
        assert client.delete_person(anna.id)["pages"] == 1 and len(client.archive.open()) == 1
        current_person.reset(who)
    finally:
        client.close_sync()
    # A backup in a file, and a restored database, whose index finds the page again.
    copy_store(there, f"sqlite:///{back}")
    restored = StoredArchives(server.fresh(), max_bytes=10**10, max_days=30)
    copy_store(f"sqlite:///{back}", restored._address)
    archive = restored.of(ben.id)
    assert archive.search("lighthouse") and archive.put(doc(fetched_at=datetime.now(UTC).isoformat())) == 2
    assert archive.prune(datetime(2026, 11, 16, tzinfo=UTC)) == 0
    restored.close()
