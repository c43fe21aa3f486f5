"""What the archive removes, what it never removes, and what it says of it."""

from __future__ import annotations

import random
import time
from pathlib import Path

from sqlalchemy import delete

from suyuan.client import AsyncClient
from suyuan.config.settings import PageSettings, Settings
from suyuan.core.document import Document
from suyuan.core.notices import Notices
from suyuan.pages.archive import Archive
from suyuan.store.tables import conversations

_MEGABYTE = 1_000_000


def page(number: int, length: int = 3_000) -> Document:
    chance = random.Random(number)
    url = f"https://{number}.example/"
    text = f"page{number} " + " ".join(f"word{chance.randrange(10**5)}" for _ in range(length // 8))
    day = f"2026-{1 + number // 1000 % 12:02}-{1 + number // 60 % 28:02}T10:{number % 60:02}:00+00:00"
    return Document(url, url, f"Page {number}", text, "text/html", day)


async def test_pages_that_answers_cite_are_kept_whatever_is_read_after_them(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, pages=PageSettings(archive_megabytes=1))
    cited = [page(number) for number in range(0, 40, 4)]
    async with AsyncClient(settings) as client:
        assert client.archive is not None
        archive = client.archive.open()
        archive.put_all((page(number), "") for number in range(40))
        store = client.chat.store
        conversation = store.create(title="t")
        store.begin_turn(conversation.id, "which page?", "r" * 32)
        sources = [{"number": 1 + at, "url": each.url, "sha256": each.sha256} for at, each in enumerate(cited)]
        store.finish("r" * 32, state="done", text="This one [1].", answer={"sources": sources})
        archive.put_all((page(number), "") for number in range(40, 400))
        archive.prune()
        assert all(archive.version(each.sha256) for each in cited)
        assert archive.cited_count() == len(cited)
        assert archive.get("https://1.example/") is None and archive.get("https://399.example/") is not None
        # They are kept beside the limit, not in place of others.
        assert _MEGABYTE * 0.7 < _size(tmp_path) < _MEGABYTE * 1.3 + _MEGABYTE * len(cited) / 30
        # What nothing cites any more can go.
        store._database.change(delete(conversations))
    async with AsyncClient(settings) as client:
        assert client.archive is not None
        archive = client.archive.open()
        archive.put_all((page(number), "") for number in range(400, 500))
        archive.prune()
        assert not any(archive.version(each.sha256) for each in cited) and archive.cited_count() == 0


def _size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.glob("archive.sqlite*"))


async def test_a_store_that_cannot_be_read_keeps_every_page(tmp_path: Path) -> None:
    (tmp_path / "chat.sqlite").write_bytes(b"not a database " * 500)
    async with AsyncClient(Settings(data_dir=tmp_path, pages=PageSettings(archive_megabytes=1))) as client:
        assert client.archive is not None
        archive = client.archive.open()
        archive.put_all((page(number), "") for number in range(200))
        assert archive.prune() == 0 and len(archive) == 200


def test_what_was_removed_is_told_once_with_its_number(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.sqlite", max_bytes=_MEGABYTE)
    archive.put_all((page(number), "") for number in range(150))
    first = archive.prune()
    archive.put_all((page(number), "") for number in range(150, 300))
    archive.close()
    archive = Archive(tmp_path / "a.sqlite", max_bytes=_MEGABYTE)
    second = archive.prune()
    archive.close()
    (notice,) = Notices(tmp_path).open()
    assert first and second and notice.failure.params["count"] == first + second
    assert notice.failure.detail_code == "archive_pruned"


async def test_closing_waits_for_no_removal(tmp_path: Path) -> None:
    path = tmp_path / "archive.sqlite"
    archive = Archive(path, max_bytes=10**12)
    archive.put_all((page(number, 8_000), "") for number in range(1_500))
    began = time.monotonic()
    archive.prune()
    archive.close()
    client = AsyncClient(Settings(data_dir=tmp_path, pages=PageSettings(archive_megabytes=1)))
    assert client.archive is not None
    await client.archive.put(page(5_000))
    await client.close()
    assert time.monotonic() - began < 10
    archive = Archive(path, max_bytes=10**12)
    assert len(archive) > 1_000, "the rest goes step by step, when the archive is used"
    archive.close()


def test_each_step_is_small(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.sqlite", max_bytes=10**12)
    archive.put_all((page(number, 8_000), "") for number in range(600))
    archive.close()
    archive = Archive(tmp_path / "a.sqlite", max_bytes=_MEGABYTE)
    steps, left = 0, len(archive)
    while archive.tidy():
        assert left - len(archive) <= 20
        steps, left = steps + 1, len(archive)
    assert steps >= 20 and 10 < left < 60, left
    archive.close()
