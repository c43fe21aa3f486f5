"""What a transfer copies one after the other: the tables of a store, and the archives beside it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, Table, delete, func, select, true, union

from ..core.causes.store import STORE_DAMAGED
from ..pages.archive import Archive
from ..pages.stored_document import document_from_json
from ..text.words import words
from .archive import index_of
from .bulk import Row, add_rows
from .tables import addresses, clock, metadata, pages, revisions, schema

_FETCHED = 500
# Every database has these of its own.
_OWN = {revisions.name, schema.name, clock.name}
# The product's own pages, which are pinned, are in every archive.
_FROM_ARCHIVE = {
    pages.name: "SELECT d.page, d.sha256, d.fetched_at, d.title, d.size, d.document, c.cut, f.body FROM documents d "
    "LEFT JOIN cuts c ON c.document = d.id LEFT JOIN parts p ON p.document = d.id AND p.last = 0 "
    "LEFT JOIN fulltext f ON f.rowid = p.id WHERE d.page NOT IN (SELECT page FROM pinned) ORDER BY d.fetched_at, d.id",
    addresses.name: "SELECT address, page FROM addresses WHERE page NOT IN (SELECT page FROM pinned) ORDER BY address",
}


class Unit:
    """The rows of a table, or one person's, that always come in the same order: so a copy can go on where it ended."""

    def __init__(self, table: Table, person: str | None = None) -> None:
        self.name = table.name if person is None else f"{table.name} {person}"
        self.table = table
        self._person = person

    def count(self, reading: Connection) -> int:
        """How many rows there are."""
        return reading.execute(select(func.count()).select_from(self.table).where(self._mine)).scalar() or 0

    def rows(self, reading: Connection) -> Iterator[Row]:
        """The rows, in the order of the key."""
        query = select(self.table).where(self._mine).order_by(*self.table.primary_key.columns)
        # A large table need not be held in memory.
        for part in reading.execute(query.execution_options(yield_per=_FETCHED)).partitions():
            yield from map(tuple, part)

    def write(self, writing: Connection, rows: list[Row]) -> None:
        """Add rows to the target."""
        add_rows(writing, self.table, list(self.table.columns.keys()), rows)

    def clear(self, writing: Connection) -> None:
        """Remove from the target what was written of this."""
        writing.execute(delete(self.table).where(self._mine))

    def is_whole(self, writing: Connection, expected: int) -> bool:
        """Whether the target has all rows."""
        return Unit.count(self, writing) == expected

    @property
    def _mine(self) -> ColumnElement[bool]:
        return true() if self._person is None else self.table.c.person == self._person


class FromArchive(Unit):
    """The pages of a person, or their addresses, from an archive that is a file to a store that holds these too."""

    def __init__(self, table: Table, person: str, file: Path) -> None:
        super().__init__(table, person)
        self._file = file
        # Brings a file of an older release up to date, and repairs one that is damaged.
        _archive(file).close()

    def count(self, reading: Connection) -> int:
        """How many there are in the file."""
        with closing(sqlite3.connect(self._file)) as db:
            return int(db.execute(f"SELECT count(*) FROM ({_FROM_ARCHIVE[self.table.name]})").fetchone()[0])

    def rows(self, reading: Connection) -> Iterator[Row]:
        """Those of the file, with the words that the archive has found in the pages already."""
        with closing(sqlite3.connect(self._file)) as db:
            yield from enumerate(db.execute(_FROM_ARCHIVE[self.table.name]), 1)

    def write(self, writing: Connection, rows: list[Row]) -> None:
        """Add them to the table."""
        person = self._person or ""
        if self.table is addresses:
            add_rows(writing, addresses, ["person", "address", "page"], [(person, *row) for _, row in rows])
            return
        names = ["person", "number", "page", "sha256", "fetched_at", "title", "size", "document", "words"]
        add_rows(writing, pages, names, [(person, number, *_with_index(*row)) for number, row in rows])


class ToArchive(Unit):
    """The pages of a person, or their addresses, from a store that holds these too to an archive that is a file."""

    def __init__(self, table: Table, person: str, file: Path) -> None:
        super().__init__(table, person)
        self._file = file

    def write(self, writing: Connection, rows: list[Row]) -> None:
        """Add them to the file; what is written twice is there once."""
        with closing(_archive(self._file)) as archive:
            if self.table is addresses:
                query = "INSERT OR REPLACE INTO addresses VALUES (?, ?)"
                archive.run(lambda db: db.executemany(query, [row[1:] for row in rows]), write=True)
            else:
                place = list(pages.columns.keys()).index("document")
                archive.put_all((document_from_json(row[place]), "") for row in rows)

    def clear(self, writing: Connection) -> None:
        """Leave what is there: it is a part of the same archive."""

    def is_whole(self, writing: Connection, expected: int) -> bool:
        """Whether the file has at least as many."""
        query = f"SELECT count(*) FROM ({_FROM_ARCHIVE[self.table.name]})"
        with closing(_archive(self._file)) as archive:
            return archive.run(lambda db: int(db.execute(query).fetchone()[0])) >= expected


def tables() -> list[Table]:
    """The tables that hold something of people, those first that others refer to."""
    return [table for table in metadata.sorted_tables if table.name not in _OWN]


def archives_below(folder: Path) -> dict[str, Path]:
    """The archives in a data folder that are files, by person."""
    found = {"": folder / "archive.sqlite"}
    found |= {each.parent.name: each for each in folder.glob("people/*/archive.sqlite")}
    return {person: each for person, each in found.items() if each.is_file()}


def archive_of(person: str, folder: Path) -> Path:
    """The archive of a person in a data folder."""
    if person and not person.isalnum():
        # The id is ours, of letters and digits: no other becomes a path.
        raise STORE_DAMAGED(where=pages.name, why=person[:40])
    return folder / "people" / person / "archive.sqlite" if person else folder / "archive.sqlite"


def people_with_pages(reading: Connection) -> list[str]:
    """Those whose pages are in a store."""
    both = union(select(pages.c.person), select(addresses.c.person))
    return sorted(reading.execute(both).scalars())


def _archive(file: Path) -> Archive:
    # Nothing may be removed while it is filled: that is for its owner's settings.
    return Archive(file, max_bytes=1 << 50, max_days=36_500)


def _with_index(
    page: str, sha256: str, at: str, title: str, size: int, document: str, cut: str | None, body: str | None
) -> Row:
    if cut is not None:
        document = json.dumps({**json.loads(document), "cut": json.loads(cut)}, ensure_ascii=False)
    found = " ".join(words(json.loads(document)["text"])) if body is None else body
    return page, sha256, at, title, size, document, index_of(" ".join(words(title)), found)
