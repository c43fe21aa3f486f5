"""A database that is removed, replaced or emptied, under a server or between two runs: nothing of it is silent."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from live.workers import Worker
from support.timing import PATIENCE, until
from suyuan.core.document import Document
from suyuan.core.errors import SuyuanError
from suyuan.core.kept_files import tell_missing
from suyuan.core.notices import Notices
from suyuan.pages.archive import Archive
from suyuan.store.conversations import Store
from suyuan.store.research import ResearchStore

_BESIDE = ("", "-wal", "-shm")


def _files(file: Path) -> list[Path]:
    """A database with what SQLite keeps beside it."""
    return [path for suffix in _BESIDE if (path := file.with_name(file.name + suffix)).exists()]


def _remove(file: Path) -> None:
    for each in _files(file):
        each.unlink()


def _remove_it_alone(file: Path) -> None:
    file.unlink()


def _move_away(file: Path) -> None:
    file.rename(file.with_name("moved-away"))


def _replace_by_a_copy(file: Path) -> None:
    new = file.with_name("new.sqlite")
    with closing(sqlite3.connect(file)) as old, closing(sqlite3.connect(new)) as copy:
        old.backup(copy)
    new.rename(file)


def _replace_by_nothing(file: Path) -> None:
    new = file.with_name("new.sqlite")
    new.touch()
    new.rename(file)


def _move_the_folder(file: Path) -> None:
    file.parent.rename(file.parent.with_name("elsewhere"))


def _remove_the_folder(file: Path) -> None:
    shutil.rmtree(file.parent)


WHILE_OPEN = [
    _remove, _remove_it_alone, _move_away, _replace_by_a_copy, _replace_by_nothing, _move_the_folder, _remove_the_folder,
]  # fmt: skip


def _codes(folder: Path) -> set[str]:
    return {notice.failure.detail_code for notice in Notices(folder).open()}


def _ids(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {row[0] for row in db.execute("SELECT id FROM suyuan_conversations")}


def _rescued(file: Path) -> Path:
    return next(file.parent.glob("chat.sqlite.rescued-*"))


def _later(folder: Path) -> None:
    """A process that runs later: it tells what is gone and begins anew what it needs."""
    tell_missing([folder])
    Store(f"sqlite:///{folder / 'chat.sqlite'}").close()


# --- while it is open --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seen_by", ["a write", "a read", "the end"])
@pytest.mark.parametrize("harm", WHILE_OPEN)
def test_a_store_that_goes_is_rescued_and_takes_nothing_more(
    tmp_path: Path, harm: Callable[[Path], None], seen_by: str
) -> None:
    file = tmp_path / "data" / "chat.sqlite"
    store = Store(f"sqlite:///{file}")
    kept = {store.create().id for _ in range(20)}
    harm(file)
    if seen_by == "a write":
        with pytest.raises(SuyuanError) as refused:
            store.create()
        assert refused.value.detail_code == "store_gone"
        with pytest.raises(SuyuanError):
            ResearchStore(f"sqlite:///{file}")
    if seen_by == "a read":
        # What is there can still be seen.
        assert {found.id for found in store.find()} == kept and store.is_gone
    store.close()
    assert _ids(_rescued(file)) == kept, "nothing that was acknowledged is lost"
    assert _rescued(file).stat().st_mode & 0o077 == 0
    assert "store_rescued" in _codes(file.parent)


def test_writes_of_a_group_are_not_acknowledged_either(tmp_path: Path) -> None:
    file = tmp_path / "chat.sqlite"
    with closing(Store(f"sqlite:///{file}")) as store, store.writer() as writer:
        acknowledged = [writer.submit(store.create).result(PATIENCE).id]
        begun, go_on = threading.Event(), threading.Event()

        def slow() -> str:
            begun.set()
            go_on.wait(PATIENCE)
            return store.create().id

        last = writer.submit(slow)
        assert begun.wait(PATIENCE)
        # In the middle of the transaction.
        _remove(file)
        go_on.set()
        with pytest.raises(SuyuanError) as refused:
            last.result(PATIENCE)
        assert refused.value.detail_code == "store_gone"
    assert set(acknowledged) <= _ids(_rescued(file))


def test_a_store_that_comes_back_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "chat.sqlite"
    with closing(Store(f"sqlite:///{file}")) as store:
        before = store.create().id
        _move_away(file)
        with pytest.raises(SuyuanError):
            store.create()
        file.with_name("moved-away").rename(file)
        after = store.create().id
    assert _ids(file) == {before, after}


def _document(number: int) -> Document:
    text = f"Page {number} about the lighthouse, which is long enough to be kept."
    url, moment = f"https://{number}.example/", "2026-11-01T10:00:00+00:00"
    return Document(url=url, final_url=url, title="", text=text, content_type="text/html", fetched_at=moment)


@pytest.mark.parametrize("kind", ["archive", "library"])
@pytest.mark.parametrize("harm", WHILE_OPEN)
def test_an_archive_that_goes_is_begun_anew_with_a_notice(
    tmp_path: Path, harm: Callable[[Path], None], kind: Any
) -> None:
    file = tmp_path / "data" / "a.sqlite"
    notices = Notices(file.parent)
    with closing(Archive(file, notices=notices, kind=kind)) as archive:
        archive.put(_document(1))
        with closing(Archive(file, notices=notices, kind=kind)) as other:
            harm(file)
            archive.put(_document(2))
            other.put(_document(3))
            assert archive.get("https://3.example/") and other.get("https://2.example/")
    known = {"archive_lost", "archive_replaced", "archive_emptied", "library_lost"}
    assert _codes(file.parent) & known


# --- between two runs --------------------------------------------------------------------------------------------------
def _made(folder: Path) -> dict[str, Path]:
    files = {"store": folder / "chat.sqlite", "archive": folder / "archive.sqlite"}
    with closing(Store(f"sqlite:///{files['store']}")) as store:
        store.create()
    with closing(Archive(files["archive"])) as archive:
        archive.put(_document(1))
    return files


def _open(files: dict[str, Path]) -> None:
    Store(f"sqlite:///{files['store']}").close()
    Archive(files["archive"]).close()


def _empty(file: Path) -> None:
    _remove(file)
    file.touch()


@pytest.mark.parametrize("which", ["store", "archive"])
@pytest.mark.parametrize(("harm", "told"), [(_remove, "lost"), (_empty, "emptied")])
@pytest.mark.parametrize("age", [0, 1, 4, 1_000_000])
def test_what_was_lost_between_two_runs_is_told_once_whenever_it_was(
    tmp_path: Path, which: str, harm: Callable[[Path], None], told: str, age: int
) -> None:
    files = _made(tmp_path)
    harm(files[which])
    if files[which].exists():
        moment = files[which].stat().st_mtime - age
        os.utime(files[which], (moment, moment))
    _open(files)
    assert _codes(tmp_path) == {f"{which}_{told}"}
    Notices(tmp_path).dismiss()
    _open(files)
    tell_missing([tmp_path])
    assert _codes(tmp_path) == set()


def test_what_is_gone_is_missed_before_anybody_needs_it(tmp_path: Path) -> None:
    files = _made(tmp_path)
    for file in files.values():
        _remove(file)
    moved = tmp_path.with_name("moved-folder")
    tmp_path.rename(moved)
    tell_missing([moved])
    assert _codes(moved) == {"store_lost", "archive_lost"}
    Notices(moved).dismiss()
    tell_missing([moved])
    assert _codes(moved) == set(), "dismissing the notice is the orderly end"


def test_a_folder_that_is_copied_or_older_misses_nothing(tmp_path: Path) -> None:
    _made(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    (tmp_path / "b" / ".kept.json").unlink()
    for name in ("a", "b"):
        _open({"store": tmp_path / name / "chat.sqlite", "archive": tmp_path / name / "archive.sqlite"})
        tell_missing([tmp_path / name])
        assert _codes(tmp_path / name) == set()


_OPENS = """
import sys
from pathlib import Path
from suyuan.pages.archive import Archive
from suyuan.store.conversations import Store
folder = Path(sys.argv[1])
sys.stdin.read()
for _ in range(2):
    Store(f"sqlite:///{folder / 'chat.sqlite'}").close()
    Archive(folder / "archive.sqlite").close()
