"""A request of a client of a language model as a turn of ours: what was said, and the functions of the caller."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Annotated, Any

from pydantic import AliasChoices, Field, field_validator

from ...chat.answering import check_message
from ...chat.functions import FunctionCall, Functions
from ...chat.service import ChatService
from ...chat.session import PastTurn
from ...chat.turn import Turn
from ...core.causes.asked import BAD_ARGUMENT
from ...core.causes.web import NO_USER_MESSAGE, ONLY_TEXT, UNKNOWN_API_MODEL
from ...core.own_address import names_document
from ...messages.catalog import Text
from ...store.conversation import Mode, new_id
from .shared import Wanted, checked

MODES: dict[str, Mode] = {"suyuan": "chat", "suyuan-chat": "chat", "suyuan-agent": "agent"}
Parts = Annotated[list[dict[str, Any]], Field(max_length=2000, fail_fast=True)]
"""The parts of a message, or messages."""
Tools = Annotated[list[dict[str, Any]], Field(max_length=128, fail_fast=True)]
_TEXTS = ("text", "input_text", "output_text")


def model_names(chat: ChatService) -> list[str]:
    """The models that a client can name: how is answered, and by which of the configured models."""
    return [*MODES, *(f"suyuan:{name}" for name in chat.sessions.models)]


def check_model(chat: ChatService, model: str) -> None:
    """Raise a cause for a model that is not there."""
    kind, _, name = model.partition(":")
    if kind not in MODES or (name and name not in chat.sessions.models):
        raise UNKNOWN_API_MODEL(value=model[:80], known=", ".join(chat.sessions.models))


@dataclass(frozen=True, slots=True)
class ForeignMessage:
    """One message of a conversation: a text, calls of the caller's functions, or what one of them returned."""

    role: str
    text: str = ""
    calls: tuple[FunctionCall, ...] = ()
    call: str = ""
    """The id of the call that returned the text."""
    sources: tuple[tuple[str, str], ...] = ()
    """Title and address of what an answer was based on."""
    private: bool | None = None
    """Whether it may repeat own documents; None where it is the client who says what was answered."""

    @classmethod
    def sent(
        cls, item: Any, role: str, text: str = "", calls: tuple[FunctionCall, ...] = (), call: str = ""
    ) -> ForeignMessage:
        """A message as a client has sent it: it may repeat own documents if anything in ``item`` names one."""
        return cls(role, text, calls, call, private=names_document(item) or None)


SENT_BESIDE = "beside"
"""The role of what stands between messages and is none: searches of earlier answers, their results, reasoning."""


def text_of(content: Any, skipped: Sequence[str] = (), between: str = "\n") -> str:
    """The text of a message, whose parts are texts; raises a cause for others, unless they are to be skipped."""
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = []
    for part in content:
        kind = str(part.get("type", "")) if isinstance(part, dict) else type(part).__name__
        if kind in _TEXTS:
            parts.append(str(part.get("text", "")))
        elif kind not in skipped:
            raise ONLY_TEXT(kind=kind[:40])
    return between.join(parts)


class Function(Wanted):
    """A function of the caller, as OpenAI and Anthropic describe it."""

    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,128}$")
    description: str = ""
    parameters: dict[str, Any] = Field({}, validation_alias=AliasChoices("parameters", "input_schema"))

    @field_validator("parameters")
    @classmethod
    def _finite(cls, given: dict[str, Any]) -> dict[str, Any]:
        # A number beyond all bounds is no JSON, and the model would be blamed for it.
        json.dumps(given, allow_nan=False)
        return given

    def tool(self) -> dict[str, Any]:
        """The function in the form that models are given."""
        return {"type": "function", "function": self.model_dump(include={"name", "description", "parameters"})}


def functions_of(tools: Iterable[dict[str, Any]], choice: str | dict[str, Any]) -> Functions:
    """The functions among the tools of a request, and which of them has to be called."""
    kind = choice if isinstance(choice, str) else str(choice.get("type", ""))
    if kind == "none":
        return Functions()
    made = tuple(checked(partial(Function.model_validate, tool.get("function", tool))).tool() for tool in tools)
    found = Functions(made, "any" if made and kind in ("required", "any") else "")
    if isinstance(choice, dict) and kind in ("function", "tool"):
        inner = choice.get("function")
        name = str((inner if isinstance(inner, dict) else choice).get("name", ""))
        if name not in found.names:
            raise BAD_ARGUMENT(name="tool_choice", why=Text("server.detail.no_such_function", {"value": name[:80]}))
        return replace(found, choice=name)
    return found


