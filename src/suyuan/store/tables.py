"""The tables of the conversation store."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

# The names have a prefix, since a database server may hold the tables of other programs too.
revisions = Table("suyuan_revision", metadata, Column("version_num", String(32), primary_key=True))
# The number of the schema, for releases that knew no alembic.
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

logins = Table(
    "suyuan_logins",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("expires", Float, nullable=False),  # seconds since 1970
)
