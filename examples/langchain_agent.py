"""A LangChain agent that searches: give it any chat model of LangChain (needs suyuan[langchain])."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import suyuan
from suyuan.citations.registry import CitationRegistry
from suyuan.tools.langchain import SearchTool
from suyuan.tools.session import SessionSearch


class ParrotModel(BaseChatModel):
    """Stands in for your model, so that the example runs without a key: searches the question, repeats the first source."""

    @property
    def _llm_type(self) -> str:
        return "parrot"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """Take the tools as given: this model knows only one."""
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        last = messages[-1]
        if isinstance(last, ToolMessage):
            first = next((line for line in last.text.splitlines() if line.startswith("[1]")), last.text)
            answer = AIMessage(f"The best source is {first[4:]} [1].")
        else:
            answer = AIMessage("", tool_calls=[{"name": "web_search", "args": {"query": last.text}, "id": "1"}])
        return ChatResult(generations=[ChatGeneration(message=answer)])


async def main(question: str, engines: str) -> None:
    """Let the agent answer ``question`` and print its answer with the sources."""
    async with suyuan.AsyncClient() as client:
        citations = CitationRegistry()  # one for each answer
        tool = SearchTool(SessionSearch(client.search_service, engines=engines), citations, lang="en")
        agent = create_agent(ParrotModel(), [tool])
        state = await agent.ainvoke({"messages": [{"role": "user", "content": question}]})
        print(state["messages"][-1].text)
        for source in citations.sources:
            print(f"[{source.number}] {source.title} {source.url}")


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub"))
