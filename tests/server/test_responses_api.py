"""OpenAI's Responses API, asked by OpenAI's client, its agents and LangChain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("openai", reason="the client is part of the dev extra")

import openai

from server.compat_server import QUESTION, TOKEN, Compat, compat_server


@pytest.fixture(scope="module")
def server() -> Iterator[Compat]:
    with compat_server() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Compat) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=TOKEN, max_retries=0) as made:
        yield made


def check_citations(text: str, annotations: Any) -> None:
    assert annotations
    for each in annotations:
        assert each.type == "url_citation" and each.url.startswith("http://127.0.0.1") and each.title
        assert text[each.start_index : each.end_index].startswith("["), "it stands on its marker"


class TestWhole:
    def test_an_answer_with_its_searches_and_citations(self, client: openai.OpenAI) -> None:
        done = client.responses.create(model="suyuan", input=QUESTION, tools=[{"type": "web_search"}])
        assert done.status == "completed" and "1811" in done.output_text and done.error is None
        calls: list[Any] = [item for item in done.output if item.type == "web_search_call"]
        searches = [call.action for call in calls if call.action.type == "search"]
        assert searches[0].query and searches[0].sources and searches[0].sources[0].url.endswith("/docs/harbour")
        opened = {call.action.url.rpartition("/")[2]: call.status for call in calls if call.action.type == "open_page"}
        assert opened["harbour"] == "completed" and opened["gone"] == "failed"
        said: Any = done.output[-1]
        assert said.type == "message" and said.role == "assistant"
        check_citations(done.output_text, said.content[0].annotations)
        assert done.usage is not None and done.usage.total_tokens >= 0
        assert client.responses.retrieve(done.id).output_text == done.output_text

    def test_a_conversation_by_the_previous_response(self, server: Compat, client: openai.OpenAI) -> None:
        first = client.responses.create(model="suyuan", input=QUESTION)
        before = len(server.searches)
        then = client.responses.create(model="suyuan", input="Who built it?", previous_response_id=first.id)
        assert any("Arvika" in query for query in server.searches[before:]), "it is known what was built"
        assert "Karin Lund" in then.output_text and then.previous_response_id == first.id
        client.responses.delete(first.id)
        with pytest.raises(openai.NotFoundError) as caught:
            client.responses.create(model="suyuan", input="And then?", previous_response_id=first.id)
        assert caught.value.code == "no_response"
        unkept = client.responses.create(model="suyuan", input=QUESTION, store=False)
        with pytest.raises(openai.NotFoundError):
            client.responses.retrieve(unkept.id)

    def test_messages_and_instructions(self, client: openai.OpenAI) -> None:
        said: Any = [
            {"role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello!"}]},
            {"role": "user", "content": QUESTION},
        ]
        done = client.responses.create(model="suyuan", input=said, instructions="Be brief.", tool_choice="none")
        assert done.status == "completed" and not [item for item in done.output if item.type == "web_search_call"]

    @pytest.mark.parametrize(
        ("wanted", "code"),
        [({"input": ""}, "empty_message"), ({"input": QUESTION, "model": "gpt-5"}, "unknown_api_model"),
         ({"input": QUESTION, "tools": [{"type": "function", "name": "f", "parameters": {}}]}, "no_function_calls"),
         ({"input": QUESTION, "text": {"format": {"type": "json_object"}}}, "one_answer"),
         ({"input": QUESTION, "conversation": "conv_1"}, "one_answer"), ({"input": QUESTION, "prompt": {"id": "p"}}, "one_answer"),
         ({"input": [{"role": "wizard", "content": "x"}]}, "bad_argument"),
         ({"input": [{"type": "function_call_output", "call_id": "c", "output": "x"}]}, "bad_argument"),
         ({"input": [{"type": "computer_call", "call_id": "c"}]}, "only_text"), ({"input": []}, "no_user_message")],
    )  # fmt: skip
    def test_what_is_not_possible_is_said(self, client: openai.OpenAI, wanted: Any, code: str) -> None:
        with pytest.raises(openai.APIStatusError) as caught:
            client.responses.create(**{"model": "suyuan", **wanted})
        assert caught.value.code == code and caught.value.status_code in (400, 404)

    def test_models_and_keys(self, server: Compat, client: openai.OpenAI) -> None:
        assert client.models.retrieve("suyuan").id == "suyuan"
        named = next(each.id for each in client.models.list() if ":" in each.id)
        assert client.models.retrieve(named).id == named
        with pytest.raises(openai.NotFoundError):
            client.models.retrieve("gpt-5")
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key="sk-wrong", max_retries=0) as wrong:
            with pytest.raises(openai.AuthenticationError):
                wrong.responses.create(model="suyuan", input=QUESTION)


class TestStream:
    def test_events(self, client: openai.OpenAI) -> None:
        events: list[Any] = list(client.responses.create(model="suyuan", input=QUESTION, stream=True))
        kinds = [event.type for event in events]
        assert kinds[:2] == ["response.created", "response.in_progress"] and kinds[-1] == "response.completed"
        assert [event.sequence_number for event in events] == list(range(len(events)))
        assert "response.web_search_call.searching" in kinds
        text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        done = events[-1].response
        assert text == done.output_text and "1811" in text
        added = [event.annotation for event in events if event.type == "response.output_text.annotation.added"]
        assert len(added) == len(done.output[-1].content[0].annotations) > 0
        places = {event.output_index: event.item.id for event in events if event.type == "response.output_item.added"}
        assert [item.id for item in done.output] == [places[at] for at in sorted(places)]

    def test_the_helper_of_the_client(self, client: openai.OpenAI) -> None:
        with client.responses.stream(model="suyuan", input=QUESTION) as stream:
            for _ in stream:
                pass
            assert "1811" in stream.get_final_response().output_text


async def test_agents(server: Compat) -> None:
    agents = pytest.importorskip("agents")
    agents.set_tracing_disabled(True)
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=TOKEN, max_retries=0) as asked:
        model = agents.OpenAIResponsesModel(model="suyuan", openai_client=asked)
        agent = agents.Agent(name="Harbour", instructions="Answer.", model=model, tools=[agents.WebSearchTool()])
        result = await agents.Runner.run(agent, QUESTION)
        assert "1811" in result.final_output
        again = await agents.Runner.run(agent, [*result.to_input_list(), {"role": "user", "content": "Who built it?"}])
        assert "Karin Lund" in again.final_output
        streamed = agents.Runner.run_streamed(agent, QUESTION)
        async for _ in streamed.stream_events():
            pass
        assert "1811" in streamed.final_output


def test_langchain_keeps_the_citations(server: Compat) -> None:
    langchain_openai = pytest.importorskip("langchain_openai")
    chat = langchain_openai.ChatOpenAI(
        model="suyuan", base_url=f"{server.url}/v1", api_key=TOKEN, use_responses_api=True
    )
    said = chat.invoke(QUESTION)
    block = next(each for each in said.content_blocks if each["type"] == "text")
    assert "1811" in block["text"] and block["annotations"][0]["url"].endswith("/docs/harbour")
    pieces = list(chat.stream(QUESTION))
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = whole + piece
    assert "1811" in whole.text
