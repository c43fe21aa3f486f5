"""A data folder on a disk that is mounted read-only: all that is kept is read, and writes are refused with the cause."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from suyuan.core.document import Document
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import SuyuanError
from suyuan.core.notices import Notices
from suyuan.pages.archive import Archive
from suyuan.search.connected_engines import ConnectedEngines
from suyuan.store.conversations import Store
from suyuan.store.file_copy import copy_database

_TEXT = "The lighthouse of the island was built in 1873."
# A process that is killed leaves its log behind, which a sound end would have put into the file.
_KILLED = """
import os, sys
from suyuan.store.conversations import Store
store = Store(f"sqlite:///{sys.argv[1]}")
print(store.create().id, flush=True)
os._exit(1)
"""


def _document(url: str) -> Document:
    return Document(url, url, "Lighthouse", _TEXT, "text/html", "2026-11-01T00:00:00+00:00")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(place)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("this user may mount nothing")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def _make_read_only(disk: Path, how: str = "ro") -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)


def _cause(work: Callable[[], object]) -> str:
    with pytest.raises(SuyuanError) as refused:
        work()
    return refused.value.detail_code


@pytest.mark.parametrize("killed", [False, True])
def test_a_store_is_read_and_copied_and_takes_nothing(disk: Path, tmp_path: Path, killed: bool) -> None:
    file = disk / "data" / "chat.sqlite"
    with closing(Store(f"sqlite:///{file}")) as store:
        kept = {store.create(title="About the lighthouse").id for _ in range(3)}
    if killed:
        run = subprocess.run([sys.executable, "-c", _KILLED, str(file)], stdout=subprocess.PIPE, check=False)
        kept.add(run.stdout.decode().strip())
        assert file.with_name("chat.sqlite-wal").stat().st_size
    _make_read_only(disk)
    before = {path.name: path.stat().st_mtime_ns for path in file.parent.iterdir()}
    with closing(Store(f"sqlite:///{file}")) as store:
        assert {found.id for found in store.find()} == kept
        assert _cause(store.create) == "folder_read_only"
    assert copy_database(file, tmp_path / "copy.sqlite").rows["suyuan_conversations"] == len(kept)
    assert {path.name: path.stat().st_mtime_ns for path in file.parent.iterdir()} == before


def test_a_store_takes_more_as_soon_as_the_disk_can_be_written_again(disk: Path) -> None:
    file = disk / "data" / "chat.sqlite"
    with closing(Store(f"sqlite:///{file}")) as store:
        kept = {store.create().id}
    _make_read_only(disk)
    with closing(Store(f"sqlite:///{file}")) as store:
        assert _cause(store.create) == "folder_read_only"
        _make_read_only(disk, "rw")
        kept.add(store.create().id)
        assert {found.id for found in store.find()} == kept
    with closing(Store(f"sqlite:///{file}")) as store:
        assert {found.id for found in store.find()} == kept


@pytest.mark.parametrize("what", ["store", "archive"])
def test_nothing_is_begun_on_it(disk: Path, what: str) -> None:
    _make_read_only(disk)
    file = disk / "data" / f"{what}.sqlite"
    made = {"store": lambda: Store(f"sqlite:///{file}"), "archive": lambda: Archive(file)}
    assert _cause(made[what]) == "folder_read_only"


def test_an_archive_is_read_and_searched_and_takes_nothing(disk: Path) -> None:
    file = disk / "data" / "archive.sqlite"
    with closing(Archive(file)) as archive:
        archive.put(_document("https://example.org/1"))
    _make_read_only(disk)
    with closing(Archive(file)) as archive:
        assert archive.get("https://example.org/1") is not None
        assert [hit.document.url for hit in archive.search("lighthouse")] == ["https://example.org/1"]
        assert _cause(lambda: archive.put(_document("https://example.org/2"))) == "folder_read_only"
        assert archive.check() == "ok" and not archive.tidy()
        _make_read_only(disk, "rw")
        archive.put(_document("https://example.org/2"))
        assert len(archive) == 2


def test_what_was_entered_on_the_page_is_read_and_stays(disk: Path) -> None:
    file = disk / "engine-keys.json"
    ConnectedEngines(file, {}).add("brave", {"api_key": "key"})
    _make_read_only(disk)
    engines = ConnectedEngines(file, {})
    assert engines.all()["brave"] == EngineSettings(api_key=engines.all()["brave"].api_key)
    assert _cause(lambda: engines.remove("brave")) == "folder_read_only"
    assert Notices(disk).open() == []


def test_every_command_reads_what_is_kept_or_names_the_disk(disk: Path, tmp_path: Path) -> None:
    (disk / "docs").mkdir()
    (disk / "docs" / "a.md").write_text(_TEXT)
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(disk), "LANG": "C.UTF-8", "SUYUAN_DATA_DIR": str(disk / "data"),
        "SUYUAN_CONFIG_DIR": str(disk / "config"), "SUYUAN_STATE_DIR": str(disk / "state"), "WEB_SEARCH_BACKEND": "stub",
    }  # fmt: skip

    def suyuan(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "suyuan", *words]
        done = subprocess.run(command, env=environ, capture_output=True, check=False, timeout=120)
        return done.returncode, (done.stdout + done.stderr).decode()

    assert suyuan("library", "add", str(disk / "docs"))[0] == 0
    assert suyuan("ask", "--engine", "stub", "When was it built?")[0] in (0, 1, 2)
    with closing(Archive(disk / "data" / "archive.sqlite")) as archive:
        archive.put(_document("https://example.org/1"))
    with closing(Store(f"sqlite:///{disk / 'data' / 'chat.sqlite'}")) as store:
        store.create(title="Lighthouse")
    _make_read_only(disk)
    reading = [
        "archive list", "archive search lighthouse", "library list", "search lighthouse", "engines", "notices",
        f"backup {tmp_path / 'backup'}",
    ]  # fmt: skip
    for command in reading:
        code, said = suyuan(*command.split())
        assert code == 0, (command, said)
    assert (tmp_path / "backup" / "store" / "chat.sqlite").exists()
    code, said = suyuan("library", "add", str(tmp_path))
    assert code == 3 and "folder_read_only" in said
    code, said = suyuan("doctor", "--offline", "--json")
    assert code == 1 and "folder_read_only" in {each["code"] for each in json.loads(said)["findings"]}
