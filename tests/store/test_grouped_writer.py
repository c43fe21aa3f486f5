"""Writes that wait together are one transaction: each can fail alone, and none is confirmed before it is on the disk."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.timing import PATIENCE
from suyuan.core.errors import SuyuanError
from suyuan.store.conversation import new_id
from suyuan.store.conversations import Store
from suyuan.store.grouped_writer import GroupedWriter
from suyuan.store.tables import audit


class Writing:
    """A store, and a writer that is kept busy until the test lets it go on."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.store = Store(f"sqlite:///{file}")
        self.database = self.store._database
        self.groups = 0
        self.writer = GroupedWriter(self._counted)
        self._go = threading.Event()
        self.writer.submit(self._go.wait, PATIENCE)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self.groups += 1
        with self.database.group():
            yield

    def go(self, *futures: Future[Any]) -> None:
        """Let it write, and wait for the ends."""
        self._go.set()
        for future in futures:
            future.exception(PATIENCE)

    def stored(self) -> list[str]:
        """The titles that another connection sees."""
        with closing(sqlite3.connect(self.file)) as connection:
            return [row[0] for row in connection.execute("SELECT title FROM suyuan_conversations ORDER BY title")]

    def fill(self) -> None:
        """Write more than fits: SQLite then gives the whole transaction up."""
        with self.database.write() as connection:
            (pages,) = connection.exec_driver_sql("PRAGMA page_count").one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
            try:
                # Where triggers belong to a statement, SQLite would undo that alone.
                values = {"id": "a", "at": "", "person": "", "action": "", "address": ""}
                self.database.change(audit.insert().values(**values, what="m" * 1_000_000))
            finally:
                connection.exec_driver_sql("PRAGMA max_page_count=1000000")


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[Writing]:
    made = Writing(tmp_path / "chat.sqlite")
    yield made
    made.writer.shutdown()
    made.store.close()


def test_a_failure_undoes_itself_alone(writing: Writing) -> None:
    def half() -> None:
        with writing.database.write():
            writing.store.create(title="half")
            raise LookupError

    first = writing.writer.submit(writing.store.create, title="first")
    failed = writing.writer.submit(half)
    missing = writing.writer.submit(writing.store.begin_turn, "nowhere", "?", new_id())
    last = writing.writer.submit(writing.store.create, title="last")
    assert writing.stored() == []
    writing.go(first, failed, missing, last)
    assert (first.result().title, last.result().title) == ("first", "last")
    assert isinstance(failed.exception(), LookupError)
    cause = missing.exception()
    assert isinstance(cause, SuyuanError)
    assert cause.detail_code == "no_conversation"
    assert writing.stored() == ["first", "last"]
    assert writing.groups == 2, "the one that was waited for, and one for all that waited"


def test_what_sqlite_gave_up_is_confirmed_to_nobody(writing: Writing) -> None:
    first = writing.writer.submit(writing.store.create, title="first")
    full = writing.writer.submit(writing.fill)
    last = writing.writer.submit(writing.store.create, title="last")
    writing.go(first, full, last)
    for future in (first, full, last):
        error = future.exception()
        assert isinstance(error, SuyuanError)
        assert error.detail_code == "store_full"
    assert writing.stored() == []
    assert writing.writer.submit(writing.store.create, title="next").result(PATIENCE).title == "next"
    assert writing.stored() == ["next"]
