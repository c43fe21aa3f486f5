"""The tables of the conversation store."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR

from .columns import key, owner, texts

metadata = MetaData()
# Elsewhere the index is its text, for backups.
_INDEX = Text().with_variant(TSVECTOR(), "postgresql")


def _some(name: str, where: str, *more: str) -> Index:
    """An index of the conversations of which something holds, by person and time."""
    condition = text(where)
    return Index(name, "person", "updated_at", *more, sqlite_where=condition, postgresql_where=condition)


# The names have a prefix, since a database server may hold the tables of other programs too.
revisions = Table("suyuan_revision", metadata, Column("version_num", String(32), primary_key=True))
# The number of the schema, for releases that knew no alembic.
schema = Table("suyuan_schema", metadata, Column("version", Integer, nullable=False))

# What is known of the clock of the database: one row.
clock = Table(
    "suyuan_clock",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("since", Float, nullable=False),  # the time that it showed first after its last jump, in seconds since 1970
    Column("seen", Float, nullable=False),  # the time that it showed last
)

conversations = Table(
    "suyuan_conversations",
    metadata,
    key("id"),
    *texts("title", "mode"),
    Column("search", Boolean, nullable=False),
    *texts("engine", "model", "lang", "created_at", "updated_at"),
    Column("deleted_at", Text),
    Column("person", Text, nullable=False, server_default=""),  # whose it is; empty where there are no accounts
    Column("focus", Text, nullable=False, server_default=""),
    Column("pinned_at", Text),
    Index("suyuan_conversations_by_time", "updated_at"),
    # As they are listed.
    _some("suyuan_conversations_listed", "deleted_at IS NULL AND pinned_at IS NULL", "created_at", "id"),
    _some("suyuan_conversations_pinned", "deleted_at IS NULL AND pinned_at IS NOT NULL"),
    _some("suyuan_conversations_deleted", "deleted_at IS NOT NULL"),
)

messages = Table(
    "suyuan_messages",
    metadata,
    key("id"),
    owner("conversation", "suyuan_conversations"),
    *texts("role", "text", "state", "created_at"),
    Column("answer", Text),  # JSON as text: the same in every database, and the bytes that were written come back
    Column("position", Integer, nullable=False),
    Column("owner", Text),  # the process that writes it, while it is being written
    *texts("kept_at"),  # its last sign of life
    # While it is being written: until when it counts as such, in seconds since 1970 by the clock of the database.
    Column("lease", Float),
    Column("stopping", Boolean, nullable=False, server_default=false()),  # whether somebody wants it stopped
    Column("version_of", Text),  # the question, where the answer is an earlier version; its position is negative
    UniqueConstraint("conversation", "position"),
    Index("suyuan_messages_by_state", "state"),
)

events = Table(
    "suyuan_events",
    metadata,
    owner("run", "suyuan_messages", primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    *texts("event"),
)

logins = Table(
    "suyuan_logins",
    metadata,
    key("digest"),
    Column("expires", Float, nullable=False),  # seconds since 1970
    Column("person", Text, nullable=False, server_default=""),  # empty for the token of the server
    Column("begun", Float, nullable=False, server_default="0"),
    Index("suyuan_logins_by_person", "person"),
)

people = Table(
    "suyuan_people",
    metadata,
    key("id"),
    Column("name", Text, nullable=False, unique=True),
    *texts("role"),
    *texts("password"),  # argon2id; empty for people who log in elsewhere
    *texts("quotas"),  # JSON: the quotas that differ from those of the settings
    *texts("created_at"),
    Column("disabled_at", Text),
    Column("subject", Text),  # issuer and name of one who logs in at an OpenID provider
    Index("suyuan_people_by_subject", "subject", unique=True),
)

tokens = Table(
    "suyuan_tokens",
    metadata,
    key("id"),
    owner("person", "suyuan_people"),
    Column("digest", Text, nullable=False, unique=True),  # SHA-256; the token itself is nowhere
    *texts("label"),
    *texts("scopes"),  # separated by blanks
    *texts("created_at"),
    Column("expires", Float),
    Column("used_at", Text),
    Column("made_by", Text),  # the token by which it was made, with which it ends
    Index("suyuan_tokens_by_person", "person"),
)

shares = Table(
    "suyuan_shares",
    metadata,
    key("id"),
    Column("digest", Text, nullable=False, unique=True),
    owner("conversation", "suyuan_conversations"),
    *texts("created_at"),
    *texts("until"),  # messages that came later are not shown
    Column("expires", Float),
    Index("suyuan_shares_by_conversation", "conversation"),
)

# What people have chosen once and find again; a row of one who has chosen nothing is missing.
choices = Table(
    "suyuan_choices",
    metadata,
    key("person"),  # empty where there are no accounts
    Column("search", Boolean, nullable=False),  # how the search switch was left
)

usage = Table(
    "suyuan_usage",
    metadata,
    key("person"),
    key("day"),
    Column("searches", Integer, nullable=False),
    Column("answers", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("money", Float, nullable=False),
)

audit = Table(
    "suyuan_audit",
    metadata,
    key("id"),
    *texts("at"),
    *texts("person"),  # the name of who did it
    *texts("action", "what", "address"),
    Index("suyuan_audit_by_time", "at"),
)

research = Table(
    "suyuan_research",
    metadata,
    key("id"),
    *texts("question", "state"),
    *texts("request"),  # JSON, as are the two below
    Column("plan", Text),
    Column("result", Text),
    Column("stopping", Boolean, nullable=False),  # whether somebody has asked it to stop, in whichever process
    Column("person", Text, nullable=False, server_default=""),  # whose it is; empty where there are no accounts
    *texts("created_at"),
    *texts("updated_at"),  # its last sign of life
    Column("owner", Text),  # the process that works on it
    # While somebody works on it: until when it is that process's, in seconds since 1970 by the clock of the database.
    Column("lease", Float),
    Column("progress", Text),  # how far it was at its last sign of life, for those who follow it elsewhere
    Index("suyuan_research_by_time", "created_at"),
    Index("suyuan_research_by_state", "state"),
)

research_steps = Table(
    "suyuan_research_steps",
    metadata,
    owner("job", "suyuan_research", primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    *texts("key", "kind", "data"),
    *texts("sha256"),  # of ``data``: a step that was not written whole counts as not done
    *texts("at"),
    UniqueConstraint("job", "key"),
)

# The pages that were read, where several machines share them; on one machine they are in a file of their own.
pages = Table(
    "suyuan_pages",
    metadata,
    key("person"),  # whose archive it is in; empty where there are no accounts
    Column("number", Integer, primary_key=True, autoincrement=False),
    *texts("page"),  # the address that was read, after all redirects
    *texts("sha256"),  # of the text: both versions of a changed page are stored
    *texts("fetched_at", "title"),
    Column("size", Integer, nullable=False),
    *texts("document"),  # the whole document as JSON
    Column("words", _INDEX, nullable=False),  # our own words of title and text, with how often they occur
    UniqueConstraint("person", "page", "sha256"),
    Index("suyuan_pages_by_time", "person", "fetched_at"),
    Index("suyuan_pages_by_words", "words", postgresql_using="gin"),
)

addresses = Table(
    "suyuan_addresses",
    metadata,
    key("person"),
    key("address"),  # an address that was requested and led to the page
    *texts("page"),
)
