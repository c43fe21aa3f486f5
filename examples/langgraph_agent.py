"""A LangGraph graph of a model and its tools, searching and reading (needs ``suyuan[langchain]``)."""

from __future__ import annotations

import asyncio
import sys

from langchain_agent import EchoModel
from langchain_core.messages import HumanMessage
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from suyuan.integrations.langchain import web_tools


async def main(question: str, engines: str) -> None:
    """Let the graph answer ``question`` and print its answer."""
    tools = web_tools(engines=engines, lang="en")
    model = EchoModel().bind_tools(tools)  # your model here

    async def answer(state: MessagesState) -> dict[str, list[object]]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", answer)
    graph.add_node("tools", ToolNode(tools))
    graph.set_entry_point("model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    state = await graph.compile().ainvoke({"messages": [HumanMessage(question)]})
    print(state["messages"][-1].text)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub"))
