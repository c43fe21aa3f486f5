"""Answering a message in the mode of its session."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ..core.allowance import FOR_A_JOB, FOR_A_MODEL, current_allowance
from ..core.causes.chat import EMPTY_MESSAGE, MESSAGE_TOO_LONG
from ..core.person import require
from ..store.conversation import Mode
from .agent_turn import agent_work
from .chat_turn import chat_work
from .events import Event
from .session import Session
from .turn import Turn, Work

MAX_MESSAGE = 20_000

_WORK: dict[Mode, Work] = {"chat": chat_work, "agent": agent_work}


def check_message(text: str) -> None:
    """Raise where ``text`` cannot be answered: nothing in it, or too much."""
    if not text.strip():
        raise EMPTY_MESSAGE()
    if len(text) > MAX_MESSAGE:
        raise MESSAGE_TOO_LONG(length=len(text), limit=MAX_MESSAGE)


async def begin_answer(*, searches: bool) -> None:
    """Count an answer that is about to be begun; raises a cause where the person who asks may have none.

    Only one that ``searches`` needs something left of the searches.
    """
    require("chat")
    await current_allowance.get().take("answers", *(FOR_A_JOB if searches else FOR_A_MODEL))


async def check_answer(*, searches: bool) -> None:
    """Raise a cause where the person who asks may not begin such an answer; nothing is counted."""
    await current_allowance.get().check("answers", *(FOR_A_JOB if searches else FOR_A_MODEL))


def answer_events(turn: Turn) -> AsyncIterator[Event]:
    """The events of one answer; the last one is the answer itself."""
    return turn.events(_WORK[turn.session.mode])


def answer_message(session: Session, text: str) -> AsyncIterator[Event]:
    """The events of the answer to ``text``."""
    check_message(text)
    return answer_events(Turn(session, text))
