"""OpenAI's Responses API: searches are ``web_search_call`` items, sources ``url_citation`` annotations."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
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
from ...chat.session import Exchange
from ...core.causes.web import NO_RESPONSE, ONE_ANSWER
from ...core.person import current_person
from ...store.conversation import new_id
from ..error_forms import openai_error
from ..errors import language_of
from ..orjson_response import OrjsonResponse
from ..sse import EventStream, message, while_connected
from .openai_chat import ChatMessage
from .shared import Wanted, checked
from .turn_text import TurnText, cited, failed, failure_status, is_cut, turn_of

router = APIRouter(prefix="/v1", tags=["openai"])

_MOST_KEPT = 500
_MOST_CHARACTERS = 20_000_000
_SEARCHING = ("web_search", "web_search_preview")
# What an earlier answer consisted of besides its text.
_SKIPPED = ("reasoning", "web_search_call", "item_reference")


class ResponseRequest(Wanted):
    """A request of an OpenAI client; sampling parameters are ignored, since the model is configured on the server."""

    model: str = Field("suyuan", max_length=300)
    input: str | list[dict[str, Any]] = ""
    instructions: str = ""
    previous_response_id: str = Field("", max_length=100)
    stream: bool = False
    store: bool = True
    tools: list[dict[str, Any]] = []
    tool_choice: str | dict[str, Any] = "auto"
    text: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    max_output_tokens: int | None = None

    def check(self) -> None:
        """Raise a cause if the request wants something that is not supported."""
        other = [str(tool.get("type", "")) for tool in self.tools]
        form = self.text.get("format") or {}
        unsupported = {
            "tools": any(not name.startswith(_SEARCHING) for name in other),
            "text.format": isinstance(form, dict) and form.get("type", "text") != "text",
            "background": bool((self.model_extra or {}).get("background")),
        }
        for name, wanted in unsupported.items():
            if wanted:
                raise ONE_ANSWER(name=name)

    def said(self) -> list[tuple[str, str]]:
        """The messages, each a role and a text."""
        found = [("system", self.instructions)] if self.instructions else []
        if isinstance(self.input, str):
            return [*found, ("user", self.input)]
        for item in self.input:
            if item.get("type", "message") in _SKIPPED:
                continue
            given = {"role": item.get("role", "tool"), "content": item.get("content")}
            one = checked(partial(ChatMessage.model_validate, given))
            found.append((one.role, one.text()))
        return found


class Responses:
    """The answers of a server that a later request can refer to, in memory."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[dict[str, Any], tuple[Exchange, ...]]] = OrderedDict()
        self._sizes: dict[str, int] = {}

    def put(self, response: dict[str, Any], history: tuple[Exchange, ...]) -> None:
        """Keep a response, and the conversation up to it; the oldest make room."""
        id = _own(response["id"])
        self._kept[id] = response, history
        self._sizes[id] = sum(len(each.question) + len(each.answer) for each in history)
        while len(self._kept) > _MOST_KEPT or (sum(self._sizes.values()) > _MOST_CHARACTERS and len(self._kept) > 1):
            oldest, _ = self._kept.popitem(last=False)
            del self._sizes[oldest]

    def get(self, id: str) -> dict[str, Any]:
        """The response of that id; raises a cause where there is none."""
        return self._entry(id)[0]

    def history(self, id: str) -> tuple[Exchange, ...]:
        """The conversation up to that response."""
        return self._entry(id)[1]

    def delete(self, id: str) -> None:
        """Forget a response."""
        self._entry(id)
        del self._kept[_own(id)], self._sizes[_own(id)]

    def _entry(self, id: str) -> tuple[dict[str, Any], tuple[Exchange, ...]]:
        if _own(id) not in self._kept:
            raise NO_RESPONSE(id=id[:60])
        return self._kept[_own(id)]


def _own(id: str) -> str:
    """The name under which the response of the person who asks is kept."""
    return f"{current_person.get().id} {id}"


@router.post("/responses")
async def respond(request: Request, body: ResponseRequest) -> Response:
    """Answer with a search; the answer is kept in memory for ``previous_response_id``."""
    body.check()
    state = request.app.state
    before = state.responses.history(body.previous_response_id) if body.previous_response_id else ()
    await state.preloader.wait()
    turn = turn_of(state.client.chat, body.model, body.said(), before, search=body.tool_choice != "none")
    keep = state.responses.put if body.store else None
    writer = ResponseWriter(body, TurnText(turn, state.metrics.count_event), language_of(request), keep)
    if body.stream:
        return EventStream(writer.stream())
    return await while_connected(request, writer.response())


@router.get("/responses/{id}")
async def get_response(request: Request, id: str) -> Response:
    """A response that is kept."""
    responses: Responses = request.app.state.responses
    return OrjsonResponse(responses.get(id))


@router.delete("/responses/{id}")
async def delete_response(request: Request, id: str) -> Response:
    """Forget a response."""
    responses: Responses = request.app.state.responses
    responses.delete(id)
    return OrjsonResponse({"id": id, "object": "response", "deleted": True})


Keep = Callable[[dict[str, Any], tuple[Exchange, ...]], None]


