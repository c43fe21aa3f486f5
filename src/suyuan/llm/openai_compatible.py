"""The model class for OpenAI-compatible servers: LangChain's for DeepSeek, with a stream that is read in bulk."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessageChunk, BaseMessage, BaseMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_deepseek import ChatDeepSeek

_DONE = "[DONE]"


class CompatibleModel(ChatDeepSeek):
    """Keeps a server's reasoning, and hands it back within a turn: DeepSeek and Kimi refuse a tool's result without it."""

    returns_reasoning: bool = False

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        *,
        stream_usage: bool | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        """Stream; what came in together goes on together, so that a busy house does less for each word, and not more."""
        kwargs["stream"] = True
        if self._should_stream_usage(stream_usage, **kwargs):
            kwargs["stream_options"] = {"include_usage": True}
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        answer = await self.async_client.with_raw_response.create(**payload)
        response = answer.http_response
        kind: type[BaseMessageChunk] = AIMessageChunk
        try:
            async for chunks in _arrivals(response):
                for chunk in _joined(chunks):
                    generation = self._convert_chunk_to_generation_chunk(chunk, kind, {})
                    if generation is None:
                        continue
                    kind = generation.message.__class__
                    if run_manager:
                        await run_manager.on_llm_new_token(generation.text, chunk=generation)
                    yield generation
        finally:
            await response.aclose()

    def _convert_chunk_to_generation_chunk(self, chunk: dict[str, Any], *args: Any) -> ChatGenerationChunk | None:
        if any("reasoning_content" in (choice.get("delta") or {}) for choice in chunk.get("choices") or ()):
            self.returns_reasoning = True
        return super()._convert_chunk_to_generation_chunk(chunk, *args)

    def _get_request_payload(self, input_: Any, **options: Any) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(input_, **options)
        if self.returns_reasoning:
            for message, sent in zip(self._convert_input(input_).to_messages(), payload["messages"], strict=True):
                reasoning = message.additional_kwargs.get("reasoning_content")
                if reasoning and sent.get("tool_calls"):
                    sent["reasoning_content"] = reasoning
        return payload


async def _arrivals(response: Any) -> AsyncIterator[list[dict[str, Any]]]:
    """The chunks of a stream of events, as many at a time as have come in."""
    reader = _Reader(response.request)
    async for piece in response.aiter_bytes():
        if chunks := reader.feed(piece):
            yield chunks
        if reader.failure is not None:
            raise reader.failure
    if reader.begun and not (reader.ended or reader.finished):
        # It closed the connection properly, and in the middle of an answer.
        raise httpx2.RemoteProtocolError("the stream ended before the answer did", request=response.request)


class _Reader:
    """Takes events out of pieces of a stream."""

    def __init__(self, request: Any) -> None:
        self.begun = self.finished = self.ended = False
        self.failure: Exception | None = None
        """What the server said in place of more chunks; those before it come first."""
        self._request = request
        self._held = b""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[dict[str, Any]]:
        """Take one piece, and return the chunks that are complete with it."""
        *lines, self._held = (self._held + piece).split(b"\n")
        chunks: list[dict[str, Any]] = []
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

    def _take(self, text: str, chunks: list[dict[str, Any]]) -> None:
        if text == _DONE:
            self.ended = True
            return
        try:
            chunk = json.loads(text)
        except ValueError as error:
            self.failure = error
            return
        if told := chunk.get("error"):
            message = told.get("message") if isinstance(told, dict) else str(told)
            self.failure = openai.APIError(message or "error in the stream", request=self._request, body=told)
            return
        self.begun = True
        self.finished = self.finished or any(choice.get("finish_reason") for choice in chunk.get("choices") or ())
        chunks.append(chunk)


def _joined(chunks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The chunks, with neighbours that hold nothing but text of the same kind in one."""
    whole: dict[str, Any] | None = None
    kind = ""
    for chunk in chunks:
        own = _only(chunk)
        if whole is not None and own and own == kind:
            whole["choices"][0]["delta"][own] += chunk["choices"][0]["delta"][own]
            continue
        if whole is not None:
            yield whole
        whole, kind = chunk, own
    if whole is not None:
        yield whole


def _only(chunk: dict[str, Any]) -> str:
    """The one thing that a chunk holds, where it holds but one kind of text."""
    choices: list[dict[str, Any]] = chunk.get("choices") or []
    if len(choices) != 1 or choices[0].get("finish_reason") or chunk.get("usage"):
        return ""
    delta = choices[0].get("delta") or {}
    told = [name for name, value in delta.items() if value and name != "role"]
    return (
        told[0]
        if len(told) == 1 and told[0] in ("content", "reasoning_content") and isinstance(delta[told[0]], str)
        else ""
    )