def turn_of(
    chat: ChatService,
    model: str,
    said: Sequence[ForeignMessage],
    functions: Functions | None = None,
    *,
    search: bool = True,
) -> Turn:
    """The turn that answers the last question of a conversation."""
    asked = _Conversation()
    spoken = [each for each in said if each.role != SENT_BESIDE]
    for each, after in zip_longest(spoken, spoken[1:]):
        # What a model said before it called functions is no answer.
        if each.role != "assistant" or each.calls or after is None or not after.calls:
            asked.take(each)
    question = asked.question()
    check_message(question)
    check_model(chat, model)
    kind, _, name = model.partition(":")
    functions = replace(functions or Functions(), rounds=asked.calls())
    session = chat.sessions.create(
        tuple(asked.history),
        mode=MODES[kind],
        search=search,
        model=name,
        functions=functions,
        instructions=_instructions(said),
        private=any(each.private for each in _before_question(said)),
    )
    return Turn(session, question, new_id())


def _before_question(said: Sequence[ForeignMessage]) -> Sequence[ForeignMessage]:
    """All but the messages of the user that have no answer yet: what they name was not read for them."""
    answers = ("assistant", "tool", SENT_BESIDE)
    last = max((at for at, each in enumerate(said) if each.role in answers), default=-1)
    return [each for at, each in enumerate(said) if at <= last or each.role != "user"]


def _instructions(said: Sequence[ForeignMessage]) -> str:
    """What the caller tells the model; clients also put pages and documents there that they have found."""
    return "\n\n".join(each.text for each in said if each.role in ("system", "developer") and each.text.strip())


@dataclass(slots=True)
class _Conversation:
    """What was said, message by message: questions with their answers, and the question that has none yet."""

    history: list[PastTurn] = field(default_factory=list)
    _questions: list[str] = field(default_factory=list)
    _rounds: list[dict[str, FunctionCall]] = field(default_factory=list)
    _last: str = ""

    def take(self, said: ForeignMessage) -> None:
        """Take the next message."""
        if said.calls:
            # Clients send the calls of one message as several items.
            if self._last != "calls":
                self._rounds.append({})
            self._rounds[-1] |= {call.id: call for call in said.calls}
        elif said.role == "tool":
            self._returned(said)
        elif said.role == "user":
            if self._rounds:
                self._answered("…")
            self._questions.append(said.text)
        elif said.role == "assistant" and said.text.strip():
            self._answered(said.text, said.sources, said.private)
        self._last = "calls" if said.calls else said.role

    def question(self) -> str:
        """The question that has no answer yet."""
        if self._last not in ("user", "tool"):
            raise NO_USER_MESSAGE()
        return "\n\n".join(self._questions)

    def calls(self) -> tuple[tuple[FunctionCall, ...], ...]:
        """The functions that were called for that question, each with what it returned."""
        for call in (call for calls in self._rounds for call in calls.values()):
            if call.output is None:
                raise BAD_ARGUMENT(name="messages", why=Text("server.detail.unanswered_call", {"id": call.id[:80]}))
        return tuple(tuple(calls.values()) for calls in self._rounds)

    def _returned(self, said: ForeignMessage) -> None:
        calls = next((calls for calls in reversed(self._rounds) if said.call in calls), None)
        if calls is None:
            raise BAD_ARGUMENT(name="messages", why=Text("server.detail.no_such_call", {"id": said.call[:80]}))
        calls[said.call] = replace(calls[said.call], output=said.text)

    def _answered(self, text: str, sources: tuple[tuple[str, str], ...] = (), private: bool | None = None) -> None:
        """End an exchange."""
        returned = "\n\n".join(str(call) for calls in self.calls() for call in calls)
        self.history.append(PastTurn("\n\n".join(self._questions), text, sources, returned, private))
        self._questions, self._rounds = [], []
