"""The full-text index: what is removed leaves the disk, what is damaged is made again, and nothing else is touched."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from support.timing import until
from suyuan.core.errors import SuyuanError
from suyuan.core.notices import Notices
from suyuan.store import sqlite_text_index
from suyuan.store.conversation import new_id
from suyuan.store.conversations import Store
from suyuan.store.tables import messages

_PAGE = 4096
_SECRET = "zweigeteilte"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "chat.sqlite"


@pytest.fixture
def store(file: Path) -> Iterator[Store]:
    opened = Store(f"sqlite:///{file}")
    yield opened
    opened.close()


def say(store: Store, *texts: str, conversation: str = "") -> str:
    """A conversation with these questions and empty answers."""
    id = conversation or store.create().id
    for each in texts:
        run = new_id()
        store.begin_turn(id, each, run)
        store.finish(run, state="done", text="", answer={})
    return id


def found(store: Store, query: str) -> list[str]:
    return [each.id for each in store.find(query)]


def is_indexed(store: Store) -> bool:
    with store._database.read() as connection:
        return not store._index.waits(connection)


def on_disk(file: Path, word: str) -> bool:
    return any(word.encode() in path.read_bytes() for path in file.parent.glob(f"{file.name}*"))


def others(store: Store, count: int) -> None:
    """Conversations beside it, so that the index has several segments."""
    for number in range(count):
        say(store, " ".join(f"word{(number * place) % 997}" for place in range(1, 200)))


class TestRemoved:
    """What is removed is found no more, and its words leave the disk."""

    @pytest.fixture(autouse=True)
    def believed_clock(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("suyuan.core.clock.PROVEN", 0.0)

    def test_a_purge_leaves_nothing_of_it(self, store: Store, file: Path) -> None:
        others(store, 20)
        id = say(store, f"the {_SECRET} matter of 张三丰的秘密")
        others(store, 20)
        store.delete(id)
        assert found(store, _SECRET) == [] and on_disk(file, _SECRET)
        store.purge(0)
        assert not on_disk(file, _SECRET) and not on_disk(file, "三丰") and store.check() == []
        assert len(found(store, "word996")) > 2 and len(found(store, "word")) == 40

    def test_an_account_that_is_removed_leaves_nothing(self, store: Store, file: Path) -> None:
        others(store, 5)
        say(store, f"about {_SECRET}")
        account = store.people.add("ann", "hash")
        assert on_disk(file, _SECRET)
        store.people.remove(account.id)
        assert not on_disk(file, _SECRET) and store.check() == []

    def test_what_was_edited_away_leaves_with_the_next_purge_of_others(self, store: Store, file: Path) -> None:
        others(store, 5)
        id = say(store, f"about {_SECRET}")
        run = new_id()
        store.begin_turn(id, "about something else", run, store.messages(id)[0].id)
        store.finish(run, state="done", text="", answer={})
        assert found(store, _SECRET) == [] and found(store, "something") == [id]
        assert store.purge(0) == 0
        assert not on_disk(file, _SECRET)

    def test_what_an_older_release_purged_leaves_with_the_next_purge(self, store: Store, file: Path) -> None:
        others(store, 5)
        id = say(store, f"about {_SECRET}")
        with closing(sqlite3.connect(file)) as older:
            older.execute("PRAGMA foreign_keys=ON")
            older.execute("DELETE FROM suyuan_conversations WHERE id = ?", (id,))
            older.commit()
        assert found(store, _SECRET) == [] and store.purge(0) == 0
        assert not on_disk(file, _SECRET) and store.check() == []

    def test_any_number_of_purges_is_possible(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sqlite_text_index, "_MOST_LEVELS", 12)
        others(store, 5)
        most = 0
        for number in range(20):
            id = say(store, f"about {_SECRET} {number}")
            say(store, f"kept{number}")
            store.delete(id)
            store.purge(0)
            with store._database.read() as connection:
                most = max(most, store._index._levels(connection))  # type: ignore[attr-defined]
        assert most <= 16, "the index was begun anew in between"
        store.sweep()
        assert until(lambda: is_indexed(store)) and store.check() == []
        assert all(len(found(store, f"kept{number}")) == 1 for number in range(3, 20))


class TestDamaged:
    """An index that is damaged or missing is made again; conversations are never set aside."""

    @pytest.mark.parametrize("statement", [
        "DROP TABLE suyuan_fulltext",
        "UPDATE suyuan_fulltext_data SET block = x'ffffffffffff' WHERE id = 10",
        "DELETE FROM suyuan_fulltext_data",
        "DELETE FROM suyuan_fulltext_content",
        "UPDATE suyuan_fulltext_data SET block = zeroblob(length(block)) WHERE id > 10",
        "DROP TRIGGER suyuan_message_added",
        "DELETE FROM suyuan_texts",
    ])  # fmt: skip
    def test_in_its_content(self, store: Store, file: Path, statement: str) -> None:
        ids = [say(store, f"about {name} 张三丰") for name in ("otters", "herons")]
        # Other connections keep nothing of it in memory.
        store._database._engine.dispose()
        with closing(sqlite3.connect(file)) as other:
            other.execute(statement)
            other.commit()
        # Whatever is asked or written first.
        other_id = say(store, "about swans")
        assert store._database.file is not None
        mended = store.check()
        assert [each.detail_code for each in mended if isinstance(each, SuyuanError)] == ["store_index_damaged"]
        assert [found(store, name) for name in ("otters", "herons", "swans")] == [[ids[0]], [ids[1]], [other_id]]
        assert set(found(store, "三丰")) == set(ids)
        assert until(lambda: is_indexed(store)) and store.check() == []
        assert Notices(file.parent).find("store_index_damaged", file) is not None

    @pytest.mark.parametrize("part", ["suyuan_fulltext_data", "suyuan_fulltext_content", "suyuan_texts"])
    def test_in_its_pages(self, store: Store, file: Path, part: str) -> None:
        ids = [say(store, f"about {name}") for name in ("otters", "herons")]
        others(store, 30)
        store.close()
        with closing(sqlite3.connect(file)) as raw:
            page = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (part,)).fetchone()[0]
        content = bytearray(file.read_bytes())
        content[(page - 1) * _PAGE : page * _PAGE] = b"\xff" * _PAGE
        file.write_bytes(content)
        opened = Store(f"sqlite:///{file}")
        assert [found(opened, name) for name in ("otters", "herons")] == [[ids[0]], [ids[1]]]
        new = say(opened, "about swans")
        assert found(opened, "swans") == [new] and len(found(opened, "word")) == 30
        opened.sweep()
        assert until(lambda: is_indexed(opened)) and opened.check() == []
        assert len(list(file.parent.glob("chat.sqlite*"))) == 3, "nothing was set aside"
        opened.close()

    def test_one_that_is_missing_at_the_start_is_made_again_and_told(self, store: Store, file: Path) -> None:
        id = say(store, "about otters")
        store.close()
        with closing(sqlite3.connect(file)) as other:
            other.executescript("DROP TRIGGER suyuan_title_added; DROP TABLE suyuan_texts;")
        opened = Store(f"sqlite:///{file}")
        assert found(opened, "otters") == [id]
        assert until(lambda: is_indexed(opened)) and opened.check() == []
        assert Notices(file.parent).find("store_index_damaged", file) is not None
        opened.close()

    def test_what_was_changed_behind_the_index_is_noticed(self, store: Store, file: Path) -> None:
        id = say(store, "about otters", "about herons")
        with closing(sqlite3.connect(file)) as other:
            (trigger,) = other.execute("SELECT sql FROM sqlite_master WHERE name = 'suyuan_message_changed'").fetchone()
            other.execute("DROP TRIGGER suyuan_message_changed")
            other.execute("UPDATE suyuan_messages SET text = 'about swans' WHERE text = 'about herons'")
            other.execute(trigger)
            other.commit()
        assert found(store, "swans") == []
        [told] = store.check()
        assert isinstance(told, SuyuanError) and "1 texts have changed" in told.message
        assert found(store, "swans") == [id] and found(store, "herons") == []

    def test_a_full_disk_is_told_and_confirms_nothing(self, store: Store) -> None:
        id = say(store, "about otters")
        (pages,) = store._database.pragma("page_count")[0]
        # In the connection that writes next: there is only one.
        store._database.pragma(f"max_page_count={pages + 12}")
        question = " ".join(f"{word:05}" for word in range(6000))
        with pytest.raises(SuyuanError) as raised:
            store.begin_turn(id, question, new_id())
        assert raised.value.detail_code == "store_full"
        store._database.pragma("max_page_count=1000000")
        assert [each.text for each in store.messages(id)] == ["about otters", ""]
        assert found(store, "00001") == [] and found(store, "otters") == [id] and store.check() == []


class TestWaiting:
    """What waits for the index is found all the same."""

    def test_a_running_answer_is_found_by_what_is_there_of_it(self, store: Store) -> None:
        id, run = store.create().id, new_id()
        store.begin_turn(id, "what is it?", run)
        store.keep_text(run, "it is an ott")
        assert found(store, "ott") == [id] and found(store, "otter") == []
        store.keep_text(run, "it is an otter")
        assert found(store, "otter") == [id] and store.find("otter")[0].passage == "it is an otter"
        store.finish(run, state="done", text="it is a heron", answer={})
        assert found(store, "otter") == [] and found(store, "heron") == [id] and is_indexed(store)

    def test_a_text_is_indexed_once(self, store: Store) -> None:
        """Saves of an answer do not touch the index, and its end does so for its text alone."""
        id = say(store, *(f"question {number}" for number in range(20)))
        run = new_id()
        store.begin_turn(id, "the last question", run)

        def segments() -> bytes:
            with store._database.read() as connection:
                query = "SELECT block FROM suyuan_fulltext_data WHERE id = 10"
                return bytes(connection.exec_driver_sql(query).scalar_one())

        before = segments()
        for number in range(10):
            store.keep_text(run, "text " * number)
        assert segments() == before
        with store._database.read() as connection:
            changes = connection.execute(text("SELECT count(*) FROM suyuan_fulltext_content")).scalar_one()
        store.finish(run, state="done", text="text", answer={})
        with store._database.read() as connection:
            assert connection.execute(text("SELECT count(*) FROM suyuan_fulltext_content")).scalar() == changes + 1
            said = connection.execute(messages.select().where(messages.c.conversation == id)).all()
        assert len(said) == 42
