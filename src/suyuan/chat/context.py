"""A message that leans on the conversation: the query that says what it leaves out."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from ..core.allowance import asking_a_model
from ..embedded.follow_up import Resolved, Said, resolve
from ..embedded.responder import Responder
from ..embedded.turn_input import TurnInput
from ..llm.reasoning import without_reasoning
from ..text.words import count_tokens
from .prompts import standalone_query
from .turn import Turn

log = logging.getLogger("suyuan.chat")

_MODEL_SECONDS = 3.0
_LONGEST = 200


async def resolved_message(turn: Turn) -> Resolved:
    """The message with what it leaves out; its query is by the model or, where that fails or takes long, by rules."""
    # As the embedded model sees it: of long messages and conversations only so much as a follow-up can lean on.
    seen = TurnInput(turn.message, tuple(Said(past.question, past.answer) for past in turn.session.history))
    resolved = resolve(seen.question, seen.history)
    if resolved.query and not isinstance(turn.session.model, Responder):
        resolved = replace(resolved, query=await _by_model(turn) or resolved.query)
    alone = resolved.query.casefold() == seen.question.strip().casefold()
    return replace(resolved, query="") if alone else resolved


async def _by_model(turn: Turn) -> str:
    try:
        async with asyncio.timeout(_MODEL_SECONDS):
            asked = standalone_query(turn.message, turn.session.history, turn.lang)
            given = count_tokens(asked)
            async with asking_a_model(given) as use:
                reply = await turn.session.chat_model.ainvoke(asked)
                told = reply.usage_metadata
                use.read = told["input_tokens"] if told else given
                use.written = told["output_tokens"] if told else count_tokens(reply.text)
    except Exception as error:  # noqa: BLE001 - every library raises its own; the rules are there for all of them
        log.info("run=%s: no query by the model (%s)", turn.run, type(error).__name__)
        return ""
    line, *_ = without_reasoning(reply.text).splitlines() or [""]
    line = line.strip(" \"'“”`")
    return line if len(line) <= _LONGEST else ""
