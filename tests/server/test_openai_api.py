"""Chat completions, asked by the clients that people use: OpenAI's own and LangChain's."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("openai", reason="the optional extra suyuan[chat] is not installed")

import openai

from server.serving import QUESTION, ROWS, client, searxng, serving, settings_of
from support.oai import drop, serve_model, stall, tool_call
from support.oai import error as fails
from support.oai import reply as says
from support.site import serve
from support.timing import PATIENCE, eventually, quickest, soon
from suyuan.llm.settings import ModelSettings

ASKED: Any = [{"role": "user", "content": QUESTION}]


@asynccontextmanager
async def asking(model: str = "", searxng_url: str = "", **chat: Any) -> AsyncIterator[Any]:
    """OpenAI's asynchronous client of a server; without ``model`` the embedded one answers."""
    async with serve(searxng()) as site:
        settings = settings_of(
            searxng_url or site.url, model=ModelSettings("openai", "test-model", model) if model else None, **chat
        )
        with serving(settings) as served:
            made: Any = openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key="none", max_retries=0)
            async with made as ask:
                ask.served = served
                yield ask


def check_citations(content: str, annotations: Any) -> None:
    """Every annotation stands on its marker and names the source of that number."""
    assert annotations, "the answer cites"
    for each in annotations:
        cited = each["url_citation"] if isinstance(each, dict) else each.url_citation.model_dump()
        marker = content[cited["start_index"] : cited["end_index"]]
        number = int(marker.strip("[]"))
        assert (
            marker == f"[{number}]"
            and cited["url"] == ROWS[number - 1]["url"]
            and cited["title"] == ROWS[number - 1]["title"]
        )