@dataclass(slots=True)
class ResponseWriter:
    """Writes one answer as a response, whole or as a stream of its events."""

    asked: ResponseRequest
    text: TurnText
    lang: str
    keep: Keep | None
    id: str = field(default_factory=lambda: f"resp_{new_id()}")
    created: int = field(default_factory=lambda: int(time.time()))
    _items: list[dict[str, Any]] = field(default_factory=list)
    _steps: dict[int, int] = field(default_factory=dict)
    """The place of the item of each step of the turn."""
    _message: int = -1
    """The place of the message, when it has begun."""
    _reasoning: str = ""
    _number: int = 0

    async def response(self) -> Response:
        """The whole answer, or the failure."""
        answer: Answer | None = None
        async with aclosing(self.text.events()) as events:
            async for event in events:
                if isinstance(event, Answer):
                    answer = event
                else:
                    self._note(event)
        assert answer is not None, "a turn always ends with an answer"
        if failure := failed(answer):
            status = failure_status(failure)
            return OrjsonResponse({"error": openai_error(status, failure.published(self.lang))}, status)
        self.text.sent = answer.text + self.text.remark(answer)
        return OrjsonResponse(self._finished(answer))

    async def stream(self) -> AsyncIterator[bytes]:
        """The events of the answer."""
        for kind in ("response.created", "response.in_progress"):
            yield self._event(kind, response=self._head("in_progress"))
        async with aclosing(self.text.events()) as events:
            async for event in events:
                for part in self._end(event) if isinstance(event, Answer) else self._parts(event):
                    yield part

    # --- items ----------------------------------------------------------------------------------------------------
    def _note(self, event: Event) -> list[tuple[str, int]]:
        """Take an event into the items; returns the names and places of what has changed."""
        if isinstance(event, Thinking):
            self._reasoning += event.text
        elif isinstance(event, StepStarted):
            self._steps[event.step] = len(self._items)
            reads = event.tool == "web_fetch"
            action = {"type": "open_page", "url": event.detail} if reads else _search_action(event.detail)
            self._items.append(
                {"id": f"ws_{new_id()}", "type": "web_search_call", "status": "in_progress", "action": action}
            )
            return [("added", self._steps[event.step])]
        elif isinstance(event, SourcesFound):
            self._add_sources(event)
        elif isinstance(event, SearchFinished | PageRead | SearchFailed | PageFailed):
            failed_step = isinstance(event, SearchFailed | PageFailed)
            place = self._steps[event.step]
            self._items[place]["status"] = "failed" if failed_step else "completed"
            return [("failed" if failed_step else "completed", place)]
        return []

    def _add_sources(self, event: SourcesFound) -> None:
        for item in self._items:
            action = item.get("action", {})
            if action.get("query") == event.query:
                action["sources"] = [{"type": "url", "url": source.url} for source in event.sources]

    def _finished(self, answer: Answer) -> dict[str, Any]:
        """The whole response, when the turn has ended."""
        for item in self._items:
            if item["status"] == "in_progress" and item["type"] == "web_search_call":
                item["status"] = "incomplete"
        if self._reasoning:
            summary = [{"type": "summary_text", "text": self._reasoning}]
            self._items.append({"id": f"rs_{new_id()}", "type": "reasoning", "summary": summary})
        done = self._message_item("completed", self._content(answer))
        if self._message < 0:
            self._items.append(done)
        else:
            self._items[self._message] = done
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
        if self.keep:
            turn = self.text.turn
            sources = tuple((source.title, source.url) for source in answer.sources)
            self.keep(response, (*turn.session.history, Exchange(turn.message, answer.text, sources)))
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

    def _parts(self, event: Event) -> Iterator[bytes]:
        for what, place in self._note(event):
            item = self._items[place]
            at = {"output_index": place, "item_id": item["id"]}
            if what == "added":
                yield self._event("response.output_item.added", output_index=place, item=item)
                yield self._event("response.web_search_call.in_progress", **at)
                yield self._event("response.web_search_call.searching", **at)
            else:
                yield self._event("response.web_search_call.completed", **at)
                yield self._event("response.output_item.done", output_index=place, item=item)
        if piece := self.text.piece(event):
            yield from self._spoken(piece)

    def _spoken(self, piece: str) -> Iterator[bytes]:
        if self._message < 0:
            self._message = len(self._items)
            item = self._message_item("in_progress")
            self._items.append(item)
            yield self._event("response.output_item.added", output_index=self._message, item=item)
            yield self._event("response.content_part.added", **self._place(), part=self._content(None))
        yield self._event("response.output_text.delta", **self._place(), delta=piece, logprobs=[])

    def _place(self) -> dict[str, Any]:
        return {"item_id": f"msg_{self.id[5:]}", "output_index": self._message, "content_index": 0}

    def _end(self, answer: Answer) -> Iterator[bytes]:
        if failure := failed(answer):
            error = openai_error(failure_status(failure), failure.published(self.lang))
            response = self._head("failed", self._items)
            response["error"] = {"code": error["code"], "message": error["message"]}
            yield self._event("response.failed", response=response)
            return
        yield from self._spoken(self.text.rest(answer))
        content = self._content(answer)
        for number, annotation in enumerate(content["annotations"]):
            yield self._event("response.output_text.annotation.added", **self._place(), annotation_index=number,
                              annotation=annotation)  # fmt: skip
        yield self._event("response.output_text.done", **self._place(), text=content["text"], logprobs=[])
        yield self._event("response.content_part.done", **self._place(), part=content)
        response = self._finished(answer)
        yield self._event("response.output_item.done", output_index=self._message, item=self._items[self._message])
        if (last := self._items[-1])["type"] == "reasoning":
            for kind in ("added", "done"):
                yield self._event(f"response.output_item.{kind}", output_index=len(self._items) - 1, item=last)
        kind = "response.incomplete" if is_cut(answer) else "response.completed"
        yield self._event(kind, response=response)


def _search_action(query: str) -> dict[str, Any]:
    return {"type": "search", "query": query, "queries": [query], "sources": []}
