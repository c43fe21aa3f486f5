"""OpenAI's chat completions API; the sources of an answer are ``url_citation`` annotations."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from ...chat.answering import WORK, check_message
from ...chat.events import Answer, Event, Notice, TextDelta, TextWithdrawn, Thinking
from ...chat.service import ChatService
from ...chat.session import Exchange, Session
from ...chat.turn import Turn
from ...citations.markers import find_markers
from ...core.causes.chat import ANSWER_TOO_LONG
from ...core.causes.web import NO_USER_MESSAGE, ONE_ANSWER, ONLY_TEXT, UNKNOWN_API_MODEL
from ...core.failure import Failure
from ...messages import catalog
from ...store.conversation import Mode, new_id
from ..error_forms import openai_error
from ..errors import language_of, status_of
from ..orjson_response import OrjsonResponse
from ..sse import EventStream, message, while_connected

router = APIRouter(prefix="/v1", tags=["openai"])

_MODES: dict[str, Mode] = {"suyuan": "chat", "suyuan-chat": "chat", "suyuan-agent": "agent"}
# Agents write text before they call a tool, and what was sent cannot be withdrawn: so many characters are held back.
_HELD_BACK = 300


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
            if part.type not in ("text", "input_text"):
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
    """The models that can be chosen."""
    request.app.state.preloader.start()
    chat: ChatService = request.app.state.client.chat
    names = [*_MODES, *(f"suyuan:{name}" for name in chat.sessions.models)]
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 0, "owned_by": "suyuan"} for name in names],
    }


@router.post("/chat/completions")
async def complete(request: Request, body: CompletionRequest) -> Response:
    """Answer the last message with a search; nothing is stored."""
    body.check()
    await request.app.state.preloader.wait()
    state = request.app.state
    writer = CompletionWriter(
        body.model, _turn(state.client.chat, body), language_of(request), state.metrics.count_event
    )
    if body.stream:
        usage = body.stream_options is not None and body.stream_options.include_usage
        return EventStream(writer.stream(usage))
    return await while_connected(request, writer.response())


def _turn(chat: ChatService, body: CompletionRequest) -> Turn:
    question, history = _read(body.messages)
    check_message(question)
    return Turn(_session(chat, body.model, history), question, new_id())


def _session(chat: ChatService, model: str, history: tuple[Exchange, ...]) -> Session:
    kind, _, name = model.partition(":")
    if kind not in _MODES or (name and name not in chat.sessions.models):
        raise UNKNOWN_API_MODEL(value=model[:80], known=", ".join(chat.sessions.models))
    return chat.sessions.create(history, mode=_MODES[kind], search=True, model=name)


def _read(messages: list[ChatMessage]) -> tuple[str, tuple[Exchange, ...]]:
    """The question, and the pairs of question and answer before it; the system messages are the first pair."""
    if messages[-1].role != "user":
        raise NO_USER_MESSAGE()
    texts = [(each.role, each.text()) for each in messages]
    system = "\n\n".join(text for role, text in texts if role in ("system", "developer") and text.strip())
    history = [Exchange(system, "OK.")] if system else []
    questions: list[str] = []
    for role, text in texts:
        if role == "user":
            questions.append(text)
        elif role == "assistant" and text.strip():
            history.append(Exchange("\n\n".join(questions) or "…", text))
            questions = []
    return "\n\n".join(questions), tuple(history)


@dataclass(slots=True)
class CompletionWriter:
    """Writes one answer in OpenAI's form, whole or as a stream."""

    model: str
    turn: Turn
    lang: str
    count: Callable[[Event], None]
    id: str = field(default_factory=lambda: f"chatcmpl-{new_id()}")
    created: int = field(default_factory=lambda: int(time.time()))
    _sent: str = ""
    """The content that was sent so far."""
    _held: str = ""
    _notices: list[Failure] = field(default_factory=list)

    async def response(self) -> Response:
        """The whole answer, or the failure."""
        reasoning = ""
        answer: Answer | None = None
        async with aclosing(self._events()) as events:
            async for event in events:
                if isinstance(event, Thinking):
                    reasoning += event.text
                elif isinstance(event, Answer):
                    answer = event
        assert answer is not None, "a turn always ends with an answer"
        if answer.failure and not _is_cut(answer):
            status = failure_status(answer.failure)
            return OrjsonResponse({"error": self._error(answer.failure, status)}, status)
        content = answer.text + self._unverified(answer)
        said: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
        said["annotations"] = citations(answer, content)
        if reasoning:
            said["reasoning_content"] = reasoning
        choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": _finish_reason(answer)}
        more = {"choices": [choice], "usage": usage(answer), "suyuan": self._extension(answer)}
        return OrjsonResponse(self._head("chat.completion") | more)

    async def stream(self, include_usage: bool) -> AsyncIterator[bytes]:
        """The answer in chunks; the last delta has the annotations."""
        yield self._chunk({"role": "assistant", "content": ""})
        async with aclosing(self._events()) as events:
            async for event in events:
                if isinstance(event, Answer):
                    for chunk in self._end(event, include_usage):
                        yield chunk
                elif delta := self._delta(event):
                    yield self._chunk(delta)

    def _delta(self, event: Event) -> dict[str, Any]:
        if isinstance(event, Thinking):
            return {"reasoning_content": event.text}
        if isinstance(event, TextWithdrawn):
            self._held = ""
            # What was sent stays with the client; the answer begins in a new paragraph.
            return self._say("\n\n") if self._sent and not self._sent.endswith("\n\n") else {}
        if not isinstance(event, TextDelta):
            return {}
        self._held += event.text
        if self.turn.session.mode == "agent" and not self._sent and len(self._held) < _HELD_BACK:
            return {}
        return self._release()

    def _release(self) -> dict[str, Any]:
        text, self._held = self._held, ""
        return self._say(text)

    def _say(self, text: str) -> dict[str, Any]:
        self._sent += text
        return {"content": text} if text else {}

    def _end(self, answer: Answer, include_usage: bool) -> list[bytes]:
        if answer.failure and not _is_cut(answer):
            return [message({"error": self._error(answer.failure, failure_status(answer.failure))})]
        last = self._release()
        if remark := self._say(self._unverified(answer)):
            last = {"content": last.get("content", "") + remark["content"]}
        last["annotations"] = citations(answer, self._sent)
        chunks = [self._chunk(last), self._chunk({}, _finish_reason(answer), suyuan=self._extension(answer))]
        if include_usage:
            chunks.append(message({**self._head("chat.completion.chunk"), "choices": [], "usage": usage(answer)}))
        return [*chunks, message("[DONE]")]

    async def _events(self) -> AsyncGenerator[Event]:
        async with aclosing(self.turn.events(WORK[self.turn.session.mode])) as events:  # type: ignore[type-var]
            async for event in events:
                self.count(event)
                if isinstance(event, Notice):
                    self._notices.append(event.failure)
                yield event

    def _unverified(self, answer: Answer) -> str:
        """The remark below an answer that is not based on a search; it does not come from the model."""
        if not answer.unverified:
            return ""
        if not self._notices:
            return f"\n\n---\n{catalog.text(answer.lang, 'chat.unverified')}"
        return f"\n\n---\n{catalog.text(answer.lang, 'chat.unverified_because', why=self._notices[-1])}"

    def _error(self, failure: Failure, status: int) -> dict[str, Any]:
        return openai_error(status, failure.published(self.lang))

    def _extension(self, answer: Answer) -> dict[str, Any]:
        """What OpenAI's form has no field for."""
        return {
            "unverified": answer.unverified,
            "sources": [{"number": each.number, "title": each.title, "url": each.url} for each in answer.sources],
            "notices": [" ".join(failure.say(answer.lang)) for failure in self._notices],
        }

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return message({**self._head("chat.completion.chunk"), "choices": [choice], **more})