class TestOpenAI:
    async def test_an_answer_with_citations(self) -> None:
        async with asking() as ask:
            done = await ask.chat.completions.create(model="suyuan", messages=ASKED)
            said = done.choices[0].message
            assert (
                done.choices[0].finish_reason == "stop"
                and "October 7, 2025" in said.content
                and done.object == "chat.completion"
            )
            check_citations(said.content, said.annotations)
            assert done.usage.total_tokens == done.usage.prompt_tokens + done.usage.completion_tokens
            assert done.suyuan["unverified"] is False and done.suyuan["sources"][0]["url"] == ROWS[0]["url"]

    async def test_an_answer_that_is_cut_ends_by_its_length(self) -> None:
        with serve_model(says("word " * 100_000)) as model:
            async with asking(model.url, max_answer=1000) as ask:
                done = await ask.chat.completions.create(model="suyuan", messages=ASKED)
                assert done.choices[0].finish_reason == "length" and len(done.choices[0].message.content) < 1100
                stream = await ask.chat.completions.create(model="suyuan", messages=ASKED, stream=True)
                chunks = [chunk async for chunk in stream]
                assert chunks[-1].choices[0].finish_reason == "length"

    async def test_a_stream_has_the_same_text_and_the_annotations_in_its_last_delta(self) -> None:
        async with asking() as ask:
            whole = await ask.chat.completions.create(model="suyuan-chat", messages=ASKED)
            stream = await ask.chat.completions.create(
                model="suyuan-chat", messages=ASKED, stream=True, stream_options={"include_usage": True}
            )
            chunks = [chunk async for chunk in stream]
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
            assert text == whole.choices[0].message.content and len(chunks) >= 5
            assert (
                chunks[0].choices[0].delta.role == "assistant"
                and chunks[-1].usage is not None
                and not chunks[-1].choices
            )
            told = [chunk for chunk in chunks if chunk.choices and getattr(chunk.choices[0].delta, "annotations", None)]
            assert len(told) == 1 and told[0] is chunks[-3] and chunks[-2].choices[0].finish_reason == "stop"
            check_citations(text, told[0].choices[0].delta.annotations)
            assert len({chunk.id for chunk in chunks}) == 1

    async def test_usage_is_streamed_only_on_request(self) -> None:
        async with asking() as ask:
            chunks = [
                chunk async for chunk in await ask.chat.completions.create(model="suyuan", messages=ASKED, stream=True)
            ]
            assert all(chunk.choices for chunk in chunks) and chunks[-1].choices[0].finish_reason == "stop"

    async def test_the_synchronous_client(self) -> None:
        async with asking() as ask:

            def talk() -> tuple[Any, str, list[str]]:
                with openai.OpenAI(base_url=str(ask.base_url), api_key="none", max_retries=0) as own:
                    whole = own.chat.completions.create(model="suyuan", messages=ASKED).choices[0].message.content
                    stream: Any = own.chat.completions.create(model="suyuan", messages=ASKED, stream=True)
                    return (
                        whole,
                        "".join(c.choices[0].delta.content or "" for c in stream),
                        [m.id for m in own.models.list()],
                    )

            whole, streamed, models = await asyncio.to_thread(talk)
            assert whole == streamed and models == ["suyuan", "suyuan-chat", "suyuan-agent", "suyuan:embedded"]

    async def test_the_history_is_read_and_nothing_is_stored(self) -> None:
        with serve_model(says("Fine.")) as model:
            async with asking(model.url) as ask:
                messages = [
                    {"role": "system", "content": "Answer like a pirate."},
                    {"role": "user", "content": "My name is Ada."},
                    {"role": "assistant", "content": "Hello Ada."},
                    {
                        "role": "user",
                        "content": [{"type": "text", "text": "What is"}, {"type": "text", "text": "my name?"}],
                    },
                ]
                await ask.chat.completions.create(
                    model="suyuan:test-model", messages=messages, temperature=0.3, max_tokens=50
                )
                read = model.requests[-1].text
                assert all(
                    words in read for words in ("like a pirate", "My name is Ada.", "Hello Ada.", "What is\nmy name?")
                )
                async with client(ask.served.url) as plain:
                    assert (await plain("GET", "/api/conversations"))[1]["conversations"] == []

    @pytest.mark.req("C7.1")
    async def test_an_answer_without_search_is_marked_as_not_verified(self) -> None:
        with serve_model(says("It was in 2025.")) as model:
            async with asking(model.url, "http://127.0.0.1:9") as ask:
                done = await ask.chat.completions.create(model="suyuan", messages=ASKED)
                said = done.choices[0].message
                assert (
                    said.content.startswith("It was in 2025.")
                    and "⚠️ Not verified by search" in said.content
                    and done.suyuan["unverified"]
                )
                zh = [{"role": "user", "content": "Python 3.14 是什么时候发布的?"}]
                chunks = [
                    chunk async for chunk in await ask.chat.completions.create(model="suyuan", messages=zh, stream=True)
                ]
                text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
                assert text.startswith("It was in 2025.") and "⚠️ 未经搜索验证" in text

    @pytest.mark.parametrize(
        ("fields", "status", "code"),
        [
            (
                {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]}]},
                400,
                "only_text",
            ),
            ({"messages": [{"role": "assistant", "content": "x"}]}, 400, "no_user_message"),
            ({"messages": [{"role": "user", "content": "  "}]}, 400, "empty_message"),
            ({"messages": [{"role": "user", "content": "x" * 20_001}]}, 400, "message_too_long"),
            ({"messages": []}, 400, "bad_argument"),
            ({"model": "gpt-4o"}, 404, "unknown_api_model"),
            ({"model": "suyuan:gpt-4o"}, 404, "unknown_api_model"),
            ({"n": 2}, 400, "one_answer"),
            ({"tools": [{"type": "function", "function": {"name": "f"}}]}, 400, "no_function_calls"),
            ({"tools": [{"type": "custom", "custom": {"name": "f"}}]}, 400, "one_answer"),
            ({"tools": [{"type": "function", "function": {"name": "f?"}}]}, 400, "bad_argument"),
            ({"messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}]}, 400, "bad_argument"),
            ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, 400, "bad_argument"),
            ({"response_format": {"type": "json_object"}}, 400, "one_answer"),
        ],
    )
    async def test_unsupported_requests_are_refused(self, fields: dict[str, Any], status: int, code: str) -> None:
        async with asking() as ask:
            for stream in (False, True):
                with pytest.raises(openai.APIStatusError) as raised:
                    await ask.chat.completions.create(
                        **{"model": "suyuan", "messages": ASKED, "stream": stream, **fields}
                    )
                assert (
                    raised.value.status_code == status
                    and raised.value.code == code
                    and raised.value.type
                    and raised.value.message
                )

    async def test_a_failing_model_is_an_error(self) -> None:
        with serve_model(fails(401, "bad key")) as model:
            async with asking(model.url) as ask:
                with pytest.raises(openai.APIStatusError) as raised:
                    await ask.chat.completions.create(model="suyuan", messages=ASKED)
                assert raised.value.status_code == 502 and "key" in raised.value.message.lower()
                with pytest.raises(openai.APIError) as in_stream:
                    _ = [
                        chunk
                        async for chunk in await ask.chat.completions.create(
                            model="suyuan", messages=ASKED, stream=True
                        )
                    ]
                assert "key" in in_stream.value.message.lower()

    async def test_a_model_that_fails_in_the_middle_is_an_error(self) -> None:
        with serve_model(drop("Half an ans")) as model:
            async with asking(model.url) as ask:
                got = ""
                with pytest.raises(openai.APIError):
                    async for chunk in await ask.chat.completions.create(model="suyuan", messages=ASKED, stream=True):
                        got += chunk.choices[0].delta.content or ""
                assert got.startswith("Half"), "what came before is not lost"

    async def test_the_token_is_the_api_key(self) -> None:
        with serving(settings_of(), token="a-long-token") as served:
            for key, right in (("a-long-token", True), ("another", False)):
                async with openai.AsyncOpenAI(base_url=f"{served.url}/v1", api_key=key, max_retries=0) as ask:
                    if right:
                        assert [model.id async for model in ask.models.list()][0] == "suyuan"
                    else:
                        with pytest.raises(openai.AuthenticationError):
                            await ask.models.list()


