"""The full-text index of titles and messages: which texts it has, which wait for it, and what it finds.

Triggers note every text that is written, changed or removed, whoever does it: a process of an older release too. Such
a text waits until :meth:`TextIndex.catch_up`, and what waits is found by reading it.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from typing import Any, ClassVar, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Integer,
    MetaData,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError

from ..text.search_words import Term, indexed
from .tables import conversations, messages

WAITING, INDEXED, TOO_LONG = 0, 1, 2
"""The states of a text. What is too long for the index is found by reading it, as is what waits."""

# Apart from the tables that hold something of people: this is made again from them at any time.
index_metadata = MetaData()
texts = Table(
    "suyuan_texts",
    index_metadata,
    Column("id", BigInteger, primary_key=True),
    Column("conversation", Text, nullable=False),
    Column("message", Text, nullable=False),  # empty for the title of the conversation
    Column("state", Integer, nullable=False),
    Column("checksum", BigInteger),  # of the text that is indexed
)

FILL = """
    INSERT INTO suyuan_texts (conversation, message)
    SELECT conversation, id FROM suyuan_messages UNION ALL SELECT id, '' FROM suyuan_conversations
"""
_CONVERSATION = bindparam("conversation_", type_=Text())
_MOST = bindparam("most_", type_=Integer())

_of_message = messages.c.id == texts.c.message
_of_title = and_(texts.c.message == "", conversations.c.id == texts.c.conversation)
_ended = or_(messages.c.state.is_(None), messages.c.state != "running")
_with_content = texts.outerjoin(messages, _of_message).outerjoin(conversations, _of_title)
_content = func.coalesce(messages.c.text, conversations.c.title).label("content")
_waiting = select(texts.c.id, texts.c.checksum, _content).select_from(_with_content)
_waiting = _waiting.where(texts.c.state == WAITING, _ended).limit(_MOST).with_for_update(of=texts, skip_locked=True)
_removed = (
    select(texts.c.id).select_from(_with_content).where(texts.c.state == WAITING, _content.is_(None)).limit(_MOST)
)
_LAST = select(func.max(texts.c.id))
_waiting_in = _waiting.where(texts.c.conversation == _CONVERSATION)


class Place(NamedTuple):
    """A message in which something of a query is."""

    conversation: str
    message: str
    terms: int
    """How many terms of the query are in it."""


class Ready(NamedTuple):
    """A text with its words."""

    id: int
    words: str
    checksum: int
    state: int = INDEXED


class TextIndex(ABC):
    """The index in one kind of database; every method is for use within the caller's transaction."""

    TABLES: ClassVar[frozenset[str]]
    """The tables that it consists of."""

    @abstractmethod
    def create(self, connection: Connection) -> None:
        """Begin the index anew, whatever there is of it: every text waits."""

    def forget(self, connection: Connection) -> None:
        """Take an index out of the database whose tables are too damaged to be dropped."""
        raise NotImplementedError

    @abstractmethod
    def is_there(self, connection: Connection) -> bool:
        """Whether the database has everything that belongs to the index."""

    @abstractmethod
    def conversations_with(self, connection: Connection, term: Term, most: int | None) -> set[str] | None:
        """The conversations in whose indexed texts a term is; None where it is in more than ``most`` texts."""

    @abstractmethod
    def among(self, connection: Connection, term: Term, ids: Collection[str]) -> set[str]:
        """Those of the conversations in whose indexed texts a term is."""

    @abstractmethod
    def places(self, connection: Connection, query: Sequence[Term], ids: Collection[str]) -> Iterator[Place]:
        """The indexed messages of the conversations in which something of a query is, the oldest first."""

    @abstractmethod
    def faults(self, connection: Connection) -> list[str]:
        """What of the index itself does not fit together."""

    @abstractmethod
    def _store(self, connection: Connection, ready: Sequence[Ready]) -> None: ...

    @abstractmethod
    def _drop(self, connection: Connection, ids: Sequence[int]) -> None: ...

    def _ready(self, id: int, text: str, checksum: int) -> Ready:
        return Ready(id, indexed(text), checksum)

    def merge_removed(self, connection: Connection) -> bool:
        """Do a bounded piece of the work by which removed words leave the disk; return whether more is left."""
        return False

    def catch_up(self, connection: Connection, conversation: str = "", most: int = 1000) -> int:
        """Index texts that wait, perhaps those of one conversation only, and return how many were looked at."""
        query, values = (_waiting_in, {"conversation_": conversation}) if conversation else (_waiting, {})
        rows = connection.execute(query, {**values, "most_": most}).all()
        gone = [row.id for row in rows if row.content is None]
        changed = [(row, zlib.crc32(row.content.encode())) for row in rows if row.content is not None]
        same = [row.id for row, checksum in changed if checksum == row.checksum]
        new = [(row, checksum) for row, checksum in changed if checksum != row.checksum]
        self._forget(connection, gone)
        if same:
            connection.execute(update(texts).where(texts.c.id.in_(same)).values(state=INDEXED))
        if new:
            self._drop(connection, [row.id for row, _ in new if row.checksum is not None])
            self._store(connection, [self._ready(row.id, row.content, checksum) for row, checksum in new])
        return len(rows)

    def try_to_catch_up(self, connection: Connection, conversation: str) -> None:
        """Index what waits of a conversation; where the index has a fault it goes on waiting, and nothing is undone."""
        connection.exec_driver_sql("SAVEPOINT indexing")
        try:
            self.catch_up(connection, conversation)
        except DBAPIError as error:
            if not self._is_own_fault(connection, error):
                raise
            connection.exec_driver_sql("ROLLBACK TO SAVEPOINT indexing")
        connection.exec_driver_sql("RELEASE SAVEPOINT indexing")

    @abstractmethod
    def _is_own_fault(self, connection: Connection, error: DBAPIError) -> bool: ...

    def has_removed(self, connection: Connection) -> bool:
        """Whether words of what was removed may still be on the disk."""
        return connection.execute(_removed, {"most_": 1}).first() is not None

    def forget_removed(self, connection: Connection, most: int = 500) -> bool:
        """Remove the words of some texts that are gone; return whether there were any."""
        gone = list(connection.execute(_removed, {"most_": most}).scalars())
        self._forget(connection, gone)
        return bool(gone)

    def _forget(self, connection: Connection, gone: Sequence[int]) -> None:
        if gone:
            self._drop(connection, gone)
            connection.execute(delete(texts).where(texts.c.id.in_(gone)))

    def size(self, connection: Connection) -> int:
        """About how many texts there are, rather too many than too few."""
        return connection.execute(_LAST).scalar() or 0

    def waits(self, connection: Connection) -> bool:
        """Whether anything waits that could be indexed."""
        return connection.execute(_waiting, {"most_": 1}).first() is not None

    def unindexed(self, connection: Connection, owned: Sequence[Any]) -> Iterator[tuple[str, str, str]]:
        """Conversation, message and content of the texts that must be read, in the conversations that are meant."""
        own = texts.join(conversations, conversations.c.id == texts.c.conversation)
        content: Select[Any] = select(
            texts.c.conversation, texts.c.message, func.coalesce(messages.c.text, conversations.c.title)
        )
        query = content.select_from(own.outerjoin(messages, _of_message)).where(texts.c.state != INDEXED, *owned)
        # Not of a message that was removed.
        query = query.where(or_(texts.c.message == "", messages.c.id.is_not(None)))
        with closing(connection.execute(query.execution_options(stream_results=True))) as rows:
            for row in rows:
                yield tuple(row)

    def differences(self, connection: Connection) -> list[str]:
        """Where the index is not that of the messages."""
        lost = texts.c.id.is_(None)
        said = messages.outerjoin(texts, and_(texts.c.conversation == messages.c.conversation, _of_message))
        titled = conversations.outerjoin(texts, and_(texts.c.message == "", _of_title))
        missing = sum(
            connection.execute(select(func.count()).select_from(joined).where(lost)).scalar() or 0
            for joined in (said, titled)
        )
        found = [f"{missing} texts are not noted"] if missing else []
        checked = select(texts.c.checksum, _content).select_from(_with_content).where(texts.c.state != WAITING)
        with closing(connection.execute(checked.execution_options(stream_results=True))) as rows:
            wrong = sum(content is None or zlib.crc32(content.encode()) != checksum for checksum, content in rows)
        if wrong:
            found.append(f"{wrong} texts have changed since they were indexed")
        return found + self.faults(connection)
