"""The MCP server, spoken to by the SDK's own client, over both transports."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from support import pages
from support.site import Handler, free_port, reply, serve, stall
from support.timing import PATIENCE, eventually, soon

pytest.importorskip("mcp", reason="the optional extra suyuan[mcp] is not installed")

import aiohttp
import httpx2
import jsonschema
import mcp_types as types
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import LATEST_MODERN_VERSION


def environment(url: str) -> dict[str, str]:
    return {**os.environ, "DDG_BASE_URL": url, "DDG_RATE_PER_MINUTE": "0"}


@asynccontextmanager
async def over_stdio(handler: Handler, *words: str) -> AsyncIterator[tuple[Client, Any]]:
    async with serve(handler) as site:
        command = ["-m", "suyuan", *words, "mcp", "-e", "ddg_html"]
        parameters = StdioServerParameters(command=sys.executable, args=command, env=environment(site.url))
        async with Client(stdio_client(parameters)) as client:
            yield client, site


@asynccontextmanager
async def http_server(
    url: str, *words: str, wait: bool = True, program: tuple[str, ...] = (sys.executable, "-m", "suyuan"), **more: str
) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *program, "mcp", "--http", "--port", str(port), "-e", "ddg_html", *words,
        env={**environment(url), **more}, stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert not wait or await eventually(lambda: answers(port))
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


def no_keep_alive() -> httpx2.AsyncClient:
    """A client that opens a connection for each request."""
    return httpx2.AsyncClient(limits=httpx2.Limits(max_keepalive_connections=0), timeout=PATIENCE)


async def numbers_of(client: Client, query: str) -> list[int]:
    """The numbers of the sources that a search finds."""
    result = await client.call_tool("web_search", {"query": query, "count": 3})
    return [source["number"] for source in result.structured_content["results"]]


class TestStdio:
    async def test_the_tool_and_its_schemas(self) -> None:
        async with over_stdio(lambda _: reply(pages.ddg()), "--ui", "zh") as (client, _):
            tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["web_search", "web_fetch", "research"]
        assert (tools[0].description or "").startswith("搜索互联网获取实时信息。")
        assert tools[0].input_schema["required"] == ["query"] and "freshness" in tools[0].input_schema["properties"]
        assert "academic" in tools[0].input_schema["properties"]["focus"]["enum"]
        for tool in tools:
            jsonschema.Draft202012Validator.check_schema(tool.output_schema or {})
            for example in tool.input_schema["examples"]:
                jsonschema.validate(example, tool.input_schema)

    @pytest.mark.req("C15.1", "C13.2")
    async def test_a_search_gives_text_and_structure_and_numbers_rise(self) -> None:
        def play(seen: Any) -> Any:
            return reply(pages.ddg(host=f"{seen.params['q']}.example"))

        async with over_stdio(play) as (client, site):
            output = (await client.list_tools()).tools[0].output_schema or {}
            first = await client.call_tool("web_search", {"query": "one", "count": 3})
            second = await client.call_tool("web_search", {"query": "two", "count": 3})
            again = await client.call_tool("web_search", {"query": "one", "count": 3})
            assert len(site.seen) == 2
        assert not first.is_error and "[1] Result 1 (one.example)" in first.content[0].text  # type: ignore[union-attr]
        for result in (first, second, again):
            jsonschema.validate(result.structured_content, output)
        numbers = [[r["number"] for r in result.structured_content["results"]] for result in (first, second, again)]
        assert numbers == [[1, 2, 3], [4, 5, 6], [1, 2, 3]]
        assert first.structured_content["receipt"][0]["outcome"] == "ok"

    @pytest.mark.req("T7.1", "G1.3")
    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            ({"query": "x"}, "WebBlocked/http_429"),
            ({"query": " "}, "InvalidInput/empty_query"),
            ({"query": "x", "count": 99}, "InvalidInput/bad_count"),
        ],
    )
    async def test_errors_are_tool_errors_with_their_code(self, arguments: dict[str, Any], code: str) -> None:
        async with over_stdio(lambda _: reply("", 429)) as (client, _):
            result = await client.call_tool("web_search", arguments)
            assert result.is_error and code in result.content[0].text and "What to do" in result.content[0].text  # type: ignore[union-attr]
            assert (await client.list_tools()).tools, "the server lives on"

    async def test_an_unknown_tool(self) -> None:
        async with over_stdio(lambda _: reply("")) as (client, _):
            result = await client.call_tool("web_fly", {})
        assert result.is_error and "ToolNotFound" in result.content[0].text  # type: ignore[union-attr]

    async def test_progress_is_told(self) -> None:
        told: list[tuple[float, str | None]] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, message))

        async with over_stdio(lambda _: reply(pages.ddg())) as (client, _):
            await client.call_tool("web_search", {"query": "words"}, progress_callback=hear)
            assert await soon(lambda: len(told) >= 2)
        assert told[0] == (0, "Searching: words") and told[-1][0] == 1

    async def test_a_cancelled_call_closes_its_socket(self) -> None:
        async with over_stdio(lambda _: stall) as (client, site):
            task = asyncio.ensure_future(client.call_tool("web_search", {"query": "x"}))
            await site.until_asked()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await site.until_idle()

    async def test_nothing_but_the_protocol_on_standard_output(self) -> None:
        async with serve(lambda _: reply("", 500)) as site:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "suyuan", "-vv", "mcp", "-e", "ddg_html",
                env=environment(site.url) | {"WEB_SEARCH_BACKEND": "altavista"},
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            calls = [
                {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {
                    "jsonrpc": "2.0",
                    "id": 2,
                    "method": "tools/call",
                    "params": {"name": "web_search", "arguments": {"query": "x"}},
                },
            ]
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write("".join(json.dumps(call) + "\n" for call in calls).encode())
            lines = [json.loads(await asyncio.wait_for(process.stdout.readline(), PATIENCE)) for _ in range(2)]
            process.stdin.close()
            rest = await asyncio.wait_for(process.stdout.read(), PATIENCE)
            await process.wait()
        assert [line["id"] for line in lines] == [1, 2] and rest == b"" and process.returncode == 0
        assert lines[1]["result"]["isError"] is True


class TestHttp:
    async def test_a_search(self) -> None:
        async with (
            serve(lambda _: reply(pages.ddg())) as site,
            http_server(site.url) as (url, _),
            Client(url) as client,
        ):
            result = await client.call_tool("web_search", {"query": "hello"})
        assert not result.is_error and len(result.structured_content["results"]) == 5

    @pytest.mark.req("C13.4")
    async def test_the_state_of_clients_is_limited(self) -> None:
        """A limit of two: the client that called least lately is forgotten."""
        program = "import sys, suyuan.integrations.mcp as m; m.MOST_CLIENTS = 2; from suyuan.cli.main import main; "
        given = (sys.executable, "-c", f"{program}sys.exit(main(sys.argv[1:]))")
        async with serve(lambda seen: reply(pages.ddg(host=f"{seen.params['q']}.example"))) as site:
            async with (
                http_server(site.url, program=given, WEB_SEARCH_CACHE_TTL_MINUTES="0") as (url, _),
                Client(url) as one, Client(url) as two, Client(url) as three,
            ):  # fmt: skip
                for each in (one, two, three, three, two):
                    assert await numbers_of(each, "a") == [1, 2, 3]
                assert len(site.seen) == 3
                assert [await numbers_of(one, "b"), await numbers_of(two, "b")] == [[1, 2, 3], [4, 5, 6]]

    @pytest.mark.req("C15.1", "C13.2", "C13.3")
    @pytest.mark.parametrize("mode", ["auto", "legacy", LATEST_MODERN_VERSION])
    async def test_numbers_and_cache_go_on_for_each_client(self, mode: str) -> None:
        async with serve(lambda seen: reply(pages.ddg(host=f"{seen.params['q']}.example"))) as site:
            async with http_server(site.url) as (url, _):
                async with Client(url, mode=mode) as one, Client(url, mode=mode) as other:
                    numbers = [await numbers_of(client, q) for client, q in ((one, "a"), (one, "b"), (one, "a"))]
                    assert numbers == [[1, 2, 3], [4, 5, 6], [1, 2, 3]]
                    assert [len(site.seen), await numbers_of(other, "b")] == [2, [1, 2, 3]]

    async def test_a_client_is_recognised_on_another_connection(self) -> None:
        async with serve(lambda seen: reply(pages.ddg(host=f"{seen.params['q']}.example"))) as site:
            async with http_server(site.url) as (url, _), no_keep_alive() as http:
                async with Client(streamable_http_client(url, http_client=http)) as client:
                    assert [await numbers_of(client, q) for q in "ab"] == [[1, 2, 3], [4, 5, 6]]

    async def test_a_client_without_cookies_is_recognised_by_its_connection(self) -> None:
        async with serve(lambda seen: reply(pages.ddg(host=f"{seen.params['q']}.example"))) as site:
            async with http_server(site.url) as (url, _):
                jars = [aiohttp.DummyCookieJar() for _ in range(2)]
                async with (
                    aiohttp.ClientSession(cookie_jar=jars[0]) as one,
                    aiohttp.ClientSession(cookie_jar=jars[1]) as two,
                ):
                    told = [
                        await self.bare_call(session, url, q) for session, q in ((one, "a"), (one, "b"), (two, "b"))
                    ]
        assert told == [[1, 2, 3], [4, 5, 6], [1, 2, 3]]

    @staticmethod
    async def bare_call(session: aiohttp.ClientSession, url: str, query: str) -> list[int]:
        """The numbers of a search that is asked for by a single request, as the protocol without sessions has it."""
        meta = {
            types.PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION,
            types.CLIENT_INFO_META_KEY: {"name": "t", "version": "1"},
            types.CLIENT_CAPABILITIES_META_KEY: {},
        }
        params = {"name": "web_search", "arguments": {"query": query, "count": 3}, "_meta": meta}
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": LATEST_MODERN_VERSION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": "web_search",
        }
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        async with session.post(url, json=call, headers=headers) as answer:
            text = await answer.text()
        data = json.loads(text.rpartition("data: ")[2] if text.startswith(("event:", "data:", ":")) else text)
        return [source["number"] for source in data["result"]["structuredContent"]["results"]]

    async def test_a_foreign_host_or_origin_is_refused(self) -> None:
        headers = {"Accept": "application/json, text/event-stream"}
        async with (
            serve(lambda _: reply("")) as site,
            http_server(site.url) as (url, _),
            aiohttp.ClientSession() as session,
        ):
            for more in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
                async with session.post(url, json={}, headers=headers | more) as answer:
                    assert answer.status in (403, 421)

    async def test_another_address_needs_a_token_and_then_checks_it(self) -> None:
        async with serve(lambda _: reply("")) as site:
            async with http_server(site.url, "--host", "0.0.0.0", wait=False) as (_, process):
                _, err = await process.communicate()
                assert process.returncode == 3 and b"SUYUAN_TOKEN" in err, "as for suyuan serve"
            async with (
                http_server(site.url, SUYUAN_TOKEN="long-random-text") as (url, _),
                aiohttp.ClientSession() as session,
            ):
                for number in range(13):
                    guess = {"Authorization": f"Bearer guess-{number}", "X-Forwarded-For": f"203.0.113.{number}"}
                    async with session.post(url, json={}, headers=guess) as answer:
                        assert answer.status == (401 if number < 10 else 429)
                async with session.post(url, json={}) as answer:
                    assert answer.status == 401 and (await answer.json())["error"]["detail_code"] == "token_needed"
                right = {"Authorization": "Bearer long-random-text"}
                async with session.post(url, json={}, headers=right) as answer:
                    assert answer.status not in (401, 429), "the right token is never locked out"
            async with http_server(site.url, wait=False, SUYUAN_TOKEN="7-chars") as (_, process):
                _, err = await process.communicate()
                assert process.returncode == 2 and b"token_weak" in err
