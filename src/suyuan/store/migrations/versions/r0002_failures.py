"""Stored failures of 0.1: ``fault`` with texts by language becomes ``failure``, ``cure`` becomes ``hint``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_RENAMED = {"cure": "hint", "unhonoured": "unsupported_params"}
_messages = sa.table("suyuan_messages", *map(sa.column, ("id", "conversation", "answer")))
_events = sa.table("suyuan_events", *map(sa.column, ("run", "seq", "event")))
_conversations = sa.table("suyuan_conversations", *map(sa.column, ("id", "lang")))


def upgrade() -> None:
    """Rewrite answers and events that hold a failure."""
    connection = op.get_bind()
    for table, column, keys in (
        (_messages, _messages.c.answer, (_messages.c.id,)),
        (_events, _events.c.event, (_events.c.run, _events.c.seq)),
    ):
        for values, old, lang in _rows(connection, column, keys):
            new = json.dumps(_converted(json.loads(old), lang), ensure_ascii=False, separators=(",", ":"))
            same_row = (key == value for key, value in zip(keys, values, strict=True))
            connection.execute(table.update().where(*same_row).values({column.name: new}))
    connection.execute(sa.text("UPDATE suyuan_schema SET version = 2"))


def _rows(
    connection: sa.Connection, column: sa.ColumnClause[Any], keys: tuple[sa.ColumnClause[Any], ...]
) -> Iterator[tuple[tuple[Any, ...], str, str]]:
    """Every row of the old form: its key, its JSON, and the language of its conversation."""
    joined = _messages.join(_conversations, _messages.c.conversation == _conversations.c.id)
    if column.table is _events:
        joined = joined.join(_events, _events.c.run == _messages.c.id)
    old = sa.or_(*(column.like(f'%"{name}"%') for name in ("fault", *_RENAMED)))
    rows = connection.execute(sa.select(column, _conversations.c.lang, *keys).select_from(joined).where(old)).all()
    return ((tuple(row[2:]), row[0], row[1]) for row in rows)


def _converted(value: Any, lang: str) -> Any:
    if isinstance(value, list):
        return [_converted(each, lang) for each in value]
    if not isinstance(value, dict):
        return value
    converted = {_RENAMED.get(name, name): _converted(each, lang) for name, each in value.items() if name != "fault"}
    if "fault" in value:
        converted["failure"] = value["fault"] and _failure(value["fault"], lang)
    return converted


def _failure(fault: dict[str, Any], lang: str) -> dict[str, Any]:
    """The old form held finished texts, which stay as they were, in the language of the conversation."""
    texts = fault["texts"]
    message, hint = texts.get(lang) or texts["en"]
    params = {"message": message, "hint": hint}
    codes = {name: fault[name] for name in ("code", "detail_code", "retryable")}
    return {**codes, **params, "key": "failure.verbatim", "params": params}
