"""A process of 0.2 that goes on beside this release: what it writes, changes and removes is found, or found no more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from support.timing import until
from suyuan.store import migrations
from suyuan.store.conversation import new_id
from suyuan.store.conversations import Store
from suyuan.store.database import Database
from suyuan.store.tables import conversations, messages

_NOW = "2026-11-18T00:00:00.000000+00:00"


class OlderRelease:
    """The statements of 0.2, in a connection of its own that was opened before the upgrade."""

    def __init__(self, address: str) -> None:
        self.database = Database(address)
        with self.database.write() as connection:
            config = Config(attributes={"connection": connection})
            config.set_main_option("script_location", str(Path(migrations.__file__).parent))
            command.upgrade(config, "0009")

    def create(self, title: str = "") -> str:
        id = new_id()
        row = {"id": id, "title": title, "created_at": _NOW, "updated_at": _NOW, "search": False}
        with self.database.write() as connection:
            connection.execute(conversations.insert().values(**row, mode="chat", engine="", model="", lang="en"))
        return id

    def ask(self, conversation: str, text: str) -> str:
        run = new_id()
        with self.database.write() as connection:
            position = len(connection.execute(messages.select().where(messages.c.conversation == conversation)).all())
            self._add(connection, conversation, new_id(), position, role="user", text=text, state="done")
            self._add(connection, conversation, run, position + 1, role="assistant", text="", state="running")
        return run

    def _add(self, connection: Connection, conversation: str, id: str, position: int, **values: str) -> None:
        row = {"id": id, "conversation": conversation, "position": position, **values}
        connection.execute(messages.insert().values(**row, created_at=_NOW, kept_at=_NOW))

    def change(self, message: str, **values: str) -> None:
        with self.database.write() as connection:
            connection.execute(messages.update().where(messages.c.id == message).values(**values))

    def remove_messages(self, conversation: str, first: int) -> None:
        with self.database.write() as connection:
            same = (messages.c.conversation == conversation, messages.c.position >= first)
            connection.execute(messages.delete().where(*same))

    def rename(self, conversation: str, title: str) -> None:
        with self.database.write() as connection:
            connection.execute(conversations.update().where(conversations.c.id == conversation).values(title=title))

    def purge(self, conversation: str) -> None:
        with self.database.write() as connection:
            connection.execute(conversations.delete().where(conversations.c.id == conversation))


@pytest.fixture
def older(address: str) -> Iterator[OlderRelease]:
    made = OlderRelease(address)
    yield made
    made.database.close()


@pytest.fixture
def store(older: OlderRelease, address: str) -> Iterator[Store]:
    """Opened, and so upgraded, beside the older release."""
    kept = older.create("kept before")
    older.change(older.ask(kept, "an otter before the upgrade"), text="it swims", state="done")
    opened = Store(address)
    yield opened
    opened.close()


def titles(store: Store, query: str) -> set[str]:
    return {each.title for each in store.find(query)}


def is_indexed(store: Store) -> bool:
    with store._database.read() as connection:
        return not store._index.waits(connection)


def test_the_upgrade_indexes_what_is_there(store: Store) -> None:
    assert titles(store, "otter") == titles(store, "swims before") == {"kept before"}
    assert until(lambda: is_indexed(store))
    assert titles(store, "otter") == titles(store, "swims before") == {"kept before"} and store.check() == []


def test_what_it_writes_is_found_at_once_and_indexed_soon(older: OlderRelease, store: Store) -> None:
    id = older.create("new one")
    run = older.ask(id, "where do herons nest?")
    assert titles(store, "heron") == titles(store, "one heron") == {"new one"}
    older.change(run, text="in tall tr")
    assert titles(store, "tr") == {"new one"} and titles(store, "trees") == set()
    older.change(run, text="in tall trees", state="done")
    older.rename(id, "renamed")
    assert titles(store, "trees") == titles(store, "renamed") == {"renamed"} and titles(store, "new") == set()
    # As the server does every few seconds.
    store.sweep()
    assert until(lambda: is_indexed(store)) and store.check() == []
    assert titles(store, "trees heron renamed") == {"renamed"} and titles(store, "new") == set()


def test_what_it_removes_is_found_no_more(older: OlderRelease, store: Store) -> None:
    assert until(lambda: is_indexed(store))
    [kept] = store.find("otter")
    older.change(older.ask(kept.id, "and a heron?"), text="no", state="done")
    older.remove_messages(kept.id, 0)
    assert titles(store, "otter") == titles(store, "swims") == titles(store, "heron") == set()
    older.ask(kept.id, "a swan instead")
    assert titles(store, "swan kept") == {"kept before"}
    gone = older.create("gone otter")
    older.purge(gone)
    assert titles(store, "otter") == set()
    store.sweep()
    assert until(lambda: is_indexed(store)) and store.check() == [] and titles(store, "swan kept") == {"kept before"}


def test_it_reads_what_this_release_writes(older: OlderRelease, store: Store) -> None:
    id = store.create(title="by the new one").id
    store.begin_turn(id, "what is a stork?", "run")
    store.finish("run", state="done", text="a bird", answer={})
    with older.database.read() as connection:
        said = connection.execute(messages.select().where(messages.c.conversation == id)).all()
    assert [row.text for row in sorted(said, key=lambda row: row.position)] == ["what is a stork?", "a bird"]
