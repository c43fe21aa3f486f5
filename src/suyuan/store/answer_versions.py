"""The versions of answers: the one that is shown, the earlier ones, and those of a moment in the past.

An earlier version has a position below 0, and names its question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, select, update

from ..core.causes.chat import NO_MESSAGE
from .statements import FIELDS, IN_MINE
from .tables import messages
from .values import plain


def in_order(conversation: str) -> Select[Any]:
    """All messages of a conversation with all versions, the oldest first."""
    own = (messages.c.conversation == plain(conversation), IN_MINE)
    return select(*FIELDS, messages.c.version_of).where(*own).order_by(messages.c.created_at, messages.c.id)


def ended_by(until: str) -> tuple[Any, ...]:
    """The messages that had ended at a moment, and have not changed since."""
    return messages.c.state != "running", messages.c.kept_at <= until


def by_question(rows: Sequence[Row[Any]]) -> dict[str, list[Row[Any]]]:
    """The versions of the answer to each question, in the order of ``rows``."""
    asked = {row.position + 1: row.id for row in rows if row.role == "user"}
    found: dict[str, list[Row[Any]]] = {}
    for row in rows:
        if row.role == "assistant":
            found.setdefault(row.version_of or asked.get(row.position, ""), []).append(row)
    return found


def last_shown(rows: Sequence[Row[Any]]) -> list[Row[Any]]:
    """Each question with its answer: the one that is shown now, or else the newest earlier version."""
    answers = by_question(rows)
    found = []
    for question in sorted((row for row in rows if row.role == "user"), key=lambda row: row.position):
        versions = sorted(answers.get(question.id, ()), key=lambda row: row.version_of is None)
        found += [question, *versions[-1:]]
    return found


def replace_answer(connection: Connection, conversation: str, answer: str) -> int:
    """Turn an answer into an earlier version, and remove all that follows; returns the place of the new one."""
    own = messages.c.conversation == conversation
    position = connection.execute(select(messages.c.position).where(own, messages.c.id == plain(answer))).scalar_one()
    connection.execute(delete(messages).where(own, messages.c.position > position))
    purge(connection, conversation)
    _set_aside(connection, conversation, position)
    return int(position)


def choose(connection: Connection, conversation: str, answer: str) -> None:
    """Show an earlier version; the answer that was shown becomes one."""
    same = (messages.c.conversation == conversation, messages.c.id == plain(answer))
    old = connection.execute(select(messages.c.version_of).where(*same)).first()
    if old is None:
        raise NO_MESSAGE(id=answer[:40])
    if old.version_of is not None:
        asked = select(messages.c.position).where(messages.c.id == old.version_of)
        place = connection.execute(asked).scalar_one() + 1
        _set_aside(connection, conversation, place)
        connection.execute(update(messages).where(*same).values(position=place, version_of=None))


def purge(connection: Connection, conversation: str) -> None:
    """Remove the earlier versions of answers whose question is gone."""
    own = messages.c.conversation == conversation
    asked = select(messages.c.id).where(own, messages.c.role == "user").scalar_subquery()
    lost = (messages.c.version_of.is_not(None), messages.c.version_of.not_in(asked))
    connection.execute(delete(messages).where(own, *lost))


def _set_aside(connection: Connection, conversation: str, position: int) -> None:
    own = messages.c.conversation == conversation
    asked = connection.execute(select(messages.c.id).where(own, messages.c.position == position - 1)).scalar_one()
    lowest = connection.execute(select(func.min(messages.c.position)).where(own)).scalar_one()
    aside = update(messages).where(own, messages.c.position == position)
    connection.execute(aside.values(position=min(lowest, 0) - 1, version_of=asked))
