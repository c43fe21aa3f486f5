"""Copies everything from one store to another, part by part: one that was ended in between goes on."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, insert, select, update

from ..core.causes.store import STORE_BUSY, STORE_INCOMPLETE, STORE_NOT_EMPTY
from ..core.secret import Secret
from . import migrations
from .bulk import Row
from .connections import BUSY_SECONDS
from .database import Database
from .tables import addresses, pages, revisions
from .transfer_units import FromArchive, ToArchive, Unit, archive_of, people_with_pages, tables

log = logging.getLogger("suyuan.store")

_ROWS = 10_000
_CHARACTERS = 16_000_000
"""The largest part that is copied in one transaction."""
# What was copied, and the hash of it: a source that has changed since cannot be gone on with. Only a store that is
# being filled has this table.
_done = Table(
    "suyuan_transfer",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("rows", Integer, nullable=False),
    Column("sha256", Text, nullable=False),
)

_PAGES = (pages, addresses)

Told = Callable[[str, int, int], None]
"""Told what is being copied, how many rows are done, and of how many."""


def _nobody(_what: str, _done: int, _total: int) -> None:
    pass


def copy_store(
    source: Secret | str,
    target: Secret | str,
    *,
    archives: Mapping[str, Path] | None = None,
    folder: Path | None = None,
    told: Told = _nobody,
    finish: bool = True,
) -> dict[str, int]:
    """Copy all rows to an empty store, and return how many there are of each table.

    The source is read in one transaction, so that a server may go on writing to it: what it writes after the start is
    not copied. Until all of it is there and counted, nothing else can open the target; the same call goes on after an
    end in between. With ``finish=False`` the last step is left to :func:`finish_copy`.

    ``archives`` are the files of the pages that people have read, for a target that holds these too. In ``folder`` the
    pages of a source that holds them become such files, where the target is a file itself.
    """
    with (
        closing(Database.opened(source, create=False)) as before,
        closing(Database.opened(target, unfinished=True)) as after,
    ):
        with before.snapshot() as reading:
            units = _units(reading, None if after.sqlite else archives or {}, folder if after.sqlite else None)
            counts = _Transfer(reading, after, units, told).run()
        if finish:
            finish_copy(after)
        return counts


def finish_copy(target: Database) -> None:
    """Let everybody use a store that is whole; does nothing where that was done."""
    with target.write() as writing:
        if not migrations.is_unfinished(migrations.revision(writing)):
            return
        _done.drop(writing, checkfirst=True)
        writing.execute(update(revisions).values(version_num=migrations.HEAD))
        if not target.sqlite:
            # Before the first question, which would be planned for empty tables.
            for table in tables():
                writing.exec_driver_sql(f"ANALYZE {table.name}")


def is_empty(database: Database) -> bool:
    """Whether a store holds nothing of anybody."""
    with database.read() as reading:
        return all(reading.execute(select(table).limit(1)).first() is None for table in tables())


def _units(reading: Connection, archives: Mapping[str, Path] | None, folder: Path | None) -> list[Unit]:
    units = [Unit(table) for table in tables() if table not in _PAGES]
    stored = people_with_pages(reading)
    for person in stored:
        if folder is not None:
            units += [ToArchive(table, person, archive_of(person, folder)) for table in _PAGES]
        else:
            units += [Unit(table, person) for table in _PAGES]
    for person, file in sorted((archives or {}).items()):
        # The archive of a person is in one place.
        units += [FromArchive(table, person, file) for table in _PAGES if person not in stored]
    return units


class _Changed(Exception):
    """The source is not what it was when its first rows were copied."""


class _Transfer:
    """One copy from a snapshot to a store that is marked as unfinished."""

    def __init__(self, reading: Connection, after: Database, units: Sequence[Unit], told: Told) -> None:
        self._reading = reading
        self._after = after
        self._units = units
        self._told = told
        self._expected = {unit.name: unit.count(reading) for unit in units}
        self._total = sum(self._expected.values())
        self._copied = 0

    def run(self) -> dict[str, int]:
        """Copy what is missing, and count."""
        known = self._begin()
        for place, unit in enumerate(self._units):
            try:
                self._copy(unit, known.get(unit.name))
            except _Changed:
                log.warning("the source has changed since: %s and what follows it is copied again", unit.name)
                self._clear(self._units[place:])
                known = {}
                self._copy(unit, None)
        return self._compared()

    def _begin(self) -> dict[str, tuple[int, str]]:
        """Mark the target as unfinished, and return what was copied to it before."""
        with self._after.write() as writing:
            if not migrations.is_unfinished(migrations.revision(writing)):
                if any(writing.execute(select(table).limit(1)).first() is not None for table in tables()):
                    raise STORE_NOT_EMPTY(where=self._after.where)
                _done.drop(writing, checkfirst=True)
                _done.create(writing)
                writing.execute(update(revisions).values(version_num=migrations.UNFINISHED))
            known = {name: (rows, sha256) for name, rows, sha256 in writing.execute(select(_done))}
            new = [{"name": unit.name, "rows": 0, "sha256": ""} for unit in self._units if unit.name not in known]
            if new:
                writing.execute(insert(_done), new)
            return known

    def _copy(self, unit: Unit, known: tuple[int, str] | None) -> None:
        rows = unit.rows(self._reading)
        digest = hashlib.sha256()
        done, sha256 = known or (0, "")
        if done:
            self._skip(rows, done, sha256, digest)
        self._step(unit, done)
        for part in _parts(rows):
            for row in part:
                digest.update(_bytes(row))
            self._write(unit, part, done, digest.hexdigest())
            done += len(part)
            self._step(unit, len(part))

    def _skip(self, rows: Iterator[Row], done: int, sha256: str, digest: Any) -> None:
        """Read what was copied before, and make sure that it is the same."""
        skipped = 0
        for row in rows:
            digest.update(_bytes(row))
            skipped += 1
            if skipped == done:
                break
        if skipped < done or digest.hexdigest() != sha256:
            raise _Changed

    def _write(self, unit: Unit, part: list[Row], before: int, sha256: str) -> None:
        with self._after.write() as writing:
            same = (_done.c.name == unit.name, _done.c.rows == before)
            done = update(_done).where(*same).values(rows=before + len(part), sha256=sha256)
            if writing.execute(done).rowcount != 1:
                # Another process copies to the same place.
                raise STORE_BUSY(where=self._after.where, seconds=BUSY_SECONDS)
            unit.write(writing, part)

    def _clear(self, units: Sequence[Unit]) -> None:
        with self._after.write() as writing:
            for unit in reversed(units):
                unit.clear(writing)
                writing.execute(update(_done).where(_done.c.name == unit.name).values(rows=0, sha256=""))

    def _step(self, unit: Unit, rows: int) -> None:
        self._copied += rows
        self._told(unit.table.name, min(self._copied, self._total), self._total)

    def _compared(self) -> dict[str, int]:
        counts = {table.name: 0 for table in tables()}
        with self._after.read() as reading:
            for unit in self._units:
                if not unit.is_whole(reading, self._expected[unit.name]):
                    raise STORE_INCOMPLETE(where=self._after.where, table=unit.table.name)
                counts[unit.table.name] += self._expected[unit.name]
        return counts


def _parts(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """The rows in parts, each small enough to be held in memory and to be written at once."""
    part: list[Row] = []
    characters = 0
    for row in rows:
        part.append(row)
        characters += sum(len(value) for value in row if isinstance(value, str))
        if len(part) == _ROWS or characters > _CHARACTERS:
            yield part
            part, characters = [], 0
    if part:
        yield part


def _bytes(row: Row) -> bytes:
    return repr(row).encode("utf-8", "surrogatepass")
