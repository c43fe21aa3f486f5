"""The chat model of OpenAI-compatible servers."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, cast

import httpx2
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.chat_models import agenerate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, convert_to_openai_messages
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from ..core.give_way import GiveWay
from .pieces import Piece, TokenUsage
from .tool_calls import CALLS_DROPPED, CollectedCalls

_DONE = "[DONE]"
# So many bytes of a stream are parsed at a time; a chunk of it has a few hundred.
_PARSE_BYTES = 16_384
# So many pieces of an answer are passed on as they come; later ones are joined to this many characters.
_MAX_SINGLE_PIECES, _JOINED_LENGTH = 1_000, 100
_JSON = {"Content-Type": "application/json"}
Chunk = dict[str, Any]


class ModelServerError(Exception):
    """What a server says instead of an answer; ``status_code`` is 200 for an error in the middle of one."""

    def __init__(self, response: httpx2.Response, body: Any) -> None:
        error = body.get("error") if isinstance(body, dict) else body
        message = error.get("message") if isinstance(error, dict) else error
        super().__init__(str(message or f"Error code: {response.status_code}"))
        self.response = response
        self.status_code = response.status_code
        self.body = body


class OpenAICompatibleModel(BaseChatModel):
    """Streams answers; text that arrives together becomes one message, so a busy server does less for each word."""

    client: httpx2.AsyncClient = Field(repr=False, exclude=True)
    """Sends to the address of the server, with its key."""
    options: dict[str, Any]
    """What every request has: the model, the temperature, the longest answer."""
    returns_reasoning: bool = False
    """Whether the server sends its reasoning; DeepSeek and Kimi then want it back with the result of a tool."""

    @property
    def _llm_type(self) -> str:
        return "openai-compatible"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with ``tools``."""
        if tool_choice == "any":
            kwargs["tool_choice"] = "required"
        elif tool_choice:
            kwargs["tool_choice"] = {"type": "function", "function": {"name": tool_choice}}
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.aclose()

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("This model is asynchronous: use ainvoke or astream.")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return await agenerate_from_stream(self._astream(messages, stop, run_manager, **kwargs))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        body = {"messages": self._sent(messages), **kwargs, **({"stop": stop} if stop else {})}
        async with aclosing(self._pieces(body)) as pieces:
            async for piece in _joined(pieces):
                generation = ChatGenerationChunk(message=message_of(piece))
                if piece.reasoning:
                    self.returns_reasoning = True
                if run_manager:
                    await run_manager.on_llm_new_token(generation.text, chunk=generation)
                yield generation

    def pieces(self, messages: Sequence[Mapping[str, str]]) -> AsyncGenerator[Piece, None]:
        """The answer to plain messages, without what LangChain does for each of its words."""
        return self._pieces({"messages": list(messages)})

    async def _pieces(self, body: dict[str, Any]) -> AsyncGenerator[Piece, None]:
        body = {**self.options, **body, "stream": True, "stream_options": {"include_usage": True}}
        # Half of a character, where a client cut a text within one, must not cost the answer.
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        async with self.client.stream("POST", "chat/completions", content=content, headers=_JSON) as response:
            if not response.is_success:
                raise ModelServerError(response, _json(await response.aread()))
            calls = CollectedCalls()
            async for chunks in _arrivals(response):
                yield _piece(chunks, calls)
                if calls.too_many:
                    # What follows is not read; the connection is closed.
                    break
            if calls.whole:
                yield Piece(calls=calls.whole, dropped=calls.too_many)

    def _sent(self, messages: list[BaseMessage]) -> list[dict[str, Any]]:
        """The messages in OpenAI's form."""
        sent: Any = convert_to_openai_messages(messages)
        if self.returns_reasoning:
            for message, form in zip(messages, sent, strict=True):
                if form.get("tool_calls") and (reasoning := message.additional_kwargs.get("reasoning_content")):
                    form["reasoning_content"] = reasoning
        return list(sent)


async def _joined(pieces: AsyncIterator[Piece]) -> AsyncIterator[Piece]:
    """The pieces, of which those of a very long answer are joined: LangChain joins all of them in one step."""
    count, joined = 0, Piece()
    async for piece in pieces:
        count += 1
        joined = Piece(
            joined.text + piece.text,
            joined.reasoning + piece.reasoning,
            piece.calls,
            piece.dropped,
            piece.finish or joined.finish,
            piece.usage or joined.usage,
        )
        is_long = len(joined.text) + len(joined.reasoning) >= _JOINED_LENGTH
        if count <= _MAX_SINGLE_PIECES or piece.calls or is_long:
            yield joined
            joined = Piece()
    if joined != Piece():
        yield joined


