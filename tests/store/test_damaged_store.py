"""A store that is damaged anywhere: what cannot be read is a failure and a notice, and never an empty list."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from support.timing import until
from suyuan.core.errors import SuyuanError
from suyuan.core.notices import Notices
from suyuan.store.conversations import Store
from suyuan.store.research import ResearchStore
from suyuan.store.tables import metadata

_PAGE = 4096
_CONVERSATIONS, _JOBS = 40, 25
_DAMAGED = 12
"""So many pages in a row are overwritten."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("whole") / "chat.sqlite"
    with closing(Store(f"sqlite:///{file}")) as store:
        for number in range(_CONVERSATIONS):
            conversation, run = store.create().id, f"run{number}"
            store.begin_turn(conversation, f"question {number} " + "about the lighthouse " * 40, run)
            store.finish(run, state="done", text=f"answer {number} " * 200, answer={})
    with closing(ResearchStore(f"sqlite:///{file}")) as jobs:
        for number in range(_JOBS):
            jobs.create(f"research {number} " * 60, {})
    return file.read_bytes()


def _is_sound(file: Path) -> bool:
    """Whether what is kept can be read; the index of the texts can be made again."""
    with closing(sqlite3.connect(file)) as db, contextlib.suppress(sqlite3.DatabaseError):
        return all(
            db.execute(f"PRAGMA quick_check({table.name})").fetchall() == [("ok",)] for table in metadata.sorted_tables
        )
    return False


def _told(file: Path) -> bool:
    return Notices(file.parent).find("store_damaged", file) is not None


def _damage(whole: bytes, seed: int) -> bytes:
    chance = random.Random(seed)
    first = chance.randrange(1, len(whole) // _PAGE - _DAMAGED) * _PAGE
    size = _DAMAGED * _PAGE
    noise = [bytes(size), b"\xff" * size, chance.randbytes(size)][seed % 3]
    return whole[:first] + noise + whole[first + size :]


def _outcome(work: Callable[[], int]) -> int | str:
    try:
        return work()
    except SuyuanError as error:
        return error.detail_code


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[Store | None]:
    try:
        store = Store(f"sqlite:///{file}")
    except SuyuanError as error:
        assert error.detail_code == "store_damaged"
        yield None
        return
    with closing(store):
        yield store


def _jobs(file: Path) -> int:
    with closing(ResearchStore(f"sqlite:///{file}")) as jobs:
        return len(jobs.find(limit=200))


@pytest.mark.parametrize("seed", range(18))
def test_damage_anywhere_is_told_after_the_start(tmp_path: Path, whole: bytes, seed: int) -> None:
    file = tmp_path / "chat.sqlite"
    file.write_bytes(_damage(whole, seed))
    sound = _is_sound(file)
    with _opened(file) as store:
        if store is not None:
            store.look_through()
            assert sound or until(lambda: _told(file))
    assert _told(file) is not sound


@pytest.mark.parametrize("seed", range(18))
def test_damage_that_is_met_is_told_and_no_list_is_shorter(tmp_path: Path, whole: bytes, seed: int) -> None:
    file = tmp_path / "chat.sqlite"
    file.write_bytes(_damage(whole, seed))
    sound = _is_sound(file)
    met: list[int | str] = []
    with _opened(file) as store:
        if store is None:
            met.append("store_damaged")
        else:
            met.append(_outcome(lambda: len(store.find(limit=200))))
            met.append(_outcome(lambda: sum(len(store.messages(found.id)) for found in store.find(limit=200))))
    met.append(_outcome(lambda: _jobs(file)))
    assert set(met) <= {_CONVERSATIONS, 2 * _CONVERSATIONS, _JOBS, "store_damaged"}
    # When the commands that have met it have ended, without any look at the start.
    assert _told(file) or sound or "store_damaged" not in met
    assert not (sound and _told(file))
