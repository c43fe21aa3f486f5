"""A message that leans on the conversation: the query that says what it leaves out."""

from __future__ import annotations

import asyncio
import logging

from ..embedded.follow_up import Said, context_query, leans_on_context
from ..embedded.responder import Responder
from ..llm.reasoning import ReasoningSplitter
from .prompts import standalone_query
from .turn import Turn

log = logging.getLogger("suyuan.chat")

_MODEL_SECONDS = 3.0
_LONGEST = 200


def earlier(turn: Turn) -> tuple[Said, ...]:
    """What was said before, as the rules read it."""
    return tuple(Said(exchange.question, exchange.answer) for exchange in turn.session.history)


async def find_context_query(turn: Turn) -> str:
    """The query, written by the model or, where that fails or takes too long, by rules; empty where none is needed."""
    history = earlier(turn)
    if not leans_on_context(turn.message, history):
        return ""
    written = "" if isinstance(turn.session.model, Responder) else await _by_model(turn)
    query = written or context_query(turn.message, history)
    return "" if query.casefold() == turn.message.strip().casefold() else query


async def _by_model(turn: Turn) -> str:
    try:
        async with asyncio.timeout(_MODEL_SECONDS):
            reply = await turn.session.chat_model.ainvoke(
                standalone_query(turn.message, turn.session.history, turn.lang)
            )
    except Exception as error:  # noqa: BLE001 - every library raises its own; the rules are there for all of them
        log.info("run=%s: no query by the model (%s)", turn.run, type(error).__name__)
        return ""
    splitter = ReasoningSplitter()
    text = splitter.feed(reply.text)[0] + splitter.close()[0]
    line = next((line.strip(" \"'“”`") for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= _LONGEST else ""
