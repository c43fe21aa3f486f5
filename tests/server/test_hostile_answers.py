"""Answers that were made to take long, by a model: the page goes on meanwhile, for all who follow them and who open them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from benchmarks.watch import MOST_SILENT

from server.hostile_scene import Scene, scene
from support.oai import Step, raw

pytestmark = pytest.mark.asyncio(loop_scope="module")

CODE = "```cddl\n" + "\\" * 60 + "\n```\n"
ANSWERS = {
    "code": CODE + "and on.",
    "formulas": "$$a\n" * 2_500,
    "brackets": "\\(" * 20_000,
    "links": "[[" * 4_000 + "](a)" * 4_000,
    "list": "".join(f"- item **{n}** [1]\n" for n in range(1250)),
    "table": "|a|b|\n|-|-|\n" + "|1|`2`|\n" * 2_000,
    "emphasis": "*a **b " * 3_000,
    "quotes": "> " * 10_000 + "a\n" + "> a\n" * 2_000,
    "empty lines": "a" + "\n" * 95_000 + "b",
    "code of empty lines": "```\n" + "\n" * 95_000 + "b",
    "headings": "a\n=\n" * 23_000,
    "open code": "`a " * 30_000,
    "very long": "Words of a long answer, one after the other.\n\n" * 43_000,
}


def stream(*deltas: dict[str, Any]) -> Step:
    """A stream of these chunks, all of which arrive at once."""
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in (*chunks, end)]
    return raw("".join([*lines, "data: [DONE]\n\n"]), "text/event-stream")


def calls(name: str, count: int) -> list[dict[str, Any]]:
    """So many calls of a tool, each in a chunk."""
    return [
        {"tool_calls": [{"index": at, "id": f"c{at}", "function": {"name": name, "arguments": '{"query": "x"}'}}]}
        for at in range(count)
    ]


STREAMS = {
    "one piece": stream({"content": "a\n=\n" * 23_000}),
    "nothing": stream(*[{"content": ""}] * 30_000, {"content": "b"}),
    "lines": stream(*[{"content": "\n"}] * 30_000, {"content": "b"}),
    "searches": stream(*calls("web_search", 10_000)),
    "unknown tools": stream(*calls("no_such_tool", 10_000)),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    async with scene(tmp_path_factory.mktemp("answers"), model=True) as served:
        yield served


async def followed(at: Scene, run: str) -> dict[str, Any]:
    """The last message for somebody who follows an answer on the page."""
    *_, (_, name, data) = await at.ask.all_events(f"/stream/{run}")
    assert name == "answer"
    return data


@pytest.mark.parametrize("followers", [1, 8])
@pytest.mark.parametrize("kind", ANSWERS)
async def test_the_server_goes_on_while_an_answer_is_written_and_opened(
    running: Scene, kind: str, followers: int
) -> None:
    running.said.answer = ANSWERS[kind]
    conversation = await running.ask.conversation(search=False)
    running.watch.silence()
    run = await running.ask.ask(conversation, "What?")
    ends = await asyncio.gather(*(followed(running, run) for _ in range(followers)))
    written = running.watch.silence()
    status, page = await running.ask("GET", f"/c/{conversation}", Accept="text/html")
    opened = running.watch.silence()

    blocks = ends[0]["blocks"]
    assert status == 200 and blocks[0] in page and blocks[-1] in page
    assert all(end["blocks"] == blocks for end in ends)
    assert max(written.seconds, opened.seconds) <= MOST_SILENT, (written, opened)


@pytest.mark.parametrize("mode", ["chat", "agent"])
@pytest.mark.parametrize("kind", STREAMS)
async def test_the_server_goes_on_whatever_a_model_streams(running: Scene, kind: str, mode: str) -> None:
    running.said.answer = STREAMS[kind]
    conversation = await running.ask.conversation(search=False, mode=mode)
    running.watch.silence()
    await followed(running, await running.ask.ask(conversation, "What?"))
    written = running.watch.silence()
    assert written.seconds <= MOST_SILENT, written
