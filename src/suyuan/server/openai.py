"""OpenAI's chat completions: any chat client can ask, and gets its sources as ``url_citation`` annotations."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from ..chat.answering import WORK, check_message
from ..chat.events import Answer, Event, Notice, TextDelta, TextWithdrawn, Thinking
from ..chat.service import ChatService
from ..chat.session import Exchange, Session
from ..chat.turn import Turn
from ..citations.markers import find_markers
from ..core.causes.web import NO_USER_MESSAGE, ONE_ANSWER, ONLY_TEXT, UNKNOWN_API_MODEL
from ..core.failure import Failure
from ..messages import catalog
from ..store.conversation import Mode, new_id
from .errors import language_of, openai_error, status_of
from .orjson_response import OrjsonResponse
from .sse import EventStream, message, while_connected

router = APIRouter(prefix="/v1", tags=["openai"])

_MODES: dict[str, Mode] = {"suyuan": "chat", "suyuan-chat": "chat", "suyuan-agent": "agent"}
# Agents talk before they use a tool, and what a client has got cannot be taken back: that much is held until it is clear.
_HELD = 300


class Part(BaseModel):
    """A part of a message; only text can be read."""

    model_config = ConfigDict(extra="allow")
    type: str
    text: str = ""


class ChatMessage(BaseModel):
    """A message of the conversation so far."""

    model_config = ConfigDict(extra="allow")
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    def text(self) -> str:
        """The text of the message; raises a cause where there is anything else in it."""
        if self.role in ("tool", "function"):
            raise ONLY_TEXT(kind=self.role)
        if not isinstance(self.content, list):
            return self.content or ""
        for part in self.content:
            if part.type not in ("text", "input_text"):
                raise ONLY_TEXT(kind=part.type)
        return "\n".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    """What a stream tells besides the text."""

    model_config = ConfigDict(extra="allow")
    include_usage: bool = False


class Completion(BaseModel):
    """A request as OpenAI's clients send it; sampling parameters are taken and not used, since the model is configured here."""

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
        """Raise a cause where something is asked that would silently not be done."""
        asked = {
            "n": (self.n or 1) != 1,
            "tools": bool(self.tools),
            "response_format": (self.response_format or {}).get("type", "text") != "text",
        }
        for name, wanted in asked.items():
            if wanted:
                raise ONE_ANSWER(name=name)


@router.get("/models")
async def list_models(request: Request) -> dict[str, Any]:
    """The models that can be asked for."""
    chat: ChatService = request.app.state.client.chat
    names = [*_MODES, *(f"suyuan:{name}" for name in chat.sessions.models)]
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 0, "owned_by": "suyuan"} for name in names],
    }


@router.post("/chat/completions")
async def complete(request: Request, body: Completion) -> Response:
    """Answer the last message with a search; nothing is kept."""
    body.check()
    await request.app.state.preloader.wait()
    reply = Reply(
        body.model,
        _turn(request.app.state.client.chat, body),
        language_of(request),
        request.app.state.metrics.count_event,
    )
    if body.stream:
        usage = body.stream_options is not None and body.stream_options.include_usage
        return EventStream(reply.stream(usage))
    return await while_connected(request, reply.whole())


def _turn(chat: ChatService, body: Completion) -> Turn:
    question, history = _read(body.messages)
    check_message(question)
    return Turn(_session(chat, body.model, history), question, new_id())


def _session(chat: ChatService, model: str, history: tuple[Exchange, ...]) -> Session:
    kind, _, name = model.partition(":")
    if kind not in _MODES or (name and name not in chat.sessions.models):
        raise UNKNOWN_API_MODEL(value=model[:80], known=", ".join(chat.sessions.models))
    return chat.sessions.create(history, mode=_MODES[kind], search=True, model=name)


def _read(messages: list[ChatMessage]) -> tuple[str, tuple[Exchange, ...]]:
    """The question, and what was said before it: pairs of question and answer; a client's instructions come first."""
    if messages[-1].role != "user":
        raise NO_USER_MESSAGE()
    told = [(each.role, each.text()) for each in messages]
    system = "\n\n".join(text for role, text in told if role in ("system", "developer") and text.strip())
    history = [Exchange(system, "OK.")] if system else []
    asked: list[str] = []
    for role, text in told:
        if role == "user":
            asked.append(text)
        elif role == "assistant" and text.strip():
            history.append(Exchange("\n\n".join(asked) or "…", text))
            asked = []
    return "\n\n".join(asked), tuple(history)


