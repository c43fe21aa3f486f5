"""Calling the model: its stream becomes events, its errors become causes, with one retry where that is safe."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

from ..citations.markers import without_markers
from ..core.causes.chat import HISTORY_CUT
from ..core.errors import SuyuanError, Timeout
from ..core.spans import span
from ..llm.errors import model_error, retry_wait
from ..llm.pieces import Piece, PieceStream
from ..llm.tool_calls import CALLS_DROPPED, CollectedCalls
from ..text.visible import shown_piece
from ..text.words import count_tokens
from .prompts import earlier_sources
from .session import PastTurn
from .turn import Turn

T = TypeVar("T")

# A longer wait is shown to the user as an error.
_LONGEST_WAIT = 8.0
_PAUSE = 0.5


async def stream_answer(turn: Turn, system: str, question: str) -> None:
    """Let the model answer ``question`` with the earlier messages as context."""
    budget = turn.session.model_settings.context_tokens - count_tokens(system) - count_tokens(question)

    async def ask(share: float) -> None:
        earlier = await conversation(turn, question, budget * share)
        messages = [{"role": "system", "content": system}, *earlier]
        await retrying(turn, lambda: _stream(turn, messages), _tokens(messages))

    try:
        await ask(0.6)
    except SuyuanError as error:
        if error.detail_code != "context_overflow" or turn.spoken or not _has_more(turn):
            raise
        turn.notice("warning", HISTORY_CUT.failure())
        await ask(0)


async def _stream(turn: Turn, messages: list[Any]) -> None:
    """Take what the model says to ``messages``."""
    before = turn.usage
    functions, model = turn.session.functions, turn.session.chat_model
    if isinstance(model, PieceStream) and not functions:
        async with aclosing(model.pieces(messages)) as pieces:
            async for piece in pieces:
                await take_piece(turn, piece)
    else:
        called = CollectedCalls()
        # Closed at once where the answer is too long, and with it the connection to the model.
        async with aclosing(functions.bound(model).astream(messages)) as chunks:
            async for chunk in chunks:
                await take_chunk(turn, chunk)
                for call in getattr(chunk, "tool_call_chunks", ()):
                    called.add(call)
                if called.too_many:
                    turn.drop_calls()
                    break
        turn.calls = functions.called(_calling(called))
    now = turn.usage
    turn.end_call(now.input_tokens - before.input_tokens, now.output_tokens - before.output_tokens)


def _calling(calls: CollectedCalls) -> Any:
    """The message that makes these calls; none where there are none."""
    if not calls.whole:
        return None
    from langchain_core.messages import AIMessageChunk
    from langchain_core.messages.tool import tool_call_chunk

    return AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(**call) for call in calls.whole])


def _tokens(messages: list[Any]) -> int:
    """The tokens of messages, which are ours or LangChain's."""
    return sum(count_tokens(each["content"] if isinstance(each, dict) else each.text) for each in messages)


def _has_more(turn: Turn) -> bool:
    """Whether the model is told more than the question."""
    return bool(turn.session.history or turn.session.instructions)


async def conversation(turn: Turn, question: str, budget: float) -> list[Any]:
    """The question, after the newest earlier turns that fit into ``budget`` tokens."""
    # In a thread, since all of the earlier answers are looked through, which may be long.
    return await asyncio.to_thread(_conversation, turn, question, budget)


def _conversation(turn: Turn, question: str, budget: float) -> list[Any]:
    kept: list[dict[str, str]] = []
    instructions = turn.session.instructions
    called = turn.session.functions.messages()
    budget -= sum(count_tokens(message.text) for message in called)
    for exchange in reversed(turn.session.history):
        asked, told = _asked(exchange), _told(exchange, turn.lang)
        budget -= count_tokens(asked) + count_tokens(told)
        if budget < 0:
            break
        kept[:0] = [{"role": "user", "content": asked}, {"role": "assistant", "content": told}]
    if instructions and count_tokens(instructions) <= budget:
        kept[:0] = [{"role": "user", "content": instructions}, {"role": "assistant", "content": "OK."}]
    return [*kept, {"role": "user", "content": question}, *called]


def _asked(exchange: PastTurn) -> str:
    """An earlier question, with what functions of the caller returned for it."""
    return "\n\n".join(filter(None, (exchange.question, exchange.returned))) or "…"


def _told(exchange: PastTurn, lang: str) -> str:
    """An earlier answer with its sources but without its citation numbers, which are no longer valid."""
    told = without_markers(exchange.answer), earlier_sources(exchange.sources, lang)
    return "\n".join(filter(None, told)) or "…"


async def take_piece(turn: Turn, piece: Piece) -> None:
    """Take one piece of a model's stream."""
    turn.think(shown_piece(piece.reasoning))
    turn.count_hidden(piece.reasoning, *(call["args"] or "" for call in piece.calls))
    if piece.dropped:
        turn.drop_calls()
    if piece.text:
        await turn.say(shown_piece(piece.text))
    if used := piece.usage:
        turn.spend(input_tokens=used.get("input_tokens") or 0, output_tokens=used.get("output_tokens") or 0)


async def take_chunk(turn: Turn, chunk: Any) -> None:
    """Take one chunk of the stream of a LangChain model."""
    thought = (chunk.additional_kwargs or {}).get("reasoning_content")
    if not thought and isinstance(chunk.content, list):
        thought = "".join(
            block.get("reasoning") or block.get("thinking") or "" for block in chunk.content if isinstance(block, dict)
        )
    calls = tuple(getattr(chunk, "tool_call_chunks", ()))
    dropped = CALLS_DROPPED in (chunk.response_metadata or {})
    usage = getattr(chunk, "usage_metadata", None)
    await take_piece(turn, Piece(chunk.text, thought or "", calls, dropped, usage=usage))


async def retrying(turn: Turn, call: Callable[[], Awaitable[T]], given: int) -> T:
    """Call the model, and retry once where it failed before any output and a retry may help.

    ``given`` are the tokens of what it is asked.
    """
    settings, retried = turn.session.model_settings, False
    while True:
        await turn.begin_call(given)
        try:
            with span("model", model=settings.label, trace_id=turn.run):
                return await call()
        except Exception as error:  # noqa: BLE001 - every library raises its own; all become causes here
            turn.fail_call()
            fault = model_error(error, settings)
            wait = retry_wait(fault, _PAUSE, _LONGEST_WAIT)
            # After a time-out the user has waited long enough; the user decides.
            if wait is None or retried or turn.spoken or isinstance(fault, Timeout):
                raise fault from None
        retried = True
        # What it began to think is no part of what it says next.
        turn.withdraw()
        await asyncio.sleep(wait)
