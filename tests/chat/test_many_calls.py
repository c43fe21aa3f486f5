"""A step of a model with very many tool calls: some are made, the model and the user are told, the server goes on."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from support.oai import Answering, Step, raw, reply, serve_model, tool_call
from support.talk import ask, of, openai, talking
from support.timing import without_garbage_collection
from suyuan.chat.answering import answer_events
from suyuan.chat.events import Answer, Notice
from suyuan.chat.functions import Functions
from suyuan.chat.model_call import _calling as _calling_of
from suyuan.chat.turn import Turn
from suyuan.core.errors import SuyuanError
from suyuan.llm.tool_calls import MAX_ARGUMENTS, MAX_CALLS, CollectedCalls
from suyuan.store.conversation import Mode

WARMTH: Any = {"type": "function", "function": {"name": "warmth", "description": "x", "parameters": {}}}


def many(name: str, count: int) -> Step:
    """A step of a model that makes so many calls, all of which arrive at once."""
    calls = [
        {"index": at, "id": f"c{at}", "function": {"name": name, "arguments": json.dumps({"query": f"bridge {at}"})}}
        for at in range(count)
    ]
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]} for call in calls]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in (*chunks, end)]
    return raw("".join([*lines, "data: [DONE]\n\n"]), "text/event-stream")


def printed(name: str, count: int) -> Step:
    """The same calls as small models print them."""
    return reply(json.dumps([{"name": name, "arguments": {"query": f"bridge {at}"}} for at in range(count)]))


@pytest.mark.parametrize("name", ["web_search", "no_such_tool"])
async def test_some_of_very_many_calls_are_made_and_everybody_is_told(name: str) -> None:
    script: list[Answering] = [many(name, 10_000), reply("Done.")]
    with serve_model(script) as model:
        async with talking(openai(model.url)) as (client, _):
            started = time.process_time()
            events, answer = await ask(client, "How long is the bridge?", mode="agent")
            took = time.process_time() - started
    made = next(each for each in model.requests[1].messages if each.get("tool_calls"))
    assert answer.text == "Done." and len(made["tool_calls"]) == MAX_CALLS and took < 5
    told = [notice.failure for notice in of(events, Notice) if notice.failure.detail_code == "too_many_calls"]
    assert len(told) == 1 and str(MAX_CALLS) in told[0].say("en")[0] and str(MAX_CALLS) in told[0].say("zh")[0]
    assert f"only the first {MAX_CALLS} were made" in model.requests[1].text


async def test_calls_that_are_printed_are_no_more() -> None:
    with serve_model([printed("web_search", 200), reply("Done.")]) as model:
        async with talking(openai(model.url)) as (client, _):
            events, answer = await ask(client, "How long is the bridge?", mode="agent")
    made = next(each for each in model.requests[1].messages if each.get("tool_calls"))
    assert answer.text == "Done." and len(made["tool_calls"]) == MAX_CALLS
    assert "too_many_calls" in [notice.failure.detail_code for notice in of(events, Notice)]


@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize("count", [MAX_CALLS, MAX_CALLS + 1, 4_000])
async def test_calls_of_functions_of_the_caller_are_limited_too(mode: Mode, count: int) -> None:
    with serve_model(many("warmth", count)) as model:
        async with talking(openai(model.url)) as (client, _):
            turn = Turn(client.sessions.create(mode=mode, search=False, functions=Functions((WARMTH,))), "How warm?")
            events = [event async for event in answer_events(turn)]
    answer = events[-1]
    assert isinstance(answer, Answer) and [call.id for call in answer.calls] == [f"c{at}" for at in range(MAX_CALLS)]
    told = [notice.failure.detail_code for notice in of(events, Notice)]
    assert told == (["too_many_calls"] if count > MAX_CALLS else [])


def test_pieces_are_put_together_in_time_that_grows_with_their_number_only() -> None:
    def took(count: int) -> float:
        calls, started = CollectedCalls(), time.process_time()
        for at in range(count):
            calls.add({"index": at % 2, "id": "c", "name": "x", "args": "1"})
        assert [len(call["args"]) for call in calls.whole] == [count // 2] * 2
        return time.process_time() - started

    # Ten times as many take about ten times as long, and not a hundred times.
    assert min(took(200_000) for _ in range(3)) < 40 * min(took(20_000) for _ in range(3))


def test_calls_without_an_index_are_whole_and_the_arguments_end() -> None:
    calls = CollectedCalls()
    for name in ("a", "b"):
        calls.add({"index": None, "id": None, "name": name, "args": "{}"})
    assert [(call["name"], call["args"]) for call in calls.whole] == [("a", "{}"), ("b", "{}")]
    with pytest.raises(SuyuanError) as caught:
        calls.add({"index": 0, "name": "c", "args": "x" * MAX_ARGUMENTS})
    assert caught.value.detail_code == "answer_too_long"


@pytest.mark.parametrize("mode", ["chat", "agent"])
async def test_arguments_in_very_many_pieces_cost_little(mode: Mode) -> None:
    whole = {"city": "x" * 20_000}
    with serve_model(tool_call("warmth", whole, pieces=20_000)) as model:
        async with talking(openai(model.url)) as (client, _):
            turn = Turn(client.sessions.create(mode=mode, search=False, functions=Functions((WARMTH,))), "How warm?")
            events = [event async for event in answer_events(turn)]
    answer = events[-1]
    assert isinstance(answer, Answer) and [json.loads(call.arguments) for call in answer.calls] == [whole]


HOSTILE = {
    "no JSON": "a" * 60_000,
    "opened": "[" * 60_000,
    "blanks": " " * 60_000,
    "text without end": '{"query": "' + "a" * 60_000,
    "commas": '{"query": "a"' + "," * 60_000,
    "unknown names": json.dumps({str(at): 1 for at in range(12_000)}),
    "half of an escape": '{"query": "' + "\\" * 60_001,
    "a number": "1" * 60_000,
    "numbers": json.dumps({"query": [1] * 30_000}),
}


@pytest.mark.parametrize("name", ["web_search", "web_fetch", "no_such_tool"])
@pytest.mark.parametrize("written", HOSTILE.values(), ids=HOSTILE)
async def test_no_arguments_of_a_call_hold_up_the_server(written: str, name: str) -> None:
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            begun = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - begun)
            await asyncio.sleep(0.001)

    with serve_model([tool_call(name, "{}", pieces=1), reply("Done."), *_calling(name, written)]) as model:
        async with talking(openai(model.url)) as (client, _):
            # Libraries are imported before.
            await ask(client, "How long is the bridge?", mode="agent")
            watching = asyncio.create_task(watch())
            with without_garbage_collection():
                _, answer = await ask(client, "How wide is the bridge?", mode="agent")
            watching.cancel()
    assert answer is not None and longest < 0.1


def _calling(name: str, written: str) -> list[Answering]:
    return [tool_call(name, written, pieces=20_000), reply("Done.")]


@pytest.mark.parametrize("written", [*HOSTILE.values(), "{", '{"city": "Wien', "]"])
def test_arguments_are_told_as_they_were_written(written: str) -> None:
    calls = CollectedCalls()
    calls.add({"index": 0, "id": "c", "name": "warmth", "args": written})
    (call,) = Functions((WARMTH,)).called(_calling_of(calls))
    try:
        assert json.loads(call.arguments) == json.loads(written)
    except (ValueError, RecursionError):
        completed = {"{": "{}", '{"city": "Wien': '{"city": "Wien"}'}
        assert call.arguments in (written.removeprefix("]"), completed.get(written))
