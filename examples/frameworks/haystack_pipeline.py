"""Haystack: the tools of Suyuan as tools, called by the component that calls tools."""

from __future__ import annotations

import sys

from haystack.components.tools import ToolInvoker
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import create_tool_from_function

from suyuan.integrations.functions import sync_web_functions


def main(question: str, engines: str) -> None:
    """Call the tool as a model would, and print the first source."""
    tools = [create_tool_from_function(one) for one in sync_web_functions(engines=engines, lang="en")]
    # What your model answers: a call of the tool.
    asked = ChatMessage.from_assistant(tool_calls=[ToolCall("web_search", {"query": question})])
    (told,) = ToolInvoker(tools=tools).run(messages=[asked])["tool_messages"]
    first = next(line for line in told.tool_call_result.result.splitlines() if line.startswith("[1]"))
    print(f"The best source is {first[4:]} [1].")


if __name__ == "__main__":
    main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub")
