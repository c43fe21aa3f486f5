"""OpenAI's Responses API: searches are ``web_search_call`` items, sources ``url_citation`` annotations."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from ...chat.events import (
    Answer,
    Event,
    PageFailed,
    PageRead,
    SearchFailed,
    SearchFinished,
    SourcesFound,
    StepStarted,
    Thinking,
)
from ...chat.functions import FunctionCall, Functions
from ...core.causes.web import NO_RESPONSE, ONLY_TEXT
from ...core.person import owner
from ...store.conversation import new_id
from ..orjson_response import OrjsonResponse, to_json
from ..sse import message
from .foreign_turn import SENT_BESIDE, ForeignMessage, Parts, Tools, functions_of, text_of
from .openai_chat import ChatMessage
from .shared import Wanted, checked
from .turn_text import AnswerWriter, TurnText, cited, is_cut

router = APIRouter(prefix="/v1", tags=["openai"])

_MOST_KEPT = 500
_MOST_CHARACTERS = 20_000_000
_SEARCHING = ("web_search", "web_search_preview")
# What an earlier answer consisted of besides its text.
_SKIPPED = ("reasoning", "web_search_call", "item_reference")
# What clients send by themselves; it asks for nothing that would be done otherwise.
_USUAL = ("include", "parallel_tool_calls", "stream_options")


class ResponseRequest(Wanted):
    """A request of an OpenAI client; sampling parameters are ignored, since the model is configured on the server."""

    model: str = Field("suyuan", max_length=300)
    input: str | Parts = ""
    instructions: str = ""
    previous_response_id: str = Field("", max_length=100)
    stream: bool = False
    store: bool = True
    tools: Tools = []
    tool_choice: str | dict[str, Any] = "auto"
    text: dict[str, Any] = {}
    metadata: dict[str, Any] = Field({}, max_length=100)
    max_output_tokens: int | None = None

    def check(self) -> None:
        """Raise a cause if the request wants something that is not supported."""
        form = self.text.get("format") or {}
        unsupported = {
            "tools": any(not _kind(tool).startswith((*_SEARCHING, "function")) for tool in self.tools),
            "text.format": isinstance(form, dict) and form.get("type", "text") != "text",
            **{name: bool((self.model_extra or {}).get(name)) for name in ("background", "conversation", "prompt")},
        }
        self.refuse(unsupported)

    def functions(self) -> Functions:
        """The functions of the caller."""
        return functions_of((tool for tool in self.tools if _kind(tool) == "function"), self.tool_choice)

    def said(self) -> list[ForeignMessage]:
        """The messages, the functions that were called, and what they returned."""
        if isinstance(self.input, str):
            return [ForeignMessage("user", self.input)]
        return [_said(item) for item in self.input]


def _kind(item: dict[str, Any]) -> str:
    return str(item.get("type") or "message")


def _said(item: dict[str, Any]) -> ForeignMessage:
    kind = _kind(item)
    if kind in _SKIPPED:
        return ForeignMessage.sent(item, SENT_BESIDE)
    if kind not in ("message", "function_call", "function_call_output"):
        raise ONLY_TEXT(kind=kind[:40])
    if kind == "message":
        return checked(partial(ChatMessage.model_validate, item)).said()
    id = str(item.get("call_id", ""))
    if kind == "function_call_output":
        return ForeignMessage.sent(item, "tool", text_of(item.get("output")), call=id)
    called = FunctionCall(id, str(item.get("name", "")), str(item.get("arguments", "")))
    return ForeignMessage.sent(item, "assistant", calls=(called,))


class Responses:
    """The answers of a server that a later request can refer to, in memory."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[dict[str, Any], tuple[ForeignMessage, ...], int]] = OrderedDict()

    def put(self, response: dict[str, Any], said: tuple[ForeignMessage, ...]) -> None:
        """Keep a response, and the conversation up to it; the oldest make room."""
        texts = (len(each.text) + sum(len(call.arguments) for call in each.calls) for each in said)
        # What the client has sent is in the response too: tools, instructions, metadata.
        self._kept[_own(response["id"])] = response, said, sum(texts) + len(to_json(response))
        while len(self._kept) > _MOST_KEPT or (self._characters() > _MOST_CHARACTERS and len(self._kept) > 1):
            self._kept.popitem(last=False)

    def get(self, id: str) -> tuple[dict[str, Any], tuple[ForeignMessage, ...]]:
        """The response of that id and the conversation up to it; raises a cause where there is none."""
        if _own(id) not in self._kept:
            raise NO_RESPONSE(id=id[:60])
        return self._kept[_own(id)][:2]

    def delete(self, id: str) -> None:
        """Forget a response."""
        self.get(id)
        del self._kept[_own(id)]

    def _characters(self) -> int:
        return sum(size for _, _, size in self._kept.values())


