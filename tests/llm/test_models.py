"""Models by configuration, against a real server on loopback; every failure becomes a cause with a hint."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import threading
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import httpx2
import pytest

from support.oai import (
    Answering,
    EngineReply,
    Step,
    drop,
    error,
    raw,
    reply,
    serve_model,
    stall,
    stream_error,
    think,
    tool_call,
    usage,
)
from support.site import free_port
from suyuan.core.errors import AuthError, NetworkError, SuyuanError, Timeout
from suyuan.core.secret import Secret
from suyuan.llm.build import build_model, close_model
from suyuan.llm.errors import model_error, retry_wait
from suyuan.llm.settings import ModelSettings
from suyuan.server.app import Preloader

KEY = "sk-verysecret-0123456789"
SEARCH = {
    "type": "function",
    "function": {
        "name": "web_search",
        "description": "x",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}},
    },
}


def settings(url: str, **changes: Any) -> ModelSettings:
    return ModelSettings(
        **{"provider": "openai", "name": "test-model", "base_url": url, "api_key": Secret(KEY), **changes}
    )


async def ask(chosen: ModelSettings, messages: Any = "hi", tools: list[dict[str, Any]] | None = None) -> Any:
    model = build_model(chosen)
    try:
        whole: Any = None
        async for chunk in (model.bind_tools(tools) if tools else model).astream(messages):
            whole = chunk if whole is None else whole + chunk
        return whole
    finally:
        await close_model(model)


async def fault_of(script: Answering, **changes: Any) -> SuyuanError:
    with serve_model(script) as server:
        chosen = settings(changes.pop("url", server.url), **changes)
        try:
            await ask(chosen, tools=[SEARCH])
        except Exception as raised:  # noqa: BLE001 - whatever a library raises is what is tested
            return model_error(raised, chosen)
    raise AssertionError("the model answered")


# --- what is sent and what comes back ----------------------------------------------------------------------------


async def test_text_reasoning_and_usage_are_streamed() -> None:
    with serve_model([[think("Let me see. "), reply("Paris it is [1].", delay=0.05), usage(12, 7)]]) as server:
        model = build_model(settings(server.url, max_tokens=64, temperature=0.5))
        chunks = [chunk async for chunk in model.astream("hi")]
        await close_model(model)
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    # Words that come apart are shown apart; what comes in together may go on together.
    assert 2 <= len([chunk for chunk in chunks if chunk.text]) <= 4
    assert whole.text == "Paris it is [1]."
    assert whole.additional_kwargs["reasoning_content"] == "Let me see. "
    assert whole.usage_metadata is not None
    assert (whole.usage_metadata["input_tokens"], whole.usage_metadata["output_tokens"]) == (12, 7)
    sent = server.requests[0]
    assert (sent.body["max_tokens"], sent.body["temperature"], sent.body["stream"]) == (64, 0.5, True)
    assert sent.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.req("D1.2")
async def test_parallel_tool_calls_arrive_whole() -> None:
    script = [[tool_call("web_search", {"query": "北京 人口"}, pieces=5), tool_call("web_search", {"query": "b"})]]
    with serve_model(script) as server:
        answer = await ask(settings(server.url), tools=[SEARCH])
    assert [(call["name"], call["args"]["query"]) for call in answer.tool_calls] == [
        ("web_search", "北京 人口"),
        ("web_search", "b"),
    ]
    assert server.requests[0].tools == ["web_search"]


async def test_a_local_server_needs_no_key() -> None:
    with serve_model(reply("ok")) as server:
        assert (await ask(settings(server.url, api_key=Secret("")))).text == "ok"
    assert "max_tokens" not in server.requests[0].body and "temperature" not in server.requests[0].body


async def test_reasoning_goes_back_to_a_server_that_sent_it() -> None:
    from langchain_core.messages import HumanMessage, ToolMessage

    with serve_model([[think("I must search."), tool_call("web_search", {"query": "x"})], reply("done")]) as server:
        model = build_model(settings(server.url))
        first: Any = None
        async for chunk in model.bind_tools([SEARCH]).astream("hi"):
            first = chunk if first is None else first + chunk
        told = [HumanMessage("hi"), first, ToolMessage("found", tool_call_id=first.tool_calls[0]["id"])]
        assert (await model.ainvoke(told)).text == "done"
        await close_model(model)
    assert server.requests[1].messages[1]["reasoning_content"] == "I must search."


@pytest.fixture
def proxied_environment(monkeypatch: pytest.MonkeyPatch) -> str:
    """An environment whose proxy does not answer."""
    nowhere = f"http://127.0.0.1:{free_port()}"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, nowhere)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    return nowhere


async def test_the_environment_sets_no_proxy_and_loopback_needs_none(proxied_environment: str) -> None:
    with serve_model(reply("ok")) as server:
        assert (await ask(settings(server.url, proxy=Secret(proxied_environment)))).text == "ok"


@pytest.mark.parametrize("provider", ["ollama", "anthropic", "google"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
async def test_the_environment_sets_no_proxy_for_any_provider(provider: str, proxied_environment: str) -> None:
    body = {"error": {"code": 418, "message": "reached", "status": "X", "type": "some_error"}}
    with serve_model(error(418, body)) as server:
        with pytest.raises(Exception, match="reached"):
            await ask(settings(server.url.removesuffix("/v1"), provider=provider))
    assert len(server.requests) == 1


@pytest.mark.parametrize("provider", ["ollama", "anthropic"])
async def test_the_configured_proxy_is_used_by_any_provider(provider: str) -> None:
    body = {"error": {"message": "by proxy", "type": "some_error"}}
    with serve_model(error(418, body)) as server:
        proxy = Secret(server.url.removesuffix("/v1"))
        with pytest.raises(Exception, match="by proxy"):
            await ask(settings("http://model.invalid", provider=provider, proxy=proxy))
        assert server.requests[0].path.startswith("http://model.invalid/")


async def test_the_configured_proxy_is_used() -> None:
    with serve_model(reply("by proxy")) as server:
        # An HTTP proxy is asked for the whole address; our server answers whatever the path.
        proxy = Secret(server.url.removesuffix("/v1"))
        assert (await ask(settings("http://model.invalid/v1", proxy=proxy))).text == "by proxy"
        assert server.requests[0].path == "http://model.invalid/v1/chat/completions"
        direct = settings("http://model.invalid/v1", proxy=proxy, no_proxy=("model.invalid",))
        with pytest.raises(Exception, match="ClientConnectorDNSError"):
            await ask(direct)


@pytest.mark.parametrize(
    ("provider", "extra"),
    [
        ("openai", {}),
        ("ollama", {"num_ctx": 32_000}),
        ("anthropic", {"max_retries": 0}),
        ("google", {"timeout": 120.0}),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
async def test_every_provider_is_built_and_closed_without_a_request(provider: str, extra: dict[str, Any]) -> None:
    proxy = Secret("http://me:hidden@proxy.invalid:1")
    model = build_model(
        ModelSettings(provider, "some-model", "https://host.invalid/v1", Secret(KEY), max_tokens=100, proxy=proxy)
    )
    assert {name: getattr(model, name) for name in extra} == extra
    assert KEY not in repr(model) and "hidden" not in repr(model)
    await close_model(model)
    await close_model(model)


def test_the_embedded_model_is_the_default() -> None:
    from suyuan.embedded.model import EmbeddedModel

    assert isinstance(build_model(ModelSettings()), EmbeddedModel)


@pytest.mark.parametrize(
    ("chosen", "detail", "hint"),
    [
        (ModelSettings("unknown", "x"), "model_provider_unknown", "embedded, openai"),
        (ModelSettings("openai"), "model_name_missing", "SUYUAN_MODEL"),
        (ModelSettings("openai", "gpt-5"), "model_key_missing", "OPENAI_API_KEY"),
        (ModelSettings("anthropic", "claude"), "model_key_missing", "ANTHROPIC_API_KEY"),
        (ModelSettings("google", "gemini"), "model_key_missing", "GOOGLE_API_KEY"),
        (
            ModelSettings("openai", "x", "http://host.invalid/v1", proxy=Secret("ftp://u:secretpw@h:1")),
            "model_proxy_unusable",
            "web.fetch.proxy",
        ),
    ],
)
def test_what_is_missing_is_named(chosen: ModelSettings, detail: str, hint: str) -> None:
    with pytest.raises(SuyuanError) as raised:
        build_model(chosen)
    assert raised.value.detail_code == detail
    assert all(hint in raised.value.say(lang)[1] for lang in ("en", "zh"))
    assert "secretpw" not in str(raised.value)


def test_a_missing_package_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_ollama", None)
    with pytest.raises(SuyuanError) as raised:
        build_model(ModelSettings("ollama", "qwen3"))
    assert raised.value.hint == "pip install 'suyuan[ollama]'"


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = "import sys, suyuan.llm.build, suyuan.llm.errors; print([m for m in sys.modules if m.split('.')[0] in "
    code += "('langchain_core', 'openai', 'httpx', 'httpx2', 'pydantic', 'aiohttp')])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


# --- failures ----------------------------------------------------------------------------------------------------

OVERFLOWS = {
    "openai": error(
        400, {"error": {"message": "too long", "type": "invalid_request_error", "code": "context_length_exceeded"}}),
    "vllm": error(400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."),
    "vllm v1": error(400, "The decoder prompt (length 9000) is longer than the maximum model length of 4096."),
    "llama.cpp": error(400, {"error": {"code": 400, "message": "no", "type": "exceed_context_size_error"}}),
    "llama.cpp old": error(500, "Context size has been exceeded."),
    "ollama": error(400, "input length exceeds the context length"),
    "dashscope": error(400, "Range of input length should be [1, 30720]"),
    "groq": error(413, "Request too large"),
}  # fmt: skip

STATUSES: dict[str, tuple[Step, str, str, bool]] = {
    "wrong key": (error(401, f"Incorrect API key provided: {KEY}"), "AuthError", "model_key_refused", False),
    "wrong key, 400": (
        error(400, "API key not valid. Please pass a valid API key."), "AuthError", "model_key_refused", False),
    "forbidden": (error(403, "not in your region"), "AuthError", "model_forbidden", False),
    "unknown model": (
        error(404, {"error": {"message": "no", "code": "model_not_found"}}), "InvalidInput", "model_not_found", False),
    "unknown model, vllm": (error(404, "The model `x` does not exist."), "InvalidInput", "model_not_found", False),
    "unknown model, deepseek": (error(400, "Model Not Exist"), "InvalidInput", "model_not_found", False),
    "wrong path": (raw('{"detail":"Not Found"}', "application/json", 404), "InvalidInput", "model_address", False),
    "too often": (error(429, "slow down", {"Retry-After": "7"}), "WebBlocked", "model_rate", True),
    "no quota": (
        error(429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}),
        "AuthError", "model_quota", False),
    "no balance": (error(402, "Insufficient Balance"), "AuthError", "model_quota", False),
    "broken": (error(500, "CUDA out of memory"), "BadGateway", "model_broken", True),
    "bad gateway": (raw("<html><h1>502 Bad Gateway</h1></html>", "text/html", 502), "BadGateway", "model_broken", True),
    "loading": (error(503, "Loading model"), "BadGateway", "model_busy", True),
    "no tools, ollama": (
        error(400, "registry.ollama.ai/library/gemma does not support tools"),
        "InvalidInput", "tools_unsupported", False),
    "no tools, vllm": (
        error(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        "InvalidInput", "tools_unsupported", False),
    "no tools, llama.cpp": (
        error(500, "tools param requires --jinja flag"), "InvalidInput", "tools_unsupported", False),
    "no tools, openrouter": (
        error(404, "No endpoints found that support tool use."), "InvalidInput", "tools_unsupported", False),
    "filtered": (error(400, "Content Exists Risk"), "InvalidInput", "model_filtered", False),
    "filtered, dashscope": (
        error(400, {"error": {"message": "no", "code": "data_inspection_failed"}}),
        "InvalidInput", "model_filtered", False),
    "bad parameter": (error(400, "temperature must be below 1"), "InvalidInput", "model_bad_request", False),
    "a web page": (raw("<html>Welcome to nginx</html>"), "WebParseError", "model_bad_answer", False),
    "other JSON": (raw('{"hello": 1}', "application/json"), "WebParseError", "model_bad_answer", False),
    "broken JSON": (raw("data: {broken\n\n", "text/event-stream"), "WebParseError", "model_bad_answer", False),
    "dropped": (drop("Hello wor"), "NetworkError", "model_cut", True),
    "error in mid-stream": (stream_error("upstream failed", 502), "BadGateway", "model_broken", True),
    "unnamed error in mid-stream": (stream_error("engine died", "x1"), "BadGateway", "model_broken", True),
    "limit in mid-stream": (stream_error("slow down", "rate_limit_exceeded"), "WebBlocked", "model_rate", True),
    "overflow in mid-stream": (
        stream_error("too long", "context_length_exceeded"), "InvalidInput", "context_overflow", False),
}  # fmt: skip


@pytest.mark.req("C7.1", "P9.3")
@pytest.mark.parametrize("name", STATUSES)
async def test_a_failure_of_the_server_has_its_own_cause(name: str) -> None:
    step, code, detail, retryable = STATUSES[name]
    fault = await fault_of([step])
    assert (fault.code, fault.detail_code, fault.retryable) == (code, detail, retryable)
    assert fault.retry_after == (7 if name == "too often" else None)
    for text in (*fault.say("en"), *fault.say("zh"), json.dumps(fault.as_dict("zh"))):
        assert text and KEY[:12] not in text and "{" not in text.strip("{}")
    assert fault.__cause__ is None and fault.__context__ is None


@pytest.mark.parametrize("server", OVERFLOWS)
async def test_a_context_that_is_too_long_is_known_by_every_wording(server: str) -> None:
    fault = await fault_of([OVERFLOWS[server]])
    assert fault.detail_code == "context_overflow"
    assert "SUYUAN_MODEL_CONTEXT_TOKENS" in fault.hint


@pytest.mark.req("C7.3")
async def test_an_unreachable_server_differs_from_an_unknown_host() -> None:
    gone = await fault_of(reply("x"), url=f"http://127.0.0.1:{free_port()}/v1")
    assert (gone.code, gone.detail_code) == ("NetworkError", "model_unreachable")
    unknown = await fault_of(reply("x"), url="http://no-such-host.invalid/v1")
    assert (unknown.code, unknown.detail_code) == ("NetworkError", "model_dns")
    proxied = await fault_of(
        reply("x"), url="http://no-such-host.invalid/v1", proxy=Secret(f"http://me:hidden@127.0.0.1:{free_port()}")
    )
    assert proxied.detail_code == "model_proxy" and "hidden" not in f"{proxied.as_dict()}"


async def test_https_to_a_plain_server_is_a_tls_failure() -> None:
    with serve_model(reply("x")) as server:
        fault = await fault_of(reply("x"), url=server.url.replace("http:", "https:"))
    assert fault.detail_code == "model_tls" and "https://" in fault.hint


@pytest.mark.parametrize("script", [[stall(5)], [[reply("one two "), stall(5)]]], ids=["at once", "in mid-stream"])
async def test_a_silent_server_times_out(script: Answering) -> None:
    fault = await fault_of(script, seconds=0.3)
    assert (fault.code, fault.detail_code) == ("Timeout", "model_silent")
    assert "0.3 s" in fault.message


def test_hints_for_ollama_name_its_commands() -> None:
    class ResponseError(Exception):
        status_code = 404

    chosen = ModelSettings("ollama", "qwen3")
    assert (
        "`ollama pull qwen3`"
        in model_error(ResponseError('model "qwen3" not found, try pulling it first'), chosen).hint
    )
    assert "`ollama serve`" in model_error(ConnectionError("Failed to connect to Ollama"), chosen).hint
    compatible = ModelSettings("openai", "qwen3", "http://localhost:11434/v1")
    assert "`ollama serve`" in model_error(ConnectionRefusedError(111, "Connection refused"), compatible).hint


async def test_errors_of_ollama() -> None:
    with serve_model(
        raw('{"error": "model \\"qwen3\\" not found, try pulling it first"}', "application/json", 404)
    ) as server:
        chosen = settings(server.url.removesuffix("/v1"), provider="ollama", name="qwen3")
        with pytest.raises(Exception, match="not found") as raised:
            await ask(chosen)
    assert model_error(raised.value, chosen).detail_code == "model_not_pulled"
    assert server.requests[0].path == "/api/chat" and server.requests[0].body["options"]["num_ctx"] == 32_000


@pytest.mark.parametrize(("status", "detail"), [(401, "model_key_refused"), (529, "model_busy"), (429, "model_rate")])
async def test_errors_of_anthropic(status: int, detail: str) -> None:
    body = {"type": "error", "error": {"type": "some_error", "message": "no"}}
    with serve_model(error(status, body)) as server:
        chosen = settings(server.url.removesuffix("/v1"), provider="anthropic", name="claude-x")
        with pytest.raises(Exception, match="no") as raised:
            await ask(chosen)
    assert model_error(raised.value, chosen).detail_code == detail
    # No retries of its own.
    assert len(server.requests) == 1


GOOGLE = {
    "wrong key": (400, "API key not valid. Please pass a valid API key.", "model_key_refused"),
    "unknown model": (404, "models/gemini-x is not found for API version v1beta", "model_not_found"),
    "too often": (429, "Resource has been exhausted", "model_rate"),
    "overloaded": (503, "The model is overloaded", "model_busy"),
    "too long": (
        400,
        "The input token count (99) exceeds the maximum number of tokens allowed (10).",
        "context_overflow",
    ),
}


@pytest.mark.parametrize("name", GOOGLE)
async def test_errors_of_google(name: str) -> None:
    status, message, detail = GOOGLE[name]
    with serve_model(error(status, {"error": {"code": status, "message": message, "status": "X"}})) as server:
        chosen = settings(server.url.removesuffix("/v1"), provider="google", name="gemini-x")
        with pytest.raises(Exception, match=re.escape(message)) as raised:
            await ask(chosen)
    assert model_error(raised.value, chosen).detail_code == detail
    # No retries of its own.
    assert len(server.requests) == 1


async def test_google_streams_through_the_configured_proxy() -> None:
    parts = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}]}
        for text in ("Hello ", "world")
    ]
    with serve_model(raw(json.dumps(parts), "application/json")) as server:
        proxy = Secret(server.url.removesuffix("/v1"))
        said = await ask(settings("http://google.invalid", provider="google", name="gemini-x", proxy=proxy))
    assert said.text == "Hello world"
    assert server.requests[0].path.startswith("http://google.invalid/v1beta/models/gemini-x:streamGenerateContent")


async def test_google_unreachable() -> None:
    chosen = settings(f"http://127.0.0.1:{free_port()}", provider="google", name="gemini-x")
    with pytest.raises(Exception, match="refused") as raised:
        await ask(chosen)
    assert model_error(raised.value, chosen).detail_code == "model_unreachable"


async def test_nothing_is_retried_by_the_library() -> None:
    with serve_model(error(500, "oops")) as server:
        with pytest.raises(Exception, match="oops"):
            await ask(settings(server.url))
    assert len(server.requests) == 1


def test_an_unknown_failure_keeps_its_text_without_secrets() -> None:
    chosen = settings("http://u:pw1234@localhost:1/v1", proxy=Secret("http://me:hidden@p:1"))
    fault = model_error(RuntimeError(f"odd thing with {KEY} and Bearer abcdef via http://me:hidden@p:1"), chosen)
    assert fault.detail_code == "model_failed" and "odd thing" in fault.message
    assert not re.search(r"verysecret|abcdef|hidden|pw1234", f"{fault.as_dict()}{fault.as_dict('zh')}")


def test_our_own_errors_stay_as_they_are() -> None:
    own = Timeout("x")
    assert model_error(own, ModelSettings()) is own


def test_when_a_retry_may_help() -> None:
    assert retry_wait(NetworkError("x"), pause=0.5, max_wait=8) == 0.5
    assert retry_wait(AuthError("x"), pause=0.5, max_wait=8) is None
    assert retry_wait(NetworkError("x", retry_after=2), pause=0.5, max_wait=8) == 2
    assert retry_wait(NetworkError("x", retry_after=300), pause=0.5, max_wait=8) is None


# --- the server of these tests -----------------------------------------------------------------------------------


async def test_the_test_server_lists_its_requests_and_repeats_its_last_answer() -> None:
    def echo(asked: EngineReply) -> Step:
        return reply(asked.messages[-1]["content"].upper())

    with serve_model([reply("first"), echo]) as server:
        answers = [(await ask(settings(server.url), text)).text for text in ("a", "b", "c")]
    assert answers == ["first", "B", "C"]
    assert [asked.text for asked in server.requests] == ["a", "b", "c"]


def message_of(chunks: list[dict[str, Any]]) -> Any:
    from suyuan.llm.openai_compatible import _piece, message_of
    from suyuan.llm.tool_calls import CollectedCalls

    calls = CollectedCalls()
    piece = _piece(chunks, calls)
    return message_of(replace(piece, calls=calls.whole))


class TestChunkParser:
    """The stream of a server, however it is cut into pieces."""

    STREAM = (
        ': comment\r\n\r\ndata: {"choices": [{"delta": {"content": "汉"}}]}\n\n'
        'data: {"choices": [{"delta": {"content": "b"}, "finish_reason": "stop"}]}\r\n\r\ndata: [DONE]\n\n'
    ).encode()

    def test_pieces_of_every_size_are_parsed(self) -> None:
        from suyuan.llm.openai_compatible import ChunkParser

        for cut in range(len(self.STREAM)):
            reader = ChunkParser(httpx2.Response(200))
            chunks = [*reader.feed(self.STREAM[:cut]), *reader.feed(self.STREAM[cut:])]
            assert [chunk["choices"][0]["delta"]["content"] for chunk in chunks] == ["汉", "b"], cut
            assert reader.ended and reader.finished and reader.failure is None

    def test_chunks_before_an_error_come_first(self) -> None:
        from suyuan.llm.openai_compatible import ChunkParser

        reader = ChunkParser(httpx2.Response(200))
        chunks = reader.feed(b'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: {broken\n\n')
        assert len(chunks) == 1 and isinstance(reader.failure, ValueError)

    def test_what_arrives_together_becomes_one_message(self) -> None:

        def chunk(**delta: object) -> dict[str, Any]:
            return {"choices": [{"delta": delta, "finish_reason": None}]}

        def call(index: int | None, arguments: str, **more: str) -> dict[str, Any]:
            return {"index": index, "function": {"arguments": arguments, **more}}

        first = message_of(
            [
                chunk(role="assistant", content="a"),
                chunk(content=None, reasoning_content="c"),
                chunk(content="b"),
                chunk(tool_calls=[call(0, '{"q"', name="x"), call(1, "{}", name="y")]),
                chunk(tool_calls=[call(0, ": 1")]),
            ]
        )
        second = message_of([chunk(tool_calls=[call(0, "}")]), {"choices": [{"finish_reason": "tool_calls"}]}])
        whole = first + second
        assert whole.text == "ab" and whole.additional_kwargs == {"reasoning_content": "c"}
        assert [(each["name"], each["args"]) for each in whole.tool_calls] == [("x", {"q": 1}), ("y", {})]
        assert whole.response_metadata == {"finish_reason": "tool_calls"}

    def test_tool_calls_without_an_index_stay_apart(self) -> None:

        def chunk(name: str) -> dict[str, Any]:
            call = {"id": name, "function": {"name": name, "arguments": "{}"}}
            return {"choices": [{"delta": {"tool_calls": [call]}}]}

        whole = message_of([chunk("x"), chunk("y")]) + message_of([chunk("z")])
        assert [each["name"] for each in whole.tool_calls] == ["x", "y", "z"]


# --- other libraries' private parts ------------------------------------------------------------------------------

SURFACE = "llm/build.py replaces {} of {}, which has changed: see docs/adr/004-model-clients.md"


def test_the_private_parts_of_anthropic_are_as_expected() -> None:
    package = pytest.importorskip("langchain_anthropic", reason="langchain_anthropic is not installed")
    found = inspect.getattr_static(package.ChatAnthropic, "_async_client", None)
    assert isinstance(found, cached_property), SURFACE.format("ChatAnthropic._async_client", "langchain-anthropic")
    calls = inspect.getsource(package.ChatAnthropic._acreate)
    assert "self._async_client." in calls, SURFACE.format("ChatAnthropic._async_client", "langchain-anthropic")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_the_private_parts_of_google_are_as_expected() -> None:
    package = pytest.importorskip("langchain_google_genai", reason="langchain_google_genai is not installed")
    found = inspect.getattr_static(package.ChatGoogleGenerativeAI, "async_client", None)
    assert isinstance(found, property), SURFACE.format("async_client", "langchain-google-genai")
    plain = package.ChatGoogleGenerativeAI(model="gemini-x", google_api_key="k", transport="rest")
    transport = plain.client.transport
    for name in ("_session", "_wrapped_methods"):
        assert hasattr(transport, name), SURFACE.format(f"transport.{name}", "google-ai-generativelanguage")
    for method in (transport.generate_content, transport.stream_generate_content):
        assert method in transport._wrapped_methods, SURFACE.format(
            "transport._wrapped_methods", "google-ai-generativelanguage"
        )
    assert {"trust_env", "proxies"} <= vars(transport._session).keys(), SURFACE.format(
        "transport._session", "google-ai-generativelanguage"
    )


def test_a_model_is_built_only_when_nobody_else_imports_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two threads that import packages with circles at the same time can find them half made."""
    begun, built = threading.Event(), threading.Event()
    events = SimpleNamespace(begun=begun, built=built)
    monkeypatch.setitem(sys.modules, "import_events", cast(ModuleType, events))
    (tmp_path / "half_made.py").write_text("import import_events as e\ne.begun.set()\nearly = e.built.wait(0.5)\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    def build() -> None:
        build_model(ModelSettings("openai", "m", "http://127.0.0.1:9/v1"))
        built.set()

    # From now on it takes a moment, as everything is imported.
    build()
    built.clear()
    importing = threading.Thread(target=Preloader(("half_made",))._load)
    importing.start()
    assert begun.wait(60)
    building = threading.Thread(target=build)
    building.start()
    importing.join()
    building.join()
    assert built.is_set() and not sys.modules.pop("half_made").early
