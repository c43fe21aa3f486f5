"""Anthropic's Messages API: searches are ``server_tool_use`` blocks, and cited sentences have their citations."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from ...chat.events import Answer, Event, SearchFailed, SourcesFound, StepStarted
from ...chat.functions import FunctionCall, Functions, arguments_of
from ...citations.markers import MarkerScanner, Segment
from ...core.causes.asked import BAD_ARGUMENT
from ...messages.catalog import Text
from ...store.conversation import new_id
from ...text.words import count_tokens
from ...tools.text import shortened
from ..orjson_response import to_json
from ..sse import message
from .foreign_turn import SENT_BESIDE, ForeignMessage, Parts, Tools, functions_of, text_of
from .shared import Wanted
from .turn_text import AnswerWriter, TurnText, is_cut

router = APIRouter(prefix="/v1", tags=["anthropic"])

_LONGEST_QUOTE = 150
_NO_BLANK = " \n.,;:!?)。，；：！？）、"
_SEARCHING = ("web_search", "web_fetch")
# What an earlier answer consisted of besides its text.
_SKIPPED = (
    "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result", "web_fetch_tool_result", "tool_use",
    "tool_result",
)  # fmt: skip


class MessagesRequest(Wanted):
    """A request of an Anthropic client; sampling parameters are ignored: the model is configured on the server."""

    model: str = Field("suyuan", max_length=300)
    messages: list[dict[str, Any]] = Field(min_length=1, max_length=2000, fail_fast=True)
    system: str | Parts = ""
    max_tokens: int = Field(4096, ge=1)
    stream: bool = False
    tools: Tools = []
    tool_choice: dict[str, Any] = {}

    def check(self) -> None:
        """Raise a cause if the request wants something that is not supported."""
        foreign = any(not _is_search(tool) and tool.get("type", "custom") != "custom" for tool in self.tools)
        self.refuse({"tools": foreign})

    def functions(self) -> Functions:
        """The functions of the caller."""
        return functions_of((tool for tool in self.tools if not _is_search(tool)), self.tool_choice)

    def said(self) -> Iterator[ForeignMessage]:
        """The messages, the functions that were called, and what they returned."""
        if system := text_of(self.system):
            yield ForeignMessage.sent(self.system, "system", system)
        for each in self.messages:
            role, content = str(each.get("role", "")), each.get("content", "")
            if role not in ("user", "assistant"):
                raise BAD_ARGUMENT(name="messages.role", why=Text("server.detail.only_roles"))
            blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
            calls = tuple(_call(block) for block in blocks if block.get("type") == "tool_use")
            for block in blocks:
                if block.get("type") == "tool_result":
                    id = str(block.get("tool_use_id", ""))
                    yield ForeignMessage.sent(block, "tool", text_of(block.get("content")), call=id)
            if (text := text_of(content, _SKIPPED, between="")) or calls or role == "user" and not blocks:
                yield ForeignMessage.sent(each, role, text, calls)
            elif role == "assistant":
                yield ForeignMessage.sent(each, SENT_BESIDE)


def _is_search(tool: dict[str, Any]) -> bool:
    return str(tool.get("type", "")).startswith(_SEARCHING)


def _call(block: dict[str, Any]) -> FunctionCall:
    given = to_json(block.get("input") or {}).decode()
    return FunctionCall(str(block.get("id", "")), str(block.get("name", "")), given)


@router.post("/messages")
async def create_message(request: Request, body: MessagesRequest) -> Response:
    """Answer the last message with a search; nothing is stored."""
    body.check()
    search, lost = body.tool_choice.get("type") != "none", body.not_honoured()
    said = list(body.said())
    text = await TurnText.of(request, body.model, said, body.functions(), search=search, not_honoured=lost)
    return await MessageWriter(body.model, text).response(request, stream=body.stream)


@router.post("/messages/count_tokens")
async def count_message_tokens(body: MessagesRequest) -> dict[str, int]:
    """About how many tokens the messages have, without what a search adds to them."""
    said = list(body.said())
    return {"input_tokens": await asyncio.to_thread(lambda: sum(count_tokens(each.text) for each in said))}


@dataclass(slots=True)
class MessageWriter(AnswerWriter):
    """Writes one answer as a message, whole or as a stream of its blocks."""

    id: str = field(default_factory=lambda: f"msg_{new_id()}")
    _blocks: list[dict[str, Any]] = field(default_factory=list)
    _open: bool = False
    """Whether the last block is a text to which more can be added."""
    _searches: dict[str, str] = field(default_factory=dict)
    """The ids of the searches that have no result yet, by their queries."""
    _scanner: MarkerScanner = field(default_factory=MarkerScanner)
    _blank: str = ""
    """The blanks after the last word, which are sent with the next one."""

    def whole(self, answer: Answer) -> dict[str, Any]:
        """The answer in one piece."""
        list(self._finished(self.text.whole(answer), answer))
        return {
            **self._head(),
            "content": self._blocks,
            "stop_reason": _stop_reason(answer),
            "usage": _usage(answer),
            "suyuan": self.text.extension(answer),
        }

    def begin(self) -> Iterable[bytes]:
        """The first event."""
        usage = {"input_tokens": 0, "output_tokens": 0}
        return [_event("message_start", message={**self._head(), "content": [], "usage": usage})]

    def spoken(self, piece: str) -> Iterable[bytes]:
        """The events of a piece of the text."""
        return self._written(self._scanner.feed(piece))

    def end(self, answer: Answer) -> Iterator[bytes]:
        """The last events."""
        yield from self._finished(self.text.rest(answer), answer)
        delta = {"stop_reason": _stop_reason(answer), "stop_sequence": None}
        yield _event("message_delta", delta=delta, usage=_usage(answer), suyuan=self.text.extension(answer))
        yield _event("message_stop")

    def broken(self, error: dict[str, Any]) -> Iterable[bytes]:
        """The last event of a stream whose answer failed."""
        return [message(error, event="error")]

    def _head(self) -> dict[str, Any]:
        return {"id": self.id, "type": "message", "role": "assistant", "model": self.model, "stop_reason": None,
                "stop_sequence": None}  # fmt: skip

    # --- searches and functions -----------------------------------------------------------------------------------
    def noted(self, event: Event) -> Iterator[bytes]:
        """Take searches."""
        if isinstance(event, StepStarted) and event.tool == "web_search":
            id = self._searches[event.detail] = f"srvtoolu_{new_id()}"
            yield from self._call("server_tool_use", id, "web_search", {"query": event.detail})
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
                "message": event.failure.message(self.text.lang),
            }
            yield from self._result(event.query, why)

    def _result(self, query: str, content: Any) -> Iterator[bytes]:
        if id := self._searches.pop(query, ""):
            block = {"type": "web_search_tool_result", "tool_use_id": id, "content": content}
            yield from self._block(block, block)

    def _call(self, kind: str, id: str, name: str, given: Any) -> Iterator[bytes]:
        block = {"type": kind, "id": id, "name": name, "input": given}
        delta = {"type": "input_json_delta", "partial_json": to_json(given).decode()}
        yield from self._block(block, {**block, "input": {}}, delta)

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
    def _finished(self, rest: str, answer: Answer) -> Iterator[bytes]:
        yield from self._written([*self._scanner.feed(rest), *self._scanner.close()], answer)
        for call in answer.calls:
            yield from self._call("tool_use", call.id, call.name, arguments_of(call))
        yield from self._closed()

    def _written(self, segments: Iterable[Segment], answer: Answer | None = None) -> Iterator[bytes]:
        """Text in blocks, each with the citations of its end; the markers themselves are left out."""
        for segment in segments:
            if segment.numbers:
                yield from self._cited(segment.numbers, answer)
            elif segment.raw:
                yield from self._said(segment.raw)

    def _said(self, text: str) -> Iterator[bytes]:
        cited = self._open and bool(self._blocks[-1]["citations"])
        # The blank before a marker goes with it, where what follows needs none.
        text = text if cited and text[0] in _NO_BLANK else self._blank + text
        self._blank = text[len(text.rstrip(" ")) :]
        text = text.rstrip(" ")
        if not text:
            return
        if cited:
            yield from self._closed()
        if not self._open:
            self._open = True
            self._blocks.append({"type": "text", "text": "", "citations": None})
            yield _event("content_block_start", index=len(self._blocks) - 1, content_block=self._blocks[-1])
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
    return "tool_use" if answer.calls else "max_tokens" if is_cut(answer) else "end_turn"


def _usage(answer: Answer) -> dict[str, Any]:
    used = answer.usage
    calls = {"web_search_requests": used.searches, "web_fetch_requests": used.fetches}
    return {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens, "server_tool_use": calls}
