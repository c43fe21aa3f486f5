"""A real server under a clock that is wrong: it removes nothing for its age, and does so under one that is right."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from support.site import free_port
from support.timing import PATIENCE, until
from suyuan.core.clock import DAY, ClockRecord
from suyuan.core.document import Document
from suyuan.pages.archive import Archive
from suyuan.store.conversations import Store
from suyuan.store.people import Login

LIBRARY = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)
needs_faketime = pytest.mark.skipif(LIBRARY is None, reason="libfaketime is not installed (apt-get install faketime)")
# The intervals of the server in tenths of a second: what it does in an hour is seen in a moment.
SERVER = """
from suyuan.server import app
app._SWEEP_SECONDS, app._MAINTENANCE_SECONDS = 0.1, 0.1
from suyuan.cli.main import main
main()
"""
ONLY_SWEEPING = SERVER.replace("app._SWEEP_SECONDS, app._MAINTENANCE_SECONDS = 0.1, 0.1", "app._SWEEP_SECONDS = 0.1")
WRONG = {
    "two years ahead": "+730d",
    "a month ahead": "+32d",
    "two years behind": "-730d",
    "since 1970": "@1970-01-03 00:00:00",
}
DELETED, SHARED, TEXT = 3, 20, "A page that was read a while ago."


@dataclass
class Folder:
    """A data folder in which something is kept, and what."""

    path: Path
    deleted: str
    shared: str

    @property
    def store(self) -> Path:
        return self.path / "chat.sqlite"

    def record(self) -> ClockRecord:
        with closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as db:
            return ClockRecord(*db.execute("SELECT since, seen FROM suyuan_clock").fetchone())

    def has_record(self) -> bool:
        with closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as db:
            return bool(db.execute("SELECT count(*) FROM suyuan_clock").fetchone()[0])

    def kept(self) -> dict[str, Any]:
        """What of it is still there, by a clock that is right."""
        with (
            closing(Store(f"sqlite:///{self.store}")) as store,
            closing(Archive(self.path / "archive.sqlite")) as archive,
        ):
            return {
                "conversation": store.get(self.deleted) is not None,
                "login": store.people.login("login") is not None,
                "share": store.people.share("share") is not None,
                "audit": len(store.people.noted()),
                "page": (page := archive.get("https://page.example/")) is not None and page.text,
                "crawl": (self.path / "crawls" / "earlier.json").exists(),
            }


ALL = {"conversation": True, "login": True, "share": True, "audit": 1, "page": TEXT, "crawl": True}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A folder that a server has had for ten days, until a moment ago."""
    now = time.time()
    clock = {"now": now - 40 * DAY}
    with closing(Store(f"sqlite:///{tmp_path / 'chat.sqlite'}", clock=lambda: clock["now"])) as store:
        store.people.note("anna", "login")
        deleted, shared = store.create(title="deleted").id, store.create(title="shared").id
        while clock["now"] < now:
            store.removal_clock.now()
            if now - clock["now"] <= DELETED * DAY and not store.find(deleted=True):
                store.delete(deleted)
            clock["now"] += DAY / 2
        clock["now"] = now
        assert store.removal_clock.now() is not None
        store.people.keep_login("login", Login("", now + SHARED * DAY, now))
        store.people.add_share(shared, "share", now + SHARED * DAY)
    _archive_some(tmp_path / "archive.sqlite")
    crawl = tmp_path / "crawls" / "earlier.json"
    crawl.parent.mkdir()
    crawl.write_text("{}")
    return Folder(tmp_path, deleted, shared)


def _archive_some(file: Path) -> None:
    with closing(Archive(file)) as archive:
        for days in range(100, 0, -5):
            read = (datetime.now(UTC) - timedelta(days)).isoformat(timespec="seconds")
            url = "https://page.example/" if days == 100 else f"https://page{days}.example/"
            archive.put(Document(url, url, "A page", TEXT if days == 100 else f"Page {days}.", "text/html", read))


