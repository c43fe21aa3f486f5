"""Copies everything from one database to another: to move to PostgreSQL, to back up, and to restore."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, Table, func, insert, select

from ..core.causes.store import STORE_INCOMPLETE, STORE_NOT_EMPTY
from ..core.secret import Secret
from ..pages.archive import Archive
from .archive import store_document
from .database import Database
from .tables import addresses, metadata, pages, revisions, schema

_ROWS = 500
# Every database has these of its own.
_OWN = {revisions.name, schema.name}


def copy_store(
    source: Secret | str, target: Secret | str, *, archives: Mapping[str, Path] | None = None
) -> dict[str, int]:
    """Copy all rows to an empty store, all or none, and return how many there are of each table.

    The source is read in one transaction, so that a server may go on writing to it: what it writes after the start is
    not copied. ``archives`` are the files of the pages that people have read, for a store that holds these too.
    """
    with closing(Database.opened(source, create=False)) as before, closing(Database.opened(target)) as after:
        with before.read() as reading, after.write() as writing:
            for table in tables():
                if writing.execute(select(func.count()).select_from(table)).scalar():
                    raise STORE_NOT_EMPTY(where=after.where)
            counts = {table.name: _copy(reading, writing, table) for table in tables()}
            if not after.sqlite:
                for person, file in (archives or {}).items():
                    _take_in(writing, person, file)
                for table in (pages, addresses):
                    counts[table.name] = writing.execute(select(func.count()).select_from(table)).scalar() or 0
        _compare(after, counts)
        return counts


def tables() -> list[Table]:
    """The tables that hold something of people, those first that others refer to."""
    return [table for table in metadata.sorted_tables if table.name not in _OWN]


def _copy(reading: Connection, writing: Connection, table: Table) -> int:
    copied = 0
    # A large table need not be held in memory.
    ordered = select(table).order_by(*table.primary_key.columns)
    rows = reading.execute(ordered.execution_options(stream_results=True))
    while part := rows.fetchmany(_ROWS):
        writing.execute(insert(table), [dict(row._mapping) for row in part])
        copied += len(part)
    return copied


def archives_beside(file: Path) -> dict[str, Path]:
    """The archives that belong to a store in a file, by person."""
    found = {"": file.with_name("archive.sqlite")}
    found |= {each.parent.name: each for each in file.parent.glob("people/*/archive.sqlite")}
    return {person: each for person, each in found.items() if each.is_file()}


def _take_in(writing: Connection, person: str, file: Path) -> None:
    with closing(Archive(file)) as archive:
        for document in archive.export():
            store_document(writing, person, document)


def _compare(database: Database, counts: dict[str, int]) -> None:
    for table in tables():
        if database.value(select(func.count()).select_from(table)) != counts[table.name]:
            raise STORE_INCOMPLETE(where=database.where, table=table.name)
