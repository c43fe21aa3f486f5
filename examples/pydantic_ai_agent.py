"""A pydantic-ai agent that searches and reads (needs ``pip install suyuan pydantic-ai-slim``)."""

from __future__ import annotations

import asyncio
import sys

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from suyuan.integrations.functions import web_functions


def echo(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """A stand-in for your model, so that the example runs without a key: searches, and repeats the first source."""
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        first = next(line for line in str(last.content).splitlines() if line.startswith("[1]"))
        return ModelResponse(parts=[TextPart(f"The best source is {first[4:]} [1].")])
    question = last.content if isinstance(last, UserPromptPart) else ""
    return ModelResponse(parts=[ToolCallPart("web_search", {"query": question, "count": 3})])


async def main(question: str, engines: str) -> None:
    """Let the agent answer ``question`` and print its answer."""
    agent = Agent(FunctionModel(echo), tools=list(web_functions(engines=engines, lang="en")))
    print((await agent.run(question)).output)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub"))
