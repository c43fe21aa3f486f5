"""Research jobs and their steps in SQLite or PostgreSQL; when a method returns, what it wrote is on the disk."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, func, insert, select, update

from ..core.causes.research import NO_RESEARCH
from ..core.secret import Secret
from . import process_owner as owner
from .conversation import new_id
from .database import Database
from .tables import research, research_steps
from .values import plain, stamp, stored_json

ACTIVE = ("planning", "running")
"""The states in which a process works on a job."""


class JobTaken(Exception):
    """The job is no longer this process's: it was silent for too long, or somebody has ended the job."""


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
    lease: float | None = None
    progress: dict[str, Any] | None = None


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
        self._database = Database.opened(address)

    @property
    def shared(self) -> bool:
        """Whether the processes of several machines can work on the jobs: what one leaves, another takes."""
        return not self._database.sqlite

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    # --- jobs ----------------------------------------------------------------------------------------------------
    def create(self, question: str, request: Mapping[str, Any], person: str = "") -> StoredJob:
        """Create a job that waits for its turn; ``person`` is whose it is, where there are accounts."""
        now, id = self._now(), new_id()
        values = {"id": id, "question": plain(question), "state": "queued", "request": stored_json(request)}
        times = {"stopping": False, "person": person, "created_at": now, "updated_at": now}
        self._database.change(insert(research).values(**values, **times))
        return self.get(id)

    def get(self, id: str) -> StoredJob:
        """The job with this id; raises a cause if there is none."""
        row = self._database.row(select(research).where(research.c.id == plain(id)))
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
        return [_job(row) for row in self._database.rows(query)]

    def waiting(self) -> str | None:
        """The job that is next: of the person with the fewest under way, the oldest."""
        turn = func.row_number().over(partition_by=research.c.person, order_by=(research.c.created_at, research.c.id))
        queued = select(research.c.id, research.c.person, research.c.created_at, turn.label("turn"))
        line = queued.where(research.c.state == "queued").subquery()
        busy = (
            select(research.c.person, func.count().label("jobs"))
            .where(research.c.state.in_(ACTIVE))
            .group_by(research.c.person)
            .subquery()
        )
        query = (
            select(line.c.id)
            .outerjoin(busy, busy.c.person == line.c.person)
            .where(line.c.turn == 1)
            .order_by(func.coalesce(busy.c.jobs, 0), line.c.created_at, line.c.id)
            .limit(1)
        )
        found: str | None = self._database.value(query)
        return found

    def claim(self, id: str, state: str) -> bool:
        """Take a job that waits for this process; False where another has it by now."""
        values = {"state": state, "owner": self._owner, "lease": self._lease_end()}
        return self._change(id, values, research.c.state == "queued")

    def change(self, id: str, step: Step | None = None, *, own: bool = False, **values: Any) -> None:
        """Change ``state``, ``plan``, ``result``, ``stopping`` or ``request``, and store ``step``, both or neither.

        A job that has ended has no owner. With ``own`` only if it is still this process's; raises ``JobTaken``.
        """
        for name in ("plan", "result", "request"):
            if values.get(name) is not None:
                values[name] = stored_json(values[name])
        if values.get("state") not in (None, *ACTIVE):
            values |= {"owner": None, "lease": None}
        with self._database.write() as connection:
            self._touch(connection, id, own, values)
            if step is not None:
                self._insert(connection, id, [step])

    def release(self, id: str) -> None:
        """Leave a job of this process: to another one where the store is shared, else until somebody resumes it."""
        self._change(id, self._left(), research.c.state.in_(ACTIVE), research.c.owner == self._owner)

    def beat(self, id: str, progress: Mapping[str, Any] | None = None) -> bool:
        """Give a sign of life; return whether the job shall stop. Raises ``JobTaken``."""
        with self._database.write() as connection:
            self._touch(connection, id, True, {"progress": stored_json(progress or {})})
            return bool(connection.execute(select(research.c.stopping).where(research.c.id == id)).scalar())

    def remove(self, id: str) -> None:
        """Remove a job with all of its steps."""
        if self._database.change(delete(research).where(research.c.id == plain(id))) == 0:
            raise NO_RESEARCH(id=id[:40])

    def sweep(self, own: Collection[str] = ()) -> int:
        """Leave the jobs of dead processes, each once, and return their number; ``own`` are those at work here."""
        over = (func.coalesce(research.c.lease, 0) <= self._database.now(self._clock)).label("over")
        query = select(research.c.id, research.c.owner, research.c.lease, over).where(research.c.state.in_(ACTIVE))
        rows = self._database.rows(query.where(research.c.id.not_in(list(own))))
        dead = [row for row in rows if self._is_dead(row.owner, row.over)]
        # Only if it is still the dead process's, and silent: another may have taken it since.
        return sum(
            self._change(
                row.id,
                self._left(),
                research.c.state.in_(ACTIVE),
                research.c.owner.is_not_distinct_from(row.owner),
                research.c.lease.is_not_distinct_from(row.lease),
            )
            for row in dead
        )

    # --- steps ---------------------------------------------------------------------------------------------------
    def keep(self, id: str, steps: Iterable[Step], *, own: bool = False) -> list[StoredStep]:
        """Store steps, all or none. A key that is stored already stays as it is.

        With ``own`` only if the job is still this process's; raises ``JobTaken``.
        """
        with self._database.write() as connection:
            # The job before its steps, as everywhere, so that two writers never wait for each other.
            self._touch(connection, id, own, {})
            return self._insert(connection, id, steps)

    def _touch(self, connection: Connection, id: str, own: bool, values: Mapping[str, Any]) -> None:
        mine = and_(research.c.owner == self._owner, research.c.state.in_(ACTIVE))
        lease = {"lease": self._lease_end()} if own and "lease" not in values else {}
        changed = update(research).where(research.c.id == plain(id), *([mine] if own else []))
        if connection.execute(changed.values(**lease, **values, updated_at=self._now())).rowcount == 0:
            raise JobTaken(id) if own else NO_RESEARCH(id=id[:40])

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
            text = stored_json(data)
            row = {"job": id, "seq": seq, "key": key, "kind": kind, "data": text, "sha256": _hash(text), "at": now}
            connection.execute(insert(research_steps).values(**row))
            kept.append(StoredStep(seq, key, kind, json.loads(text), now))
            seq += 1
        return kept

    def steps(self, id: str, after: int = -1) -> list[StoredStep]:
        """The steps of a job with numbers above ``after``, in order; one whose hash is wrong is left out."""
        own = select(research_steps).where(research_steps.c.job == plain(id), research_steps.c.seq > after)
        rows = self._database.rows(own.order_by(research_steps.c.seq))
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
        changed = update(research).where(research.c.id == plain(id), *where).values(**values, updated_at=self._now())
        return self._database.change(changed) > 0

    def _is_dead(self, writer: str | None, over: bool) -> bool:
        # A job of this process that is not at work was left when the store was away.
        if writer is None or writer == self._owner:
            return True
        lives = owner.alive(writer)
        # On one machine the process table knows better than a clock, which may have jumped or slept.
        return over if lives is None or (lives and self.shared) else not lives

    def _left(self) -> dict[str, Any]:
        return {"state": "queued" if self.shared else "interrupted", "owner": None, "lease": None}

    def _lease_end(self) -> Any:
        return self._database.now(self._clock) + owner.LEASE_SECONDS

    def _now(self) -> str:
        return stamp(self._clock())


def _job(row: Row[Any]) -> StoredJob:
    values = {"result": None, **row._mapping}
    for name in ("request", "plan", "result", "progress"):
        values[name] = json.loads(values[name]) if values[name] else None
    return StoredJob(**values)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
