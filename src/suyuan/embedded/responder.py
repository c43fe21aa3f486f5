"""``Responder``: answers from evidence that it is given as values, in cited sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from .planner import PlannedCall
    from .turn_input import TurnInput


@runtime_checkable
class Responder(Protocol):
    """What answers without a language model."""

    def plan(self, turn: TurnInput, tools: frozenset[str]) -> list[PlannedCall]:
        """Return the tools to call now; none means that the answer can be written."""
        ...

    def respond(self, turn: TurnInput) -> Iterator[str]:
        """Yield the answer piece by piece, each with the numbers of its sources."""
        ...


class QuotingResponder:
    """Chooses the sentences of the sources that answer the question, and cites each of them."""

    def __init__(self, most_quotes: int = 4) -> None:
        self.most_quotes = most_quotes

    def plan(self, turn: TurnInput, tools: frozenset[str]) -> list[PlannedCall]:
        """Return the searches and pages that are needed before the answer."""
        from .planner import plan_calls

        return plan_calls(turn, tools)

    def respond(self, turn: TurnInput) -> Iterator[str]:
        """Yield the lines of the answer."""
        from .writer import write_answer

        yield from write_answer(turn, self.most_quotes).splitlines(keepends=True)
