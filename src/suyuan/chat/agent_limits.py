"""``AgentLimitMiddleware``: removes the tools at the limits, so that the model answers with what it has."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse, hook_config
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from ..llm.tool_calls import CALLS_DROPPED, MAX_CALLS
from ..text.words import count_tokens
from .events import Tool
from .model_call import retrying
from .prompts import answer_now, calls_dropped
from .steps import used_up
from .turn import Turn

_LEFT_OUT = {"zh": "（为节省篇幅，这一步的内容已省略）", "en": "(left out to save space)"}
_FENCE = re.compile(r"^```(?:json|tool_call)?\s*+|\s{0,20}+```$|^<tool_call>\s*+|\s{0,20}+</tool_call>$", re.I)


class AgentLimitMiddleware(AgentMiddleware[Any, Any, Any]):
    """Enforces the limits of searches, pages, seconds and tokens, and the size of the model's context."""

    def __init__(self, turn: Turn) -> None:
        super().__init__()
        self._turn = turn

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """Call the model with the tools that are left."""
        spent = self._used_up(request.messages) - set(self._turn.session.functions.names)
        left = [tool for tool in request.tools if _name(tool) not in spent]
        messages = self._readable(request.messages, count_tokens(request.system_prompt or ""))
        if _calls_were_dropped(request.messages):
            messages = [*messages, HumanMessage(calls_dropped(self._turn.lang, MAX_CALLS))]
        if request.tools and not left:
            messages = [*messages, HumanMessage(answer_now(self._turn.lang))]
        asked = request.override(tools=left, messages=cast("list[Any]", messages), tool_choice=None)
        system = request.system_prompt or ""
        given = count_tokens(system) + sum(count_tokens(message.text) for message in messages)
        response = await retrying(self._turn, lambda: handler(asked), given)
        used = [message.usage_metadata for message in response.result if isinstance(message, AIMessage)]
        told = [each for each in used if each]
        self._turn.end_call(sum(each["input_tokens"] for each in told), sum(each["output_tokens"] for each in told))
        names = [_name(tool) for tool in left]
        response.result = [_limited(_repaired(message, names)) for message in response.result]
        if _calls_were_dropped(response.result):
            self._turn.drop_calls()
        return response

    def _used_up(self, messages: Sequence[BaseMessage]) -> set[Tool]:
        """The tools whose limit is reached."""
        turn, limits, used = self._turn, self._turn.session.settings.limits, used_up(self._turn)
        spent = turn.usage.input_tokens + turn.usage.output_tokens or sum(
            count_tokens(message.text) for message in messages
        )
        calls = sum(1 for message in messages if isinstance(message, AIMessage) and message.tool_calls)
        over = spent > limits.tokens or calls > limits.searches + limits.fetches
        # Reading alone cannot find anything new once all searches are gone and nothing was found.
        if over or ("web_search" in used and not turn.citations.sources):
            return {"web_search", "web_fetch"}
        return used

    def _readable(self, messages: Sequence[BaseMessage], system: int) -> list[BaseMessage]:
        """The messages that fit the context; the content of the oldest tool results is dropped first."""
        budget = int(self._turn.session.model_settings.context_tokens * 0.85) - system
        sizes = [count_tokens(message.text) for message in messages]
        kept = list(messages)
        for i, message in enumerate(messages[:-1]):
            if sum(sizes) <= budget:
                break
            if isinstance(message, ToolMessage):
                kept[i] = message.model_copy(update={"content": _LEFT_OUT[self._turn.lang]})
                sizes[i] = count_tokens(kept[i].text)
        return kept


class FunctionCallMiddleware(AgentMiddleware[Any, Any, Any]):
    """Ends the turn where the model calls a function of the caller, who has to answer first."""

    def __init__(self, turn: Turn) -> None:
        super().__init__()
        self._functions = turn.session.functions

    @hook_config(can_jump_to=["end"])
    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Go to the end."""
        return {"jump_to": "end"} if self._functions.called(state["messages"][-1]) else None


def _name(tool: Any) -> str:
    return str(tool["function"]["name"] if isinstance(tool, dict) else getattr(tool, "name", ""))


def _repaired(message: BaseMessage, tools: Sequence[str]) -> BaseMessage:
    """Turn a call that was printed as text into a real one; drop a call of a tool that was removed."""
    if not isinstance(message, AIMessage):
        return message
    if message.tool_calls and not tools:
        return AIMessage(message.text, id=message.id)
    if not message.tool_calls and tools and (calls := _printed_calls(message.text, tools)):
        return AIMessage("", id=message.id, tool_calls=calls)
    return message


def _limited(message: BaseMessage) -> BaseMessage:
    """A message without the calls after those that one step may make, by whatever library it came."""
    if not isinstance(message, AIMessage) or len(message.tool_calls) <= MAX_CALLS:
        return message
    calls = message.tool_calls[:MAX_CALLS]
    content = message.content
    if isinstance(content, list):
        # A model is not shown a call that has no result.
        kept = {None, *(call["id"] for call in calls)}
        content = [block for block in content if _call_id(block) in kept]
    metadata = {**message.response_metadata, CALLS_DROPPED: True}
    more = message.additional_kwargs
    return AIMessage(content, id=message.id, tool_calls=calls, response_metadata=metadata, additional_kwargs=more)


def _call_id(block: Any) -> str | None:
    """The id of a call in the content of a message; none where it is something else."""
    return block.get("id") if isinstance(block, dict) and block.get("type") == "tool_use" else None


def _calls_were_dropped(messages: Sequence[BaseMessage]) -> bool:
    """Whether the model has just wanted to make too many calls."""
    said = next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
    return said is not None and CALLS_DROPPED in said.response_metadata


def _printed_calls(text: str, tools: Sequence[str]) -> list[dict[str, Any]]:
    """The tool calls that ``text`` consists of, as small models print them."""
    text = _FENCE.sub("", text.strip()).strip()
    if not text.startswith(("{", "[")):
        return []
    try:
        data = json.loads(text)
    except ValueError:
        return []
    calls = []
    for item in data if isinstance(data, list) else [data]:
        if not isinstance(item, dict):
            return []
        inner = item["function"] if isinstance(item.get("function"), dict) else item
        name, arguments = inner.get("name"), inner.get("arguments", inner.get("parameters", inner.get("args")))
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError:
                return []
        if name not in tools or not isinstance(arguments, dict):
            return []
        calls.append({"name": name, "args": arguments, "id": f"call_{uuid.uuid4().hex[:12]}", "type": "tool_call"})
    return calls
