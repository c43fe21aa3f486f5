"""An answer piece by piece, as models give it that need no LangChain for that."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict, runtime_checkable


class TokenUsage(TypedDict):
    """What an answer used, in tokens."""

    input_tokens: int
    output_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class Piece:
    """All that arrived of an answer at one time."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    """Parts of tool calls: ``index``, ``id``, ``name`` and ``args``."""
    dropped: bool = False
    """Whether the model wanted more calls, which are not made."""
    finish: str = ""
    usage: TokenUsage | None = None


@runtime_checkable
class PieceStream(Protocol):
    """A model that streams plain messages."""

    def pieces(self, messages: Sequence[Mapping[str, str]]) -> AsyncGenerator[Piece, None]:
        """The answer to messages, each with ``role`` and ``content``."""
        ...
