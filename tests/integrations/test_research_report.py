"""The tool ``research_report``, and ``research`` over MCP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pytest

pytest.importorskip("sqlalchemy", reason="the optional extra suyuan[chat] is not installed")

from support.site import json_reply, reply, serve
from support.timing import eventually
from suyuan.config.settings import PageSettings, SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import InvalidInput
from suyuan.integrations.providers import BuiltinProvider

FERRY = "The Wick ferry carries forty cars. The Wick ferry was built in 1998 in the yard of Port Ember. " * 3
LINKS = "/link?url=abc"


def answer(seen: Any) -> Any:
    """A SearXNG with three results, and the pages behind them: one moves on, one is not there."""
    if seen.path == "/search":
        base = f"http://{seen.headers['host']}"
        rows = [
            {"title": f"Ferry {n}", "url": f"{base}{path}", "content": "When was the Wick ferry built", "engine": "x"}
            for n, path in enumerate((LINKS, "/ferry-two", "/gone"))
        ]
        return json_reply(json.dumps({"query": "q", "results": rows, "unresponsive_engines": []}))
    if seen.path.startswith("/link"):
        return reply("", 302, {"Location": "/landing"})
    if seen.path == "/gone":
        return reply("gone", 404)
    title = "Ferries of the coast" if seen.path == "/landing" else "The Wick ferry"
    return reply(
        f"<html><head><title>{title}</title></head><body><article><p>{FERRY}{title}.</p></article></body></html>"
    )


def settings(url: str, folder: Path) -> Settings:
    return Settings(
        search=SearchSettings(default="searxng", cache_minutes=0, seconds=30),
        engines={"searxng": EngineSettings(base_url=url, rate_per_minute=0)},
        pages=PageSettings(allow_hosts=("127.0.0.1",)),
        data_dir=folder,
    )


class Watched(BuiltinProvider):
    """Notes which tools are called."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.called: list[tuple[str, str]] = []

    async def aexecute(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        self.called.append((tool, str(arguments.get("url") or "")))
        return await super().aexecute(tool, arguments)


@pytest.mark.req("T8.1")
async def test_a_report_reads_its_pages_by_web_fetch(tmp_path: Path) -> None:
    async with serve(answer) as site:
        async with Watched(settings(site.url, tmp_path)) as provider:
            arguments = {"question": "When was the Wick ferry built?", "depth": "quick"}
            jsonschema.validate(arguments, provider.schemas()["research_report"])
            found = await provider.aexecute("research_report", arguments)
            read = sorted(url.removeprefix(site.url) for tool, url in provider.called if tool == "web.fetch")
        assert await site.until_idle()
        asked = sorted({seen.path for seen in site.seen} - {"/search", "/landing", "/healthz"})
    assert read == ["/ferry-two", "/gone", LINKS] and asked == ["/ferry-two", "/gone", "/link"]
    assert "1998" in found["report"] and found["state"] == "done" and found["sources"]
    summaries = {each["url"].removeprefix(site.url): each for each in found["fetch_summaries"]}
    assert all(set(each) == {"url", "final_url", "title", "status", "error"} for each in summaries.values())
    assert summaries[LINKS]["final_url"] == f"{site.url}/landing" and summaries[LINKS]["status"] == "ok"
    assert summaries["/gone"]["status"] == "error" and summaries["/gone"]["error"]


async def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    async with BuiltinProvider(settings("http://127.0.0.1:9", tmp_path)) as provider:
        for arguments in ({}, {"question": ""}, {"question": "x", "depth": "endless"}, {"question": "x", "wish": 1}):
            with pytest.raises(InvalidInput):
                await provider.aexecute("research_report", arguments)


async def test_mcp_researches_and_gives_a_job_by_its_id(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the optional extra suyuan[mcp] is not installed")
    from mcp.client import Client

    from suyuan.integrations.mcp import make_server

    async with serve(answer) as site:
        async with Client(make_server(settings(site.url, tmp_path))) as client:
            tool = next(tool for tool in (await client.list_tools()).tools if tool.name == "research")
            done = await client.call_tool("research", {"question": "When was the Wick ferry built?"})
            jsonschema.validate(done.structured_content, tool.output_schema or {})
            again = await client.call_tool("research", {"id": done.structured_content["id"]})
            wrong = await client.call_tool("research", {"id": "none"})
        assert await site.until_idle()
    assert not done.is_error and "1998" in done.structured_content["report"] == again.structured_content["report"]
    assert wrong.is_error and "no_research" in wrong.content[0].text  # type: ignore[union-attr]


async def test_mcp_says_why_a_job_has_no_report(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the optional extra suyuan[mcp] is not installed")
    from mcp.client import Client

    from suyuan.core.causes.chat import UNEXPECTED
    from suyuan.integrations.mcp import make_server
    from suyuan.store.research import ResearchStore

    chosen = settings("http://127.0.0.1:9", tmp_path)
    async with Client(make_server(chosen)) as client:
        store = ResearchStore(chosen.store_address)
        job = store.create("When was the Wick ferry built?", {})
        store.change(job.id, state="failed", result={"failure": UNEXPECTED.failure(what="Oops", run=job.id).as_dict()})
        found = await client.call_tool("research", {"id": job.id})
        store.close()
    assert found.is_error and "Oops" in found.content[0].text  # type: ignore[union-attr]
    assert found.structured_content["failure"]["detail_code"] == UNEXPECTED.detail_code


async def test_a_client_that_knows_tasks_gets_research_as_one(tmp_path: Path) -> None:
    pytest.importorskip("mcp", reason="the optional extra suyuan[mcp] is not installed")
    import mcp_types as types
    from mcp.client import Client
    from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
    from mcp.shared.exceptions import MCPError
    from pydantic import ConfigDict

    from suyuan.integrations.mcp import make_server
    from suyuan.shared import shared_client

    class Task(types.Result):
        model_config = ConfigDict(extra="allow")
        result_type: Literal["task"] = "task"

    class Params(types.RequestParams):
        task_id: str

    class Ask(types.Request[Params, Any]):
        name_param = "taskId"
        params: Params

    class State(types.Result):
        model_config = ConfigDict(extra="allow")

    async def ask(session: Any, method: str, id: str) -> dict[str, Any]:
        state = await session.send_request(Ask(method=f"tasks/{method}", params=Params(task_id=id)), State)
        return dict(state.model_extra or {})

    given: list[dict[str, Any]] = []

    class Tasks(ClientExtension):
        identifier = "io.modelcontextprotocol/tasks"

        def claims(self) -> list[ResultClaim[Any]]:
            return [ResultClaim(result_type="task", model=Task, resolve=self._resolve)]

        async def _resolve(self, task: Task, ctx: ClaimContext) -> types.CallToolResult:
            given.append(dict(task.model_extra or {}))
            states: list[dict[str, Any]] = []

            async def ended() -> bool:
                states.append(await ask(ctx.session, "get", given[-1]["taskId"]))
                return bool(states[-1]["status"] != "working")

            assert await eventually(ended)
            return types.CallToolResult.model_validate(states[-1]["result"])

    async with serve(answer) as site:
        server = make_server(wanted := settings(site.url, tmp_path))
        async with Client(server, extensions=[Tasks()]) as client, shared_client(wanted) as shared:
            assert "io.modelcontextprotocol/tasks" in (client.server_capabilities.extensions or {})
            done = await client.call_tool("research", {"question": "When was the Wick ferry built?"})
            id = given[0]["taskId"]
            for method in ("cancel", "update"):
                assert await ask(client.session, method, id) == {"resultType": "complete"}
            shared.research_service.store.change(id, state="interrupted")
            assert (await ask(client.session, "get", id))["status"] == "working", "it goes on"
            assert (await shared.research_service.wait(id)).state == "done"
            with pytest.raises(MCPError) as unknown:
                await ask(client.session, "get", "none")
        async with Client(server) as client:
            with pytest.raises(MCPError) as undeclared:
                await ask(client.session, "get", id)
        assert await site.until_idle()
    assert given[0]["status"] == "working" and given[0]["ttlMs"] is None and given[0]["pollIntervalMs"] > 0
    assert not done.is_error and "1998" in done.structured_content["report"]
    assert unknown.value.error.code == types.INVALID_PARAMS and unknown.value.error.data["detail_code"] == "no_research"
    assert undeclared.value.error.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY
