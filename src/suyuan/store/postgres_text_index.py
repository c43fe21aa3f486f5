"""The full-text index in PostgreSQL: our own words in a GIN index, without a parser of the server."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, OperationalError

from ..text.search_words import Term
from .text_index import FILL, INDEXED, TOO_LONG, WAITING, Place, Ready, TextIndex

_FUNCTIONS = ("suyuan_note_message", "suyuan_note_title")
_TRIGGERS = {
    "suyuan_message_noted": "AFTER INSERT OR DELETE ON suyuan_messages "
    "FOR EACH ROW EXECUTE FUNCTION suyuan_note_message()",
    "suyuan_message_changed": "AFTER UPDATE OF text ON suyuan_messages FOR EACH ROW "
    "WHEN (new.state <> 'running' AND new.text IS DISTINCT FROM old.text) EXECUTE FUNCTION suyuan_note_message()",
    "suyuan_title_noted": "AFTER INSERT OR DELETE ON suyuan_conversations "
    "FOR EACH ROW EXECUTE FUNCTION suyuan_note_title()",
    "suyuan_title_changed": "AFTER UPDATE OF title ON suyuan_conversations FOR EACH ROW "
    "WHEN (new.title IS DISTINCT FROM old.title) EXECUTE FUNCTION suyuan_note_title()",
}
# A text that is being indexed is locked: who changes it waits for that, so that the note is never lost.
_NOTED = """
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO suyuan_texts (conversation, message) VALUES (new.{conversation}, {new})
        ON CONFLICT (conversation, message) DO UPDATE SET state = {waiting};
    ELSE
        UPDATE suyuan_texts SET state = {waiting} WHERE conversation = old.{conversation} AND message = {old};
    END IF;
    RETURN NULL;
