"""Research jobs and their steps in SQLite or PostgreSQL; when a method returns, what it wrote is on the disk."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update

from ..core.causes.research import NO_RESEARCH
from ..core.secret import Secret
from . import process_owner as owner
from .conversation import new_id
from .database import Database
from .tables import research, research_steps

SILENCE_SECONDS = 120.0
"""A job of another host without a sign of life for this long counts as interrupted."""
ACTIVE = ("planning", "running")
"""The states in which a process works on a job."""


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A job as it is stored; ``request``, ``plan`` and ``result`` are the JSON values of the research package."""

    id: str
    question: str
    state: str
    request: dict[str, Any]
    plan: dict[str, Any] | None
    result: dict[str, Any] | None
    stopping: bool
    created_at: str
    updated_at: str
    owner: str | None = None
    person: str = ""


@dataclass(frozen=True, slots=True)
class StoredStep:
    """Something that a job has done, by its number and its name."""

    seq: int
    key: str
    kind: str
    data: dict[str, Any]
    at: str


Step = tuple[str, str, Mapping[str, Any]]
"""The key, the kind and the data of a step."""


class ResearchStore:
    """All research jobs of one database; safe for several threads and processes at the same time."""

    def __init__(self, address: Secret | str = "", *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._owner = owner.this_process()
        self._database = Database(address.reveal() if isinstance(address, Secret) else address)
        try:
            self._database.open()
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    # --- jobs ----------------------------------------------------------------------------------------------------
    def create(self, question: str, request: Mapping[str, Any], person: str = "") -> StoredJob:
        """Create a job that waits for its turn; ``person`` is whose it is, where there are accounts."""
        now, id = self._now(), new_id()
        values = {"id": id, "question": _plain(question), "state": "queued", "request": _json(request)}
        times = {"stopping": False, "person": person, "created_at": now, "updated_at": now}
        with self._database.write() as connection:
            connection.execute(insert(research).values(**values, **times))
        return self.get(id)

    def get(self, id: str) -> StoredJob:
        """The job with this id; raises a cause if there is none."""
        with self._database.read() as connection:
            row = connection.execute(select(research).where(research.c.id == _plain(id))).first()
        if row is None:
            raise NO_RESEARCH(id=id[:40])
        return _job(row)

    def find(self, *, person: str = "", limit: int = 50, offset: int = 0) -> list[StoredJob]:
        """The jobs of a person, the newest first, without their results."""
        columns = [column for column in research.c if column.name != "result"]
        query = (
            select(*columns)
            .where(research.c.person == person)
            .order_by(research.c.created_at.desc(), research.c.id)
            .limit(limit)
            .offset(offset)
        )
        with self._database.read() as connection:
            return [_job(row) for row in connection.execute(query)]

    def claim(self, id: str, state: str, *, of: Iterable[str]) -> bool:
        """Take a job that is in one of the states ``of`` for this process; False where another has it by now."""
        return self._change(
            id, {"state": state, "owner": self._owner, "stopping": False}, research.c.state.in_(list(of))
        )

    def change(self, id: str, step: Step | None = None, **values: Any) -> None:
        """Change ``state``, ``plan``, ``result``, ``stopping`` or ``request``, and store ``step``, both or neither.

        A job that has ended has no owner.
        """
        for name in ("plan", "result", "request"):
            if values.get(name) is not None:
                values[name] = _json(values[name])
        if values.get("state") not in (None, *ACTIVE):
            values["owner"] = None
        with self._database.write() as connection:
            changed = update(research).where(research.c.id == _plain(id)).values(**values, updated_at=self._now())
            if connection.execute(changed).rowcount == 0:
                raise NO_RESEARCH(id=id[:40])
            if step is not None:
                self._insert(connection, id, [step])

    def interrupt(self, id: str) -> None:
        """Mark a job as interrupted, unless it has ended."""
        self._change(id, {"state": "interrupted", "owner": None}, research.c.state.in_(ACTIVE))

    def beat(self, id: str) -> bool:
        """Give a sign of life; return whether the job shall stop."""
        self._change(id, {})
        with self._database.read() as connection:
            return bool(connection.execute(select(research.c.stopping).where(research.c.id == id)).scalar())

    def remove(self, id: str) -> None:
        """Remove a job with all of its steps."""
        with self._database.write() as connection:
            if connection.execute(delete(research).where(research.c.id == _plain(id))).rowcount == 0:
                raise NO_RESEARCH(id=id[:40])

    def sweep(self) -> int:
        """Mark the jobs of dead processes as interrupted, and return their number."""
        query = select(research.c.id, research.c.owner, research.c.updated_at).where(research.c.state.in_(ACTIVE))
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        dead = [(row.id, row.owner) for row in rows if self._is_dead(row.owner, row.updated_at)]
        return sum(
            # Only if it is still the dead process's: another may have taken it since.
            self._change(id, {"state": "interrupted", "owner": None}, research.c.owner == writer)
            for id, writer in dead
        )

    # --- steps ---------------------------------------------------------------------------------------------------
    def keep(self, id: str, steps: Iterable[Step]) -> list[StoredStep]:
        """Store steps, all or none. A key that is stored already stays as it is."""
        with self._database.write() as connection:
            # The job before its steps, as everywhere, so that two writers never wait for each other.
            connection.execute(update(research).where(research.c.id == id).values(updated_at=self._now()))
            return self._insert(connection, id, steps)

    def _insert(self, connection: Connection, id: str, steps: Iterable[Step]) -> list[StoredStep]:
        now = self._now()
        own = research_steps.c.job == id
        last = connection.execute(select(func.max(research_steps.c.seq)).where(own)).scalar()
        seq = 0 if last is None else last + 1
        known = set(connection.execute(select(research_steps.c.key).where(own)).scalars())
        kept: list[StoredStep] = []
        for key, kind, data in steps:
            if key in known:
                continue
            known.add(key)
            text = _json(data)
            row = {"job": id, "seq": seq, "key": key, "kind": kind, "data": text, "sha256": _hash(text), "at": now}
            connection.execute(insert(research_steps).values(**row))
            kept.append(StoredStep(seq, key, kind, json.loads(text), now))
            seq += 1
        return kept

    def steps(self, id: str, after: int = -1) -> list[StoredStep]:
        """The steps of a job with numbers above ``after``, in order; one whose hash is wrong is left out."""
        own = select(research_steps).where(research_steps.c.job == _plain(id), research_steps.c.seq > after)
        with self._database.read() as connection:
            rows = connection.execute(own.order_by(research_steps.c.seq)).all()
        return [
            StoredStep(row.seq, row.key, row.kind, json.loads(row.data), row.at)
            for row in rows
            if _hash(row.data) == row.sha256
        ]

    def forget(self, id: str, keys: Iterable[str]) -> None:
        """Remove steps, which will be done again, and those that are damaged."""
        with self._database.write() as connection:
            rows = connection.execute(select(research_steps).where(research_steps.c.job == id)).all()
            damaged = [row.key for row in rows if _hash(row.data) != row.sha256]
            gone = research_steps.c.key.in_([*keys, *damaged])
            connection.execute(delete(research_steps).where(research_steps.c.job == id, gone))

    def _change(self, id: str, values: Mapping[str, Any], *where: ColumnElement[bool]) -> bool:
        changed = update(research).where(research.c.id == _plain(id), *where).values(**values, updated_at=self._now())
        with self._database.write() as connection:
            return connection.execute(changed).rowcount > 0

    def _is_dead(self, writer: str | None, seen: str) -> bool:
        if writer is None or writer == self._owner:
            return writer is None
        lives = owner.alive(writer)
        return seen < _stamp(self._clock() - SILENCE_SECONDS) if lives is None else not lives

    def _now(self) -> str:
        return _stamp(self._clock())


def _job(row: Row[Any]) -> StoredJob:
    values = {"result": None, **row._mapping}
    for name in ("request", "plan", "result"):
        values[name] = json.loads(values[name]) if values[name] else None
    return StoredJob(**values)


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _plain(text: str) -> str:
    """``text`` as every database can store it: without NUL and half surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def _json(value: Mapping[str, Any]) -> str:
    # A NUL is written as an escape inside JSON, which PostgreSQL would keep as it is in a text column.
    return _plain(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
