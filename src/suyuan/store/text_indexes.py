"""The full-text index that a kind of database has."""

from __future__ import annotations

from .postgres_text_index import PostgresTextIndex
from .sqlite_text_index import SqliteTextIndex
from .text_index import TextIndex

INDEX_TABLES = SqliteTextIndex.TABLES | PostgresTextIndex.TABLES
"""All tables of indexes, which hold nothing of their own."""


def text_index(dialect: str) -> TextIndex:
    """The index in a kind of database, by the name that SQLAlchemy has for it."""
    return SqliteTextIndex() if dialect == "sqlite" else PostgresTextIndex()
