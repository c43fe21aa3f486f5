"""A store that is overwritten in place while it is in use, or between two runs: noticed before anything is taken in."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from suyuan.core.errors import SuyuanError
from suyuan.core.notices import Notices
from suyuan.store.conversations import Store

_CONVERSATIONS = 30
# Whatever writes to the file is another process: one that closed it here would cost SQLite its locks.
_WRITE = "import os, sys; f = os.open(sys.argv[1], os.O_WRONLY); {work}"


def _filled(file: Path) -> Store:
    store = Store(f"sqlite:///{file}")
    for number in range(_CONVERSATIONS):
        conversation, run = store.create().id, f"run{number}"
        store.begin_turn(conversation, f"question {number} " + "about the lighthouse " * 20, run)
        store.finish(run, state="done", text=f"answer {number} " * 50, answer={})
    return store


def _by_another(file: Path, work: str) -> None:
    subprocess.run([sys.executable, "-c", _WRITE.format(work=work), str(file)], check=True)


def _another_store(file: Path) -> None:
    other = file.with_name("other.sqlite")
    _filled(other).close()
    subprocess.run(["cp", str(other), str(file)], check=True)


def _an_older_copy(file: Path) -> None:
    subprocess.run(["cp", str(file.with_name("older.sqlite")), str(file)], check=True)


def _truncated(size: int) -> Callable[[Path], None]:
    return lambda file: _by_another(file, f"os.ftruncate(f, {size})")


def _overwritten(start: int, content: bytes) -> Callable[[Path], None]:
    return lambda file: _by_another(file, f"os.pwrite(f, {content!r}, {start})")


def _text(file: Path) -> None:
    _by_another(file, "os.ftruncate(f, 0); os.write(f, b'not a database')")


HARMS = {
    "another store": _another_store, "an older copy": _an_older_copy, "text": _text,
    **{f"cut to {size}": _truncated(size) for size in (0, 1, 100, 4096, 20_480, 40_960)},
    **{f"from {start}": _overwritten(start, random.Random(start).randbytes(100)) for start in (0, 16, 60)},
}  # fmt: skip


def _codes(file: Path) -> set[str]:
    return {notice.failure.detail_code for notice in Notices(file.parent).open()}


def _in(file: Path) -> int:
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        return int(db.execute("SELECT count(*) FROM suyuan_conversations").fetchone()[0])


@pytest.mark.parametrize("checkpointed", [True, False])
@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_store_that_is_overwritten_in_use_takes_nothing_more(
    tmp_path: Path, harm: Callable[[Path], None], checkpointed: bool
) -> None:
    file = tmp_path / "chat.sqlite"
    store = _filled(file)
    store._database.pragma("wal_checkpoint(TRUNCATE)")
    subprocess.run(["cp", str(file), str(file.with_name("older.sqlite"))], check=True)
    for _ in range(5):
        store.begin_turn(store.create().id, "later " * 4000, f"later{random.random()}")
    if checkpointed or harm is _an_older_copy:
        # What is only in the log is not lost with the file.
        store._database.pragma("wal_checkpoint(PASSIVE)")
    store.find()
    harm(file)
    with pytest.raises(SuyuanError) as refused:
        store.create()
    assert refused.value.detail_code == "store_overwritten" and store.is_gone
    store.close()
    told = _codes(file)
    assert told & {"store_overwritten", "store_overwritten_saved"} and "store_index_damaged" not in told
    for rescued in tmp_path.glob("chat.sqlite.rescued-*"):
        assert _in(rescued) > 0


def test_what_sqlite_itself_does_with_the_file_is_not_taken_for_that(tmp_path: Path) -> None:
    file = tmp_path / "chat.sqlite"
    store = _filled(file)
    others = (
        "PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA incremental_vacuum", "REINDEX", "ANALYZE",
        "CREATE TABLE another AS SELECT * FROM suyuan_conversations", "DROP TABLE another",
    )  # fmt: skip
    for number, statement in enumerate(others * 3):
        run = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=30); db.executescript(sys.argv[2])"
        subprocess.run([sys.executable, "-c", run, str(file), statement], check=True)
        store.begin_turn(store.create().id, "text " * 3000, f"more{number}")
        if number % 2:
            store._database.erase()
            store._database.pragma("wal_checkpoint(TRUNCATE)")
    store.close()
    assert _codes(file) == set() and _in(file) == _CONVERSATIONS + 3 * len(others)


@pytest.mark.parametrize("seed", range(6))
def test_a_store_that_has_lost_its_header_is_brought_back_whole(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "chat.sqlite"
    with closing(_filled(file)) as store:
        kept = {found.id for found in store.find(limit=100)}
    chance = random.Random(seed)
    with file.open("r+b") as opened:
        opened.write([bytes(100), chance.randbytes(100), chance.randbytes(16)][seed % 3])
    damaged = file.read_bytes()
    with closing(Store(f"sqlite:///{file}")) as store:
        assert {found.id for found in store.find(limit=100)} == kept
        assert store.find("lighthouse")
    assert "store_salvaged" in _codes(file)
    (aside,) = tmp_path.glob("chat.sqlite.damaged-*")
    assert aside.read_bytes() == damaged


@pytest.mark.parametrize("content", [b"text", b"text " * 20_000, os.urandom(50_000)], ids=["short", "long", "noise"])
def test_what_has_nothing_of_a_store_stays_and_is_told_with_what_helps(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "chat.sqlite"
    _filled(file).close()
    file.write_bytes(content)
    with pytest.raises(SuyuanError) as refused:
        Store(f"sqlite:///{file}")
    assert refused.value.detail_code == "store_not_a_database"
    message, hint = refused.value.say("en")
    assert str(file) in message and "suyuan restore" in hint
    assert _codes(file) == {"store_not_a_database"} and file.read_bytes() == content


def _run(file: Path, statement: str) -> None:
    run = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=30); db.execute(sys.argv[2]).fetchall()"
    subprocess.run([sys.executable, "-c", run, str(file), statement], check=True)


_RESTORE = """
import sqlite3, sys
to, by = sqlite3.connect(sys.argv[1], timeout=30), sqlite3.connect(sys.argv[2])
by.backup(to)
"""


def _restored(file: Path, by: str) -> None:
    """As ``.restore`` of the command-line program does it: through SQLite, with all locks."""
    subprocess.run([sys.executable, "-c", _RESTORE, str(file), str(file.with_name(by))], check=True)


def _copied(mode: str) -> Callable[[Path], None]:
    def copied(file: Path) -> None:
        _run(file, f"PRAGMA wal_checkpoint({mode})")
        _an_older_copy(file)

    return copied


def _restored_other(file: Path) -> None:
    _filled(file.with_name("other.sqlite")).close()
    _restored(file, "other.sqlite")


BY_THE_RULES = {
    "another restored": _restored_other, "an older one restored": lambda file: _restored(file, "older.sqlite"),
    **{f"an older copy after {mode}": _copied(mode) for mode in ("TRUNCATE", "RESTART", "PASSIVE")},
}  # fmt: skip


@pytest.mark.parametrize("asked", ["write", "read", "end"])
@pytest.mark.parametrize("looked", [True, False])
@pytest.mark.parametrize("harm", BY_THE_RULES.values(), ids=BY_THE_RULES)
def test_what_sqlite_itself_takes_for_sound_is_compared_with_the_last_write(
    tmp_path: Path, harm: Callable[[Path], None], looked: bool, asked: str
) -> None:
    file = tmp_path / "chat.sqlite"
    store = _filled(file)
    store._database.pragma("wal_checkpoint(TRUNCATE)")
    if looked:
        store.find()
    subprocess.run(["cp", str(file), str(file.with_name("older.sqlite"))], check=True)
    for number in range(3):
        # The file itself has none of this yet.
        store.begin_turn(store.create().id, "later", f"later{number}")
    harm(file)
    if asked == "read":
        store.find()
        assert store.is_gone
    if asked != "end":
        with pytest.raises(SuyuanError) as refused:
            store.create()
        assert refused.value.detail_code == "store_overwritten"
    store.close()
    assert _codes(file) & {"store_overwritten", "store_overwritten_saved"}
    if harm is _restored_other:
        assert not list(tmp_path.glob("chat.sqlite.rescued-*")), "nothing of the store is left to be rescued"
