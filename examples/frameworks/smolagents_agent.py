"""smolagents: the tools of Suyuan as tools of an agent."""

from __future__ import annotations

import sys
from typing import Any

from smolagents import ChatMessage, MessageRole, Model, Tool, ToolCallingAgent
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

from suyuan.integrations.functions import sync_web_functions


class WebSearch(Tool):
    """``web_search``; the description and the inputs are those that every other framework gets."""

    name = "web_search"
    description = "Search the internet for current information."
    inputs = {"query": {"type": "string", "description": "The search keywords."}}
    output_type = "string"

    def __init__(self, engines: str) -> None:
        super().__init__()
        self._search, _ = sync_web_functions(engines=engines, lang="en")
        self.description = self._search.__doc__ or self.description

    def forward(self, query: str) -> str:
        """Search."""
        return self._search(query)


class Echo(Model):
    """A stand-in for your model: searches, and repeats the first source."""

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def generate(self, messages: Any, *_: Any, **__: Any) -> ChatMessage:
        """Call the tool, or answer from what it returned."""
        seen = "\n".join(str(part.get("text", "")) for one in messages for part in one.content or ())
        first = next((line for line in seen.splitlines() if line.startswith("[1]")), "")
        name, arguments = "web_search", {"query": self._question}
        if first:
            name, arguments = "final_answer", {"answer": f"The best source is {first[4:]} [1]."}
        call = ChatMessageToolCall(
            id="1", type="function", function=ChatMessageToolCallFunction(name=name, arguments=arguments)
        )
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=[call])


def main(question: str, engines: str) -> None:
    """Let the agent answer ``question`` and print its answer."""
    agent = ToolCallingAgent(tools=[WebSearch(engines)], model=Echo(question), verbosity_level=0)
    print(agent.run(question))


if __name__ == "__main__":
    main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub")
