"""Notices are kept in the folder until somebody has seen them, whichever process recorded them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from suyuan.core import notices
from suyuan.core.causes.archive import ARCHIVE_DAMAGED, ARCHIVE_FULL
from suyuan.core.errors import SuyuanError
from suyuan.core.notices import FILE_NAME, Notices

_RECORD = """
import sys
from pathlib import Path
from suyuan.core.causes.archive import ARCHIVE_FULL
from suyuan.core.notices import Notices
for number in range(10):
    Notices(Path(sys.argv[1])).add(ARCHIVE_FULL(where="x"), f"{sys.argv[2]}-{number}")
"""


def _damaged(where: Path) -> SuyuanError:
    return ARCHIVE_DAMAGED(where=where, why="broken", aside=f"{where}.damaged", kept=3)


def test_a_notice_is_there_for_the_next_process_in_every_language(tmp_path: Path) -> None:
    Notices(tmp_path).add(_damaged(tmp_path / "archive.sqlite"), tmp_path / "archive.sqlite")
    (kept,) = Notices(tmp_path).open()
    assert kept.file == str(tmp_path / "archive.sqlite")
    assert "was damaged" in kept.published("en")["message"]
    assert kept.published("zh")["message"] != kept.published("en")["message"]
    assert kept.published("en")["code"] == "archive_damaged"
    assert kept.at.endswith("+00:00")
    assert kept in notices.met()


def test_a_dismissed_notice_is_gone_and_the_next_one_is_shown(tmp_path: Path) -> None:
    kept = Notices(tmp_path)
    first = kept.add(_damaged(tmp_path / "a"), tmp_path / "a")
    second = kept.add(_damaged(tmp_path / "b"), tmp_path / "b")
    assert kept.dismiss(first.id) == 1
    assert [notice.id for notice in Notices(tmp_path).open()] == [second.id]
    again = kept.add(_damaged(tmp_path / "a"), tmp_path / "a")
    assert [notice.id for notice in kept.open()] == [again.id, second.id]
    assert kept.dismiss() == 2
    assert Notices(tmp_path).open() == []


def test_the_same_event_about_the_same_file_is_one_notice(tmp_path: Path) -> None:
    kept = Notices(tmp_path)
    for _ in range(3):
        last = kept.add(ARCHIVE_FULL(where="x"), "x")
    assert kept.open() == [last]
    assert kept.find("archive_full", "x") == last
    assert kept.find("archive_full", "y") is None


def test_processes_that_record_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    runs = [subprocess.Popen([sys.executable, "-c", _RECORD, str(tmp_path), str(run)]) for run in range(4)]
    assert [run.wait(60) for run in runs] == [0, 0, 0, 0]
    assert len(Notices(tmp_path).open()) == 40


def test_nothing_is_lost_where_the_folder_cannot_be_written(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    kept = Notices(blocked)
    notice = kept.add(ARCHIVE_FULL(where="x"), "x")
    assert kept.open() == [notice]
    in_memory = Notices(None)
    assert in_memory.open() == []
    assert in_memory.add(ARCHIVE_FULL(where="x"), "x") in in_memory.open()
    assert in_memory.dismiss() == 1
    assert in_memory.open() == []


@pytest.mark.parametrize("content", ["", "{", "[1]", '[{"id": "1"}]', "\x00"])
def test_a_damaged_file_of_notices_does_not_stop_anything(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE_NAME).write_text(content)
    kept = Notices(tmp_path)
    notice = kept.add(ARCHIVE_FULL(where="x"), "x")
    assert kept.open() == [notice]


def test_the_file_is_private(tmp_path: Path) -> None:
    Notices(tmp_path).add(ARCHIVE_FULL(where="x"), "x")
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o077 == 0
