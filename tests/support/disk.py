"""A disk that is full."""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

_ROOM = 60_000
"""For a file with an answer, and not for what the store writes to keep the answer."""


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """The log of the store in ``folder`` cannot grow: what SQLite meets on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with closing(sqlite3.connect(folder / "chat.sqlite")) as store:
        # What has been written to its log would be room for more.
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    resource.setrlimit(resource.RLIMIT_FSIZE, (_ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
