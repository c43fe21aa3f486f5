"""The conversations in SQLite or PostgreSQL; when a method returns, what it wrote is on the disk."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Unpack

from sqlalchemy import Connection, Row, and_, delete, func, insert, select, update

from ..core.causes.chat import ANSWER_UNDER_WAY, NO_CONVERSATION
from ..core.causes.store import STORE_DAMAGED
from ..core.errors import SuyuanError
from ..core.person import owner as owner_of_request
from ..core.secret import Secret
from ..text.search_words import terms
from . import answer_versions
from . import process_owner as owner
from .choices import Choices
from .conversation import GIVEN_TITLE_LENGTH, Conversation, ConversationOptions, Message, State, clean_title, new_id
from .conversation_search import ConversationSearch, ListedConversations, mine
from .database import Database
from .grouped_writer import GroupedWriter
from .index_builder import IndexBuilder
from .people import People
from .removal_clock import RemovalClock
from .statements import ADD, ENDED, FIELDS, FINISH, IN_MINE, LAST_POSITION, MESSAGE, MESSAGES, TOUCH, TimedStatements
from .tables import conversations, events, messages, metadata
from .values import plain, stamp, stored_json

_WRITERS = 4


class Store:
    """All conversations in one database; safe for several threads and processes at the same time."""

    def __init__(self, address: Secret | str = "", *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._owner = owner.this_process()
        self._database = Database.opened(address)
        self._index = self._database.index
        self._index_builder = IndexBuilder(self._database)
        self._timed = TimedStatements(self._database.now(clock))
        self.removal_clock = RemovalClock(self._database, clock)
        """The time by which what is over is removed."""
        self.people = People(self._database, clock)
        """The accounts, which are in the same database."""
        self.choices = Choices(self._database)
        """What people have chosen once."""
        try:
            self.sweep()
        except BaseException:
            self.close()
            raise

    def writer(self) -> Executor:
        """The threads for what waits for the disk; SQLite has one writer, for which threads would only wait."""
        if self._database.sqlite:
            return GroupedWriter(self._database.group)
        return ThreadPoolExecutor(_WRITERS, "suyuan-store")

    # --- conversations -------------------------------------------------------------------------------------------
    def create(self, **options: Unpack[ConversationOptions]) -> Conversation:
        """Create a conversation, by default a Chinese one in Chat mode without search."""
        now, plain_chat = self._now(), {"mode": "chat", "search": False, "engine": "", "model": "", "lang": "zh"}
        values: dict[str, Any] = {**plain_chat, **options, "title": clean_title(options.get("title", ""))}
        person = owner_of_request()
        made = Conversation(id=new_id(), created_at=now, updated_at=now, person=person, **values)
        stored = {name: value for name, value in made.as_dict().items() if name in conversations.c}
        with self._database.write() as connection:
            connection.execute(insert(conversations).values(**stored))
            self._index.try_to_catch_up(connection, made.id)
        return made

    def get(self, id: str) -> Conversation | None:
        """The conversation with this id, also if it is deleted and not yet purged."""
        row = self._database.row(self._timed.conversation, {"id_": plain(id)})
        return None if row is None else Conversation(**row._mapping)

    def find(self, text: str = "", *, limit: int = 100, offset: int = 0, deleted: bool = False) -> list[Conversation]:
        """The conversations with every word of ``text`` in title or messages; pinned ones first, then the newest."""
        try:
            return self._find(text, limit, offset, deleted)
        except SuyuanError as error:
            self._database.mend_index(error)
        return self._find(text, limit, offset, deleted)

    def _find(self, text: str, limit: int, offset: int, deleted: bool) -> list[Conversation]:
        asked = plain(text)
        query = terms(asked)
        if asked.strip() and not query:
            return []
        passages: dict[str, str] = {}
        with self._database.read() as connection:
            listing = ListedConversations(connection, deleted)
            if query:
                search = ConversationSearch(connection, self._index, query, listing)
                ids = search.ids(limit, offset)
                passages = search.passages(ids)
            else:
                ids = listing.page(limit, offset)
            rows = connection.execute(self._timed.these_conversations, {"ids_": ids}).all()
        found = {row.id: Conversation(**row._mapping, passage=passages.get(row.id, "")) for row in rows}
        return [found[id] for id in ids if id in found]

    def change(self, id: str, *, pinned: bool | None = None, **options: Unpack[ConversationOptions]) -> Conversation:
        """Change what is given; the position in the list stays, unless it is pinned."""
        values: dict[str, Any] = dict(options)
        if "title" in options:
            values["title"] = clean_title(options["title"])
        if pinned is not None:
            values["pinned_at"] = self._now() if pinned else None
        with self._database.write() as connection:
            same = and_(conversations.c.id == plain(id), mine())
            if values:
                connection.execute(update(conversations).where(same).values(**values))
                self._index.try_to_catch_up(connection, plain(id))
            changed = connection.execute(self._timed.conversation, {"id_": plain(id)}).first()
        if changed is None:
            raise NO_CONVERSATION(id=id[:40])
        return Conversation(**changed._mapping)

    def delete(self, id: str) -> None:
        """Hide a conversation; :meth:`restore` brings it back until it is purged."""
        self._set_deleted(id, self._now())

    def restore(self, id: str) -> None:
        """Bring a deleted conversation back."""
        self._set_deleted(id, None)

    def purge(self, older_than_seconds: float) -> int:
        """Remove what was deleted longer ago than this, and return the number of conversations removed.

        Nothing is removed where the clock may be wrong.
        """
        now = self.removal_clock.now()
        if now is None:
            return 0
        before = stamp(now - older_than_seconds)
        gone = self._database.change(delete(conversations).where(conversations.c.deleted_at <= before))
        if gone or self._database.has_removed():
            self._database.erase()
        return gone

    # --- messages ------------------------------------------------------------------------------------------------
    def begin_turn(self, conversation: str, text: str, run: str, instead_of: str = "") -> Conversation:
        """Store a question and the empty answer that ``run`` of this process will write, both or neither.

        The question ``instead_of`` is removed with everything after it. The first question gives the conversation its
        title. Raises a cause while another answer is being written.
        """
        now = self._now()
        question = Message(new_id(), conversation, "user", plain(text), "done", now)
        answer = Message(run, conversation, "assistant", "", "running", now)
        with self._database.write() as connection:
            if instead_of:
                self._cut_from(connection, conversation, instead_of)
            begun = self._touch(connection, conversation, clean_title(question.text, GIVEN_TITLE_LENGTH))
            self._check_free(connection, conversation)
            last = connection.execute(LAST_POSITION, {"id_": conversation}).scalar()
            position = 0 if last is None else last + 1
            self._add(connection, replace(question, position=position))
            self._add(connection, replace(answer, position=position + 1))
            self._index.try_to_catch_up(connection, conversation)
        return begun

    def _add(self, connection: Connection, message: Message) -> None:
        """Add a message; a running one is written by this process."""
        values = message.as_dict() | {"owner": None, "kept_at": message.created_at}
        if message.state != "running":
            connection.execute(ADD, values)
        else:
            connection.execute(self._timed.add_running, values | {"owner": self._owner})

    def begin_version(self, conversation: str, answer: str, run: str) -> Conversation:
        """Store the empty new version of an answer that ``run`` will write; the old one stays as an earlier version.

        Everything after the answer is removed.
        """
        with self._database.write() as connection:
            begun = self._touch(connection, conversation)
            self._check_free(connection, conversation)
            position = answer_versions.replace_answer(connection, conversation, answer)
            new = Message(run, conversation, "assistant", "", "running", self._now(), position=position)
            self._add(connection, new)
            self._index.try_to_catch_up(connection, conversation)
        return begun

    def choose_version(self, conversation: str, answer: str) -> None:
        """Make an earlier version the answer of its question; the present answer becomes an earlier version."""
        with self._database.write() as connection:
            self._touch(connection, conversation)
            self._check_free(connection, conversation)
            answer_versions.choose(connection, conversation, answer)

    def answers(self, conversation: str) -> dict[str, list[str]]:
        """The answers to each question of a conversation with their earlier versions, the oldest first."""
        found = answer_versions.by_question(self._database.rows(answer_versions.in_order(conversation)))
        return {question: [row.id for row in rows] for question, rows in found.items()}

    def keep_events(self, run: str, happened: Iterable[tuple[int, Mapping[str, Any]]]) -> None:
        """Store events of a run by number; a number that is stored already stays as it is."""
        rows = {seq: {"run": run, "seq": seq, "event": stored_json(event)} for seq, event in happened}
        if not rows:
            return
        with self._database.write() as connection:
            alive = update(messages).where(messages.c.id == run).values(kept_at=self._now())
            # The user may have removed the run while it was still writing.
            if connection.execute(alive).rowcount == 0:
                return
            known = select(events.c.seq).where(
                events.c.run == run, events.c.seq >= min(rows), events.c.seq <= max(rows)
            )
            for seq in connection.execute(known).scalars():
                rows.pop(seq, None)
            if rows:
                connection.execute(insert(events), list(rows.values()))

    def keep_text(self, run: str, text: str) -> bool:
        """Store the text of an answer that is still being written; return whether somebody wants it stopped."""
        values = {"id_": run, "text_": plain(text), "now_": self._now()}
        with self._database.write() as connection:
            return bool(connection.execute(self._timed.keep_text, values).scalar())

    def want_stop(self, run: str) -> bool:
        """Store that an answer is to be stopped by the process that writes it; return whether one is writing it."""
        running = update(messages).where(messages.c.id == plain(run), messages.c.state == "running", IN_MINE)
        return self._database.change(running.values(stopping=True)) > 0

    def finish(self, run: str, *, state: State, text: str, answer: Mapping[str, Any]) -> None:
        """Store the finished answer, unless the run was removed."""
        now = self._now()
        with self._database.write() as connection:
            # The conversation before the message, as everywhere, so that two writers never wait for each other.
            ended = connection.execute(ENDED, {"id_": run, "now_": now}).scalar()
            values = {"state_": state, "text_": plain(text), "answer_": stored_json(answer)}
            connection.execute(FINISH, values | {"id_": run, "now_": now})
            if ended is not None:
                self._index.try_to_catch_up(connection, ended)

    def messages(self, conversation: str) -> list[Message]:
        """All messages of a conversation, in order, without the earlier versions of answers."""
        return list(map(_message, self._database.rows(MESSAGES, {"id_": plain(conversation)})))

    def messages_at(self, conversation: str, until: str) -> list[Message]:
        """The messages as they were at a moment: without answers that ended later, with those that these replaced."""
        ended = answer_versions.in_order(conversation).where(*answer_versions.ended_by(until))
        return list(map(_message, answer_versions.last_shown(self._database.rows(ended))))

    def message(self, id: str) -> Message | None:
        """One message."""
        return _optional(self._database.row(MESSAGE.where(IN_MINE), {"id_": plain(id)}))

    def newest_answer(self) -> Message | None:
        """The answer that was begun last, in a conversation that is not deleted."""
        kept = conversations.c.deleted_at.is_(None)
        own = select(*FIELDS).join(conversations).where(messages.c.role == "assistant", kept, mine())
        return _optional(self._database.row(own.order_by(messages.c.created_at.desc()).limit(1)))

    def events(self, run: str, after: int = -1) -> list[tuple[int, dict[str, Any]]]:
        """The events of a run with numbers above ``after``, in order."""
        query = (
            select(events.c.seq, events.c.event)
            .where(events.c.run == plain(run), events.c.seq > after)
            .where(events.c.run.in_(select(messages.c.id).where(messages.c.id == plain(run), IN_MINE)))
            .order_by(events.c.seq)
        )
        return [(seq, json.loads(event)) for seq, event in self._database.rows(query)]

    def _cut_from(self, connection: Connection, conversation: str, message_id: str) -> None:
        """Remove this message and all later ones."""
        title = self._touch(connection, conversation).title
        self._check_free(connection, conversation)
        own = messages.c.conversation == conversation
        first = connection.execute(
            select(messages.c.position, messages.c.text).where(own, messages.c.id == plain(message_id))
        ).first()
        if first is None:
            return
        if title == clean_title(first.text, GIVEN_TITLE_LENGTH):
            # The title came from this question; the next question gives a new one.
            connection.execute(update(conversations).where(conversations.c.id == conversation).values(title=""))
        connection.execute(delete(messages).where(own, messages.c.position >= first.position))
        answer_versions.purge(connection, conversation)

    # --- the store itself ----------------------------------------------------------------------------------------
    def sweep(self, own: Collection[str] = ()) -> int:
        """Mark the running answers of dead processes as interrupted, and return their number.

        ``own`` are those that this process is writing.
        """
        self._index_builder.start()
        query = self._timed.running.where(messages.c.id.not_in(list(own)))
        found = list(filter(_dead, self._database.rows(query)))
        if not found:
            return 0
        with self._database.write() as connection:
            return sum(_interrupt(connection, row) for row in found)

    def look_through(self) -> None:
        """Begin to look whether everything that is kept can be read, in the background; damage is a notice."""
        self._database.look_through()

    @property
    def is_gone(self) -> bool:
        """Whether the file had been removed or replaced when it was last used, so that nothing can be stored."""
        return self._database.is_gone

    def check(self) -> list[str | SuyuanError]:
        """What is wrong with the database; empty if nothing is. An index that is not that of the messages is mended."""
        try:
            index = self._checked_index()
            if self._database.sqlite:
                found = [str(row[0]) for row in self._database.pragma("integrity_check") if row[0] != "ok"]
                orphans = self._database.pragma("foreign_key_check")
                return index + found + [f"{row[0]}: row {row[1]} refers to a missing row" for row in orphans]
            with self._database.read() as connection:
                for table in metadata.sorted_tables:
                    connection.execute(select(func.count()).select_from(table)).scalar()
        except SuyuanError as error:
            return [error.message]
        return index

    def _checked_index(self) -> list[str | SuyuanError]:
        try:
            with self._database.read() as connection:
                found = self._index.differences(connection)
        except SuyuanError as error:
            if error.detail_code != STORE_DAMAGED.detail_code:
                raise
            found = [error.message]
        if not found:
            return []
        told = self._database.begin_index_anew("; ".join(found))
        self._index_builder.start()
        return [told]

    def close(self) -> None:
        """Close the database."""
        self._index_builder.stop()
        self._database.close()

    def _now(self) -> str:
        return stamp(self._clock())

    def _check_free(self, connection: Connection, conversation: str) -> None:
        """Raise a cause while an answer is being written in a conversation, whichever process writes it."""
        found = connection.execute(self._timed.running_in, {"id_": conversation}).all()
        for row in filter(_dead, found):
            _interrupt(connection, row)
        if found and connection.execute(self._timed.running_in, {"id_": conversation}).first():
            raise ANSWER_UNDER_WAY()

    def _set_deleted(self, id: str, at: str | None) -> None:
        marked = update(conversations).where(conversations.c.id == plain(id), mine()).values(deleted_at=at)
        if self._database.change(marked) == 0:
            raise NO_CONVERSATION(id=id[:40])

    def _touch(self, connection: Connection, conversation: str, title: str = "") -> Conversation:
        """Move a conversation to the top, and lock it until the transaction ends; ``title`` is for one without."""
        values = {"id_": plain(conversation), "now_": self._now(), "title_": title}
        row = connection.execute(TOUCH, values).first()
        if row is None:
            raise NO_CONVERSATION(id=conversation[:40])
        return Conversation(**row._mapping)


def _dead(row: Row[Any]) -> bool:
    """Whether nobody writes a running answer any more: its process is gone, or its lease is over."""
    return bool(row.over) or owner.alive(row.owner or "") is False


def _interrupt(connection: Connection, row: Row[Any]) -> int:
    # Only if it is still the dead process's, and silent: another process may have marked it since.
    same = (messages.c.id == row.id, messages.c.state == "running", messages.c.owner == row.owner)
    silent = messages.c.lease.is_not_distinct_from(row.lease)
    values = {"state": "interrupted", "owner": None, "lease": None}
    return connection.execute(update(messages).where(*same, silent).values(**values)).rowcount


def _optional(row: Row[Any] | None) -> Message | None:
    return None if row is None else _message(row)


def _message(row: Row[Any]) -> Message:
    values = {name: getattr(row, name) for name in Message.__slots__}
    return Message(**values | {"answer": json.loads(values["answer"]) if values["answer"] else None})
