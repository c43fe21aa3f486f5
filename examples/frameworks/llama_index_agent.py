"""LlamaIndex: the tools of Suyuan as tools of an agent."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ChatResponseAsyncGen, LLMMetadata
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.mock import MockLLM
from llama_index.core.tools import FunctionTool, ToolSelection

from suyuan.integrations.functions import web_functions


class Echo(MockLLM, FunctionCallingLLM):
    """A stand-in for your model: searches, and repeats the first source."""

    @property
    def metadata(self) -> LLMMetadata:
        """Say that it calls functions."""
        return LLMMetadata(is_function_calling_model=True)

    def _prepare_chat_with_tools(self, tools: Any, **given: Any) -> dict[str, Any]:
        return {"messages": given.get("chat_history") or []}

    async def astream_chat_with_tools(self, *_: Any, **given: Any) -> ChatResponseAsyncGen:
        """Call the tool, or answer from what it returned."""

        async def stream() -> ChatResponseAsyncGen:
            yield self._answer(given["chat_history"])

        return stream()

    def _answer(self, messages: list[ChatMessage]) -> ChatResponse:
        text = messages[-1].content or ""
        if messages[-1].role == "tool":
            first = next(line for line in text.splitlines() if line.startswith("[1]"))
            text = f"The best source is {first[4:]} [1]."
            return ChatResponse(message=ChatMessage(role="assistant", content=text), delta=text)
        message = ChatMessage(role="assistant", content="", additional_kwargs={"search": text})
        return ChatResponse(message=message, delta="")

    def get_tool_calls_from_response(self, response: ChatResponse, *_: Any, **__: Any) -> list[ToolSelection]:
        """The search that the answer asks for."""
        query = response.message.additional_kwargs.get("search")
        return [ToolSelection(tool_id="1", tool_name="web_search", tool_kwargs={"query": query})] if query else []


async def main(question: str, engines: str) -> None:
    """Let the agent answer ``question`` and print its answer."""
    tools = [FunctionTool.from_defaults(async_fn=one) for one in web_functions(engines=engines, lang="en")]
    print(await FunctionAgent(tools=tools, llm=Echo(), streaming=True).run(question))


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub"))