def _own(id: str) -> str:
    """The name under which the response of the person who asks is kept."""
    return f"{owner()} {id}"


@router.post("/responses")
async def respond(request: Request, body: ResponseRequest) -> Response:
    """Answer with a search; the answer is kept in memory for ``previous_response_id``."""
    body.check()
    responses: Responses = request.app.state.responses
    before = responses.get(body.previous_response_id)[1] if body.previous_response_id else ()
    said = (*before, *body.said())
    # Instructions are for this answer only.
    given = [ForeignMessage.sent(body.instructions, "system", body.instructions), *said] if body.instructions else said
    search, lost = body.tool_choice != "none", body.not_honoured(ignored=_USUAL)
    text = await TurnText.of(request, body.model, given, body.functions(), search=search, not_honoured=lost)
    return await ResponseWriter(body.model, text, body, responses, said).response(request, stream=body.stream)


@router.get("/responses/{id}")
async def get_response(request: Request, id: str) -> Response:
    """A response that is kept."""
    responses: Responses = request.app.state.responses
    return OrjsonResponse(responses.get(id)[0])


@router.delete("/responses/{id}")
async def delete_response(request: Request, id: str) -> Response:
    """Forget a response."""
    responses: Responses = request.app.state.responses
    responses.delete(id)
    return OrjsonResponse({"id": id, "object": "response", "deleted": True})


