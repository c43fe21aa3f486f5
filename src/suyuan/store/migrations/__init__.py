"""Migrations of the store, by alembic, which is imported only where an older store is opened.

A new revision is a file in ``versions/`` with the next number, and :data:`HEAD`; a released one is never changed. It
also sets ``suyuan_schema.version`` to its number: releases without alembic then say that the store is too new. The
full-text index is no part of it: a store that lacks it gets it when it is opened.
"""

from __future__ import annotations

import threading

from sqlalchemy import Connection, inspect, select, text

from ..tables import metadata, revisions, schema
from ..text_indexes import INDEX_TABLES

HEAD = "0010"
"""The newest revision."""
_UNFINISHED = "unfinished-"
UNFINISHED = _UNFINISHED + HEAD
"""In place of the revision while a copy into the store is under way; every release takes it for a newer one."""
LOCATIONS = ["suyuan.store:migrations/versions"]
_LOCK_KEY = 0x5_0F_17  # any number that all processes share
_ALEMBIC = threading.Lock()


def revision(connection: Connection) -> str:
    """The revision of the store, empty where there is none yet."""
    inspector = inspect(connection)
    if inspector.has_table(revisions.name):
        return connection.execute(select(revisions.c.version_num)).scalar() or ""
    # Written before alembic: the number of the schema is that of its revision.
    version = connection.execute(select(schema.c.version)).scalar() if inspector.has_table(schema.name) else None
    return f"{version:04}" if version else ""


def is_unfinished(revision: str) -> bool:
    """Whether a copy into the store was begun, by this release or another one, and not completed."""
    return revision.startswith(_UNFINISHED)


def foreign_tables(connection: Connection) -> list[str]:
    """The tables of other programs."""
    return sorted(set(inspect(connection).get_table_names()) - set(metadata.tables) - INDEX_TABLES)


def migrate(connection: Connection) -> None:
    """Bring the store to :data:`HEAD`, inside the caller's transaction."""
    if connection.dialect.name == "postgresql":
        # Two processes that start together must not both create the tables; SQLite has its write lock for that.
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK_KEY})
    found = revision(connection)
    if not found:
        metadata.create_all(connection)
        connection.execute(schema.insert().values(version=int(HEAD)))
    if not found or not inspect(connection).has_table(revisions.name):
        revisions.create(connection, checkfirst=True)
        connection.execute(revisions.insert().values(version_num=found or HEAD))
    if found and found < HEAD:
        upgrade(connection)


def upgrade(connection: Connection) -> None:
    """Run all revisions that the store has not had yet, inside the caller's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    options = {
        "script_location": "suyuan.store:migrations",
        "path_separator": "newline",
        "version_locations": "\n".join(LOCATIONS),
    }
    for name, value in options.items():
        config.set_main_option(name, value.replace("%", "%%"))
    # alembic's operations are those of one migration at a time.
    with _ALEMBIC:
        command.upgrade(config, "head")
