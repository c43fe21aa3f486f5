"""Conversations, kept: SQLite by default, PostgreSQL by configuration. What a method has returned from is on the disk."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, exists, func, insert, or_, select, text, update

from ..core.causes.store import STORE_NO_CONVERSATION
from ..core.errors import SuyuanError
from ..core.secret import Secret
from . import process_owner as owner
from .conversation import GIVEN_TITLE_LENGTH, Conversation, Message, Mode, State, clean_title, new_id
from .database import Database
from .tables import conversations, events, messages, metadata

SILENCE_SECONDS = 600.0
"""After this time without a sign of life, a run whose process cannot be seen from here counts as dead."""
_SOUGHT_WORDS = 8
_SOUGHT_LENGTH = 200
_FIELDS = tuple(messages.c[name] for name in Message.__slots__)


class Store:
    """All conversations in one database; safe for threads, and for several processes at the same time."""

    def __init__(self, address: Secret | str = "", *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._owner = owner.this_process()
        self._database = Database(address.reveal() if isinstance(address, Secret) else address)
        try:
            self._database.open()
            self.sweep()
        except SuyuanError:
            self._database.close()
            raise

    @property
    def writers(self) -> int:
        """How many threads can write at once."""
        return 1 if self._database.sqlite else 4

    # --- conversations -------------------------------------------------------------------------------------------
    def create(
        self,
        *,
        mode: Mode = "chat",
        search: bool = False,
        engine: str = "",
        model: str = "",
        lang: str = "zh",
        title: str = "",
    ) -> Conversation:
        """Begin a conversation."""
        now = self._now()
        made = Conversation(new_id(), clean_title(title), mode, search, engine, model, lang, now, now)
        with self._database.write() as connection:
            connection.execute(insert(conversations).values(**made.as_dict()))
        return made

    def get(self, id: str) -> Conversation | None:
        """The conversation with this id, also when it is deleted and not yet purged."""
        with self._database.read() as connection:
            return _conversation(
                connection.execute(select(conversations).where(conversations.c.id == _plain(id))).first()
            )

    def find(self, text: str = "", *, limit: int = 100, offset: int = 0, deleted: bool = False) -> list[Conversation]:
        """The conversations that have every word of ``text`` in title or messages, newest first."""
        kept = conversations.c.deleted_at.is_not(None) if deleted else conversations.c.deleted_at.is_(None)
        query = select(conversations).where(kept)
        for word in _plain(text)[:_SOUGHT_LENGTH].split()[:_SOUGHT_WORDS]:
            query = query.where(_has(word))
        query = query.order_by(conversations.c.updated_at.desc(), conversations.c.created_at.desc(), conversations.c.id)
        with self._database.read() as connection:
            rows = connection.execute(query.limit(limit).offset(offset)).all()
        return [found for row in rows if (found := _conversation(row))]

    def change(
        self,
        id: str,
        *,
        title: str | None = None,
        mode: Mode | None = None,
        search: bool | None = None,
        engine: str | None = None,
        model: str | None = None,
        lang: str | None = None,
    ) -> Conversation:
        """Change what is given; the place in the list stays."""
        given = {"mode": mode, "search": search, "engine": engine, "model": model, "lang": lang}
        values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if title is not None:
            values["title"] = clean_title(title)
        with self._database.write() as connection:
            if values:
                connection.execute(update(conversations).where(conversations.c.id == _plain(id)).values(**values))
            changed = _conversation(
                connection.execute(select(conversations).where(conversations.c.id == _plain(id))).first()
            )
        if changed is None:
            raise STORE_NO_CONVERSATION(id=id)
        return changed

    def delete(self, id: str) -> None:
        """Take a conversation out of the list; :meth:`restore` brings it back until it is purged."""
        self._set_deleted(id, self._now())

    def restore(self, id: str) -> None:
        """Bring a deleted conversation back."""
        self._set_deleted(id, None)

    def purge(self, older_than_seconds: float) -> int:
        """Remove for good what was deleted longer ago than this; return how many conversations went."""
        before = _stamp(self._clock() - older_than_seconds)
        with self._database.write() as connection:
            gone = connection.execute(delete(conversations).where(conversations.c.deleted_at <= before)).rowcount
        if gone and self._database.sqlite:
            # Gone means gone: the pages are given back, and the log that still has the old text is emptied.
            self._database.pragma("incremental_vacuum")
            self._database.pragma("wal_checkpoint(TRUNCATE)")
        return gone

    # --- messages ------------------------------------------------------------------------------------------------
    def add_question(self, conversation: str, text: str) -> Message:
        """Keep what the user asked; the first question gives the conversation its title."""
        question = self._question(conversation, text)
        with self._database.write() as connection:
            self._entitle(connection, self._touch(connection, conversation), question)
            return self._append(connection, question)[0]

    def begin_answer(self, conversation: str, run: str) -> Message:
        """Make the place for the answer that the run ``run`` of this process will write."""
        with self._database.write() as connection:
            self._touch(connection, conversation)
            return self._append(connection, self._place(conversation, run))[0]

    def begin_turn(self, conversation: str, text: str, run: str) -> Conversation:
        """Keep the question and make the place for its answer: both or neither, and one wait for the disk."""
        question = self._question(conversation, text)
        with self._database.write() as connection:
            begun = self._entitle(connection, self._touch(connection, conversation), question)
            self._append(connection, question, self._place(conversation, run))
        return begun

    def keep_events(self, run: str, happened: Iterable[tuple[int, Mapping[str, Any]]]) -> None:
        """Keep events of a run by their numbers; a number that is there already stays as it is."""
        rows = {seq: {"run": run, "seq": seq, "event": _packed(event)} for seq, event in happened}
        if not rows:
            return
        with self._database.write() as connection:
            alive = update(messages).where(messages.c.id == run).values(kept_at=self._now())
            # The user may have cut the run off, or purged it, while it was still at work.
            if connection.execute(alive).rowcount == 0:
                return
            known = select(events.c.seq).where(
                events.c.run == run, events.c.seq >= min(rows), events.c.seq <= max(rows)
            )
            for seq in connection.execute(known).scalars():
                rows.pop(seq, None)
            if rows:
                connection.execute(insert(events), list(rows.values()))

    def keep_text(self, run: str, text: str) -> None:
        """Keep the text of an answer that is still being written."""
        at_work = update(messages).where(messages.c.id == run, messages.c.state == "running")
        with self._database.write() as connection:
            connection.execute(at_work.values(text=_plain(text), kept_at=self._now()))

    def finish(self, run: str, *, state: State, text: str, answer: Mapping[str, Any]) -> Message | None:
        """Keep the finished answer, all of it or nothing; None where the run is no longer there."""
        now = self._now()
        with self._database.write() as connection:
            place = select(messages.c.conversation).where(messages.c.id == run)
            # The conversation before the message, as everywhere: two writers then never wait for each other.
            connection.execute(
                update(conversations).where(conversations.c.id == place.scalar_subquery()).values(updated_at=now)
            )
            values = {"state": state, "text": _plain(text), "answer": _packed(answer), "owner": None, "kept_at": now}
            connection.execute(update(messages).where(messages.c.id == run).values(**values))
            return _message(connection.execute(select(*_FIELDS).where(messages.c.id == run)).first())

    def messages(self, conversation: str) -> list[Message]:
        """All messages of a conversation, in order."""
        query = select(*_FIELDS).where(messages.c.conversation == _plain(conversation)).order_by(messages.c.position)
        with self._database.read() as connection:
            return [found for row in connection.execute(query) if (found := _message(row))]

    def message(self, id: str) -> Message | None:
        """One message."""
        with self._database.read() as connection:
            return _message(connection.execute(select(*_FIELDS).where(messages.c.id == _plain(id))).first())

    def events(self, run: str, after: int = -1) -> list[tuple[int, dict[str, Any]]]:
        """The events of a run with numbers above ``after``, in order."""
        query = (
            select(events.c.seq, events.c.event)
            .where(events.c.run == _plain(run), events.c.seq > after)
            .order_by(events.c.seq)
        )
        with self._database.read() as connection:
            return [(seq, json.loads(event)) for seq, event in connection.execute(query)]

    def cut_from(self, conversation: str, message_id: str) -> int:
        """Remove this message and all later ones; return how many went."""
        with self._database.write() as connection:
            title = self._touch(connection, conversation).title
            own = messages.c.conversation == conversation
            first = connection.execute(
                select(messages.c.position, messages.c.text).where(own, messages.c.id == _plain(message_id))
            ).first()
            if first is None:
                return 0
            if title == clean_title(first.text, GIVEN_TITLE_LENGTH):
                # The title came from this question; the question that takes its place gives a new one.
                connection.execute(update(conversations).where(conversations.c.id == conversation).values(title=""))
            return connection.execute(delete(messages).where(own, messages.c.position >= first.position)).rowcount

    # --- the store itself ----------------------------------------------------------------------------------------
    def sweep(self) -> int:
        """Mark the running answers whose process is gone as interrupted, text kept; return how many."""
        at_work = select(messages.c.id, messages.c.owner, messages.c.kept_at).where(messages.c.state == "running")
        with self._database.read() as connection:
            rows = connection.execute(at_work).all()
        silent = _stamp(self._clock() - SILENCE_SECONDS)
        dead = [(row.id, row.owner) for row in rows if self._is_dead(row.owner or "", row.kept_at <= silent)]
        if not dead:
            return 0
        with self._database.write() as connection:
            return sum(_interrupt(connection, run, writer) for run, writer in dead)

    def check(self) -> list[str]:
        """What is wrong with the database; nothing where all is well."""
        try:
            if self._database.sqlite:
                found = [str(row[0]) for row in self._database.pragma("integrity_check") if row[0] != "ok"]
                return found + [
                    f"{row[0]}: row {row[1]} belongs to nothing" for row in self._database.pragma("foreign_key_check")
                ]
            with self._database.read() as connection:
                for table in metadata.sorted_tables:
                    connection.execute(select(func.count()).select_from(table)).scalar()
        except SuyuanError as error:
            return [error.message]
        return []

    def size(self) -> int:
        """How many bytes the conversations take on the disk, or in memory."""
        if self._database.file is not None:
            file = self._database.file
            return sum(part.stat().st_size for part in (file, file.with_name(f"{file.name}-wal")) if part.exists())
        if self._database.sqlite:
            return int(self._database.pragma("page_count")[0][0]) * int(self._database.pragma("page_size")[0][0])
        with self._database.read() as connection:
            size = text("SELECT pg_total_relation_size(to_regclass(:name))")
            return sum(int(connection.execute(size, {"name": name}).scalar() or 0) for name in metadata.tables)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _now(self) -> str:
        return _stamp(self._clock())

    def _is_dead(self, writer: str, silent: bool) -> bool:
        if writer == self._owner:
            return False
        lives = owner.alive(writer)
        return silent if lives is None else not lives

    def _set_deleted(self, id: str, at: str | None) -> None:
        with self._database.write() as connection:
            if (
                connection.execute(
                    update(conversations).where(conversations.c.id == _plain(id)).values(deleted_at=at)
                ).rowcount
                == 0
            ):
                raise STORE_NO_CONVERSATION(id=id)

    def _touch(self, connection: Connection, conversation: str) -> Conversation:
        """Move a conversation to the top and hold it until the transaction ends."""
        live = (conversations.c.id == _plain(conversation), conversations.c.deleted_at.is_(None))
        if connection.execute(update(conversations).where(*live).values(updated_at=self._now())).rowcount == 0:
            raise STORE_NO_CONVERSATION(id=conversation)
        return Conversation(**connection.execute(select(conversations).where(*live)).one()._mapping)

    def _entitle(self, connection: Connection, conversation: Conversation, question: Message) -> Conversation:
        """Give a conversation without a title that of its question."""
        if conversation.title:
            return conversation
        title = clean_title(question.text, GIVEN_TITLE_LENGTH)
        connection.execute(update(conversations).where(conversations.c.id == conversation.id).values(title=title))
        return replace(conversation, title=title)

    def _question(self, conversation: str, text: str) -> Message:
        return Message(new_id(), conversation, "user", _plain(text), "done", self._now())

    def _place(self, conversation: str, run: str) -> Message:
        return Message(run, conversation, "assistant", "", "running", self._now())

    def _append(self, connection: Connection, *added: Message) -> list[Message]:
        """Put messages at the end of their conversation."""
        last = select(func.coalesce(func.max(messages.c.position) + 1, 0)).where(
            messages.c.conversation == added[0].conversation
        )
        placed = [
            replace(message, position=at) for at, message in enumerate(added, connection.execute(last).scalar_one())
        ]
        owners = {"running": self._owner}
        rows = [{**each.as_dict(), "owner": owners.get(each.state), "kept_at": each.created_at} for each in placed]
        connection.execute(insert(messages), rows)
        return placed


def _has(word: str) -> Any:
    said = exists().where(
        messages.c.conversation == conversations.c.id, messages.c.text.icontains(word, autoescape=True)
    )
    return or_(conversations.c.title.icontains(word, autoescape=True), said)


def _interrupt(connection: Connection, run: str, writer: str | None) -> int:
    # Only while it is still the dead process's: another may have seen to it since.
    same = (messages.c.id == run, messages.c.state == "running", messages.c.owner == writer)
    return connection.execute(update(messages).where(*same).values(state="interrupted", owner=None)).rowcount


def _conversation(row: Row[Any] | None) -> Conversation | None:
    return None if row is None else Conversation(**row._mapping)


def _message(row: Row[Any] | None) -> Message | None:
    if row is None:
        return None
    values = dict(row._mapping)
    return Message(**values | {"answer": json.loads(values["answer"]) if values["answer"] else None})


def _stamp(seconds: float) -> str:
    # Always of the same length, so that the order of the texts is the order of the times.
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def _plain(text: str) -> str:
    """``text`` as every database can hold it: no NUL, no half of a character pair."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _packed(value: Mapping[str, Any]) -> str:
    return _plain(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
