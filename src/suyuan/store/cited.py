"""The texts that stored answers and reports cite: the archive keeps these for as long as they are cited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from sqlalchemy import Select, select

from ..core.causes.store import STORE_NO_BACKUP
from ..core.errors import SuyuanError
from ..core.secret import Secret
from .database import Database
from .tables import conversations, messages, research, research_steps

_HASH = re.compile(r'"sha256": ?"([0-9a-f]{64})"')
_ROWS = 500


def cited_texts(address: Secret | str, person: str, since: str = "") -> set[str]:
    """The hashes of the texts that answers and reports of a person cite, or those which were stored since a moment."""
    try:
        opened = Database.opened(address, create=False)
    except SuyuanError as error:
        if error.detail_code == STORE_NO_BACKUP.detail_code:
            # There is no store, and so there are no answers.
            return set()
        raise
    with closing(opened) as database:
        return {sha256 for text in _stored(database, person, since) for sha256 in _HASH.findall(text)}


def _stored(database: Database, person: str, since: str) -> Iterator[str]:
    answers = (
        select(messages.c.answer)
        .join(conversations)
        .where(conversations.c.person == person, messages.c.answer.is_not(None), messages.c.kept_at >= since)
    )
    own_job = (research.c.person == person, research.c.updated_at >= since)
    reports = select(research.c.result).where(*own_job, research.c.result.is_not(None))
    unfinished = select(research_steps.c.data).join(research).where(*own_job, research.c.result.is_(None))
    for query in (answers, reports, unfinished):
        yield from _texts(database, query)


def _texts(database: Database, query: Select[Any]) -> Iterator[str]:
    with database.read() as connection:
        # A large table need not be held in memory.
        yield from connection.execute(query.execution_options(yield_per=_ROWS)).scalars()