"""


def test_processes_that_make_a_file_at_the_same_time_miss_nothing(tmp_path: Path) -> None:
    started = [subprocess.Popen([sys.executable, "-c", _OPENS, str(tmp_path)], stdin=subprocess.PIPE) for _ in range(4)]
    for process in started:
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait(PATIENCE) for process in started] == [0] * 4
    assert _codes(tmp_path) == set()


_FULL = """
import resource, signal, sys
from suyuan.core.errors import SuyuanError
from suyuan.pages.archive import Archive
from suyuan.store.conversations import Store
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
for opened in (lambda: Store(f"sqlite:///{sys.argv[1]}/chat.sqlite"), lambda: Archive(f"{sys.argv[1]}/archive.sqlite")):
    try:
        opened().close()
    except SuyuanError as error:
        print(error.detail_code)
"""


@pytest.mark.parametrize("room", [0, 200, 4096, 20_000])
def test_a_file_that_could_not_be_begun_has_lost_nothing(tmp_path: Path, room: int) -> None:
    subprocess.run(
        [sys.executable, "-c", _FULL, str(tmp_path), str(room)], check=True, capture_output=True, timeout=PATIENCE
    )
    assert not [file for file in tmp_path.glob("*.sqlite") if file.stat().st_size == 0]
    _open({"store": tmp_path / "chat.sqlite", "archive": tmp_path / "archive.sqlite"})
    assert _codes(tmp_path) == set()


# --- a server, and the commands beside it ------------------------------------------------------------------------------
@dataclass
class Served:
    worker: Worker
    data: Path

    def call(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.worker.url + path, data, {"Content-Type": "application/json"})
        with urlopen(request, timeout=PATIENCE) as response:
            return json.load(response)

    def run(self, *words: str) -> str:
        command = [sys.executable, "-m", "suyuan", *words]
        done = subprocess.run(command, env=self.worker.environ, capture_output=True, text=True, timeout=PATIENCE)
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + done.stderr

    def codes(self) -> set[str]:
        return {notice["code"] for notice in self.call("/api/notices")["notices"]}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "VIRTUAL_ENV", "PYTHONPATH")}
    places = {f"SUYUAN_{name}_DIR": str(tmp_path / name.lower()) for name in ("DATA", "STATE", "CONFIG")}
    worker = Worker({**kept, **places, "HOME": str(tmp_path), "WEB_SEARCH_BACKEND": "stub", "LANG": "C.UTF-8"})
    worker.start()
    try:
        yield Served(worker, tmp_path / "data")
    finally:
        worker.end(signal.SIGKILL)


def test_a_server_whose_store_goes_says_so_everywhere(served: Served, tmp_path: Path) -> None:
    kept = {served.call("/api/conversations", {})["id"] for _ in range(3)}
    file = served.data / "chat.sqlite"
    _remove(file)
    with pytest.raises(HTTPError) as refused:
        served.call("/api/conversations", {})
    assert refused.value.code == 503 and json.load(refused.value)["error"]["detail_code"] == "store_gone"
    with pytest.raises(HTTPError) as failing:
        served.call("/healthz")
    assert failing.value.code == 503
    refused.value.close()
    failing.value.close()
    assert until(lambda: "store_rescued" in served.codes())
    assert "store_rescued" in served.run("doctor", "--offline")
    assert "suyuan notices --dismiss" in served.run("backup", str(tmp_path / "backup"))
    assert not file.exists(), "no command beside it begins a second one in silence"
    served.worker.end()
    # What the notice says, done.
    _rescued(file).rename(file)
    served.worker.start()
    listed = served.call("/api/conversations")["conversations"]
    assert {each["id"] for each in listed} == kept
    assert served.call("/api/conversations", {})["id"]


def test_a_silent_server_finds_it_too(served: Served) -> None:
    kept = {served.call("/api/conversations", {})["id"]}
    file = served.data / "chat.sqlite"
    _replace_by_a_copy(file)
    # Nobody asks it for anything but the notices.
    assert until(lambda: "store_rescued" in served.codes())
    assert _ids(_rescued(file)) == kept


def test_a_server_looks_through_its_store_behind_the_start(served: Served) -> None:
    for _ in range(20):
        served.call("/api/conversations", {})
    served.worker.end()
    file = served.data / "chat.sqlite"
    with closing(sqlite3.connect(file)) as db:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'suyuan_conversations'"
        place = (db.execute(query).fetchone()[0] - 1) * 4096
    body = bytearray(file.read_bytes())
    body[place : place + 4096] = b"\xff" * 4096
    file.write_bytes(body)
    served.worker.start()
    # Nobody asks it for conversations.
    assert until(lambda: "store_damaged" in served.codes())
