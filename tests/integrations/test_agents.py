"""Agents by agents.json: who has the tool, through which engine, and what happens to their sessions."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support import pages
from support.chromium import ALLOWED, require_chromium
from support.processes import browsers
from support.site import json_reply, reply, serve, stall
from support.timing import soon

pytest.importorskip("langchain", reason="the optional extra suyuan[langchain] is not installed")

from langchain_core.utils.function_calling import convert_to_openai_tool

from suyuan.client import AsyncClient
from suyuan.config.agents import AgentWebSearch
from suyuan.config.load import load_settings
from suyuan.config.settings import SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import InvalidInput
from suyuan.core.secret import Secret
from suyuan.integrations.agents import AgentManager, create_web_search_tool, load_agent_config
from suyuan.tools.specs import Lang


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


@pytest.mark.req("P4.1", "P2.1", "P4.2")
@pytest.mark.parametrize(
    ("options", "count", "given"),
    [
        (AgentWebSearch(enabled=True, provider="stub", max_results=2), 10, 2),
        ({"enabled": True, "provider": "stub", "maxResults": 2}, 10, 2),
        ({"enabled": True, "provider": "stub", "maxResults": 1, "timeoutSeconds": 3, "cacheTtlMinutes": 0}, None, 1),
        ({"enabled": True, "provider": "stub"}, 1, 1),
    ],
)
def test_options_are_an_object_or_a_mapping_and_limit_the_results(
    options: AgentWebSearch | dict[str, object], count: int | None, given: int
) -> None:
    tool = create_web_search_tool(options)
    assert tool is not None
    assert tool.invoke({"query": "x", **({"count": count} if count else {})}).count("\n[") == given


def environment(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@pytest.mark.req("P4.1", "P3.3", "P9.3")
async def test_the_key_of_the_options_is_the_one_that_is_sent(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    async with serve(lambda _: json_reply(pages.brave())) as site:
        environment(monkeypatch, BRAVE_BASE_URL=site.url, BRAVE_API_KEY="k-of-the-machine")
        tool = create_web_search_tool({"enabled": True, "provider": "brave", "apiKey": "k-of-the-agent"})
        assert tool is not None
        text = await tool.ainvoke({"query": "tea"})
    [seen] = site.seen
    assert seen.headers["x-subscription-token"] == "k-of-the-agent" and "brave.example" in text
    assert "k-of-the-agent" not in text + caplog.text


@pytest.mark.req("P4.1", "P6.1", "P2.1")
async def test_the_time_of_the_options_is_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve(lambda _: stall) as site:
        environment(monkeypatch, DDG_BASE_URL=site.url)
        tool = create_web_search_tool(
            {"enabled": True, "provider": "duck-duck-scrape", "timeoutSeconds": 0.4}, lang="en"
        )
        assert tool is not None
        text = await tool.ainvoke({"query": "tea"})
    assert "0.4 s" in text and "Timeout" in text


@pytest.mark.req("P4.1", "P2.1")
async def test_the_cache_of_the_options_is_in_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = 0.0
    async with serve(lambda _: reply(pages.ddg())) as site:
        environment(monkeypatch, DDG_BASE_URL=site.url, DDG_RATE_PER_MINUTE="0")
        tool = create_web_search_tool({"enabled": True, "provider": "duck-duck-scrape", "cacheTtlMinutes": 2})
        assert tool is not None
        for cache in (tool._search._cache, tool._search._service._cache):
            cache._clock = lambda: 1000.0 + passed
        requests = []
        for moment in (0.0, 119.0, 121.0):
            passed = moment
            await tool.ainvoke({"query": "tea"})
            requests.append(len(site.seen))
    assert requests == [1, 1, 2]


@pytest.mark.req("P4.2", "G1.1")
async def test_the_four_inputs_reach_the_engine_and_the_model_reads_title_url_and_snippet() -> None:
    async with serve(lambda _: json_reply(pages.brave())) as site:
        own = EngineSettings(base_url=site.url, api_key=Secret("k-123456"), rate_per_minute=0)
        async with AsyncClient(Settings(engines={"brave": own})) as client:
            tool = create_web_search_tool(AgentWebSearch(enabled=True, provider="brave"), client=client)
            assert tool is not None
            text = await tool.ainvoke({"query": "tea", "count": 7, "country": "de", "freshness": "month"})
    sent = site.seen[0].params
    assert (sent["q"], sent["country"], sent["freshness"]) == ("tea", "DE", "pm")
    lines = text.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("[1]"))
    assert lines[first : first + 3] == [
        "[1] Result 1 (brave.example)", "https://brave.example/page/1", "Snippet 1.",
    ]  # fmt: skip
    assert sum(line.startswith("https://brave.example/page/") for line in lines) == 7


@pytest.mark.req("P4.2")
@pytest.mark.parametrize(
    ("arguments", "fine"),
    [
        ({"query": "x"}, True), ({"query": "x", "count": 1}, True), ({"query": "x", "count": 10}, True),
        ({"query": "x", "country": "US", "freshness": "week"}, True), ({}, False), ({"count": 3}, False),
        ({"query": "x", "count": 0}, False), ({"query": "x", "count": 11}, False), ({"query": ""}, False),
    ],
)  # fmt: skip
def test_the_schema_of_the_tool_says_what_may_be_asked(arguments: dict[str, object], fine: bool) -> None:
    tool = create_web_search_tool({"enabled": True, "provider": "stub"})
    assert tool is not None
    schema = convert_to_openai_tool(tool)["function"]["parameters"]
    assert (not list(jsonschema.Draft202012Validator(schema).iter_errors(arguments))) is fine


@pytest.mark.req("P6.1")
@pytest.mark.parametrize(("lang", "said"), [("en", "Search “news”"), ("zh", "搜索“news”")])
def test_the_tool_of_a_session_speaks_the_language_of_its_manager(lang: Lang, said: str) -> None:
    manager = AgentManager(Settings(), lang=lang)
    session = manager.get_or_create_session("s", web_search=AgentWebSearch(enabled=True, provider="stub"))
    assert session.tools[0].invoke({"query": "news"}).startswith(said)
    manager.close()


@pytest.mark.req("P6.1", "P10.1")
async def test_a_change_of_the_configuration_is_for_the_next_session(tmp_path: Path) -> None:
    async with serve(lambda _: json_reply(pages.brave())) as brave, serve(lambda _: reply(pages.ddg())) as ddg:
        providers = {"brave": {"baseUrl": brave.url, "apiKey": "k-12345"}, "ddg_html": {"baseUrl": ddg.url}}
        texts: list[str] = []
        manager = None
        for provider, session_id in (("brave", "a"), ("duck-duck-scrape", "a"), ("duck-duck-scrape", "b")):
            write(
                tmp_path,
                {"web": {"providers": providers}},
                [{"id": "x", "webSearch": {"enabled": True, "provider": provider}}],
            )
            own = settings(tmp_path)
            manager = manager or AgentManager(own, lang="en")
            session = manager.get_or_create_session(session_id, web_search=load_agent_config("x", own))
            texts.append(await session.tools[0].ainvoke({"query": f"tea {len(texts)}"}))
        assert manager is not None
        await asyncio.to_thread(manager.close)
    assert [("brave.example" in text, "ddg.example" in text) for text in texts] == [
        (True, False), (True, False), (False, True),
    ]  # fmt: skip


@pytest.mark.req("P4.3", "P8.1")
def test_the_tools_of_an_agent_stay_as_they_are_and_the_search_comes_after_them() -> None:
    own = create_web_search_tool({"enabled": True, "provider": "stub"})
    assert own is not None
    manager = AgentManager(Settings())
    assert manager.get_or_create_session("off", tools=(own,)).tools == (own,)
    disabled = AgentWebSearch(enabled=False, provider="stub")
    assert manager.get_or_create_session("disabled", web_search=disabled, tools=(own,)).tools == (own,)
    enabled = AgentWebSearch(enabled=True, provider="stub")
    tools = manager.get_or_create_session("on", web_search=enabled, tools=(own,)).tools
    assert tools[0] is own and [tool.name for tool in tools[1:]] == ["web_search"]
    manager.close()


@pytest.mark.req("P4.1")
@pytest.mark.parametrize(
    ("options", "named"),
    [({"enabled": True, "maxresults": 2}, "maxResults"), ({"enabled": "yes please"}, "enabled"),
     ({"enabled": True, "maxResults": 11}, "maxResults"), ({"enabled": True, "timeoutSeconds": "soon"}, "timeoutSeconds")],
)  # fmt: skip
def test_options_that_are_wrong_are_named(options: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        create_web_search_tool(options)
    assert create_web_search_tool({}) is None


@pytest.mark.req("P2.1", "P2.5")
def test_the_configured_number_is_the_most(tmp_path: Path) -> None:
    write(tmp_path, {"tools": {"webSearch": {"maxResults": 5}}}, [{"id": "a", "webSearch": {"enabled": True}}])
    assert load_agent_config("a", settings(tmp_path)).most_results == 5
    write(tmp_path, {}, [{"id": "a", "webSearch": {"enabled": True, "provider": "duck-duck-scrape"}}])
    found = load_agent_config("a", settings(tmp_path))
    assert (found.max_results, found.most_results, found.provider) == (5, 10, "duck-duck-scrape")


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


@pytest.mark.req("C13.3", "G5.3")
async def test_a_tool_that_is_held_after_its_session_answers_that_it_has_ended() -> None:
    async with serve(lambda _: reply(pages.ddg())) as site:
        manager = AgentManager(Settings(engines={"ddg_html": EngineSettings(base_url=site.url, rate_per_minute=0)}))
        options = AgentWebSearch(enabled=True, provider="ddg_html")
        held, other = (manager.get_or_create_session(name, web_search=options).tools[0] for name in "ab")
        await held.ainvoke({"query": "tea"})
        await asyncio.to_thread(manager.close_session, "a")
        for query in ("tea", "coffee"):
            told = await held.ainvoke({"query": query})
            assert "session_ended" in told and "ddg.example" not in told
        assert len(site.seen) == 1, "neither from its cache nor anew"
        assert "ddg.example" in await other.ainvoke({"query": "coffee"}), "other sessions go on"
        await asyncio.to_thread(manager.close)


@pytest.mark.req("G5.3", "C13.3")
async def test_no_browser_is_left_after_the_last_session_whatever_is_held(tmp_path: Path) -> None:
    require_chromium()
    async with serve(lambda _: reply(pages.google_results())) as site:
        engines = {"google": EngineSettings(base_url=site.url, rate_per_minute=0)}
        search = SearchSettings(default="google", cache_minutes=0, seconds=60)
        manager = AgentManager(Settings(search=search, engines=engines, browser=ALLOWED, state_dir=tmp_path))
        options = AgentWebSearch(enabled=True, provider="google", timeout_seconds=60)
        held = manager.get_or_create_session("a", web_search=options).tools[0]
        assert "[1]" in await held.ainvoke({"query": "tea"}) and browsers()
        await asyncio.to_thread(manager.close_session, "a")
        assert await soon(lambda: not browsers())
        assert "session_ended" in await held.ainvoke({"query": "coffee"})
        assert not browsers()


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
        True, "duck-duck-scrape", 15.0, 5.0, 5,
    )  # fmt: skip


def as_mapping(search: AgentWebSearch) -> dict[str, object]:
    return {"enabled": search.enabled, "provider": search.provider, "maxResults": search.max_results}


@pytest.mark.req("P4.3", "P10.1")
@pytest.mark.parametrize("form", [lambda search: search, as_mapping])
@pytest.mark.parametrize("enabled", [True, False])
def test_a_session_takes_its_search_in_every_form_that_the_tool_takes(form: object, enabled: bool) -> None:
    given = form(AgentWebSearch(enabled, "stub", max_results=2))  # type: ignore[operator]
    manager = AgentManager(Settings())
    session = manager.get_or_create_session("s", web_search=given)
    assert [tool.name for tool in session.tools] == ["web_search"] * enabled
    if enabled:
        assert session.tools[0].invoke({"query": "x"}).count("\n[") == 2
    manager.close()
    with pytest.raises(InvalidInput, match="maxresults"):
        manager.get_or_create_session("t", web_search={"enabled": True, "maxresults": 2})


@pytest.mark.req("P2.3", "P4.1", "P2.5")
@pytest.mark.parametrize("through", ["tool", "session", "client"])
@pytest.mark.parametrize("provider", ["brave", "bocha", "altavista"])
async def test_a_provider_that_cannot_be_asked_is_replaced_by_duckduckgo_and_logged(
    provider: str, through: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(lambda _: reply(pages.ddg())) as site:
        monkeypatch.setenv("DDG_BASE_URL", site.url)
        options = {"enabled": True, "provider": provider}
        own = load_settings()
        if through == "session":
            manager = AgentManager(own)
            tool = manager.get_or_create_session("s", web_search=options).tools[0]
        else:
            found = create_web_search_tool(options, client=AsyncClient(own) if through == "client" else None)
            assert found is not None
            tool = found
        assert "ddg.example" in await asyncio.to_thread(tool.invoke, {"query": "tea"})
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert any(provider in text and "duck-duck-scrape" in text for text in told), told


@pytest.mark.req("P4.3", "P1.2")
@pytest.mark.parametrize("given", [5, "x", [1], {"enabled": "yes"}, {"enabled": "true"}, {"enabled": 1}])
def test_nothing_but_true_enables_the_search_of_a_session(given: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        AgentManager(Settings()).get_or_create_session("s", web_search=given)
    assert caught.value.detail_code == "bad_argument"
