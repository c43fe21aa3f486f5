"""``WholeCalls``: a model of any library that gives its tool calls on when they are whole.

LangChain puts pieces together by itself, and tries to complete arguments that are no JSON, which takes
the square of their length.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from .openai_compatible import message_of
from .pieces import Piece
from .tool_calls import CollectedCalls

_NO_CALLS: dict[str, list[Any]] = {"tool_call_chunks": [], "tool_calls": [], "invalid_tool_calls": []}


class WholeCalls:
    """Stands in front of a chat model among the bases of a class."""

    async def _astream(self, *given: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        calls = CollectedCalls()
        async with aclosing(super()._astream(*given, **options)) as chunks:  # type: ignore[misc]
            async for chunk in chunks:
                message = chunk.message
                if isinstance(message, AIMessageChunk) and message.tool_call_chunks:
                    for call in message.tool_call_chunks:
                        calls.add(call)
                    chunk.message = message.model_copy(update=_NO_CALLS)
                yield chunk
                if calls.too_many:
                    # What follows is not read; the connection is closed.
                    break
        if calls.whole:
            yield ChatGenerationChunk(message=message_of(Piece(calls=calls.whole, dropped=calls.too_many)))
