"""``RemovalClock``: the time by which what is over is removed from a store, unless the clock may be wrong."""

from __future__ import annotations

import logging
from collections.abc import Callable

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from ..core.causes.store import STORE_CLOCK_JUMPED
from ..core.clock import ClockRecord, look_at_clock
from ..core.notices import Notices
from .database import Database
from .tables import clock as seen_clock
from .values import stamp

log = logging.getLogger("suyuan.store")

_ROW = 1
_KNOWN = select(seen_clock.c.since, seen_clock.c.seen).where(seen_clock.c.id == _ROW)


class RemovalClock:
    """The clock of the database, which all processes share, and what is known of it."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._time = select(database.now(clock))

    def now(self) -> float | None:
        """The time in seconds since 1970; None where it may be wrong, and nothing may be removed by it.

        To be asked several times a week while the store is in use.
        """
        with self._database.write() as connection:
            shown = float(connection.execute(self._time).scalar_one())
            row = connection.execute(_KNOWN).first()
            before = None if row is None else ClockRecord(row.since, row.seen)
            record = look_at_clock(before, shown)
            if record is not before:
                _keep(connection, record)
        if before is not None and record.since != before.since:
            self._tell(before.seen, shown)
        return shown if record.believed else None

    def _tell(self, before: float, now: float) -> None:
        jumped = STORE_CLOCK_JUMPED(before=stamp(before)[:16], now=stamp(now)[:16])
        if (file := self._database.file) is None:
            log.warning("%s", jumped.message)
        else:
            Notices(file.parent).add(jumped, file)


def _keep(connection: Connection, record: ClockRecord) -> None:
    values = {"since": record.since, "seen": record.seen}
    changed = update(seen_clock).where(seen_clock.c.id == _ROW).values(**values)
    if connection.execute(changed).rowcount:
        return
    try:
        with connection.begin_nested():
            connection.execute(insert(seen_clock).values(id=_ROW, **values))
    except IntegrityError:
        # Another process was first, at about the same time.
        return
