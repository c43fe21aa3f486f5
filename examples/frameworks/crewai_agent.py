"""CrewAI: the tools of Suyuan as tools of an agent."""

from __future__ import annotations

import json
import sys
from typing import Any

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from suyuan.integrations.functions import sync_web_functions


class Echo(BaseLLM):
    """A stand-in for your model: searches, and repeats the first source."""

    question: str = ""

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        """Call the tool in the words that CrewAI asks for, or answer from what it returned."""
        seen = messages if isinstance(messages, str) else "\n".join(str(one.get("content")) for one in messages)
        first = next((line for line in seen.splitlines() if line.startswith("[1]")), "")
        if first:
            return f"Thought: I now know the final answer\nFinal Answer: The best source is {first[4:]} [1]."
        return f"Thought: search\nAction: web_search\nAction Input: {json.dumps({'query': self.question})}"

    def supports_function_calling(self) -> bool:
        """It writes its calls as text."""
        return False


def main(question: str, engines: str) -> None:
    """Let the agent answer ``question`` and print its answer."""
    tools = [tool(one) for one in sync_web_functions(engines=engines, lang="en")]
    model = Echo(model="echo")
    model.question = question
    agent = Agent(role="Searcher", goal="Answer with sources", backstory="You search.", llm=model, tools=tools)
    task = Task(description=question, expected_output="An answer with its sources", agent=agent)
    print(Crew(agents=[agent], tasks=[task]).kickoff())


if __name__ == "__main__":
    main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub")
