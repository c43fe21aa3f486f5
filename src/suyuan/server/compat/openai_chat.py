"""OpenAI's chat completions API; the sources of an answer are ``url_citation`` annotations."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from ...chat.events import Answer, Event, Thinking
from ...chat.service import ChatService
from ...core.causes.web import ONE_ANSWER, ONLY_TEXT, UNKNOWN_API_MODEL
from ...core.failure import Failure
from ...store.conversation import new_id
from ..error_forms import openai_error
from ..errors import language_of
from ..orjson_response import OrjsonResponse
from ..sse import EventStream, message, while_connected
from .turn_text import TurnText, cited, failed, failure_status, is_cut, model_names, turn_of

router = APIRouter(prefix="/v1", tags=["openai"])


class ContentPart(BaseModel):
    """A part of a message; only text is supported."""

    model_config = ConfigDict(extra="allow")
    type: str
    text: str = ""


class ChatMessage(BaseModel):
    """A message of the conversation so far."""

    model_config = ConfigDict(extra="allow")
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None

    def text(self) -> str:
        """The text of the message; raises a cause if there is anything else in it."""
        if self.role in ("tool", "function"):
            raise ONLY_TEXT(kind=self.role)
        if not isinstance(self.content, list):
            return self.content or ""
        for part in self.content:
            if part.type not in ("text", "input_text", "output_text"):
                raise ONLY_TEXT(kind=part.type)
        return "\n".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    """What a stream contains besides the text."""

    model_config = ConfigDict(extra="allow")
    include_usage: bool = False


class CompletionRequest(BaseModel):
    """A request of an OpenAI client; sampling parameters are ignored, since the model is configured on the server."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [{"model": "suyuan", "messages": [{"role": "user", "content": "What is new in Python 3.14?"}]}]
        },
    )
    model: str = Field("suyuan", max_length=300)
    messages: list[ChatMessage] = Field(min_length=1, max_length=2000)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: int | None = None
    tools: list[Any] | None = None
    response_format: dict[str, Any] | None = None

    def check(self) -> None:
        """Raise a cause if the request wants something that is not supported."""
        unsupported = {
            "n": (self.n or 1) != 1,
            "tools": bool(self.tools),
            "response_format": (self.response_format or {}).get("type", "text") != "text",
        }
        for name, wanted in unsupported.items():
            if wanted:
                raise ONE_ANSWER(name=name)


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
    await request.app.state.preloader.wait()
    state = request.app.state
    turn = turn_of(state.client.chat, body.model, [(each.role, each.text()) for each in body.messages])
    writer = CompletionWriter(body.model, TurnText(turn, state.metrics.count_event), language_of(request))
    if body.stream:
        usage = body.stream_options is not None and body.stream_options.include_usage
        return EventStream(writer.stream(usage))
    return await while_connected(request, writer.response())


@dataclass(slots=True)
class CompletionWriter:
    """Writes one answer in OpenAI's form, whole or as a stream."""

    model: str
    text: TurnText
    lang: str
    id: str = field(default_factory=lambda: f"chatcmpl-{new_id()}")
    created: int = field(default_factory=lambda: int(time.time()))

    async def response(self) -> Response:
        """The whole answer, or the failure."""
        reasoning = ""
        answer: Answer | None = None
        async with aclosing(self.text.events()) as events:
            async for event in events:
                if isinstance(event, Thinking):
                    reasoning += event.text
                elif isinstance(event, Answer):
                    answer = event
        assert answer is not None, "a turn always ends with an answer"
        if failure := failed(answer):
            status = failure_status(failure)
            return OrjsonResponse({"error": self._error(failure, status)}, status)
        content = answer.text + self.text.remark(answer)
        said: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
        said["annotations"] = citations(answer, content)
        if reasoning:
            said["reasoning_content"] = reasoning
        choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": _finish_reason(answer)}
        more = {"choices": [choice], "usage": usage(answer), "suyuan": self.text.extension(answer)}
        return OrjsonResponse(self._head("chat.completion") | more)

    async def stream(self, include_usage: bool) -> AsyncIterator[bytes]:
        """The answer in chunks; the last delta has the annotations."""
        yield self._chunk({"role": "assistant", "content": ""})
        async with aclosing(self.text.events()) as events:
            async for event in events:
                if isinstance(event, Answer):
                    for chunk in self._end(event, include_usage):
                        yield chunk
                elif delta := self._delta(event):
                    yield self._chunk(delta)

    def _delta(self, event: Event) -> dict[str, Any]:
        if isinstance(event, Thinking):
            return {"reasoning_content": event.text}
        text = self.text.piece(event)
        return {"content": text} if text else {}

    def _end(self, answer: Answer, include_usage: bool) -> list[bytes]:
        if failure := failed(answer):
            return [message({"error": self._error(failure, failure_status(failure))})]
        rest = self.text.rest(answer)
        last: dict[str, Any] = {"content": rest} if rest else {}
        last["annotations"] = citations(answer, self.text.sent)
        chunks = [self._chunk(last), self._chunk({}, _finish_reason(answer), suyuan=self.text.extension(answer))]
        if include_usage:
            chunks.append(message({**self._head("chat.completion.chunk"), "choices": [], "usage": usage(answer)}))
        return [*chunks, message("[DONE]")]

    def _error(self, failure: Failure, status: int) -> dict[str, Any]:
        return openai_error(status, failure.published(self.lang))

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return message({**self._head("chat.completion.chunk"), "choices": [choice], **more})


def _finish_reason(answer: Answer) -> str:
    return "length" if is_cut(answer) else "stop"


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