@contextmanager
def serving(folder: Folder, wrong: str = "", program: str = SERVER) -> Iterator[str]:
    """A server on the folder under this clock; its log is a file beside."""
    port = free_port()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder.path),
        "SUYUAN_DATA_DIR": str(folder.path),
        "LANG": "C.UTF-8",
    }
    environ |= {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    if wrong:
        # Only the clock of the day jumps, as on a real machine; what is measured goes on.
        environ |= {"LD_PRELOAD": str(LIBRARY), "FAKETIME": wrong, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "TZ": "UTC"}
    command = [sys.executable, "-c", program, "serve", "--no-supervise", "--no-open", "--port", str(port)]
    with (folder.path / "log.txt").open("wb") as log:
        process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=log)
        url = f"http://127.0.0.1:{port}"
        try:
            assert until(lambda: _answers(url) or process.poll() is not None)
            assert process.poll() is None, (folder.path / "log.txt").read_text()
            yield url
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _answers(url: str) -> bool:
    with suppress(OSError):
        return urlopen(f"{url}/healthz", timeout=PATIENCE).status == 200  # type: ignore[no-any-return]
    return False


def ask(url: str, path: str, body: Any = None) -> Any:
    data = json.dumps(body).encode() if body else None
    with urlopen(Request(url + path, data, {"Content-Type": "application/json"}), timeout=PATIENCE) as answer:
        return json.loads(answer.read())


def told(url: str) -> set[str]:
    return {notice["code"] for notice in ask(url, "/api/notices")["notices"]}


def deleted(url: str) -> list[str]:
    return [each["id"] for each in ask(url, "/api/conversations?deleted=true")["conversations"]]


@needs_faketime
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_server_under_a_wrong_clock_removes_nothing(folder: Folder, wrong: str) -> None:
    right = folder.record()
    with serving(folder, wrong) as url:
        # It has looked, and has seen that this is another time.
        assert until(lambda: folder.record() != right)
        jumped = folder.record()
        assert abs(jumped.seen - right.seen) > 30 * DAY and not jumped.believed
        assert ask(url, "/api/search", {"query": "page read while", "engines": "archive"})["items"]
        # What is written under it is of that time; one more look has nothing to remove either.
        made = ask(url, "/api/conversations", {"search": False})
        assert abs(datetime.fromisoformat(made["created_at"]).timestamp() - right.seen) > 30 * DAY
        assert deleted(url) == [folder.deleted]
        assert "store_clock_jumped" in told(url)
    assert folder.kept() == ALL


@needs_faketime
def test_a_jump_between_two_short_runs_is_told_soon_after_the_start(tmp_path: Path) -> None:
    """With the look at the clock that people have: no run lasts for an hour."""
    new = Folder(tmp_path, "", "")
    with serving(new, program=ONLY_SWEEPING):
        assert until(lambda: new.has_record())
    with serving(new, "+800d", ONLY_SWEEPING) as url:
        assert until(lambda: "store_clock_jumped" in told(url))


@needs_faketime
def test_nor_when_it_is_set_right_again(folder: Folder) -> None:
    with serving(folder, "+730d"):
        assert until(lambda: not folder.record().believed)
    jumped = folder.record()
    with serving(folder) as url:
        assert until(lambda: folder.record() != jumped)
        assert deleted(url) == [folder.deleted] and not folder.record().believed
    assert folder.kept() == ALL


def test_a_server_under_the_right_clock_removes_what_is_over(folder: Folder) -> None:
    with closing(sqlite3.connect(folder.store)) as db, db:
        early = datetime.fromtimestamp(time.time() - 31 * DAY, UTC).isoformat(timespec="microseconds")
        db.execute("UPDATE suyuan_conversations SET deleted_at = ? WHERE id = ?", (early, folder.deleted))
        db.execute("UPDATE suyuan_logins SET expires = ?", (time.time() - 60,))
    os.utime(folder.path / "crawls" / "earlier.json", (time.time() - 2 * DAY,) * 2)
    with serving(folder) as url:
        assert until(lambda: not deleted(url))
        assert until(lambda: not (folder.path / "crawls" / "earlier.json").exists())
    assert folder.kept() == {**ALL, "conversation": False, "login": False, "crawl": False}
