"""Anthropic's Messages API: searches are ``server_tool_use`` blocks, and cited sentences have their citations."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from ...chat.events import Answer, Event, SearchFailed, SourcesFound, StepStarted
from ...citations.markers import MarkerScanner
from ...core.causes.web import ONE_ANSWER, ONLY_TEXT
from ...store.conversation import new_id
from ...tools.text import shortened
from ..error_forms import anthropic_error
from ..errors import language_of
from ..orjson_response import OrjsonResponse, to_json
from ..sse import EventStream, message, while_connected
from .shared import Wanted
from .turn_text import TurnText, failed, failure_status, is_cut, turn_of

router = APIRouter(prefix="/v1", tags=["anthropic"])

_LONGEST_QUOTE = 150
_SEARCHING = ("web_search", "web_fetch")
# What an earlier answer consisted of besides its text.
_SKIPPED = ("thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result", "web_fetch_tool_result")


class MessagesRequest(Wanted):
    """A request of an Anthropic client; sampling parameters are ignored: the model is configured on the server."""

    model: str = Field("suyuan", max_length=300)
    messages: list[dict[str, Any]] = Field(min_length=1, max_length=2000)
    system: str | list[dict[str, Any]] = ""
    max_tokens: int = Field(4096, ge=1)
    stream: bool = False
    tools: list[dict[str, Any]] = []
    tool_choice: dict[str, Any] = {}

    def check(self) -> None:
        """Raise a cause if the request wants something that is not supported."""
        if any(not str(tool.get("type", "")).startswith(_SEARCHING) for tool in self.tools):
            raise ONE_ANSWER(name="tools")

    def said(self) -> list[tuple[str, str]]:
        """The messages, each a role and a text."""
        system = _text(self.system)
        found = [(str(each.get("role", "")), _text(each.get("content", ""))) for each in self.messages]
        return [("system", system), *found] if system else found


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = []
    for block in content if isinstance(content, list) else ():
        kind = str(block.get("type", "")) if isinstance(block, dict) else ""
        if kind not in ("text", *_SKIPPED):
            raise ONLY_TEXT(kind=kind)
        if kind == "text":
            parts.append(str(block.get("text", "")))
    return "".join(parts)


@router.post("/messages")
async def create_message(request: Request, body: MessagesRequest) -> Response:
    """Answer the last message with a search; nothing is stored."""
    body.check()
    state = request.app.state
    await state.preloader.wait()
    search = body.tool_choice.get("type") != "none"
    turn = turn_of(state.client.chat, body.model, body.said(), search=search)
    writer = MessageWriter(body.model, TurnText(turn, state.metrics.count_event), language_of(request))
    if body.stream:
        return EventStream(writer.stream())
    return await while_connected(request, writer.response())


@dataclass(slots=True)
class MessageWriter:
    """Writes one answer as a message, whole or as a stream of its blocks."""

    model: str
    text: TurnText
    lang: str
    id: str = field(default_factory=lambda: f"msg_{new_id()}")
    _blocks: list[dict[str, Any]] = field(default_factory=list)
    _open: bool = False
    """Whether the last block is a text to which more can be added."""
    _searches: dict[str, str] = field(default_factory=dict)
    """The ids of the searches that have no result yet, by their queries."""
    _scanner: MarkerScanner = field(default_factory=MarkerScanner)

    async def response(self) -> Response:
        """The whole answer, or the failure."""
        answer: Answer | None = None
        async with aclosing(self.text.events()) as events:
            async for event in events:
                if isinstance(event, Answer):
                    answer = event
                else:
                    for _ in self._searched(event):
                        pass
        assert answer is not None, "a turn always ends with an answer"
        if failure := failed(answer):
            status = failure_status(failure)
            return OrjsonResponse(anthropic_error(status, failure.published(self.lang)), status)
        for _ in self._written(answer.text + self.text.remark(answer), answer, last=True):
            pass
        return OrjsonResponse(
            {
                **self._head(),
                "content": self._blocks,
                "stop_reason": _stop_reason(answer),
                "usage": {"input_tokens": answer.usage.input_tokens, **_usage(answer)},
                "suyuan": self.text.extension(answer),
            }
        )

    async def stream(self) -> AsyncIterator[bytes]:
        """The events of the answer."""
        usage = {"input_tokens": 0, "output_tokens": 0}
        yield _event("message_start", message={**self._head(), "content": [], "usage": usage})
        async with aclosing(self.text.events()) as events:
            async for event in events:
                for part in self._end(event) if isinstance(event, Answer) else self._parts(event):
                    yield part

    def _parts(self, event: Event) -> Iterator[bytes]:
        yield from self._searched(event)
        if piece := self.text.piece(event):
            yield from self._written(piece)

    def _end(self, answer: Answer) -> Iterator[bytes]:
        if failure := failed(answer):
            error = anthropic_error(failure_status(failure), failure.published(self.lang))
            yield message(error, event="error")
            return
        yield from self._written(self.text.rest(answer), answer, last=True)
        delta = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
        usage = {"input_tokens": answer.usage.input_tokens, **_usage(answer)}
        yield _event("message_delta", delta=delta, usage=usage, suyuan=self.text.extension(answer))
        yield _event("message_stop")

    def _head(self) -> dict[str, Any]:
        return {"id": self.id, "type": "message", "role": "assistant", "model": self.model, "stop_reason": None,
                "stop_sequence": None}  # fmt: skip

    # --- searches -------------------------------------------------------------------------------------------------
    def _searched(self, event: Event) -> Iterator[bytes]:
        if isinstance(event, StepStarted) and event.tool == "web_search":
            id = self._searches[event.detail] = f"srvtoolu_{new_id()}"
            given = {"query": event.detail}
            block = {"type": "server_tool_use", "id": id, "name": "web_search", "input": given}
            yield from self._block(
                block, {**block, "input": {}}, {"type": "input_json_delta", "partial_json": to_json(given).decode()}
            )
        elif isinstance(event, SourcesFound):
            found = [
                {"type": "web_search_result", "url": each.url, "title": each.title, "page_age": each.published_at,
                 "encrypted_content": ""}
                for each in event.sources
            ]  # fmt: skip
            yield from self._result(event.query, found)
        elif isinstance(event, SearchFailed):
            why = {
                "type": "web_search_tool_result_error",
                "error_code": "unavailable",
                "message": event.failure.message(self.lang),
            }
            yield from self._result(event.query, why)

    def _result(self, query: str, content: Any) -> Iterator[bytes]:
        id = self._searches.pop(query, "")
        if id:
            block = {"type": "web_search_tool_result", "tool_use_id": id, "content": content}
            yield from self._block(block, block)

    def _block(self, block: dict[str, Any], start: dict[str, Any], *deltas: dict[str, Any]) -> Iterator[bytes]:
        """A whole block, after the text before it."""
        yield from self._closed()
        at = len(self._blocks)
        self._blocks.append(block)
        yield _event("content_block_start", index=at, content_block=start)
        for delta in deltas:
            yield _event("content_block_delta", index=at, delta=delta)
        yield _event("content_block_stop", index=at)

    # --- text -----------------------------------------------------------------------------------------------------
    def _written(self, piece: str, answer: Answer | None = None, *, last: bool = False) -> Iterator[bytes]:
        """Text in blocks, each with the citations of its end; the markers themselves are left out."""
        segments = self._scanner.feed(piece)
        for segment in [*segments, *(self._scanner.close() if last else ())]:
            if segment.numbers:
                yield from self._cited(segment.numbers, answer)
            elif segment.raw:
                yield from self._said(segment.raw)
        if last:
            yield from self._closed()

    def _said(self, text: str) -> Iterator[bytes]:
        if self._open and self._blocks[-1]["citations"]:
            yield from self._closed()
        if not self._open:
            self._open = True
            self._blocks.append({"type": "text", "text": "", "citations": None})
            start = {"type": "text", "text": "", "citations": None}
            yield _event("content_block_start", index=len(self._blocks) - 1, content_block=start)
        self._blocks[-1]["text"] += text
        yield _event("content_block_delta", index=len(self._blocks) - 1, delta={"type": "text_delta", "text": text})

    def _cited(self, numbers: tuple[int, ...], answer: Answer | None) -> Iterator[bytes]:
        sources = self.text.turn.citations.by_number()
        for number in numbers:
            if not self._open or number not in sources:
                continue
            source = sources[number]
            quotes = (claim.quote for claim in answer.claims if claim.number == number) if answer else ()
            quote = next((quote for quote in quotes if quote), source.snippet)
            citation = {"type": "web_search_result_location", "url": source.url, "title": source.title,
                        "encrypted_index": "", "cited_text": shortened(quote, _LONGEST_QUOTE)}  # fmt: skip
            known = self._blocks[-1]["citations"] or []
            self._blocks[-1]["citations"] = [*known, citation]
            delta = {"type": "citations_delta", "citation": citation}
            yield _event("content_block_delta", index=len(self._blocks) - 1, delta=delta)

    def _closed(self) -> Iterator[bytes]:
        if self._open:
            self._open = False
            yield _event("content_block_stop", index=len(self._blocks) - 1)


def _event(kind: str, **fields: Any) -> bytes:
    return message({"type": kind, **fields}, event=kind)


def _stop_reason(answer: Answer) -> str:
    return "max_tokens" if is_cut(answer) else "end_turn"


def _usage(answer: Answer) -> dict[str, Any]:
    used = answer.usage
    calls = {"web_search_requests": used.searches, "web_fetch_requests": used.fetches}
    return {"output_tokens": used.output_tokens, "server_tool_use": calls}