def _is_cut(answer: Answer) -> bool:
    """Whether there is an answer that only lacks its end."""
    return (
        answer.failure is not None and answer.failure.detail_code == ANSWER_TOO_LONG.detail_code and bool(answer.text)
    )


def _finish_reason(answer: Answer) -> str:
    return "length" if _is_cut(answer) else "stop"


def citations(answer: Answer, content: str) -> list[dict[str, Any]]:
    """The citations in ``content``: one for every marker of a known source, with its position in characters."""
    sources = {source.number: source for source in answer.sources}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": marker.start,
                "end_index": marker.end,
                "title": sources[number].title,
                "url": sources[number].url,
            },
        }
        for marker in find_markers(content)
        for number in marker.numbers
        if number in sources
    ]


def usage(answer: Answer) -> dict[str, int]:
    """The token counts of an answer."""
    used = answer.usage
    return {
        "prompt_tokens": used.input_tokens,
        "completion_tokens": used.output_tokens,
        "total_tokens": used.input_tokens + used.output_tokens,
    }


def failure_status(failure: Failure) -> int:
    """The status of a failed answer; it is a client error only if the question is too long for the model."""
    if failure.code == "InvalidInput" and failure.detail_code != "context_overflow":
        return 502
    return status_of(failure.code, failure.detail_code)
