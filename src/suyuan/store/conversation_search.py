"""Lists conversations, and finds them by the words of a query."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import islice
from math import isqrt
from typing import Any

from sqlalchemy import BindParameter, Connection, Integer, Select, Text, bindparam, func, select, true

from ..core.person import EVERYBODY, require
from ..text.search_passages import passage
from ..text.search_words import Term
from .tables import conversations, messages
from .text_index import Place, TextIndex

_FEW = 500
"""So many conversations are sorted; more are picked from the list of all."""
_LEAST_RARE, _RARE_FACTOR = 500, 400
"""How often a rare term may be: for more texts than this, to look through the newest conversations is quicker."""
_READ_SHARE, _LEAST_READ, _MOST_READ = 20, 500, 2_000
"""After so many conversations without enough that have all terms, the index is asked for all of them after all."""
_AT_ONCE = 200

_ID = conversations.c.id
_NEWEST = (conversations.c.updated_at.desc(), conversations.c.created_at.desc(), _ID)
_PERSON = bindparam("person_", type_=Text())
_IDS: BindParameter[Any] = bindparam("ids_", expanding=True)
_LIMIT, _OFFSET = bindparam("limit_", type_=Integer()), bindparam("offset_", type_=Integer())


def mine(*, sought: bool = False) -> Any:
    """The conversations of the person who asks; ``sought`` where they are looked up by their ids and not listed."""
    person = require("chat")
    return true() if person is EVERYBODY else _owned(sought) == person.id


def _owned(sought: bool) -> Any:
    # An expression instead of a column: no database takes its index by person for that.
    return conversations.c.person + "" if sought else conversations.c.person


class ListedConversations:
    """The conversations of the person who asks, as they are listed: pinned ones first, then the newest."""

    def __init__(self, connection: Connection, deleted: bool = False) -> None:
        self._connection = connection
        self._deleted = deleted
        person = require("chat")
        self._everybody = person is EVERYBODY
        self._values = {} if self._everybody else {"person_": person.id}

    def page(self, limit: int, offset: int) -> list[str]:
        """The ids of those at one place of the list."""
        pinned, others = self._parts()
        found = self._page(pinned, limit, offset)
        if len(found) == limit:
            return found
        before = offset and self._count(pinned)
        return found + self._page(others, limit - len(found), max(0, offset - before))

    def ids(self, among: Collection[str] | None = None) -> Iterator[str]:
        """All their ids, perhaps only those ``among`` some."""
        if among is not None and len(among) <= _FEW:
            for part in self._parts(sought=True):
                yield from self._connection.execute(part, self._values | {"ids_": list(among)}).scalars()
            return
        for part in self._parts():
            with closing(self._connection.execute(part.execution_options(yield_per=_AT_ONCE), self._values)) as rows:
                for ids in rows.scalars().partitions():
                    yield from ids if among is None else filter(among.__contains__, ids)

    def owned(self) -> tuple[Any, ...]:
        """What holds of each of them."""
        return _kept(self._deleted), mine(sought=True)

    def _parts(self, *, sought: bool = False) -> tuple[Select[Any], Select[Any]]:
        return _parts(self._deleted, self._everybody, sought)

    def _page(self, part: Select[Any], limit: int, offset: int) -> list[str]:
        values = self._values | {"limit_": limit, "offset_": offset}
        return list(self._connection.execute(part.limit(_LIMIT).offset(_OFFSET), values).scalars())

    def _count(self, part: Select[Any]) -> int:
        return self._connection.execute(select(func.count()).select_from(part.subquery()), self._values).scalar_one()


def _kept(deleted: bool) -> Any:
    return conversations.c.deleted_at.is_not(None) if deleted else conversations.c.deleted_at.is_(None)


@cache
def _parts(deleted: bool, everybody: bool, sought: bool) -> tuple[Select[Any], Select[Any]]:
    """The pinned ones and the others, each in the order of an index; ``sought`` those of some ids."""
    own = select(_ID).where(_kept(deleted)).order_by(*_NEWEST)
    if not everybody:
        own = own.where(_owned(sought) == _PERSON)
    if sought:
        own = own.where(_ID.in_(_IDS))
    return own.where(conversations.c.pinned_at.is_not(None)), own.where(conversations.c.pinned_at.is_(None))


class ConversationSearch:
    """One search: which conversations have every term of a query, and the passages where they have it."""

    def __init__(
        self, connection: Connection, index: TextIndex, query: Sequence[Term], listing: ListedConversations
    ) -> None:
        self._connection = connection
        self._index = index
        self._query = query
        self._listing = listing
        self._size = index.size(connection)
        # What the index does not have is read.
        self._read = [
            (conversation, message, has)
            for conversation, message, content in index.unindexed(connection, listing.owned())
            if (has := [term for term in query if term.is_in(content)])
        ]

    def ids(self, limit: int, offset: int) -> list[str]:
        """The conversations that have every term, in the order of the list."""
        found = self._found(limit + offset, max(_LEAST_RARE, isqrt(_RARE_FACTOR * self._size)))
        if found is None:
            found = self._found(limit + offset, None) or []
        return found[offset:]

    def passages(self, ids: Collection[str]) -> dict[str, str]:
        """A passage of each of these conversations, where one of its messages has anything of the query."""
        wanted = set(ids)
        places = list(self._index.places(self._connection, self._query, wanted))
        places += [Place(id, message, len(has)) for id, message, has in self._read if message and id in wanted]
        best: dict[str, Place] = {}
        for place in places:
            known = best.get(place.conversation)
            if known is None or place.terms >= known.terms:
                best[place.conversation] = place
        chosen = select(messages.c.conversation, messages.c.text).where(
            messages.c.id.in_([place.message for place in best.values()])
        )
        return {row.conversation: passage(row.text, self._query) for row in self._connection.execute(chosen)}

    def _found(self, wanted: int, rare: int | None) -> list[str] | None:
        """The first conversations with every term; None if too many would have to be looked at."""
        among: set[str] | None = None
        frequent: list[Term] = []
        for term in self._query:
            # To put together all words that begin with a letter takes long; it can be expected to be frequent.
            unspecific = rare is not None and term.is_letter
            ids = None if unspecific else self._index.conversations_with(self._connection, term, rare)
            if ids is None:
                frequent.append(term)
            else:
                ids |= self._read_with(term)
                among = ids if among is None else among & ids
        if not frequent:
            return list(islice(self._listing.ids(among), wanted))
        return self._looked_through(frequent, among, wanted)

    def _looked_through(self, frequent: Sequence[Term], among: set[str] | None, wanted: int) -> list[str] | None:
        candidates = self._listing.ids(among)
        found: list[str] = []
        read, most = 0, min(_MOST_READ, max(_LEAST_READ, self._size // _READ_SHARE))
        while len(found) < wanted and (part := list(islice(candidates, max(read, wanted)))):
            left = set(part)
            for term in frequent:
                left &= self._index.among(self._connection, term, left) | self._read_with(term)
            found += [id for id in part if id in left]
            read += len(part)
            if read >= most and len(found) < wanted:
                return None
        return found[:wanted]

    def _read_with(self, term: Term) -> set[str]:
        return {conversation for conversation, _, has in self._read if term in has}
