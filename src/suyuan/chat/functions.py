"""Functions of the caller: what a model may call in place of an answer, and what such calls returned."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..llm.tool_calls import as_written
from ..store.conversation import new_id

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call that a model wants to be made, and what it returned where it was made."""

    id: str
    name: str
    arguments: str
    """As JSON."""
    output: str | None = None

    def __str__(self) -> str:
        return f"{self.name}({self.arguments}) → {self.output}"


@dataclass(frozen=True, slots=True)
class Functions:
    """The functions of the caller, described as OpenAI does, and the calls that were made for this question."""

    tools: tuple[dict[str, Any], ...] = ()
    choice: str = ""
    """The name of the one that has to be called, or "any"."""
    rounds: tuple[tuple[FunctionCall, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.tools or self.rounds)

    @property
    def names(self) -> list[str]:
        """The names of the functions."""
        return [str(tool["function"]["name"]) for tool in self.tools]

    def bound(self, model: Any) -> Any:
        """``model`` with the functions."""
        return model.bind_tools(list(self.tools), tool_choice=self.choice or None) if self.tools else model

    def called(self, message: Any) -> tuple[FunctionCall, ...]:
        """The calls of these functions in a message of the model."""
        calls = [*getattr(message, "tool_calls", ()), *getattr(message, "invalid_tool_calls", ())]
        return tuple(
            FunctionCall(call["id"] or f"call_{new_id()}", call["name"], _json(call["args"]))
            for call in calls
            if call["name"] in self.names
        )

    def messages(self) -> list[BaseMessage]:
        """The calls that were made, as a model has to see them."""
        if not self.rounds:
            return []
        from langchain_core.messages import AIMessage, ToolMessage

        told: list[BaseMessage] = []
        for calls in self.rounds:
            made: Any = [{"name": call.name, "args": arguments_of(call), "id": call.id} for call in calls]
            told.append(AIMessage("", tool_calls=made))
            told += [ToolMessage(call.output or "", tool_call_id=call.id) for call in calls]
        return told


NO_FUNCTIONS = Functions()


def _json(arguments: Any) -> str:
    return as_written(arguments) if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)


def arguments_of(call: FunctionCall) -> dict[str, Any]:
    """The arguments as an object; a model that wrote something else has to see what it wrote."""
    try:
        found = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"arguments": call.arguments}
