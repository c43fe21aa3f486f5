"""The columns that most tables have."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Text


def key(name: str) -> Column[str]:
    """A text that is the primary key, or a part of it."""
    return Column(name, Text, primary_key=True)


def texts(*names: str) -> list[Column[str]]:
    """Texts that every row has."""
    return [Column(name, Text, nullable=False) for name in names]


def owner(name: str, table: str, *, primary_key: bool = False) -> Column[str]:
    """The row of another table that a row belongs to, and goes with."""
    same = ForeignKey(f"{table}.id", ondelete="CASCADE")
    return Column(name, Text, same, nullable=False, primary_key=primary_key)
