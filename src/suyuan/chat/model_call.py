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

    async def once(share: float) -> None:
        messages = [{"role": "system", "content": system}, *conversation(turn, question, budget * share)]
        functions, model, called = turn.session.functions, turn.session.chat_model, None
        if isinstance(model, PieceStream) and not functions:
            async with aclosing(model.pieces(messages)) as pieces:
                async for piece in pieces:
                    take_piece(turn, piece)
            return
        # Closed at once where the answer is too long, and with it the connection to the model.
        async with aclosing(functions.bound(model).astream(messages)) as chunks:
            async for chunk in chunks:
                take_chunk(turn, chunk)
                if getattr(chunk, "tool_call_chunks", ()):
                    called = chunk if called is None else called + chunk
        turn.calls = functions.called(called)

    try:
        await retrying(turn, lambda: once(0.6))
    except SuyuanError as error:
        if error.detail_code != "context_overflow" or turn.spoken or not turn.session.history:
            raise
        turn.notice("warning", HISTORY_CUT.failure())
        await retrying(turn, lambda: once(0))


def conversation(turn: Turn, question: str, budget: float) -> list[Any]:
    """The question, after the newest earlier turns that fit into ``budget`` tokens."""
    kept: list[dict[str, str]] = []
    called = turn.session.functions.messages()
    budget -= sum(count_tokens(message.text) for message in called)
    for exchange in reversed(turn.session.history):
        told = _told(exchange, turn.lang)
        budget -= count_tokens(exchange.question) + count_tokens(told)
        if budget < 0:
            break
        kept[:0] = [{"role": "user", "content": exchange.question}, {"role": "assistant", "content": told}]
    return [*kept, {"role": "user", "content": question}, *called]


def _told(exchange: PastTurn, lang: str) -> str:
    """An earlier answer with its sources but without its citation numbers, which are no longer valid."""
    told = without_markers(exchange.answer), earlier_sources(exchange.sources, lang)
    return "\n".join(filter(None, told)) or "…"


def take_piece(turn: Turn, piece: Piece) -> None:
    """Take one piece of a model's stream."""
    turn.think(piece.reasoning)
    turn.count_hidden(piece.reasoning, *(call["args"] or "" for call in piece.calls))
    if piece.text:
        turn.say(piece.text)
    if used := piece.usage:
        turn.spend(input_tokens=used.get("input_tokens") or 0, output_tokens=used.get("output_tokens") or 0)


def take_chunk(turn: Turn, chunk: Any) -> None:
    """Take one chunk of the stream of a LangChain model."""
    thought = (chunk.additional_kwargs or {}).get("reasoning_content")
    if not thought and isinstance(chunk.content, list):
        thought = "".join(
            block.get("reasoning") or block.get("thinking") or "" for block in chunk.content if isinstance(block, dict)
        )
    calls = tuple(getattr(chunk, "tool_call_chunks", ()))
    take_piece(turn, Piece(chunk.text, thought or "", calls, usage=getattr(chunk, "usage_metadata", None)))


async def retrying(turn: Turn, call: Callable[[], Awaitable[T]]) -> T:
    """Call the model, and retry once where it failed before any output and a retry may help."""
    settings, retried = turn.session.model_settings, False
    while True:
        try:
            with span("model", model=settings.label, trace_id=turn.run):
                return await call()
        except Exception as error:  # noqa: BLE001 - every library raises its own; all become causes here
            fault = model_error(error, settings)
            wait = retry_wait(fault, _PAUSE, _LONGEST_WAIT)
            # After a time-out the user has waited long enough; the user decides.
            if wait is None or retried or turn.spoken or isinstance(fault, Timeout):
                raise fault from None
        retried = True
        # What it began to think is no part of what it says next.
        turn.withdraw()
        await asyncio.sleep(wait)
