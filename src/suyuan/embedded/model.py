"""The embedded model as a LangChain chat model: a thin wrapper that takes the evidence out of tool artifacts."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from ..citations.registry import CitationRegistry
from ..core.document import Document
from ..core.result import SearchPage
from ..pages.passages import select
from ..text.scripts import CJK
from ..text.words import count_tokens
from .follow_up import Said
from .planner import PlannedCall
from .responder import Responder
from .turn_input import TurnInput

_PIECES = re.compile(rf"[{CJK}]{{1,4}}[，。！？、；：]*|[^\s{CJK}]+\s*|\s+")


class EmbeddedModel(BaseChatModel):
    """Quotes what the tools ``web_search`` and ``web_fetch`` of Suyuan have found, with the numbers of the sources."""

    most_quotes: int = 4
    most_results: int = 5
    """Results of one search that are numbered, as by the search tool."""
    page_tokens: int = 2000

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
        return generate_from_stream(self._chunks(messages, kwargs.get("tools")))

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
            piece = tool_call_chunk(name=call.name, args=arguments, id=f"call_{uuid.uuid4().hex[:12]}", index=index)
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[piece]))
        for word in _PIECES.findall(text):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", usage_metadata=_usage(messages, text), chunk_position="last")
        )

    def _decide(self, messages: list[BaseMessage], tools: Any) -> tuple[str, list[PlannedCall]]:
        """Return the answer, or the tools to call before it."""
        responder, turn = Responder(self.most_quotes), self._turn(messages)
        names = frozenset(tool["function"]["name"] for tool in tools or ())
        calls = responder.plan(turn, names)
        if calls:
            return "", calls
        return "".join(responder.respond(turn)), []

    def _turn(self, messages: Sequence[BaseMessage]) -> TurnInput:
        """The last turn; the numbers of earlier turns are not valid in it."""
        starts = [at for at in range(len(messages)) if _begins_turn(messages, at)]
        if not starts:
            return TurnInput()
        start = starts[-1]
        turn = TurnInput(messages[start].text, _history(messages[:start]))
        numbers = CitationRegistry()
        calls: dict[str | None, ToolCall] = {}
        for message in messages[start:]:
            if isinstance(message, AIMessage):
                calls.update({call["id"]: call for call in message.tool_calls})
            elif isinstance(message, ToolMessage) and message.tool_call_id in calls:
                self._add(turn, numbers, message.artifact, calls[message.tool_call_id])
        return turn

    def _add(self, turn: TurnInput, numbers: CitationRegistry, found: Any, call: ToolCall) -> None:
        if isinstance(found, SearchPage):
            turn.add_search(found.query.text, numbers.add(found, self.most_results))
        elif isinstance(found, Document):
            source = numbers.add_page(found.url, found)
            passages = select(found.text, turn.full_question, self.page_tokens).passages
            turn.add_page(source, "\n\n".join(passage.text for passage in passages))
        elif call["name"] == "web_search":
            turn.queries.append(str(call["args"].get("query", "")))
            turn.failed = True
        else:
            turn.read_urls.append(str(call["args"].get("url", "")))


def _begins_turn(messages: Sequence[BaseMessage], at: int) -> bool:
    """Whether a person speaks here: after a tool or another such message it is an instruction to the model."""
    if not isinstance(messages[at], HumanMessage):
        return False
    before = messages[at - 1] if at else None
    if isinstance(before, ToolMessage | HumanMessage):
        return False
    return not (isinstance(before, AIMessage) and before.tool_calls)


def _history(messages: Sequence[BaseMessage]) -> tuple[Said, ...]:
    """The earlier questions with the last thing that was said to each."""
    said: list[Said] = []
    for at, message in enumerate(messages):
        if _begins_turn(messages, at):
            said.append(Said(message.text))
        elif said and isinstance(message, AIMessage) and message.text:
            said[-1] = Said(said[-1].question, message.text)
    return tuple(said)


def _usage(messages: Sequence[BaseMessage], text: str) -> UsageMetadata:
    asked, said = sum(count_tokens(message.text) for message in messages), count_tokens(text)
    return UsageMetadata(input_tokens=asked, output_tokens=said, total_tokens=asked + said)
