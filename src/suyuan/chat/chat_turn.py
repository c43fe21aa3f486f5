"""Chat mode: where the switch is on, the message is searched and the best pages are read before the answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from ..core.causes.chat import WITHOUT_SEARCH
from ..core.errors import SuyuanError
from ..embedded.responder import Responder
from ..embedded.turn_input import TurnInput
from .gathering import Gathered, Gathering
from .model_call import stream_answer
from .prompts import chat_prompt
from .steps import guide_for
from .turn import Turn


async def chat_work(turn: Turn) -> None:
    """Search and read if the switch is on, then answer."""
    await (search_and_answer(turn) if turn.searches else _answer(turn, None))


async def search_and_answer(turn: Turn) -> None:
    """Search and read, then answer from what was found."""
    gathering = Gathering(turn)
    try:
        found = await gathering.gather()
        if found.error is not None:
            # The answer is marked as not verified by code, whatever the model writes.
            turn.unverified = True
            say_failed(turn, found.error)
        await _answer(turn, found)
    finally:
        await gathering.stop()


async def _answer(turn: Turn, found: Gathered | None) -> None:
    if isinstance(turn.session.model, Responder):
        given = found.turn_input(turn) if found else TurnInput(turn.message, turn.session.history, turn.session.length)
        await respond(turn, turn.session.model, given)
    else:
        question = found.prompt(turn) if found else turn.message
        await stream_answer(turn, chat_prompt(turn.lang, date.today(), turn.session.length), question)


async def respond(turn: Turn, responder: Responder, given: TurnInput) -> None:
    """Let a responder answer."""
    for piece in responder.respond(given):
        await turn.say(piece)


def say_failed(turn: Turn, error: SuyuanError) -> None:
    """Notify the user that the search failed, why, and what to do."""
    notice = WITHOUT_SEARCH.failure(cause=error.failure)
    notice = replace(notice, detail_code=error.detail_code or notice.detail_code)
    turn.notice("warning", notice, guide_for(error))