class TestAgent:
    @pytest.mark.req("C15.2")
    async def test_text_before_a_tool_call_is_not_part_of_the_content(self) -> None:
        script: list[Any] = [
            [says("Let me look. "), tool_call("web_search", {"query": "python 3.14"})],
            says("It was released on October 7, 2025 [1]."),
        ]
        for stream in (False, True):
            with serve_model(script) as model:
                async with asking(model.url) as ask:
                    done = await ask.chat.completions.create(model="suyuan-agent", messages=ASKED, stream=stream)
                    if stream:
                        deltas = [chunk.choices[0].delta async for chunk in done]
                        content = "".join(delta.content or "" for delta in deltas)
                        annotations = next(delta.annotations for delta in deltas if getattr(delta, "annotations", None))
                    else:
                        content, annotations = done.choices[0].message.content, done.choices[0].message.annotations
                    assert content == "It was released on October 7, 2025 [1]."
                    check_citations(content, annotations)

    async def test_long_text_before_a_tool_call_shifts_the_positions_of_citations(self) -> None:
        talk = "I will think about this for a while. " * 20
        script: list[Any] = [
            [says(talk), tool_call("web_search", {"query": "python 3.14"})],
            says("On October 7, 2025 [1]."),
        ]
        with serve_model(script) as model:
            async with asking(model.url) as ask:
                deltas = [
                    c.choices[0].delta
                    async for c in await ask.chat.completions.create(model="suyuan-agent", messages=ASKED, stream=True)
                ]
                content = "".join(delta.content or "" for delta in deltas)
                assert content.startswith("I will think") and content.endswith("\n\nOn October 7, 2025 [1].")
                check_citations(
                    content, next(delta.annotations for delta in deltas if getattr(delta, "annotations", None))
                )


class TestDisconnect:
    @pytest.mark.parametrize("stream", [True, False])
    async def test_a_client_that_disconnects_stops_the_model(self, stream: bool) -> None:
        with serve_model(says("word " * 20_000, delay=0.01)) as model:
            async with asking(model.url) as ask, client(ask.served.url) as plain:

                async def leave() -> float:
                    model.requests.clear()
                    model.gone = 0
                    body = {"model": "suyuan", "messages": ASKED, "stream": stream}
                    asked = [asyncio.ensure_future(self._post(plain, body)) for _ in range(5)]
                    assert await soon(lambda: len(model.requests) == 5) and model.gone == 0
                    for each in asked:
                        each.cancel()
                    await asyncio.gather(*asked, return_exceptions=True)
                    started = time.monotonic()
                    assert await soon(lambda: model.gone == 5)
                    return time.monotonic() - started

                async def closed() -> bool:
                    return "suyuan_streams_open 0" in (await plain("GET", "/metrics"))[1]

                assert await quickest(leave, 2.0) < 2, "all five, and soon"
                assert await eventually(closed)

    async def _post(self, plain: Any, body: dict[str, Any]) -> None:
        async with plain.session.post(plain.url + "/v1/chat/completions", json=body) as response:
            async for _ in response.content:
                pass

    async def test_heartbeats_are_sent_while_the_model_is_silent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "suyuan.server.sse.EventStream.__init__.__kwdefaults__", {"heartbeat": 0.2, "timeout": PATIENCE}
        )
        with serve_model([[stall(1.0), says("Late.")]]) as model:
            async with asking(model.url) as ask:
                async with client(ask.served.url) as plain:
                    body = {"messages": ASKED, "stream": True}
                    async with plain.session.post(plain.url + "/v1/chat/completions", json=body) as response:
                        lines = (await response.text()).splitlines()
                    assert len([line for line in lines if line.startswith(":")]) >= 2 and lines[-2] == "data: [DONE]"
                    # Comments are no data: a client sees only the answer.
                    text = "".join(
                        json.loads(line[6:])["choices"][0]["delta"].get("content", "")
                        for line in lines
                        if line.startswith("data: {") and json.loads(line[6:])["choices"]
                    )
                    assert text.startswith("Late.")


class TestLangChain:
    async def test_langchain_invokes_and_streams(self) -> None:
        chat_models = pytest.importorskip("langchain_openai", reason="langchain_openai is not installed")
        async with asking() as ask:
            model = chat_models.ChatOpenAI(model="suyuan", base_url=str(ask.base_url), api_key="none", max_retries=0)
            whole = await model.ainvoke(QUESTION)
            assert "October 7, 2025" in whole.content and whole.response_metadata["finish_reason"] == "stop"
            streamed = "".join([chunk.content async for chunk in model.astream(QUESTION)])
            assert streamed == whole.content
            assert (await asyncio.to_thread(model.invoke, QUESTION)).content == whole.content
            await model.root_async_client.close()
            model.root_client.close()
