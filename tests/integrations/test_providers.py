"""Tool providers, and the plain callable."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support import pages
from support.site import Reply, Seen, json_reply, reply, serve, stall
from suyuan.config.settings import SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import AuthError, InvalidInput, Timeout, ToolNotFound, WebBlocked
from suyuan.core.secret import Secret
from suyuan.integrations.providers import (
    BuiltinProvider,
    StubProvider,
    WebProvider,
    get_web_search_provider,
    web_search,
)


def settings(url: str) -> Settings:
    return Settings(
        search=SearchSettings(default="ddg_html"), engines={"ddg_html": EngineSettings(base_url=url, rate_per_minute=0)}
    )


@pytest.mark.req("T1.4", "T1.1", "T2.1", "T5.1")
@pytest.mark.parametrize(
    "make", [StubProvider, lambda: WebProvider.from_env({}), lambda: BuiltinProvider(Settings(), engines="stub")]
)
def test_all_three_give_the_one_shape(make: Any) -> None:
    with make() as provider:
        result = provider.execute("web.search", {"query": "hello", "max_results": 2})
    raw = result.get("items", result)
    assert isinstance(raw, list) and [item["rank"] for item in raw] == [1, 2]
    for item in raw:
        assert {"title", "url", "snippet", "provider", "rank"} <= set(item) and item["url"].startswith("https://")


@pytest.mark.req("T6.1")
def test_the_environment_chooses_the_backend(caplog: pytest.LogCaptureFixture) -> None:
    assert WebProvider.from_env({}).engines == "stub" and not caplog.records
    assert WebProvider.from_env({"WEB_SEARCH_BACKEND": "ddg_html"}).engines == "ddg_html"
    assert WebProvider.from_env({"WEB_SEARCH_BACKEND": "altavista"}).engines == "stub"
    assert any("altavista" in record.message for record in caplog.records)


@pytest.mark.req("T6.1")
@pytest.mark.parametrize(
    "plan", ["auto", "bing_html,stub", "stub + bing_html", "DuckDuckGo,brave", "archive,auto", "library+auto"]
)
def test_the_environment_may_name_any_plan_that_the_configuration_may_name(
    plan: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert WebProvider.from_env({"WEB_SEARCH_BACKEND": plan}).engines == plan and not caplog.records


@pytest.mark.req("T6.1")
async def test_a_plan_of_the_environment_is_what_is_asked() -> None:
    def answer(request: Seen) -> Reply:
        return reply(pages.ddg()) if "html" in request.path else reply("", 500)

    async with serve(answer) as site:
        environ = {
            "WEB_SEARCH_BACKEND": "bing_html,ddg_html",
            "DDG_BASE_URL": site.url,
            "BING_BASE_URL": f"{site.url}/b",
        }
        async with WebProvider.from_env(environ) as provider:
            answer_ = await provider.aexecute("web.search", {"query": "tea"})
    assert {item["provider"] for item in answer_["items"]} == {"ddg_html"}
    assert [error["provider"] for error in answer_["errors"]] == ["bing_html"]
    assert "fallback" not in answer_["provider_meta"]


@pytest.mark.req("T6.1")
@pytest.mark.parametrize("plan", ["altavista", "altavista,ddg_html", "ddg_html+altavista", ",", "+"])
def test_results_of_the_stub_in_place_of_an_unknown_engine_say_so(plan: str, caplog: pytest.LogCaptureFixture) -> None:
    with WebProvider.from_env({"WEB_SEARCH_BACKEND": plan}) as provider:
        meta = provider.execute("web.search", {"query": "tea"})["provider_meta"]
    assert meta["provider_name"] == "stub" and "WEB_SEARCH_BACKEND" in meta["fallback"]
    assert any(record.levelname == "WARNING" and "stub" in record.getMessage() for record in caplog.records)
    with WebProvider.from_env({}) as provider:
        assert "fallback" not in provider.execute("web.search", {"query": "tea"})["provider_meta"]


@pytest.mark.req("T6.1", "T7.3")
@pytest.mark.parametrize("default", ["", "altavista", "brave", "ddg_html"])
@pytest.mark.parametrize("backend", ["", "altavista", "brave", "bocha", "brave,bocha"])
def test_the_log_names_the_backend_that_is_asked_and_no_other(
    backend: str, default: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = {"tools": {"webSearch": {"defaultProvider": default}}} if default else {}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    environ = {"WEB_SEARCH_BACKEND": backend, "SUYUAN_CONFIG_DIR": str(tmp_path)}
    with caplog.at_level("INFO"), WebProvider.from_env(environ) as provider:
        told = [record.getMessage() for record in caplog.records if record.name == "suyuan.config"]
        asked = "stub" if backend in ("", "altavista") else backend
        assert provider.engines == asked
        assert [text for text in told if "using" in text and f"using {asked}" not in text] == []
        assert [text for text in told if "default=" in text and f"default={asked} " not in text] == []
        if asked != "stub":
            with pytest.raises(AuthError):
                provider.execute("web.search", {"query": "tea"})


@pytest.mark.req("T7.1")
@pytest.mark.parametrize("tool", ["web.browse", "web_search", "", "WEB.SEARCH"])
def test_another_name_is_not_found(tool: str) -> None:
    with StubProvider() as provider, pytest.raises(ToolNotFound) as caught:
        provider.execute(tool, {"query": "x"})
    assert "web.search" in caught.value.hint


@pytest.mark.req("T3.1", "T7.1")
@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"query": ""}, {"query": " "}, {"query": None}, {"query": 5},
        {"query": "x", "max_results": 0}, {"query": "x", "max_results": 11},
        {"query": "x", "max_results": "3"}, {"query": "x", "max_results": True}, {"query": "x", "nonsense": 1},
        {"query": "x", "need_summary": "yes"}, {"query": "x", "budget_ms": 0}, {"query": "x", "time_range": "lately"},
        {"query": "x", "site_filter": ["a b"]}, {"query": "x", "blocked_domains": "a.example"},
    ],
)  # fmt: skip
def test_bad_arguments_are_invalid_input(arguments: dict[str, Any]) -> None:
    with StubProvider() as provider, pytest.raises(InvalidInput) as caught:
        provider.execute("web.search", arguments)
    assert caught.value.message and caught.value.hint


@pytest.mark.req("T3.2", "T4.1")
async def test_the_reserved_fields_are_real() -> None:
    async with serve(lambda _: reply(pages.ddg())) as site:
        async with BuiltinProvider(settings(site.url)) as provider:
            result = await provider.aexecute(
            "web.search",
            {
                "query": "x", "locale": "de-DE", "time_range": "week", "site_filter": "ddg.example", "trace_id": "t-1", "budget_ms": 4000,
                "need_summary": True, "max_results": 3,
            },
        )  # fmt: skip
    sent = site.seen[0].params
    assert (sent["kl"], sent["df"], sent["q"]) == ("de-de", "w", "x site:ddg.example")
    assert len(result["items"]) == 3 and result["provider_meta"]["trace_id"] == "t-1" and result["errors"] == []


@pytest.mark.req("T3.2", "T7.1")
async def test_the_budget_of_a_call_is_its_limit() -> None:
    async with serve(lambda _: stall) as site:
        async with BuiltinProvider(settings(site.url)) as provider:
            with pytest.raises(Timeout, match=r"0\.3 s"):
                await provider.aexecute("web.search", {"query": "x", "budget_ms": 300})


@pytest.mark.req("T7.2")
async def test_a_failure_is_raised_with_its_detail() -> None:
    async with serve(lambda _: reply("", 429)) as site:
        async with BuiltinProvider(settings(site.url)) as provider:
            with pytest.raises(WebBlocked) as caught:
                await provider.aexecute("web.search", {"query": "x"})
    assert caught.value.as_dict()["detail_code"] == "http_429"


@pytest.mark.req("T3.1")
def test_the_published_schema_and_the_provider_agree() -> None:
    with StubProvider() as provider:
        schema = provider.schemas()["web.search"]
        jsonschema.Draft202012Validator.check_schema(schema)
        for arguments in (
            {"query": "x"},
            {"query": "x", "site_filter": "a.example"},
            {"query": "x", "allowed_domains": ["a.example"]},
        ):
            jsonschema.validate(arguments, schema)
            assert "items" in provider.execute("web.search", arguments)


@pytest.mark.req("G2.1", "G2.2", "G1.1")
async def test_the_plain_callable_gives_ten_results() -> None:
    import asyncio

    async with serve(lambda _: reply(pages.ddg(12))) as site:
        found = await asyncio.to_thread(web_search, "hello", settings=settings(site.url))
        assert await site.until_idle()
    assert found["query"] == "hello" and len(found["results"]) == 10
    assert set(found["results"][0]) == {"title", "url", "snippet", "source"}


@pytest.mark.req("T5.1", "T1.4")
def test_the_stub_provider_uses_no_network_whatever_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_SEARCH_BACKEND", "ddg_html")
    monkeypatch.setenv("DDG_BASE_URL", "http://127.0.0.1:9")
    with StubProvider() as provider:
        items = provider.execute("web.search", {"query": "tea"})["items"]
    assert 2 <= len(items) <= 3 and {item["provider"] for item in items} == {"stub"}


@pytest.mark.req("T2.1", "T1.4", "T1.1")
@pytest.mark.parametrize("found", [0, 1, 3])
async def test_however_much_is_found_it_is_never_a_bare_list(found: int) -> None:
    async with serve(lambda _: reply(pages.ddg(found) if found else pages.DDG_NONE)) as site:
        async with BuiltinProvider(settings(site.url)) as provider:
            result = await provider.aexecute("web.search", {"query": "x"})
    assert isinstance(result, dict) and isinstance(result["items"], list)
    assert [item["rank"] for item in result["items"]] == list(range(1, found + 1))


@pytest.mark.req("T1.1", "T1.3")
async def test_each_item_of_a_merged_page_names_the_engine_that_found_it() -> None:
    async with (
        serve(lambda _: reply(pages.ddg(3, "a.example"))) as one,
        serve(lambda _: reply(pages.bing(3, "b.example"))) as two,
    ):
        own = settings(one.url)
        engines = {**own.engines, "bing_html": EngineSettings(base_url=two.url, rate_per_minute=0)}
        async with BuiltinProvider(replace(own, engines=engines), engines="ddg_html+bing_html") as provider:
            items = (await provider.aexecute("web.search", {"query": "tea", "max_results": 10}))["items"]
    of = {"a.example": "ddg_html", "b.example": "bing_html"}
    assert len(items) == 6 and all(item["provider"] == of[item["source"]] for item in items)
    assert [item["rank"] for item in items] == list(range(1, 7))


@pytest.mark.req("T3.1")
@pytest.mark.parametrize(
    ("arguments", "fine"),
    [
        ({"query": "x"}, True), ({"query": "x", "max_results": 1}, True), ({"query": "x", "max_results": 10}, True),
        ({}, False), ({"query": ""}, False), ({"query": "x", "max_results": 0}, False),
        ({"query": "x", "max_results": 11}, False), ({"query": "x", "max_results": 2.5}, False),
    ],
)  # fmt: skip
def test_the_published_schema_says_what_may_be_asked(arguments: dict[str, Any], fine: bool) -> None:
    with StubProvider() as provider:
        schema = provider.schemas()["web.search"]
    assert (not list(jsonschema.Draft202012Validator(schema).iter_errors(arguments))) is fine


@pytest.mark.req("T3.1")
@pytest.mark.parametrize("configured", [1, 3, 10])
async def test_without_a_number_there_are_as_many_as_configured(configured: int) -> None:
    async with serve(lambda _: reply(pages.ddg(12))) as site:
        own = settings(site.url)
        own = replace(own, search=replace(own.search, max_results=configured))
        async with BuiltinProvider(own) as provider:
            items = (await provider.aexecute("web.search", {"query": "tea"}))["items"]
            more = (await provider.aexecute("web.search", {"query": "tea", "max_results": 7}))["items"]
    assert len(items) == configured and len(more) == 7


class TestFetch:
    page = (
        "<html><head><title>Kettles</title></head><body><article><p>"
        + "A kettle boils water. " * 60
        + "</p></article></body></html>"
    )

    async def test_web_fetch(self) -> None:
        from suyuan.config.settings import PageSettings

        async with serve(lambda _: reply(self.page)) as site:
            async with BuiltinProvider(Settings(pages=PageSettings(allow_networks=("127.0.0.1/32",)))) as provider:
                whole = (await provider.aexecute("web.fetch", {"url": site.url}))["items"][0]
                part = (await provider.aexecute("web.fetch", {"url": site.url, "question": "boils", "max_tokens": 60}))[
                    "items"
                ][0]
        assert whole["title"] == "Kettles" and whole["final_url"].startswith(site.url) and len(whole["sha256"]) == 64
        assert part["tokens"] <= 60 < part["total_tokens"] == whole["total_tokens"]

    @pytest.mark.parametrize(
        "arguments", [{}, {"url": ""}, {"url": "nonsense"}, {"url": 5}, {"url": "http://127.0.0.1/", "deep": 1}]
    )
    def test_bad_arguments(self, arguments: dict[str, Any]) -> None:
        with StubProvider() as provider, pytest.raises(InvalidInput):
            provider.execute("web.fetch", arguments)


class TestProviderInterface:
    @pytest.mark.req("P3.1", "P3.4", "P3.2")
    @pytest.mark.parametrize("id", ["duck-duck-scrape", "ddg_html", "DuckDuckGo"])
    async def test_duckduckgo_is_always_available_and_reported_as_it_was_asked_for(self, id: str) -> None:
        async with serve(lambda _: reply(pages.ddg())) as site:
            provider = get_web_search_provider(id, settings=settings(site.url))
            assert provider.id == id and provider.is_available({}) and provider.is_available()
            found = await provider.search({"query": "tea", "count": 3})
            again = await provider.search({"query": "tea", "count": 3, "timeoutSeconds": 5, "cacheTtlMinutes": 5})
            await provider.search({"query": "tea", "count": 3, "cacheTtlMinutes": 0})
            await asyncio.to_thread(provider.close)
        assert set(found) == {"query", "provider", "results", "count", "tookMs", "cached"}
        assert (found["query"], found["provider"], found["count"], found["cached"]) == ("tea", id, 3, False)
        assert {"title", "url", "description", "siteName"} <= set(found["results"][0]) and again["cached"]
        assert len(site.seen) == 2, "once again where nothing may be cached"

    @pytest.mark.req("P3.1", "P3.3")
    async def test_brave_is_available_with_a_key_which_is_sent(self) -> None:
        async with serve(lambda _: json_reply(pages.brave())) as site:
            own = Settings(engines={"brave": EngineSettings(base_url=site.url, rate_per_minute=0)})
            provider = get_web_search_provider("brave", settings=own)
            assert not provider.is_available({}) and provider.is_available({"apiKey": "k-123456"})
            found = await provider.search({"query": "tea", "apiKey": "k-123456", "country": "US", "freshness": "week"})
            with pytest.raises(AuthError):
                await provider.search({"query": "tea"})
            await asyncio.to_thread(provider.close)
        assert found["provider"] == "brave" and found["results"]
        [seen] = site.seen
        assert seen.headers["x-subscription-token"] == "k-123456"
        assert (seen.params["q"], seen.params["country"], seen.params["freshness"]) == ("tea", "US", "pw")

    @pytest.mark.req("P3.3", "P3.1")
    async def test_the_same_search_by_brave_is_one_request(self) -> None:
        async with serve(lambda _: json_reply(pages.brave())) as site:
            own = EngineSettings(base_url=site.url, api_key=Secret("k-123456"), rate_per_minute=0)
            provider = get_web_search_provider("brave", settings=Settings(engines={"brave": own}))
            found = [await provider.search({"query": "tea", "count": 3}) for _ in range(2)]
            assert len(site.seen) == 1
            await provider.search({"query": "tea", "count": 4})
            await provider.search({"query": "coffee", "count": 3})
            await asyncio.to_thread(provider.close)
        assert [answer["cached"] for answer in found] == [False, True] and found[0]["results"] == found[1]["results"]
        assert len(site.seen) == 3, "another number and another query are other searches"

    @pytest.mark.req("P3.1", "P2.1")
    async def test_without_a_number_there_are_as_many_as_configured(self) -> None:
        async with serve(lambda _: reply(pages.ddg(12))) as site:
            own = settings(site.url)
            own = replace(own, search=replace(own.search, max_results=3))
            provider = get_web_search_provider("ddg_html", settings=own)
            assert (await provider.search({"query": "tea"}))["count"] == 3
            assert (await provider.search({"query": "tea", "count": 6}))["count"] == 6
            await asyncio.to_thread(provider.close)

    @pytest.mark.req("P3.1")
    async def test_the_time_of_a_call_is_its_limit(self) -> None:
        async with serve(lambda _: stall) as site:
            provider = get_web_search_provider("ddg_html", settings=settings(site.url))
            with pytest.raises(Timeout) as caught:
                await provider.search({"query": "tea", "timeoutSeconds": 0.4})
            await asyncio.to_thread(provider.close)
        assert "0.4 s" in caught.value.message and "ddg_html" in caught.value.message

    @pytest.mark.req("P3.2", "P3.1", "P2.1")
    @pytest.mark.parametrize(("configured", "asked", "minutes"), [(2.0, None, 2.0), (60.0, 1.5, 1.5)])
    async def test_a_page_is_kept_for_so_many_minutes(
        self, configured: float, asked: float | None, minutes: float
    ) -> None:
        passed = 0.0
        async with serve(lambda _: reply(pages.ddg())) as site:
            own = settings(site.url)
            own = replace(own, search=replace(own.search, cache_minutes=configured))
            provider = get_web_search_provider("duck-duck-scrape", settings=own)
            provider._client("").search_service._cache._clock = lambda: 1000.0 + passed
            search = {"query": "tea", **({"cacheTtlMinutes": asked} if asked else {})}
            requests = []
            for moment in (0.0, 60 * minutes - 1, 60 * minutes + 1):
                passed = moment
                await provider.search(search)
                requests.append(len(site.seen))
            await asyncio.to_thread(provider.close)
        assert requests == [1, 1, 2]

    @pytest.mark.req("P3.1")
    @pytest.mark.parametrize(
        "params",
        [{}, {"query": ""}, {"query": "x", "count": "3"}, {"query": "x", "api_key": "k"}, {"query": "x", "count": 11}],
    )
    def test_wrong_parameters_are_named(self, params: dict[str, Any]) -> None:
        with pytest.raises(InvalidInput):
            get_web_search_provider("stub").search_sync(params)

    @pytest.mark.req("P3.4")
    def test_an_unknown_id_is_an_error_that_names_the_known_ones(self) -> None:
        with pytest.raises(InvalidInput, match="altavista") as caught:
            get_web_search_provider("altavista")
        assert "duck-duck-scrape" in caught.value.hint + caught.value.message
