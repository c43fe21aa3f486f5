"""The tables of the conversation store, and how an older store becomes a current one."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
    text,
    update,
)

metadata = MetaData()

# The names have a prefix, since a database server may hold the tables of other programs too.
schema = Table("suyuan_schema", metadata, Column("version", Integer, nullable=False))

conversations = Table(
    "suyuan_conversations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("mode", Text, nullable=False),
    Column("search", Boolean, nullable=False),
    Column("engine", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("deleted_at", Text),
    Index("suyuan_conversations_by_time", "updated_at"),
)

messages = Table(
    "suyuan_messages",
    metadata,
    Column("id", Text, primary_key=True),
    Column("conversation", Text, ForeignKey(conversations.c.id, ondelete="CASCADE"), nullable=False),
    Column("role", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("answer", Text),  # JSON as text: the same in every database, and the bytes that were written come back
    Column("position", Integer, nullable=False),
    Column("owner", Text),  # the process that writes it, while it is being written
    Column("kept_at", Text, nullable=False),  # its last sign of life
    UniqueConstraint("conversation", "position"),
    Index("suyuan_messages_by_state", "state"),
)

events = Table(
    "suyuan_events",
    metadata,
    Column("run", Text, ForeignKey(messages.c.id, ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("event", Text, nullable=False),
)

STEPS: tuple[Callable[[Connection], None], ...] = ()
"""Step ``n`` makes version ``n + 2`` out of version ``n + 1``; a step that was released is never changed."""

VERSION = 1 + len(STEPS)
_MIGRATION_LOCK = 0x5_0F_17  # any number that every process of the house shares


def version(connection: Connection) -> int:
    """The version of the store behind ``connection``; 0 where there is none yet."""
    if not inspect(connection).has_table(schema.name):
        return 0
    return connection.execute(select(schema.c.version)).scalar() or 0


def others(connection: Connection) -> list[str]:
    """The tables that are not ours."""
    return sorted(set(inspect(connection).get_table_names()) - set(metadata.tables))


def migrate(connection: Connection) -> None:
    """Bring the store to :data:`VERSION`, inside the caller's transaction."""
    if connection.dialect.name == "postgresql":
        # Two processes that start together must not both create the tables; SQLite's write lock does this by itself.
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
    found = version(connection)
    if found >= VERSION:
        return
    if found == 0:
        metadata.create_all(connection)
    for step in STEPS[found - 1 :] if found else ():
        step(connection)
    if connection.execute(update(schema).values(version=VERSION)).rowcount == 0:
        connection.execute(schema.insert().values(version=VERSION))
