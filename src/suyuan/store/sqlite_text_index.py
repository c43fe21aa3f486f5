"""The full-text index in SQLite: FTS5 over our own words."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from ..text.search_words import Term
from .text_index import FILL, INDEXED, WAITING, Place, Ready, TextIndex

_FTS = "suyuan_fulltext"
_PARTS = ("data", "idx", "content", "config")
_TRIGGERS = {
    "suyuan_message_added": "AFTER INSERT ON suyuan_messages BEGIN {add} END",
    "suyuan_message_changed": "AFTER UPDATE OF text ON suyuan_messages "
    "WHEN new.state <> 'running' AND new.text IS NOT old.text BEGIN {change} END",
    "suyuan_message_removed": "AFTER DELETE ON suyuan_messages BEGIN {change} END",
    "suyuan_title_added": "AFTER INSERT ON suyuan_conversations BEGIN {add} END",
    "suyuan_title_changed": "AFTER UPDATE OF title ON suyuan_conversations "
    "WHEN new.title IS NOT old.title BEGIN {change} END",
    "suyuan_title_removed": "AFTER DELETE ON suyuan_conversations BEGIN {change} END",
}
_NAMES = {"message": ("conversation", "id"), "title": ("id", None)}
_TABLES = (
    f"""CREATE TABLE suyuan_texts (
        id INTEGER PRIMARY KEY AUTOINCREMENT, conversation TEXT NOT NULL, message TEXT NOT NULL,
        state INTEGER NOT NULL DEFAULT {WAITING}, checksum INTEGER, UNIQUE (conversation, message))""",
    f"CREATE INDEX suyuan_texts_waiting ON suyuan_texts (conversation) WHERE state <> {INDEXED}",
    # Whether removed words may still be on the disk.
    "CREATE TABLE suyuan_removed_words (state INTEGER NOT NULL)",
    "INSERT INTO suyuan_removed_words VALUES (0)",
    # The words are ours: what is not ASCII is a part of a word, and so are the signs of C++ and C#.
    f"CREATE VIRTUAL TABLE {_FTS} USING fts5(words, columnsize=0, tokenize=\"ascii tokenchars '+#'\")",
)
_NONE, _SOME, _MERGING = 0, 1, 2
_NAMED = frozenset({"suyuan_texts", "suyuan_removed_words", _FTS, *_TRIGGERS})
# Steps of a few hundredths of a second.
_MERGED_PAGES = 128
# SQLite before 3.45 adds levels with each merge of everything, and refuses an index with two thousand of them.
_MOST_LEVELS = 1000
_STRUCTURE = 10
_NEWER_STRUCTURE = b"\xff\x00\x00\x01"

_COUNT = text(f"SELECT count(*) FROM (SELECT 1 FROM {_FTS} WHERE {_FTS} MATCH :match LIMIT :most)")
_HAS = text(
    f"SELECT DISTINCT t.conversation FROM {_FTS} f CROSS JOIN suyuan_texts t ON t.id = f.rowid "
    f"WHERE {_FTS} MATCH :match AND t.state = {INDEXED}"
)
_IN_THESE = (
    f"FROM json_each(:ids) i CROSS JOIN suyuan_texts t ON t.conversation = i.value "
    f"CROSS JOIN {_FTS}_content f ON f.id = t.id WHERE t.state = {INDEXED}"
)
_AMONG = text(f"SELECT DISTINCT t.conversation {_IN_THESE} AND instr(f.c0, :sought)")


class SqliteTextIndex(TextIndex):
    """The index in a file of SQLite."""

    TABLES = frozenset({"suyuan_texts", "suyuan_removed_words", _FTS, *(f"{_FTS}_{part}" for part in _PARTS)})

    def create(self, connection: Connection) -> None:
        """Begin the index anew, whatever there is of it: every text waits."""
        # SQLite drops only an index that it can open, but the tables that it consists of in any case.
        self._take_out(connection, {_FTS})
        for table in sorted(self.TABLES - {_FTS}):
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {table}")
        for statement in _TABLES:
            connection.exec_driver_sql(statement)
        for name, trigger in _TRIGGERS.items():
            connection.exec_driver_sql(f"CREATE TRIGGER {name} {_noted(name, trigger)}")
        connection.exec_driver_sql(FILL)

    def forget(self, connection: Connection) -> None:
        """Leave the index where it is, and let SQLite know nothing of it, so that a VACUUM leaves its pages out."""
        self._take_out(connection, self.TABLES)

    def _take_out(self, connection: Connection, tables: Collection[str]) -> None:
        for trigger in _TRIGGERS:
            connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {trigger}")
        connection.exec_driver_sql("PRAGMA writable_schema=ON")
        for table in sorted(tables):
            connection.exec_driver_sql(f"DELETE FROM sqlite_master WHERE tbl_name = '{table}'")
        connection.exec_driver_sql("PRAGMA writable_schema=RESET")

    def is_there(self, connection: Connection) -> bool:
        """Whether the database has everything that belongs to the index."""
        found = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type IN ('table', 'trigger')")
        return _NAMED.union(self.TABLES).issubset(found.scalars())

    def conversations_with(self, connection: Connection, term: Term, most: int | None) -> set[str] | None:
        """The conversations in whose indexed texts a term is; None where it is in more than ``most`` texts."""
        match = {"match": _match(term)}
        if most is not None and (connection.execute(_COUNT, match | {"most": most + 1}).scalar() or 0) > most:
            return None
        return set(connection.execute(_HAS, match).scalars())

    def among(self, connection: Connection, term: Term, ids: Collection[str]) -> set[str]:
        """Those of the conversations in whose indexed texts a term is."""
        values = {"ids": json.dumps(list(ids)), "sought": term.sought}
        return set(connection.execute(_AMONG, values).scalars())

    def places(self, connection: Connection, query: Sequence[Term], ids: Collection[str]) -> Iterator[Place]:
        """The indexed messages of the conversations in which something of a query is, the oldest first."""
        counted = " + ".join(f"(instr(f.c0, :sought{number}) > 0)" for number in range(len(query)))
        statement = (
            f"SELECT t.conversation, t.message, {counted} AS count {_IN_THESE} AND t.message <> '' AND count > 0"
        )
        values = {f"sought{number}": term.sought for number, term in enumerate(query)}
        rows = connection.execute(text(f"{statement} ORDER BY t.id"), {"ids": json.dumps(list(ids)), **values})
        return (Place(*row) for row in rows)

    def has_removed(self, connection: Connection) -> bool:
        """Whether words of what was removed may still be on the disk."""
        return self._removed(connection) != _NONE or super().has_removed(connection)

    def merge_removed(self, connection: Connection) -> bool:
        """Do a bounded piece of the work by which removed words leave the disk; return whether more is left."""
        state = self._removed(connection)
        if state == _NONE:
            return False
        if state == _SOME and self._levels(connection) > _MOST_LEVELS:
            self.create(connection)
            return False
        # A negative number begins to merge the whole index, which a positive one continues.
        more = self._merge(connection, -_MERGED_PAGES if state == _SOME else _MERGED_PAGES)
        self._note_removed(connection, _MERGING if more else _NONE)
        return more

    def faults(self, connection: Connection) -> list[str]:
        """What of the index itself does not fit together."""
        found = []
        content = f"{_FTS}_content"
        lost = f"SELECT count(*) FROM suyuan_texts WHERE state = {INDEXED} AND id NOT IN (SELECT id FROM {content})"
        left = (
            f"SELECT count(*) FROM {content} WHERE id NOT IN (SELECT id FROM suyuan_texts WHERE checksum IS NOT NULL)"
        )
        for problem, query in (("are not in the index", lost), ("should not be in the index", left)):
            if count := connection.exec_driver_sql(query).scalar():
                found.append(f"{count} texts {problem}")
        # Each word has a blank before it.
        noted = f"SELECT coalesce(sum(length(c0) - length(replace(c0, ' ', ''))), 0) FROM {content}"
        words = connection.exec_driver_sql(noted).scalar()
        vocabulary = "temp.suyuan_vocabulary"
        connection.exec_driver_sql(f"CREATE VIRTUAL TABLE {vocabulary} USING fts5vocab(main, {_FTS}, row)")
        indexed = connection.exec_driver_sql(f"SELECT coalesce(sum(cnt), 0) FROM {vocabulary}").scalar()
        connection.exec_driver_sql(f"DROP TABLE {vocabulary}")
        if words != indexed:
            found.append(f"{indexed} words are indexed instead of {words}")
        return found

    def _is_own_fault(self, connection: Connection, error: DBAPIError) -> bool:
        name = getattr(error.orig, "sqlite_errorname", "") or ""
        # Where the disk is full, for example, SQLite may have undone the whole transaction.
        undone = not connection.connection.driver_connection.in_transaction  # type: ignore[union-attr]
        return not undone and (name == "SQLITE_ERROR" or name.startswith("SQLITE_CORRUPT"))

    def _store(self, connection: Connection, ready: Sequence[Ready]) -> None:
        rows = [(each.id, each.words) for each in ready]
        connection.exec_driver_sql(f"INSERT INTO {_FTS} (rowid, words) VALUES (?, ?)", rows)
        noted = [(each.state, each.checksum, each.id) for each in ready]
        connection.exec_driver_sql("UPDATE suyuan_texts SET state = ?, checksum = ? WHERE id = ?", noted)

    def _drop(self, connection: Connection, ids: Sequence[int]) -> None:
        if not ids:
            return
        known = f"SELECT id FROM {_FTS}_content WHERE id IN (SELECT value FROM json_each(?))"
        gone = connection.exec_driver_sql(f"DELETE FROM {_FTS} WHERE rowid IN ({known})", (json.dumps(list(ids)),))
        if gone.rowcount:
            self._note_removed(connection, _SOME)

    def _removed(self, connection: Connection) -> int:
        return int(connection.exec_driver_sql("SELECT state FROM suyuan_removed_words").scalar_one())

    def _note_removed(self, connection: Connection, state: int) -> None:
        connection.exec_driver_sql("UPDATE suyuan_removed_words SET state = ? WHERE state <> ?", (state, state))

    def _merge(self, connection: Connection, pages: int) -> bool:
        before = connection.exec_driver_sql("SELECT total_changes()").scalar_one()
        connection.exec_driver_sql(f"INSERT INTO {_FTS} ({_FTS}, rank) VALUES ('merge', {pages})")
        # The command itself is one change.
        return bool(connection.exec_driver_sql("SELECT total_changes()").scalar_one() - before > 1)

    def _levels(self, connection: Connection) -> int:
        """The number of levels of the index, which its structure record begins with, after a version."""
        query = f"SELECT block FROM {_FTS}_data WHERE id = {_STRUCTURE}"
        number = connection.exec_driver_sql(query).scalar_one()[4:].removeprefix(_NEWER_STRUCTURE)
        levels = 0
        for byte in number[:9]:
            levels = levels << 7 | byte & 0x7F
            if byte < 0x80:
                break
        return levels


def _match(term: Term) -> str:
    """A term as FTS5 takes it: words that follow one another, of the last one its beginning."""
    return f'"{" ".join(term.words)}"*'


def _noted(name: str, trigger: str) -> str:
    conversation, message = _NAMES[name.split("_")[1]]
    row = "old" if name.endswith("removed") else "new"
    said = f"{row}.{message}" if message else "''"
    add = (
        f"INSERT INTO suyuan_texts (conversation, message) VALUES ({row}.{conversation}, {said}) "
        f"ON CONFLICT (conversation, message) DO UPDATE SET state = {WAITING};"
    )
    same = f"conversation = {row}.{conversation} AND message = {said}"
    return trigger.format(add=add, change=f"UPDATE suyuan_texts SET state = {WAITING} WHERE {same};")
