"""A LangChain agent that searches and reads: give it any chat model of LangChain (needs ``suyuan[langchain]``)."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from suyuan.integrations.langchain import web_tools


class EchoModel(BaseChatModel):
    """A stand-in for your model, so that the example runs without a key: searches, and repeats the first source."""

    @property
    def _llm_type(self) -> str:
        return "echo"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """Return the model itself, since it calls only one tool."""
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
    """Let the agent answer ``question`` and print its answer with the pages that were found."""
    agent = create_agent(EchoModel(), web_tools(engines=engines))
    state = await agent.ainvoke({"messages": [{"role": "user", "content": question}]})
    print(state["messages"][-1].text)
    for message in state["messages"]:
        if isinstance(message, ToolMessage) and message.artifact:  # the SearchPage
            for result in message.artifact.results:
                print(f"[{result.rank}] {result.title} {result.url}")


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub"))