@dataclass(slots=True)
class Reply:
    """One answer on its way to a client."""

    model: str
    turn: Turn
    lang: str
    count: Callable[[Event], None]
    id: str = field(default_factory=lambda: f"chatcmpl-{new_id()}")
    created: int = field(default_factory=lambda: int(time.time()))
    _sent: str = ""
    """What the client has got as content."""
    _held: str = ""
    _notices: list[Failure] = field(default_factory=list)

    async def whole(self) -> Response:
        """The answer as one object, or the failure."""
        thoughts: list[str] = []
        answer: Answer | None = None
        async with aclosing(self._events()) as events:
            async for event in events:
                if isinstance(event, Thinking):
                    thoughts.append(event.text)
                elif isinstance(event, Answer):
                    answer = event
        assert answer is not None, "a turn always ends with an answer"
        if answer.failure:
            status = failure_status(answer.failure)
            return OrjsonResponse({"error": self._error(answer.failure, status)}, status)
        content = answer.text + self._mark(answer)
        said: dict[str, Any] = {
            "role": "assistant",
            "content": content,
            "refusal": None,
            "annotations": citations(answer, content),
        }
        if thoughts:
            said["reasoning_content"] = "".join(thoughts)
        choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": "stop"}
        return OrjsonResponse(
            {
                **self._head("chat.completion"),
                "choices": [choice],
                "usage": usage(answer),
                "suyuan": self._about(answer),
            }
        )

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
            # What was sent already stays with the client; the answer begins on a line of its own.
            return self._say("\n\n") if self._sent and not self._sent.endswith("\n\n") else {}
        if not isinstance(event, TextDelta):
            return {}
        self._held += event.text
        if self.turn.session.mode == "agent" and not self._sent and len(self._held) < _HELD:
            return {}
        return self._release()

    def _release(self) -> dict[str, Any]:
        text, self._held = self._held, ""
        return self._say(text)

    def _say(self, text: str) -> dict[str, Any]:
        self._sent += text
        return {"content": text} if text else {}

    def _end(self, answer: Answer, include_usage: bool) -> list[bytes]:
        if answer.failure:
            return [message({"error": self._error(answer.failure, failure_status(answer.failure))})]
        last = self._release()
        if mark := self._say(self._mark(answer)):
            last = {"content": last.get("content", "") + mark["content"]}
        last["annotations"] = citations(answer, self._sent)
        chunks = [self._chunk(last), self._chunk({}, "stop", suyuan=self._about(answer))]
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

    def _mark(self, answer: Answer) -> str:
        """What code, not the model, says under an answer that no search stands behind."""
        if not answer.unverified:
            return ""
        if not self._notices:
            return f"\n\n---\n{catalog.text(answer.lang, 'chat.unverified')}"
        return f"\n\n---\n{catalog.text(answer.lang, 'chat.unverified_because', why=self._notices[-1])}"

    def _error(self, failure: Failure, status: int) -> dict[str, Any]:
        return openai_error(status, failure.published(self.lang))

    def _about(self, answer: Answer) -> dict[str, Any]:
        """What OpenAI's form has no place for."""
        return {
            "unverified": answer.unverified,
            "sources": [
                {"number": source.number, "title": source.title, "url": source.url} for source in answer.sources
            ],
            "notices": [" ".join(failure.say(answer.lang)) for failure in self._notices],
        }

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return message({**self._head("chat.completion.chunk"), "choices": [choice], **more})


def citations(answer: Answer, content: str) -> list[dict[str, Any]]:
    """Where ``content`` cites what: one entry for every marker of a known source, by its place in characters."""
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
    """The tokens of an answer."""
    used = answer.usage
    return {
        "prompt_tokens": used.input_tokens,
        "completion_tokens": used.output_tokens,
        "total_tokens": used.input_tokens + used.output_tokens,
    }


def failure_status(failure: Failure) -> int:
    """The status for a model's failure: the client is to blame only where the question does not fit into the model."""
    if failure.code == "InvalidInput" and failure.detail_code != "context_overflow":
        return 502
    return status_of(failure.code, failure.detail_code)
