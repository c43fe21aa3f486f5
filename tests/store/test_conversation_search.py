"""Conversations are found by words: as a scan of all texts would find them, whatever was done to them before."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, text

from support.postgres import Postgres
from support.search_words import is_found
from support.timing import until
from suyuan.core.person import Person, current_person
from suyuan.store import conversation_search
from suyuan.store.conversation import Conversation, new_id
from suyuan.store.conversations import Store
from suyuan.store.tables import conversations, messages

_LETTERS = "天气预报北京的カﾀ한국abcABCＡｂéß12１,.'_-/+#（）。 \n😀%*\""
_TEXTS = st.text(st.sampled_from(_LETTERS), max_size=14)
_QUERIES = st.text(st.sampled_from(_LETTERS), min_size=1, max_size=4)
_ACTS = st.sampled_from(
    ["create", "ask", "finish", "save", "edit", "retry", "choose", "rename", "pin", "delete", "restore", "purge",
     "older release", "catch up", "begin anew"]
)  # fmt: skip
# How many texts a rare term is in, and how many conversations are read: as in a large store, and as in a small one.
_SIZES = st.sampled_from([(500, 400, 500, 2000), (0, 0, 500, 2000), (0, 0, 1, 1), (2, 0, 3, 3)])


class Person_:
    """One person's conversations, which change at random, beside those of others."""

    def __init__(self, store: Store, data: st.DataObject) -> None:
        self.store = store
        self.data = data
        self.running: dict[str, str] = {}

    def do(self, act: str) -> None:
        known = self.store.find(limit=1000)
        if act in ("create", "older release", "catch up", "begin anew", "purge", "restore"):
            getattr(self, "_" + act.replace(" ", "_"))()
        elif known:
            getattr(self, "_" + act)(self.data.draw(st.sampled_from(known)))

    def _text(self) -> str:
        return self.data.draw(_TEXTS)

    def _create(self) -> None:
        self.store.create(title=self._text())

    def _ask(self, conversation: Conversation, instead_of: str = "") -> None:
        if conversation.id not in self.running:
            self.running[conversation.id] = run = new_id()
            self.store.begin_turn(conversation.id, self._text(), run, instead_of)

    def _save(self, conversation: Conversation) -> None:
        self.store.keep_text(self.running.get(conversation.id, ""), self._text())

    def _finish(self, conversation: Conversation) -> None:
        run = self.running.pop(conversation.id, "")
        self.store.finish(run, state="done", text=self._text(), answer={})

    def _edit(self, conversation: Conversation) -> None:
        asked = [each.id for each in self.store.messages(conversation.id) if each.role == "user"]
        if asked:
            self._ask(conversation, self.data.draw(st.sampled_from(asked)))

    def _retry(self, conversation: Conversation) -> None:
        messages = self.store.messages(conversation.id)
        # What an older release has written here begins with an answer.
        answers = [
            after.id for before, after in pairwise(messages) if (before.role, after.role) == ("user", "assistant")
        ]
        if answers and conversation.id not in self.running:
            self.running[conversation.id] = run = new_id()
            self.store.begin_version(conversation.id, self.data.draw(st.sampled_from(answers)), run)

    def _choose(self, conversation: Conversation) -> None:
        versions = [id for ids in self.store.answers(conversation.id).values() for id in ids]
        if versions and conversation.id not in self.running:
            self.store.choose_version(conversation.id, self.data.draw(st.sampled_from(versions)))

    def _rename(self, conversation: Conversation) -> None:
        self.store.change(conversation.id, title=self._text())

    def _pin(self, conversation: Conversation) -> None:
        self.store.change(conversation.id, pinned=not conversation.pinned_at)

    def _delete(self, conversation: Conversation) -> None:
        self.store.delete(conversation.id)

    def _restore(self) -> None:
        for each in self.store.find(deleted=True)[:1]:
            self.store.restore(each.id)

    def _purge(self) -> None:
        self.store.purge(0)

    def _older_release(self) -> None:
        """Write and remove as a process of 0.2 does, which knows nothing of the index."""
        known = self.store.find(limit=1000)
        with self.store._database.write() as connection:
            for each in known[:1]:
                own = messages.c.conversation == each.id
                connection.execute(
                    messages.update().where(own, messages.c.state != "running").values(text=self._text())
                )
                connection.execute(messages.delete().where(own, messages.c.position == 0))
            row = dict.fromkeys(("mode", "engine", "model", "lang"), "") | {"id": new_id(), "title": self._text()}
            times = dict.fromkeys(("created_at", "updated_at"), self.store._now())
            person = current_person.get().id
            connection.execute(conversations.insert().values(**row, **times, search=False, person=person))

    def _catch_up(self) -> None:
        with self.store._database.write() as connection:
            self.store._index.catch_up(connection)

    def _begin_anew(self) -> None:
        with self.store._database.write() as connection:
            self.store._index.create(connection)

    def scanned(self, query: str, deleted: bool) -> list[str]:
        """What is found by reading everything, in the order of the list."""
        kept = conversations.c.deleted_at.is_not(None) if deleted else conversations.c.deleted_at.is_(None)
        own = select(conversations).where(conversations.c.person == current_person.get().id, kept)
        with self.store._database.read() as connection:
            rows = connection.execute(own.order_by(conversations.c.id)).all()
            said = {
                row.id: connection.execute(select(messages.c.text).where(messages.c.conversation == row.id))
                .scalars()
                .all()
                for row in rows
            }
        newest = sorted(rows, key=lambda row: (row.updated_at, row.created_at), reverse=True)
        pinned_first = sorted(newest, key=lambda row: row.pinned_at is None)
        return [row.id for row in pinned_first if is_found(query, [row.title, *said[row.id]])]


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    opened = Store(address)
    yield opened
    opened.close()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_is_found_is_what_a_scan_finds(store: Store, data: st.DataObject) -> None:
    own = Person_(store, data)
    before = current_person.set(Person(new_id(), "somebody"))
    names = ("_LEAST_RARE", "_RARE_FACTOR", "_LEAST_READ", "_MOST_READ")
    try:
        with pytest.MonkeyPatch.context() as sizes:
            for name, size in zip(names, data.draw(_SIZES), strict=True):
                sizes.setattr(conversation_search, name, size)
            for act in data.draw(st.lists(_ACTS, min_size=3, max_size=25)):
                own.do(act)
            for query in data.draw(st.lists(_QUERIES, min_size=1, max_size=4)):
                for deleted in (False, True):
                    found = store.find(query, deleted=deleted)
                    expected = own.scanned(query, deleted)
                    assert [each.id for each in found] == expected[:100], query
                    assert [each.id for each in store.find(query, limit=2, offset=1, deleted=deleted)] == expected[1:3]
        own._catch_up()
        assert store.check() == []
    finally:
        current_person.reset(before)


def test_searches_are_planned_for_what_is_there_as_soon_as_it_is_indexed(server: Postgres) -> None:
    store = Store(server.fresh())
    rows = [
        {
            "id": f"c{number}", "title": f"title {number}", "mode": "chat", "search": True, "engine": "", "model": "",
            "lang": "en", "created_at": "2026-01-01", "updated_at": "2026-01-01",
        }
        for number in range(2_000)
    ]  # fmt: skip
    with store._database.write() as connection:
        connection.execute(conversations.insert(), rows)
    store.sweep()
    known = text("SELECT count(*) FROM pg_stats WHERE tablename IN ('suyuan_texts', 'suyuan_conversations')")

    def has_statistics() -> bool:
        with store._database.read() as connection:
            return bool(connection.execute(known).scalar())

    assert until(has_statistics)
    store.close()
