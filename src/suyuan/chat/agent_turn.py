"""Agent mode: the model searches and reads by itself, within hard limits."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from ..core.causes.chat import NO_TOOL_CALLS, TIME_IS_UP
from ..core.errors import SuyuanError
from ..core.query import SearchQuery
from ..llm.errors import model_error
from ..text.words import count_tokens
from ..tools.text import shortened
from .chat_turn import LONGEST_QUERY, say_failed
from .model_call import conversation, stream_answer, take_chunk
from .prompts import agent_prompt, chat_prompt, with_results, without_results
from .steps import read_step, search_step
from .turn import Turn

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

PAGE_TOKENS = 2000


async def agent_work(turn: Turn) -> None:
    """Run the agent; for a model without tool calling the search is planned by rules."""
    limit = turn.session.settings.limits.seconds * 2
    try:
        # After its time the model has no tools left; if it still does not end, that is a failure of the model.
        async with asyncio.timeout(limit):
            try:
                await _agent(turn)
            except SuyuanError as error:
                if error.detail_code != "tools_unsupported" or turn.spoken:
                    raise
                turn.notice("warning", NO_TOOL_CALLS.failure(model=turn.session.model_settings.label), "models")
                await _planned(turn)
                return
        if turn.failed and not turn.citations.sources:
            turn.unverified = True
            say_failed(turn, turn.failed)
    except TimeoutError:
        raise TIME_IS_UP(seconds=limit) from None


async def _agent(turn: Turn) -> None:
    from langchain.agents import create_agent
    from langgraph.errors import GraphRecursionError

    from .agent_limits import AgentLimitMiddleware

    session, limits = turn.session, turn.session.settings.limits
    system = agent_prompt(turn.lang, session.today(), searches=limits.searches, fetches=limits.fetches)
    agent = create_agent(session.model, _tools(turn), system_prompt=system, middleware=[AgentLimitMiddleware(turn)])
    budget = session.model_settings.context_tokens * 0.5 - count_tokens(system)
    given: Any = {"messages": conversation(turn, turn.message, budget)}
    # Every step is two nodes of the graph; the limits end a run long before this.
    config: Any = {"recursion_limit": 4 * (limits.searches + limits.fetches) + 20}
    try:
        stream: Any = agent.astream(given, config, stream_mode=["messages", "updates"])
        async with aclosing(stream):
            async for kind, data in stream:
                if kind == "messages":
                    chunk, about = data
                    if about.get("langgraph_node") == "model":
                        take_chunk(turn, chunk)
                elif (told := data.get("model")) and told["messages"] and told["messages"][-1].tool_calls:
                    turn.withdraw()
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
    return tools


async def _planned(turn: Turn) -> None:
    """Do what an agent usually does: search the message, read the two best pages, answer."""
    settings = turn.session.settings
    system = chat_prompt(turn.lang, turn.session.today())
    try:
        page, _ = await search_step(
            turn, SearchQuery(shortened(" ".join(turn.message.split()), LONGEST_QUERY).rstrip("…"))
        )
    except SuyuanError as error:
        turn.unverified = True
        say_failed(turn, error)
        await stream_answer(turn, system, without_results(turn.message, turn.lang))
        return
    sources = turn.citations.add(page, settings.results)
    read = []
    for source in sources[: min(2, settings.limits.fetches)]:
        try:
            read.append((await read_step(turn, source.url, turn.message, PAGE_TOKENS))[0])
        except SuyuanError:
            continue  # the step has said so
    question = with_results(turn.message, page.query.text, sources, turn.lang, settings.snippet_length)
    await stream_answer(turn, system, "\n\n".join([*read, question]))