END $$
"""
_TABLES = (
    f"""CREATE TABLE suyuan_texts (
        id BIGSERIAL PRIMARY KEY, conversation TEXT NOT NULL, message TEXT NOT NULL,
        state INTEGER NOT NULL DEFAULT {WAITING}, checksum BIGINT, words TEXT, UNIQUE (conversation, message))""",
    f"CREATE INDEX suyuan_texts_waiting ON suyuan_texts (conversation) WHERE state <> {INDEXED}",
    # New words wait in a list that each search reads: a short one.
    f"""CREATE INDEX suyuan_texts_words ON suyuan_texts USING gin (array_to_tsvector(string_to_array(words, ' ')))
        WITH (gin_pending_list_limit = 256) WHERE state = {INDEXED}""",
)
# What PostgreSQL takes into one entry of an index is a megabyte.
_MOST_BYTES = 600_000

# The words are kept as they follow one another, each with a blank before it but the first.
_VECTOR = f"array_to_tsvector(string_to_array(t.words, ' ')) @@ CAST(:match AS tsquery) AND t.state = {INDEXED}"
_HAS = text(
    f"SELECT t.conversation FROM suyuan_texts t WHERE {_VECTOR} AND strpos(' ' || t.words, :sought) > 0 LIMIT :most"
)
_IN_THESE = f"FROM suyuan_texts t WHERE t.conversation = ANY(:ids) AND t.state = {INDEXED}"
_AMONG = text(f"SELECT DISTINCT t.conversation {_IN_THESE} AND strpos(' ' || t.words, :sought) > 0")
_STORE = text("UPDATE suyuan_texts SET state = :state, checksum = :checksum, words = :words WHERE id = :id")


class PostgresTextIndex(TextIndex):
    """The index in PostgreSQL."""

    TABLES = frozenset({"suyuan_texts"})

    def create(self, connection: Connection) -> None:
        """Begin the index anew, whatever there is of it: every text waits."""
        for function in _FUNCTIONS:
            connection.exec_driver_sql(f"DROP FUNCTION IF EXISTS {function}() CASCADE")
        for table in self.TABLES:
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {table}")
        for statement in _TABLES:
            connection.exec_driver_sql(statement)
        message = {"conversation": "conversation", "new": "new.id", "old": "old.id"}
        title = {"conversation": "id", "new": "''", "old": "''"}
        for name, row in zip(_FUNCTIONS, (message, title), strict=True):
            connection.exec_driver_sql(_NOTED.format(name=name, waiting=WAITING, **row))
        # First of all: whoever writes meanwhile waits, and is noted.
        for name, trigger in _TRIGGERS.items():
            connection.exec_driver_sql(f"CREATE TRIGGER {name} {trigger}")
        connection.exec_driver_sql(FILL)

    def is_there(self, connection: Connection) -> bool:
        """Whether the database has everything that belongs to the index."""
        names = ", ".join(f"'{name}'" for name in _TRIGGERS)
        tables = ("suyuan_messages", "suyuan_conversations")
        on_ours = " OR ".join(f"tgrelid = to_regclass('{table}')" for table in tables)
        query = (
            f"SELECT to_regclass('suyuan_texts_words') IS NOT NULL AND "
            f"(SELECT count(*) FROM pg_trigger WHERE tgname IN ({names}) AND ({on_ours})) = {len(_TRIGGERS)}"
        )
        return bool(connection.exec_driver_sql(query).scalar())

    def conversations_with(self, connection: Connection, term: Term, most: int | None) -> set[str] | None:
        """The conversations in whose indexed texts a term is; None where it is in more than ``most`` texts."""
        values = {"match": _match(term), "sought": term.sought, "most": None if most is None else most + 1}
        found = connection.execute(_HAS, values).scalars().all()
        return None if most is not None and len(found) > most else set(found)

    def among(self, connection: Connection, term: Term, ids: Collection[str]) -> set[str]:
        """Those of the conversations in whose indexed texts a term is."""
        return set(connection.execute(_AMONG, {"ids": list(ids), "sought": term.sought}).scalars())

    def places(self, connection: Connection, query: Sequence[Term], ids: Collection[str]) -> Iterator[Place]:
        """The indexed messages of the conversations in which something of a query is, the oldest first."""
        each = [f"strpos(' ' || t.words, :sought{number}) > 0" for number in range(len(query))]
        counted = " + ".join(f"CAST({one} AS integer)" for one in each)
        statement = (
            f"SELECT t.conversation, t.message, {counted} {_IN_THESE} "
            f"AND t.message <> '' AND ({' OR '.join(each)}) ORDER BY t.id"
        )
        values = {f"sought{number}": term.sought for number, term in enumerate(query)}
        return (Place(*row) for row in connection.execute(text(statement), {"ids": list(ids), **values}))

    def faults(self, connection: Connection) -> list[str]:
        """What of the index itself does not fit together."""
        query = f"SELECT count(*) FROM suyuan_texts WHERE state = {INDEXED} AND words IS NULL"
        lost = connection.exec_driver_sql(query).scalar()
        return [f"{lost} texts are not in the index"] if lost else []

    def _is_own_fault(self, connection: Connection, error: DBAPIError) -> bool:
        return not isinstance(error, OperationalError)

    def _ready(self, id: int, content: str, checksum: int) -> Ready:
        ready = super()._ready(id, content, checksum)
        too_long = len(ready.words.encode()) > _MOST_BYTES
        return ready._replace(words="", state=TOO_LONG) if too_long else ready

    def _store(self, connection: Connection, ready: Sequence[Ready]) -> None:
        rows = [each._asdict() | {"words": each.words.removeprefix(" ")} for each in ready]
        connection.execute(_STORE, rows)

    def _drop(self, connection: Connection, ids: Sequence[int]) -> None:
        """Do nothing: the words are in the row."""


def _match(term: Term) -> str:
    """The words of a term as PostgreSQL takes them; of the last one, the beginning counts."""
    *whole, last = (f"'{word}'" for word in term.words)
    return " & ".join([*whole, f"{last}:*"])
