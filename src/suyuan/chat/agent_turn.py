"""Agent mode: the model searches and reads by itself, within hard limits."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import date
from typing import TYPE_CHECKING, Any

from ..core.causes.chat import NO_TOOL_CALLS, TIME_IS_UP
from ..core.errors import SuyuanError
from ..embedded.responder import Responder
from ..llm.errors import model_error
from ..llm.importing import IMPORTING
from ..text.words import count_tokens
from .chat_turn import chat_work, say_failed, search_and_answer
from .model_call import conversation, take_chunk
from .planned_turn import planned_work
from .prompts import agent_prompt
from .turn import Turn

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


async def agent_work(turn: Turn) -> None:
    """Run the agent; without a model, or with one that cannot call tools, the search is planned by rules."""
    limit, model = turn.session.settings.limits.seconds * 2, turn.session.model
    if turn.session.functions.choice:
        await chat_work(turn)
        return
    try:
        # After its time the model has no tools left; if it still does not end, that is a failure of the model.
        async with asyncio.timeout(limit):
            try:
                await (planned_work(turn, model) if isinstance(model, Responder) else _agent(turn))
            except SuyuanError as error:
                if error.detail_code != "tools_unsupported" or turn.spoken or turn.session.functions.tools:
                    raise
                turn.notice("warning", NO_TOOL_CALLS.failure(model=turn.session.model_settings.label), "models")
                await search_and_answer(turn)
                return
        if turn.failed and not turn.citations.sources:
            turn.unverified = True
            say_failed(turn, turn.failed)
    except TimeoutError:
        raise TIME_IS_UP(seconds=limit) from None


async def _agent(turn: Turn) -> None:
    with IMPORTING:
        from langchain.agents import create_agent
        from langgraph.errors import GraphRecursionError

        from .agent_limits import AgentLimitMiddleware, FunctionCallMiddleware

    session, limits = turn.session, turn.session.settings.limits
    system = agent_prompt(
        turn.lang, date.today(), searches=limits.searches, fetches=limits.fetches, length=session.length
    )
    tools: list[Any] = [*_tools(turn), *session.functions.tools]
    middleware = [AgentLimitMiddleware(turn), *([FunctionCallMiddleware(turn)] if session.functions.tools else ())]
    agent = create_agent(session.chat_model, tools, system_prompt=system, middleware=middleware)
    budget = session.model_settings.context_tokens * 0.5 - count_tokens(system)
    given: Any = {"messages": await conversation(turn, turn.message, budget)}
    # Every step is two nodes of the graph; the limits end a run long before this.
    config: Any = {"recursion_limit": 4 * (limits.searches + limits.fetches) + 20}
    try:
        stream: Any = agent.astream(given, config, stream_mode=["messages", "updates"])
        async with aclosing(stream):
            async for kind, data in stream:
                if kind == "messages":
                    chunk, about = data
                    if about.get("langgraph_node") == "model":
                        await take_chunk(turn, chunk)
                elif (told := data.get("model")) and told["messages"]:
                    turn.take_calls(told["messages"][-1])
    except GraphRecursionError:
        raise TIME_IS_UP(seconds=turn.seconds()) from None
    except SuyuanError:
        raise
    except Exception as error:  # noqa: BLE001 - every model library raises its own; all become causes here
        raise model_error(error, session.model_settings) from None


def _tools(turn: Turn) -> list[BaseTool]:
    from .turn_tools import ReadTool, TurnSearchTool

    tools: list[BaseTool] = [TurnSearchTool(turn)]
    if turn.session.settings.limits.fetches:
        tools.append(ReadTool(turn))
    # A function of the caller stands in for a tool of the same name.
    return [tool for tool in tools if tool.name not in turn.session.functions.names]
