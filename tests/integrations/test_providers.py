"""Tool providers, and the plain callable."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from support import pages
from support.site import reply, serve
from suyuan.config.settings import SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import InvalidInput, ToolNotFound, WebBlocked
from suyuan.integrations.providers import BuiltinProvider, StubProvider, WebProvider, web_search


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
