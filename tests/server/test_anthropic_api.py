"""Anthropic's Messages API, asked by Anthropic's client and LangChain's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("anthropic", reason="the client is part of the dev extra")

import anthropic

from server.compat_server import QUESTION, TOKEN, Compat, compat_server
from server.serving import client as asking

ASKED: Any = {"model": "suyuan", "max_tokens": 1000, "messages": [{"role": "user", "content": QUESTION}]}
SEARCH: Any = [{"type": "web_search_20250305", "name": "web_search"}]


@pytest.fixture(scope="module")
def server() -> Iterator[Compat]:
    with compat_server() as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Compat) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=server.url, api_key=TOKEN, max_retries=0) as made:
        yield made


def check(content: list[Any]) -> None:
    """A search with its results, and a text whose sentence cites one of them."""
    call = next(block for block in content if block.type == "server_tool_use")
    result = next(block for block in content if block.type == "web_search_tool_result")
    assert call.input == {"query": QUESTION} and result.tool_use_id == call.id
    assert result.content[0].url.endswith("/docs/harbour")
    texts = [block for block in content if block.type == "text"]
    cited = next(block for block in texts if block.citations)
    assert "1811" in cited.text and "[1]" not in "".join(block.text for block in texts)
    assert cited.citations[0].url.endswith("/docs/harbour") and cited.citations[0].cited_text


def test_a_message_with_citations(client: anthropic.Anthropic) -> None:
    done = client.messages.create(**ASKED, tools=SEARCH)
    assert done.role == "assistant" and done.stop_reason == "end_turn"
    check(done.content)
    assert done.usage.server_tool_use is not None and done.usage.server_tool_use.web_search_requests == 1


def test_a_search_that_failed_says_why(client: anthropic.Anthropic) -> None:
    done: Any = client.messages.create(
        **{**ASKED, "messages": [{"role": "user", "content": "broken harbour of Arvika"}]}
    )
    result = next(block for block in done.content if block.type == "web_search_tool_result")
    assert result.content.error_code == "unavailable" and result.content.message and done.suyuan["unverified"]


def test_a_stream(client: anthropic.Anthropic) -> None:
    with client.messages.stream(**ASKED) as stream:
        text = "".join(stream.text_stream)
        done = stream.get_final_message()
    assert "1811" in text and done.stop_reason == "end_turn"
    check(done.content)


def test_a_conversation(server: Compat, client: anthropic.Anthropic) -> None:
    first: Any = client.messages.create(**ASKED)
    before = len(server.searches)
    said: Any = [
        *ASKED["messages"],
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": "Who built it?"},
    ]
    then = client.messages.create(model="suyuan", max_tokens=1000, system="Be brief.", messages=said)
    assert any("Arvika" in query for query in server.searches[before:]), "it is known what was built"
    assert "Karin Lund" in "".join(block.text for block in then.content if block.type == "text")


@pytest.mark.parametrize(
    ("wanted", "kind", "code"),
    [({"model": "claude-5"}, anthropic.NotFoundError, "unknown_api_model"),
     ({"tools": [{"name": "f", "input_schema": {"type": "object"}}]}, anthropic.BadRequestError, "no_function_calls"),
     ({"tools": [{"type": "bash_20250124", "name": "bash"}]}, anthropic.BadRequestError, "one_answer"),
     ({"messages": [{"role": "wizard", "content": "x"}]}, anthropic.BadRequestError, "bad_argument"),
     ({"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]}, anthropic.BadRequestError, "only_text"),
     ({"messages": [{"role": "assistant", "content": "x"}]}, anthropic.BadRequestError, "no_user_message")],
)  # fmt: skip
def test_what_is_not_possible_is_said(client: anthropic.Anthropic, wanted: Any, kind: Any, code: str) -> None:
    with pytest.raises(kind) as caught:
        client.messages.create(**{**ASKED, **wanted})
    body: Any = caught.value.body
    assert body["type"] == "error" and body["error"]["code"] == code and body["error"]["message"]


def test_models_and_keys(server: Compat, client: anthropic.Anthropic) -> None:
    assert client.models.retrieve("suyuan").id == "suyuan" and "suyuan" in [each.id for each in client.models.list()]
    with pytest.raises(anthropic.NotFoundError) as caught:
        client.models.retrieve("claude-5")
    body: Any = caught.value.body
    assert body["type"] == "error", "the path is also OpenAI's"
    assert client.messages.count_tokens(model="suyuan", messages=ASKED["messages"]).input_tokens > 5
    with anthropic.Anthropic(base_url=server.url, api_key="sk-wrong", max_retries=0) as wrong:
        with pytest.raises(anthropic.AuthenticationError):
            wrong.messages.create(**ASKED)


async def test_without_the_header_of_its_clients_errors_have_the_same_form(server: Compat) -> None:
    async with asking(server.url) as ask:
        status, told = await ask("POST", "/v1/messages", {**ASKED, "model": "claude-5"}, **{"x-api-key": TOKEN})
    assert status == 404 and told["type"] == "error"


def test_langchain(server: Compat) -> None:
    langchain_anthropic = pytest.importorskip("langchain_anthropic")
    chat = langchain_anthropic.ChatAnthropic(model="suyuan", base_url=server.url, api_key=TOKEN, max_retries=0)
    said = chat.invoke(QUESTION)
    cited = [each for each in said.content_blocks if each["type"] == "text" and each.get("annotations")]
    assert "1811" in cited[0]["text"] and cited[0]["annotations"][0]["url"].endswith("/docs/harbour")
