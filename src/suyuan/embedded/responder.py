"""``Responder``: answers from evidence that it is given as values, in cited sentences, without a language model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .planner import PlannedCall
    from .turn_input import TurnInput


class Responder:
    """Chooses the sentences of the sources that answer the question, and cites each of them."""

    def __init__(self, most_quotes: int = 4) -> None:
        self.most_quotes = most_quotes

    def plan(self, turn: TurnInput, tools: frozenset[str]) -> list[PlannedCall]:
        """Return the searches and pages that are needed now; none means that the answer can be written."""
        from .planner import plan_calls

        return plan_calls(turn, tools)

    def respond(self, turn: TurnInput) -> Iterator[str]:
        """Yield the lines of the answer, each with the numbers of its sources."""
        from .writer import write_answer

        yield from write_answer(turn, self.most_quotes).splitlines(keepends=True)
