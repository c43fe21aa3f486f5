"""The embedded model as a LangChain chat model: it plans by rules and answers by quoting its sources."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from ..text.scripts import CJK
from ..text.words import count_tokens
from .planner import PlannedCall, plan_calls
from .prompt_reader import read_messages
from .writer import write_answer

_PIECES = re.compile(rf"[{CJK}]{{1,4}}[，。！？、；：]*|[^\s{CJK}]+\s*|\s+")


class EmbeddedModel(BaseChatModel):
    """Chooses the sentences of the sources that answer the question, and cites each of them."""

    most_quotes: int = 4

    @property
    def _llm_type(self) -> str:
        return "suyuan-quoting"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Bind ``tools``, of which only ``web_search`` and ``web_fetch`` are used."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        text, calls = self._decide(messages, kwargs.get("tools"))
        named = [{"name": call.name, "args": call.arguments, "id": _new_id(), "type": "tool_call"} for call in calls]
        message = AIMessage(text, tool_calls=named, usage_metadata=_usage(messages, text))
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, kwargs.get("tools")):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, kwargs.get("tools")):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _chunks(self, messages: list[BaseMessage], tools: Any) -> Iterator[ChatGenerationChunk]:
        text, calls = self._decide(messages, tools)
        for index, call in enumerate(calls):
            arguments = json.dumps(call.arguments, ensure_ascii=False)
            piece = tool_call_chunk(name=call.name, args=arguments, id=_new_id(), index=index)
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[piece]))
        for word in _PIECES.findall(text):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", usage_metadata=_usage(messages, text), chunk_position="last")
        )

    def _decide(self, messages: list[BaseMessage], tools: Any) -> tuple[str, list[PlannedCall]]:
        """Return the answer, or the tools to call before it."""
        turn = read_messages(messages)
        calls = plan_calls(turn, frozenset(tool["function"]["name"] for tool in tools or ()))
        return ("", calls) if calls else (write_answer(turn, self.most_quotes), [])


def _new_id() -> str:
    return f"call_{uuid.uuid4().hex[:12]}"


def _usage(messages: Sequence[BaseMessage], text: str) -> UsageMetadata:
    asked, said = sum(count_tokens(message.text) for message in messages), count_tokens(text)
    return UsageMetadata(input_tokens=asked, output_tokens=said, total_tokens=asked + said)
