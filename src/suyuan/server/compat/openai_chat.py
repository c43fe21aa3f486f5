"""OpenAI's chat completions API; the sources of an answer are ``url_citation`` annotations."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import ConfigDict, Field

from ...chat.events import Answer, Event, Thinking
from ...chat.functions import FunctionCall
from ...chat.service import ChatService
from ...core.causes.web import ONLY_TEXT, UNKNOWN_API_MODEL
from ...store.conversation import new_id
from ..sse import message
from .foreign_turn import ForeignMessage, Parts, Tools, functions_of, model_names, text_of
from .shared import Wanted
from .turn_text import AnswerWriter, TurnText, cited, is_cut

router = APIRouter(prefix="/v1", tags=["openai"])


class CalledFunction(Wanted):
    """What a model wants to be called."""

    name: str
    arguments: str = ""


class ToolCall(Wanted):
    """A call of a function of the caller."""

    id: str
    function: CalledFunction


class ChatMessage(Wanted):
    """A message of the conversation so far."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Parts = ""
    tool_calls: list[ToolCall] = Field([], max_length=128, fail_fast=True)
    tool_call_id: str = ""

    def said(self) -> ForeignMessage:
        """The message; raises a cause if there is anything but text and calls in it."""
        if self.role == "function":
            raise ONLY_TEXT(kind=self.role)
        calls = [FunctionCall(each.id, each.function.name, each.function.arguments) for each in self.tool_calls]
        return ForeignMessage.sent(self.model_dump(), self.role, text_of(self.content), tuple(calls), self.tool_call_id)


class StreamOptions(Wanted):
    """What a stream contains besides the text."""

    include_usage: bool = False


class CompletionRequest(Wanted):
    """A request of an OpenAI client; sampling parameters are ignored, since the model is configured on the server."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"model": "suyuan", "messages": [{"role": "user", "content": "What is new in Python 3.14?"}]}]
        },
    )
    model: str = Field("suyuan", max_length=300)
    messages: list[ChatMessage] = Field(min_length=1, max_length=2000, fail_fast=True)
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()
    n: int = 1
    tools: Tools = []
    tool_choice: str | dict[str, Any] = "auto"
    response_format: dict[str, Any] = {}

    def check(self) -> None:
        """Raise a cause if the request wants something that is not supported."""
        unsupported = {
            "n": self.n != 1,
            "tools": any(tool.get("type") != "function" for tool in self.tools),
            "functions": "functions" in (self.model_extra or {}),
            "response_format": self.response_format.get("type", "text") != "text",
        }
        self.refuse(unsupported)


@router.get("/models")
async def list_models(request: Request) -> dict[str, Any]:
    """The models that can be chosen, in a form that the clients of OpenAI and of Anthropic read."""
    request.app.state.preloader.start()
    names = model_names(request.app.state.client.chat)
    more = {"has_more": False, "first_id": names[0], "last_id": names[-1]}
    return {"object": "list", "data": [_model(name) for name in names], **more}


@router.get("/models/{id:path}")
async def get_model(request: Request, id: str) -> dict[str, Any]:
    """One model."""
    chat: ChatService = request.app.state.client.chat
    if id not in model_names(chat):
        raise UNKNOWN_API_MODEL(value=id[:80], known=", ".join(chat.sessions.models))
    return _model(id)


def _model(name: str) -> dict[str, Any]:
    model = {"id": name, "object": "model", "created": 0, "owned_by": "suyuan"}
    return {**model, "type": "model", "display_name": name, "created_at": "1970-01-01T00:00:00Z"}


@router.post("/chat/completions")
async def complete(request: Request, body: CompletionRequest) -> Response:
    """Answer the last message with a search; nothing is stored."""
    body.check()
    functions = functions_of(body.tools, body.tool_choice)
    said = [each.said() for each in body.messages]
    text = await TurnText.of(request, body.model, said, functions, not_honoured=body.not_honoured())
    writer = CompletionWriter(body.model, text, body.stream_options.include_usage)
    return await writer.response(request, stream=body.stream)


@dataclass(slots=True)
class CompletionWriter(AnswerWriter):
    """Writes one answer in OpenAI's form, whole or as a stream."""

    include_usage: bool = False
    id: str = field(default_factory=lambda: f"chatcmpl-{new_id()}")
    created: int = field(default_factory=lambda: int(time.time()))
    _reasoning: str = ""

    def noted(self, event: Event) -> Iterator[bytes]:
        """Take reasoning."""
        if isinstance(event, Thinking):
            self._reasoning += event.text
            yield self._chunk({"reasoning_content": event.text})

    def whole(self, answer: Answer) -> dict[str, Any]:
        """The answer in one piece."""
        content = self.text.whole(answer)
        said: dict[str, Any] = {"role": "assistant", "content": content or None, "refusal": None}
        said["annotations"] = citations(answer, content)
        if answer.calls:
            said["tool_calls"] = _tool_calls(answer)
        if self._reasoning:
            said["reasoning_content"] = self._reasoning
        choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": _finish_reason(answer)}
        more = {"choices": [choice], "usage": usage(answer), "suyuan": self.text.extension(answer)}
        return self._head("chat.completion") | more

    def begin(self) -> Iterable[bytes]:
        """The first chunk."""
        return [self._chunk({"role": "assistant", "content": ""})]

    def spoken(self, piece: str) -> Iterable[bytes]:
        """The chunk of a piece of the text."""
        return [self._chunk({"content": piece})]

    def end(self, answer: Answer) -> Iterable[bytes]:
        """The last chunks; the last delta has the annotations."""
        rest = self.text.rest(answer)
        last: dict[str, Any] = {"content": rest} if rest else {}
        last["annotations"] = citations(answer, self.text.sent)
        if answer.calls:
            last["tool_calls"] = [{"index": at, **call} for at, call in enumerate(_tool_calls(answer))]
        yield self._chunk(last)
        yield self._chunk({}, _finish_reason(answer), suyuan=self.text.extension(answer))
        if self.include_usage:
            yield message({**self._head("chat.completion.chunk"), "choices": [], "usage": usage(answer)})
        yield message("[DONE]")

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return message({**self._head("chat.completion.chunk"), "choices": [choice], **more})


def _tool_calls(answer: Answer) -> list[dict[str, Any]]:
    return [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.calls
    ]


def _finish_reason(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "length" if is_cut(answer) else "stop"


def citations(answer: Answer, content: str) -> list[dict[str, Any]]:
    """The citations in ``content``: one for every marker of a known source, with its position in characters."""
    return [
        {
            "type": "url_citation",
            "url_citation": {"start_index": start, "end_index": end, "title": source.title, "url": source.url},
        }
        for start, end, source in cited(answer, content)
    ]


def usage(answer: Answer) -> dict[str, int]:
    """The token counts of an answer."""
    used = answer.usage
    return {
        "prompt_tokens": used.input_tokens,
        "completion_tokens": used.output_tokens,
        "total_tokens": used.input_tokens + used.output_tokens,
    }
