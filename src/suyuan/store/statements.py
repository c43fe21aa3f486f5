"""The statements that every question needs, made once: to make one takes several times as long as to execute it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, Select, Text, bindparam, case, func, insert, or_, select, update

from ..core.person import EVERYBODY, current_person, owner
from .conversation import Message
from .process_owner import LEASE_SECONDS
from .tables import conversations, messages

FIELDS = tuple(messages.c[name] for name in Message.__slots__)

_ID = bindparam("id_", type_=Text())
# Known only when the statement is executed.
_EVERYBODY = bindparam("everybody", callable_=lambda: current_person.get() is EVERYBODY, type_=Boolean())
_PERSON = bindparam("person_", callable_=owner, type_=Text())
MINE = or_(_EVERYBODY, conversations.c.person == _PERSON)
"""The conversations of the person who asks, where they are looked up by their id."""
IN_MINE = messages.c.conversation.in_(
    select(conversations.c.id).where(conversations.c.id == messages.c.conversation, MINE).correlate(messages)
)
"""The messages in the conversations of the person who asks."""

LAST_POSITION = select(func.max(messages.c.position)).where(messages.c.conversation == _ID)
ADD = insert(messages)
MESSAGES = (
    select(*FIELDS)
    .where(messages.c.conversation == _ID, messages.c.position >= 0, IN_MINE)
    .order_by(messages.c.position)
)
MESSAGE = select(*FIELDS).where(messages.c.id == _ID)
TOUCH = (
    update(conversations)
    .where(conversations.c.id == _ID, conversations.c.deleted_at.is_(None), MINE)
    .values(
        updated_at=bindparam("now_"),
        title=case((conversations.c.title == "", bindparam("title_", type_=Text())), else_=conversations.c.title),
    )
    .returning(conversations)
)
"""Moves a conversation to the top, gives it a title if it has none, and locks it until the transaction ends."""
ENDED = (
    update(conversations)
    .where(conversations.c.id == select(messages.c.conversation).where(messages.c.id == _ID).scalar_subquery())
    .values(updated_at=bindparam("now_"))
    .returning(conversations.c.id)
)
FINISH = (
    update(messages)
    .where(messages.c.id == _ID)
    .values(
        state=bindparam("state_"), text=bindparam("text_"), answer=bindparam("answer_"), kept_at=bindparam("now_"),
        owner=None, lease=None, stopping=False,
    )
)  # fmt: skip


class TimedStatements:
    """Those that need the time by the clock of the database."""

    def __init__(self, now: Any) -> None:
        lease = now + LEASE_SECONDS
        lives = func.coalesce(messages.c.lease, 0) > now
        own = (messages.c.conversation == conversations.c.id, messages.c.state == "running", lives)
        running = select(messages.c.id).where(*own).limit(1).scalar_subquery().label("running")
        self.conversations: Select[Any] = select(conversations, running)
        """Conversations, each with the answer that is being written in it."""
        self.these_conversations = self.conversations.where(conversations.c.id.in_(bindparam("ids_", expanding=True)))
        self.conversation = self.conversations.where(conversations.c.id == _ID, MINE)
        over = func.coalesce(messages.c.lease, 0) <= now
        self.running = select(messages.c.id, messages.c.owner, messages.c.lease, over.label("over")).where(
            messages.c.state == "running"
        )
        """Answers that are being written, and whether their lease is over."""
        self.running_in = self.running.where(messages.c.conversation == _ID)
        self.add_running = insert(messages).values(lease=lease)
        self.keep_text = (
            update(messages)
            .where(messages.c.id == _ID, messages.c.state == "running")
            .values(text=bindparam("text_"), kept_at=bindparam("now_"), lease=lease)
            .returning(messages.c.stopping)
        )
