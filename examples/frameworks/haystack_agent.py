"""Haystack: the tools of Suyuan as tools of an agent."""

from __future__ import annotations

import sys
from typing import Any

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import create_tool_from_function

from suyuan.integrations.functions import sync_web_functions


@component
class Echo:
    """A stand-in for your chat generator: searches, and repeats the first source."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None, **_: Any) -> dict[str, list[ChatMessage]]:
        """Call the tool, or answer from what it returned."""
        last = messages[-1]
        if last.tool_call_result is None:
            call = ToolCall("web_search", {"query": last.text})
            return {"replies": [ChatMessage.from_assistant(tool_calls=[call])]}
        told = str(last.tool_call_result.result)
        first = next(line for line in told.splitlines() if line.startswith("[1]"))
        return {"replies": [ChatMessage.from_assistant(f"The best source is {first[4:]} [1].")]}


def main(question: str, engines: str) -> None:
    """Let the agent answer ``question`` and print its answer."""
    tools = [create_tool_from_function(one) for one in sync_web_functions(engines=engines, lang="en")]
    agent = Agent(chat_generator=Echo(), tools=tools)
    print(agent.run(messages=[ChatMessage.from_user(question)])["messages"][-1].text)


if __name__ == "__main__":
    main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub")
