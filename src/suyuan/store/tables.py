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
    false,
)
from sqlalchemy.dialects.postgresql import TSVECTOR

metadata = MetaData()
# Elsewhere the index is its text, for backups.
_INDEX = Text().with_variant(TSVECTOR(), "postgresql")

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
    Column("person", Text, nullable=False, server_default=""),  # whose it is; empty where there are no accounts
    Column("focus", Text, nullable=False, server_default=""),
    Column("pinned_at", Text),
    Index("suyuan_conversations_by_time", "updated_at"),
    Index("suyuan_conversations_by_person", "person", "updated_at"),
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
    Column("run", Text, ForeignKey(messages.c.id, ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("event", Text, nullable=False),
)

logins = Table(
    "suyuan_logins",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("expires", Float, nullable=False),  # seconds since 1970
    Column("person", Text, nullable=False, server_default=""),  # empty for the token of the server
    Column("begun", Float, nullable=False, server_default="0"),
    Index("suyuan_logins_by_person", "person"),
)

people = Table(
    "suyuan_people",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("password", Text, nullable=False),  # argon2id; empty for people who log in elsewhere
    Column("quotas", Text, nullable=False),  # JSON: the quotas that differ from those of the settings
    Column("created_at", Text, nullable=False),
    Column("disabled_at", Text),
    Column("subject", Text),  # issuer and name of one who logs in at an OpenID provider
    Index("suyuan_people_by_subject", "subject", unique=True),
)

tokens = Table(
    "suyuan_tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("person", Text, ForeignKey(people.c.id, ondelete="CASCADE"), nullable=False),
    Column("digest", Text, nullable=False, unique=True),  # SHA-256; the token itself is nowhere
    Column("label", Text, nullable=False),
    Column("scopes", Text, nullable=False),  # separated by blanks
    Column("created_at", Text, nullable=False),
    Column("expires", Float),
    Column("used_at", Text),
    Index("suyuan_tokens_by_person", "person"),
)

shares = Table(
    "suyuan_shares",
    metadata,
    Column("id", Text, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("conversation", Text, ForeignKey(conversations.c.id, ondelete="CASCADE"), nullable=False),
    Column("created_at", Text, nullable=False),
    Column("until", Text, nullable=False),  # messages that came later are not shown
    Column("expires", Float),
    Index("suyuan_shares_by_conversation", "conversation"),
)

usage = Table(
    "suyuan_usage",
    metadata,
    Column("person", Text, primary_key=True),
    Column("day", Text, primary_key=True),
    Column("searches", Integer, nullable=False),
    Column("answers", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("money", Float, nullable=False),
)

audit = Table(
    "suyuan_audit",
    metadata,
    Column("id", Text, primary_key=True),
    Column("at", Text, nullable=False),
    Column("person", Text, nullable=False),  # the name of who did it
    Column("action", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("address", Text, nullable=False),
    Index("suyuan_audit_by_time", "at"),
)

research = Table(
    "suyuan_research",
    metadata,
    Column("id", Text, primary_key=True),
    Column("question", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("request", Text, nullable=False),  # JSON, as are the two below
    Column("plan", Text),
    Column("result", Text),
    Column("stopping", Boolean, nullable=False),  # whether somebody has asked it to stop, in whichever process
    Column("person", Text, nullable=False, server_default=""),  # whose it is; empty where there are no accounts
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),  # its last sign of life
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
    Column("job", Text, ForeignKey(research.c.id, ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("data", Text, nullable=False),
    Column("sha256", Text, nullable=False),  # of ``data``: a step that was not written whole counts as not done
    Column("at", Text, nullable=False),
    UniqueConstraint("job", "key"),
)

# The pages that were read, where several machines share them; on one machine they are in a file of their own.
pages = Table(
    "suyuan_pages",
    metadata,
    Column("person", Text, primary_key=True),  # whose archive it is in; empty where there are no accounts
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("page", Text, nullable=False),  # the address that was read, after all redirects
    Column("sha256", Text, nullable=False),  # of the text: both versions of a changed page are stored
    Column("fetched_at", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("document", Text, nullable=False),  # the whole document as JSON
    Column("words", _INDEX, nullable=False),  # our own words of title and text, with how often they occur
    UniqueConstraint("person", "page", "sha256"),
    Index("suyuan_pages_by_time", "person", "fetched_at"),
    Index("suyuan_pages_by_words", "words", postgresql_using="gin"),
)

addresses = Table(
    "suyuan_addresses",
    metadata,
    Column("person", Text, primary_key=True),
    Column("address", Text, primary_key=True),  # an address that was requested and led to the page
    Column("page", Text, nullable=False),
)