@dataclass(slots=True)
class ResponseWriter(AnswerWriter):
    """Writes one answer as a response, whole or as a stream of its events."""

    asked: ResponseRequest
    responses: Responses
    said: tuple[ForeignMessage, ...]
    """The conversation, with the question."""
    id: str = field(default_factory=lambda: f"resp_{new_id()}")
    created: int = field(default_factory=lambda: int(time.time()))
    _items: list[dict[str, Any]] = field(default_factory=list)
    _steps: dict[int, int] = field(default_factory=dict)
    """The place of the item of each step of the turn."""
    _message: int = -1
    """The place of the message, when it has begun."""
    _reasoning: str = ""
    _number: int = 0

    # --- items ----------------------------------------------------------------------------------------------------
    def noted(self, event: Event) -> Iterator[bytes]:
        """Take reasoning, searches and pages."""
        if isinstance(event, Thinking):
            self._reasoning += event.text
        elif isinstance(event, StepStarted):
            self._steps[event.step] = len(self._items)
            reads = event.tool == "web_fetch"
            action = {"type": "open_page", "url": event.detail} if reads else _search_action(event.detail)
            at = yield from self._added(
                {"id": f"ws_{new_id()}", "type": "web_search_call", "status": "in_progress", "action": action}
            )
            yield self._event("response.web_search_call.in_progress", **at)
            yield self._event("response.web_search_call.searching", **at)
        elif isinstance(event, SourcesFound):
            self._add_sources(event)
        elif isinstance(event, SearchFinished | PageRead | SearchFailed | PageFailed):
            item = self._items[self._steps[event.step]]
            item["status"] = "failed" if isinstance(event, SearchFailed | PageFailed) else "completed"
            at = {"output_index": self._steps[event.step], "item_id": item["id"]}
            yield self._event("response.web_search_call.completed", **at)
            yield self._event("response.output_item.done", output_index=at["output_index"], item=item)

    def _add_sources(self, event: SourcesFound) -> None:
        for item in self._items:
            action = item.get("action", {})
            if action.get("query") == event.query:
                action["sources"] = [{"type": "url", "url": source.url} for source in event.sources]

    def _added(self, item: dict[str, Any]) -> Generator[bytes, None, dict[str, Any]]:
        """Add an item; returns where it stands."""
        at = {"output_index": len(self._items), "item_id": item["id"]}
        self._items.append(item)
        yield self._event("response.output_item.added", output_index=at["output_index"], item=item)
        return at

    def _finished(self, answer: Answer) -> Iterator[bytes]:
        """The last items: the message, if there is one, the functions to call, and the reasoning."""
        for item in self._items:
            if item["status"] == "in_progress" and item["type"] == "web_search_call":
                item["status"] = "incomplete"
        if self.text.sent or not answer.calls:
            yield from self._begun()
            content = self._content(answer)
            for number, annotation in enumerate(content["annotations"]):
                yield self._event("response.output_text.annotation.added", **self._place(), annotation_index=number,
                                  annotation=annotation)  # fmt: skip
            yield self._event("response.output_text.done", **self._place(), text=content["text"], logprobs=[])
            yield self._event("response.content_part.done", **self._place(), part=content)
            item = self._items[self._message] = self._message_item("completed", content)
            yield self._event("response.output_item.done", output_index=self._message, item=item)
        yield from self._thought()
        for call in answer.calls:
            yield from self._called(call)

    def _thought(self) -> Iterator[bytes]:
        """The reasoning since the last item of its kind."""
        if self._reasoning:
            summary = [{"type": "summary_text", "text": self._reasoning}]
            item = {"id": f"rs_{new_id()}", "type": "reasoning", "status": "completed", "summary": summary}
            self._reasoning = ""
            at = yield from self._added(item)
            yield self._event("response.output_item.done", output_index=at["output_index"], item=item)

    def _called(self, call: FunctionCall) -> Iterator[bytes]:
        item = {"id": f"fc_{new_id()}", "type": "function_call", "call_id": call.id, "name": call.name}
        at = yield from self._added({**item, "arguments": "", "status": "in_progress"})
        yield self._event("response.function_call_arguments.delta", **at, delta=call.arguments)
        yield self._event("response.function_call_arguments.done", **at, name=call.name, arguments=call.arguments)
        self._items[-1] = {**item, "arguments": call.arguments, "status": "completed"}
        yield self._event("response.output_item.done", output_index=at["output_index"], item=self._items[-1])

    def whole(self, answer: Answer) -> dict[str, Any]:
        """The answer in one piece."""
        self.text.whole(answer)
        list(self._finished(answer))
        return self._response(answer)

    def _response(self, answer: Answer) -> dict[str, Any]:
        """The response, when all of its items are there."""
        cut = is_cut(answer)
        response = self._head("incomplete" if cut else "completed", self._items)
        used = answer.usage
        response |= {
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "usage": {
                "input_tokens": used.input_tokens,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": used.output_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": used.input_tokens + used.output_tokens,
            },
            "suyuan": self.text.extension(answer),
        }
        if self.asked.store:
            sources = tuple((source.title, source.url) for source in answer.sources)
            answered = ForeignMessage("assistant", answer.text, answer.calls, sources=sources, private=answer.private)
            self.responses.put(response, (*self.said, answered))
        return response

    def _message_item(self, status: str, *content: dict[str, Any]) -> dict[str, Any]:
        return {"id": f"msg_{self.id[5:]}", "type": "message", "role": "assistant", "status": status,
                "content": list(content)}  # fmt: skip

    def _content(self, answer: Answer | None) -> dict[str, Any]:
        annotations = [
            {"type": "url_citation", "start_index": start, "end_index": end, "title": source.title, "url": source.url}
            for start, end, source in (cited(answer, self.text.sent) if answer else ())
        ]
        return {
            "type": "output_text",
            "text": self.text.sent if answer else "",
            "annotations": annotations,
            "logprobs": [],
        }

    def _head(self, status: str, output: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        asked = self.asked
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": None,
            "instructions": asked.instructions or None,
            "max_output_tokens": asked.max_output_tokens,
            "model": asked.model,
            "output": output or [],
            "parallel_tool_calls": True,
            "previous_response_id": asked.previous_response_id or None,
            "reasoning": {"effort": None, "summary": None},
            "store": asked.store,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": asked.tool_choice,
            "tools": asked.tools,
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": None,
            "metadata": asked.metadata,
        }

    # --- events ---------------------------------------------------------------------------------------------------
    def _event(self, kind: str, **fields: Any) -> bytes:
        self._number += 1
        return message({"type": kind, "sequence_number": self._number - 1, **fields}, event=kind)

    def begin(self) -> Iterator[bytes]:
        """The first events."""
        for kind in ("response.created", "response.in_progress"):
            yield self._event(kind, response=self._head("in_progress"))

    def spoken(self, piece: str) -> Iterator[bytes]:
        """The events of a piece of the text."""
        yield from self._begun()
        yield self._event("response.output_text.delta", **self._place(), delta=piece, logprobs=[])

    def _begun(self) -> Iterator[bytes]:
        if self._message < 0:
            yield from self._thought()
            self._message = len(self._items)
            yield from self._added(self._message_item("in_progress"))
            yield self._event("response.content_part.added", **self._place(), part=self._content(None))

    def _place(self) -> dict[str, Any]:
        return {"item_id": f"msg_{self.id[5:]}", "output_index": self._message, "content_index": 0}

    def end(self, answer: Answer) -> Iterator[bytes]:
        """The last events."""
        if rest := self.text.rest(answer):
            yield from self.spoken(rest)
        yield from self._finished(answer)
        response = self._response(answer)
        yield self._event(f"response.{response['status']}", response=response)

    def broken(self, error: dict[str, Any]) -> Iterator[bytes]:
        """The last event of a stream whose answer failed."""
        response = self._head("failed", self._items)
        response["error"] = {name: error["error"][name] for name in ("code", "message")}
        yield self._event("response.failed", response=response)


def _search_action(query: str) -> dict[str, Any]:
    return {"type": "search", "query": query, "queries": [query], "sources": []}
