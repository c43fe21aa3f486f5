"""Agents by agents.json: who has the tool, through which engine, and what happens to their sessions."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from support import pages
from support.site import json_reply, reply, serve

pytest.importorskip("langchain", reason="the optional extra suyuan[langchain] is not installed")

from suyuan.client import AsyncClient
from suyuan.config.agents import AgentWebSearch
from suyuan.config.load import load_settings
from suyuan.config.settings import Settings
from suyuan.core.engine import EngineSettings
from suyuan.integrations.agents import AgentManager, create_web_search_tool, load_agent_config


def write(folder: Path, config: object, agents: object) -> None:
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "agents.json").write_text(json.dumps({"agents": agents}))


def settings(folder: Path, **environ: str) -> Settings:
    return load_settings({"HOME": str(folder), **environ}, folder)


@pytest.mark.req("P4.1", "P10.1")
def test_the_tool_or_none() -> None:
    client = AsyncClient(Settings())
    assert create_web_search_tool(AgentWebSearch(enabled=False), client=client) is None
    tool = create_web_search_tool(AgentWebSearch(enabled=True, provider="stub", max_results=2), client=client)
    assert tool is not None and tool.name == "web_search"
    assert tool.invoke({"query": "x", "count": 1}).count("\n[") == 1
    client.close_sync()


@pytest.mark.req("P4.3", "P1.2", "P8.1")
def test_a_session_has_the_tool_if_and_only_if_it_is_enabled() -> None:
    manager = AgentManager(Settings())
    assert manager.get_or_create_session("none").tools == ()
    assert manager.get_or_create_session("off", web_search=AgentWebSearch(enabled=False)).tools == ()
    on = manager.get_or_create_session("on", web_search=AgentWebSearch(enabled=True, provider="stub"))
    assert [tool.name for tool in on.tools] == ["web_search"]
    assert manager.get_or_create_session("on") is on
    manager.close()


@pytest.mark.req("C13.3")
async def test_the_cache_of_a_session_ends_with_it() -> None:
    async with serve(lambda _: reply(pages.ddg())) as site:
        manager = AgentManager(Settings(engines={"ddg_html": EngineSettings(base_url=site.url, rate_per_minute=0)}))
        options = AgentWebSearch(enabled=True, provider="ddg_html", cache_ttl_minutes=0)

        async def searched(session_id: str) -> int:
            before = len(site.seen)
            session = manager.get_or_create_session(session_id, web_search=options)
            await session.tools[0].ainvoke({"query": "x"})
            return len(site.seen) - before

        assert [await searched(name) for name in ("a", "a", "b", "b")] == [1, 0, 1, 0]
        await asyncio.to_thread(manager.close_session, "a")
        assert [await searched(name) for name in ("a", "b")] == [1, 0]
        await asyncio.to_thread(manager.close)


@pytest.mark.req("P6.1", "P10.1", "P3.3", "P3.4")
async def test_from_configuration_to_a_search_with_the_provider_fixed_at_creation(tmp_path: Path) -> None:
    async with serve(lambda _: json_reply(pages.brave())) as brave, serve(lambda _: reply(pages.ddg())) as ddg:
        providers = {"brave": {"baseUrl": brave.url, "apiKey": "k-12345"}, "ddg_html": {"baseUrl": ddg.url}}
        agents = [
            {"id": "a", "webSearch": {"enabled": True, "provider": "brave"}},
            {"id": "b", "webSearch": {"enabled": True}},
            {"id": "c"},
        ]
        write(
            tmp_path,
            {"web": {"providers": providers}, "tools": {"webSearch": {"defaultProvider": "duck-duck-scrape"}}},
            agents,
        )
        own = settings(tmp_path)
        manager = AgentManager(own, lang="en")
        sessions = {
            name: manager.get_or_create_session(name, web_search=load_agent_config(name, own)) for name in "abc"
        }
        assert sessions["c"].tools == ()
        arguments = {"query": "news", "count": 3, "country": "us", "freshness": "week"}
        texts = [await asyncio.to_thread(sessions[name].tools[0].invoke, arguments) for name in "ab"]
        await asyncio.to_thread(manager.close)
        assert await brave.until_idle() and await ddg.until_idle()
    assert "brave.example" in texts[0] and "ddg.example" in texts[1]
    sent = brave.seen[0].params
    assert (sent["q"], sent["country"], sent["freshness"]) == ("news", "US", "pw") and brave.seen[0].headers[
        "x-subscription-token"
    ] == "k-12345"
    assert sessions["a"].tools == (), "a closed session has no tools"


@pytest.mark.req("P2.5", "P2.3")
def test_without_its_key_an_agent_searches_by_duckduckgo(tmp_path: Path) -> None:
    write(tmp_path, {}, [{"id": "a", "webSearch": {"enabled": True, "provider": "brave"}}])
    config = load_agent_config("a", settings(tmp_path))
    assert (config.enabled, config.provider, config.timeout_seconds, config.cache_ttl_minutes, config.max_results) == (
        True, "ddg_html", 15.0, 5.0, 5,
    )  # fmt: skip