def _piece(chunks: Iterable[Chunk], calls: CollectedCalls) -> Piece:
    """One piece of an answer for all ``chunks``; the tool calls in them are added to ``calls``."""
    content, reasoning, finish = "", "", ""
    counts: dict[str, Any] = {}
    for chunk in chunks:
        counts = chunk.get("usage") or counts
        for choice in chunk.get("choices") or ():
            finish = choice.get("finish_reason") or finish
            delta = choice.get("delta") or {}
            content += delta.get("content") or ""
            reasoning += delta.get("reasoning_content") or delta.get("reasoning") or ""
            _collect_calls(delta, calls)
    usage = _usage(counts) if counts else None
    return Piece(content, reasoning, finish=finish, usage=usage)


def _collect_calls(delta: dict[str, Any], calls: CollectedCalls) -> None:
    for call in delta.get("tool_calls") or ():
        function = call.get("function") or {}
        calls.add({**call, "name": function.get("name"), "args": function.get("arguments")})


def message_of(piece: Piece) -> AIMessageChunk:
    """A piece in LangChain's form."""
    metadata: dict[str, Any] = {}
    if piece.finish:
        metadata["finish_reason"] = piece.finish
    if piece.dropped:
        metadata[CALLS_DROPPED] = True
    reasoning = {"reasoning_content": piece.reasoning} if piece.reasoning else {}
    return AIMessageChunk(
        content=piece.text,
        additional_kwargs=reasoning,
        tool_call_chunks=[tool_call_chunk(**call) for call in piece.calls],
        response_metadata=metadata,
        usage_metadata=cast(UsageMetadata, piece.usage),
    )


def _usage(counts: dict[str, Any]) -> TokenUsage:
    input_tokens = counts.get("prompt_tokens") or 0
    output_tokens = counts.get("completion_tokens") or 0
    total = counts.get("total_tokens") or input_tokens + output_tokens
    return {"input_tokens": input_tokens, "output_tokens": output_tokens, "total_tokens": total}


def _json(body: bytes) -> Any:
    """A body as JSON, or else as text."""
    try:
        return json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")


async def _arrivals(response: httpx2.Response) -> AsyncIterator[list[Chunk]]:
    """The chunks of a stream of events, as many at a time as have arrived."""
    parser = ChunkParser(response)
    give_way = GiveWay()
    # Much that has arrived at once is read without waiting for anything, and what takes long is its parsing.
    async for arrived in response.aiter_bytes():
        for start in range(0, len(arrived), _PARSE_BYTES):
            if chunks := parser.feed(arrived[start : start + _PARSE_BYTES]):
                yield chunks
            if parser.failure is not None:
                raise parser.failure
            await give_way()
    if parser.begun and not (parser.ended or parser.finished):
        # The server closed the connection properly, in the middle of an answer.
        raise httpx2.RemoteProtocolError("the stream ended before the answer did", request=response.request)


class ChunkParser:
    """Parses the bytes of an event stream into chunks of a completion."""

    def __init__(self, response: httpx2.Response) -> None:
        self.begun = self.finished = self.ended = False
        self.failure: Exception | None = None
        """An error in the stream; the chunks before it come first."""
        self._response = response
        self._rest = b""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[Chunk]:
        """The chunks that are complete with ``piece``."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        chunks: list[Chunk] = []
        for line in lines:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                self._data.append(line[5:].decode("utf-8", "replace").strip())
            elif not line and self._data and not self.ended:
                text, self._data = "\n".join(self._data), []
                self._take(text, chunks)
                if self.failure is not None:
                    break
        return chunks

    def _take(self, text: str, chunks: list[Chunk]) -> None:
        if text == _DONE:
            self.ended = True
            return
        try:
            chunk = json.loads(text)
        except ValueError as error:
            self.failure = error
            return
        if chunk.get("error"):
            self.failure = ModelServerError(self._response, chunk)
            return
        self.begun = True
        self.finished = self.finished or any(choice.get("finish_reason") for choice in chunk.get("choices") or ())
        chunks.append(chunk)
