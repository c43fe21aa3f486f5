"""Functions of the caller, by the clients of OpenAI, Anthropic, LangChain and openai-agents: the model calls them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("openai", reason="the client is part of the dev extra")
pytest.importorskip("anthropic", reason="the client is part of the dev extra")

import anthropic
import openai
import requests

from server.compat_server import small_site
from server.serving import serving, settings_of
from support.oai import EngineReply, ModelServer, serve_model, think, tool_call
from support.oai import reply as says
from suyuan.llm.settings import ModelSettings

QUESTION = "How warm is it at the harbour of Arvika?"
SCHEMA: Any = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ABOUT: Any = {"name": "warmth", "description": "How warm it is in a city."}
CHAT: Any = [{"type": "function", "function": {**ABOUT, "parameters": SCHEMA}}]
RESPONSES: Any = [{"type": "function", **ABOUT, "parameters": SCHEMA}, {"type": "web_search"}]
ANTHROPIC: Any = [{**ABOUT, "input_schema": SCHEMA}]


def play(asked: EngineReply) -> Any:
    """A model that calls the function for two cities, and answers when it knows both."""
    returned = [message["content"] for message in asked.messages if message["role"] == "tool"]
    if returned:
        return says(f"It is {' and '.join(returned)} there.")
    if "warmth" not in asked.tools:
        return says(
            "It lifts forty tons [1], they say [1]." if "crane" in asked.messages[-1]["content"] else "I do not know."
        )
    return [
        think("Hm. "),
        says("I look. "),
        tool_call("warmth", {"city": "Arvika"}),
        tool_call("warmth", {"city": "Åmål"}),
    ]


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with serve_model(play) as running:
        yield running


@pytest.fixture(scope="module")
def url(model: ModelServer) -> Iterator[str]:
    with small_site() as (site, _):
        settings = settings_of(site.url, model=ModelSettings("openai", "test-model", model.url))
        with serving(settings) as served:
            yield served.url


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as made:
        yield made


@contextmanager
def asked_of(model: ModelServer) -> Iterator[list[EngineReply]]:
    """What the model is asked within the block, as far as it is not asked for a search."""
    before, new = len(model.requests), list[EngineReply]()
    yield new
    new += [each for each in model.requests[before:] if "I look" in each.text or "warmth" in str(each.body)]


MODES = pytest.mark.parametrize("name", ["suyuan", "suyuan-agent"])


class TestChatCompletions:
    @MODES
    def test_a_call_and_what_it_returned(self, client: openai.OpenAI, model: ModelServer, name: str) -> None:
        said: Any = [{"role": "user", "content": QUESTION}]
        choice = client.chat.completions.create(model=name, messages=said, tools=CHAT).choices[0]
        calls: Any = choice.message.tool_calls
        assert choice.finish_reason == "tool_calls" and choice.message.content == "I look. "
        assert [json.loads(call.function.arguments)["city"] for call in calls] == ["Arvika", "Åmål"]
        said.append(choice.message.model_dump(exclude_none=True))
        said += [{"role": "tool", "tool_call_id": call.id, "content": f"{at} °C"} for at, call in enumerate(calls)]
        with asked_of(model) as requests:
            done = client.chat.completions.create(model=name, messages=said, tools=CHAT).choices[0]
        assert done.finish_reason == "stop" and done.message.content == "It is 0 °C and 1 °C there."
        sent = requests[-1].messages
        made = next(each for each in sent if each.get("tool_calls"))
        assert [call["id"] for call in made["tool_calls"]] == [call.id for call in calls], "both calls of one message"
        assert "warmth" in requests[-1].tools and requests[-1].body["tools"][-1]["function"]["parameters"] == SCHEMA
        said += [{"role": "assistant", "content": done.message.content}, {"role": "user", "content": "And now?"}]
        with asked_of(model) as requests:
            client.chat.completions.create(model=name, messages=said, tools=CHAT)
        assert "0 °C" in requests[-1].text, "it is known what was returned before"

    @MODES
    def test_a_stream(self, client: openai.OpenAI, name: str) -> None:
        said: Any = [{"role": "user", "content": QUESTION}]
        with client.chat.completions.stream(model=name, messages=said, tools=CHAT) as stream:
            for _ in stream:
                pass
            choice: Any = stream.get_final_completion().choices[0]
        assert choice.finish_reason == "tool_calls" and choice.message.content == "I look. "
        assert [json.loads(call.function.arguments)["city"] for call in choice.message.tool_calls] == ["Arvika", "Åmål"]

    @MODES
    def test_choices(self, client: openai.OpenAI, model: ModelServer, name: str) -> None:
        said: Any = [{"role": "user", "content": QUESTION}]
        forced: Any = {"type": "function", "function": {"name": "warmth"}}
        for choice, sent in (("required", "required"), (forced, forced)):
            with asked_of(model) as requests:
                client.chat.completions.create(model=name, messages=said, tools=CHAT, tool_choice=choice)
            assert [each.body.get("tool_choice") for each in requests] == [sent] and requests[0].tools == ["warmth"]
        with asked_of(model) as requests:
            done = client.chat.completions.create(model=name, messages=said, tools=CHAT, tool_choice="none")
        assert "know" in (done.choices[0].message.content or "") and not requests

    def test_a_call_without_its_result_is_refused(self, client: openai.OpenAI) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "warmth", "arguments": "{}"}}
        said: Any = [
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "tool_calls": [call, {**call, "id": "c2"}]},
            {"role": "tool", "tool_call_id": "c1", "content": "1 °C"},
        ]
        for messages, missing in ((said, "c2"), ([*said, {"role": "user", "content": "And?"}], "c2")):
            with pytest.raises(openai.BadRequestError, match=missing):
                client.chat.completions.create(model="suyuan", messages=messages, tools=CHAT)

    @MODES
    def test_half_a_character_costs_no_answer(self, url: str, model: ModelServer, name: str) -> None:
        texts = (
            '{"role":"user","content":"\\ud83d harbour of Arvika"}',
            '{"role":"system","content":"Be \\ud800 brief."}',
        )
        for path, more in (("chat/completions", ""), ("messages", ',"max_tokens":9')):
            messages = ",".join(reversed(texts) if path != "messages" else texts[:1])
            body = f'{{"model":"{name}","messages":[{messages}]{more}}}'
            done = requests.post(
                f"{url}/v1/{path}", data=body, headers={"Content-Type": "application/json"}, timeout=30
            )
            assert done.status_code == 200 and "I do not know" in done.text, done.text
        assert "harbour of Arvika" in model.requests[-1].text
        wrong = (
            f'{{"model":"{name}","input":"x","tools":[{{"type":"function","name":"f","parameters":{{"x":1e309}}}}]}}'
        )
        done = requests.post(
            f"{url}/v1/responses", data=wrong, headers={"Content-Type": "application/json"}, timeout=30
        )
        assert done.status_code == 400 and done.json()["error"]["code"] == "bad_argument"

    def test_what_has_no_effect_is_named(self, client: openai.OpenAI) -> None:
        said: Any = [{"role": "user", "content": QUESTION}]
        done: Any = client.chat.completions.create(model="suyuan", messages=said, temperature=0.5, seed=1)
        assert done.suyuan["not_honoured"] == ["seed", "temperature"]


class TestResponses:
    @MODES
    def test_a_call_and_what_it_returned(self, client: openai.OpenAI, name: str) -> None:
        first = client.responses.create(model=name, input=QUESTION, tools=RESPONSES, instructions="Speak Latin.")
        calls: Any = [item for item in first.output if item.type == "function_call"]
        assert [json.loads(call.arguments)["city"] for call in calls] == ["Arvika", "Åmål"]
        assert first.output_text == "I look. " and first.status == "completed"
        kinds = [item.type for item in first.output if item.type != "web_search_call"]
        assert kinds == ["reasoning", "message", "function_call", "function_call"]
        given: Any = [
            {"type": "function_call_output", "call_id": call.call_id, "output": f"{at} °C"}
            for at, call in enumerate(calls)
        ]
        then = client.responses.create(model=name, input=given, tools=RESPONSES, previous_response_id=first.id)
        assert then.output_text == "It is 0 °C and 1 °C there."
        # The same without what the server keeps.
        said: Any = [{"role": "user", "content": QUESTION}, *(item.model_dump() for item in first.output), *given]
        whole = client.responses.create(model=name, input=said, tools=RESPONSES, store=False)
        assert whole.output_text == then.output_text

    def test_instructions_are_for_one_answer(self, client: openai.OpenAI, model: ModelServer) -> None:
        first = client.responses.create(model="suyuan", input=QUESTION, instructions="Speak Latin.")
        assert "Speak Latin." in model.requests[-1].text
        client.responses.create(model="suyuan", input="And now?", previous_response_id=first.id)
        assert "I do not know." in model.requests[-1].text and "Speak Latin." not in model.requests[-1].text

    def test_a_stream(self, client: openai.OpenAI) -> None:
        with client.responses.stream(model="suyuan", input=QUESTION, tools=RESPONSES) as stream:
            events: list[Any] = list(stream)
            done = stream.get_final_response()
        deltas = [event for event in events if event.type == "response.function_call_arguments.delta"]
        assert [json.loads(event.delta)["city"] for event in deltas] == ["Arvika", "Åmål"]
        assert [event.sequence_number for event in events if hasattr(event, "sequence_number")] == sorted(
            event.sequence_number for event in events if hasattr(event, "sequence_number")
        )
        places = {event.output_index: event.item.id for event in events if event.type == "response.output_item.added"}
        assert [item.id for item in done.output] == [places[at] for at in sorted(places)]


class TestAnthropic:
    @MODES
    @pytest.mark.parametrize("stream", [False, True])
    def test_a_call_and_what_it_returned(self, url: str, name: str, stream: bool) -> None:
        with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client:
            asked: Any = {"model": name, "max_tokens": 1000, "tools": ANTHROPIC}
            said: Any = [{"role": "user", "content": QUESTION}]
            if stream:
                with client.messages.stream(**asked, messages=said) as events:
                    done: Any = events.get_final_message()
            else:
                done = client.messages.create(**asked, messages=said)
            calls: Any = [block for block in done.content if block.type == "tool_use"]
            assert done.stop_reason == "tool_use" and [call.input["city"] for call in calls] == ["Arvika", "Åmål"]
            assert "".join(block.text for block in done.content if block.type == "text") == "I look."
            returned = [
                {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": f"{at} °C"}]}
                for at, call in enumerate(calls)
            ]
            said += [{"role": "assistant", "content": done.content}, {"role": "user", "content": returned}]
            then = client.messages.create(**asked, messages=said)
            assert then.stop_reason == "end_turn"
            assert "".join(getattr(block, "text", "") for block in then.content) == "It is 0 °C and 1 °C there."

    @pytest.mark.parametrize("stream", [False, True])
    def test_a_marker_that_is_left_out_leaves_no_blank(self, url: str, stream: bool) -> None:
        with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client:
            asked: Any = {
                "model": "suyuan",
                "max_tokens": 1000,
                "messages": [{"role": "user", "content": "How strong is the crane?"}],
            }
            if stream:
                with client.messages.stream(**asked) as events:
                    done: Any = events.get_final_message()
            else:
                done = client.messages.create(**asked)
        texts = [block for block in done.content if block.type == "text"]
        assert "".join(block.text for block in texts) == "It lifts forty tons, they say."
        assert [bool(block.citations) for block in texts] == [True, True, False]


@MODES
async def test_agents_call_their_functions(url: str, name: str) -> None:
    agents = pytest.importorskip("agents")
    agents.set_tracing_disabled(True)
    asked: list[str] = []

    @agents.function_tool  # type: ignore[untyped-decorator]
    def warmth(city: str) -> str:
        """How warm it is in a city."""
        asked.append(city)
        return f"{len(city)} °C"

    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        model = agents.OpenAIResponsesModel(model=name, openai_client=client)
        agent = agents.Agent(name="Warmth", instructions="Answer.", model=model, tools=[warmth])
        result = await agents.Runner.run(agent, QUESTION)
    assert sorted(asked) == ["Arvika", "Åmål"] and result.final_output == "It is 6 °C and 4 °C there."


def test_langchain_calls_its_tools(url: str) -> None:
    langchain_openai = pytest.importorskip("langchain_openai")
    from langchain.agents import create_agent
    from langchain_core.tools import tool

    @tool
    def warmth(city: str) -> str:
        """How warm it is in a city."""
        return f"{len(city)} °C"

    for responses in (False, True):
        model = langchain_openai.ChatOpenAI(
            model="suyuan", base_url=f"{url}/v1", api_key="none", use_responses_api=responses, max_retries=0
        )
        asked: Any = {"messages": [("user", QUESTION)]}
        done = create_agent(model, [warmth]).invoke(asked)
        assert done["messages"][-1].text == "It is 6 °C and 4 °C there."
