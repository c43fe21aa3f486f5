"""The tools as plain functions and for LangChain: one numbering, arguments that a model may choose, errors that help."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module

import pytest

from support import pages
from support.client import client
from support.site import reply, serve
from suyuan.config.settings import SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.integrations.extras import needs
from suyuan.integrations.functions import WebFunctions, sync_web_functions, web_functions
from suyuan.search.service import SearchService

PAGE = "http://127.0.0.1:9/nothing"


async def test_both_functions_say_how_to_call_them() -> None:
    search, fetch = web_functions(engines="stub", lang="en", settings=Settings())
    assert (search.__name__, fetch.__name__) == ("web_search", "web_fetch")
    for function, names in (
        (search, ["query", "count", "freshness", "focus", "allowed_domains"]),
        (fetch, ["url", "question"]),
    ):
        assert list(inspect.signature(function).parameters) == names
        documented = inspect.getdoc(function) or ""
        assert all(f"    {name}: " in documented.partition("Args:")[2] for name in names)
    assert "Example Domain" in await search("tea", count=1) and "[2]" not in await search("tea", count=1)
    assert "[3]" in await search("tea pots")
    # A failure is text, and so is a wrong argument.
    assert "bad_freshness" in await search("tea", freshness="never")
    assert "blocked" in await fetch(PAGE) or "address" in await fetch(PAGE)


def test_the_language_is_that_of_the_locale_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUYUAN_UI_LANG", "zh")
    search, _ = sync_web_functions(engines="stub", settings=Settings())
    assert "搜索互联网" in (search.__doc__ or "") and "搜索“茶”" in search("茶")
    search, _ = sync_web_functions(engines="stub", settings=Settings(), lang="en")
    assert "Search the internet" in (search.__doc__ or "")


async def test_the_sources_of_one_agent_are_numbered_together() -> None:
    tools = WebFunctions(engines="stub", lang="en", settings=Settings())
    search, _ = tools.functions
    await search("tea")
    await search("pots")
    assert [source.number for source in tools.citations.sources] == [1, 2, 3]


class TestLangChain:
    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("langchain_core", reason="the optional extra suyuan[langchain] is not installed")

    def test_a_model_may_ask_for_more_results_of_a_kind(self) -> None:
        from suyuan.integrations.langchain import web_tools

        search, _ = web_tools(engines="stub", lang="en", detailed=True, settings=Settings())
        assert set(search.args) == {
            "query", "count", "freshness", "focus", "depth", "allowed_domains", "blocked_domains",
        }  # fmt: skip
        assert search.args["count"]["maximum"] == 10
        one = search.invoke({"query": "tea", "count": 1, "allowed_domains": ["example.org"]})
        assert "Example Organisation" in one and "Example Domain" not in one

    @pytest.mark.req("C14.1", "C14.2", "C14.3", "D2.1")
    def test_the_published_tool_has_one_input_and_needs_nothing(self) -> None:
        from suyuan.integrations.langchain import SearchTool, web_tools

        for tool in (SearchTool(engines="stub"), web_tools(engines="stub")[0]):
            assert tool.name == "web_search" and list(tool.args) == ["query"]
            for given in ("tea", {"query": "tea"}):
                assert "[1] " in tool.invoke(given)
        assert "搜索查询关键词,应该具体、清晰、针对性强" in SearchTool(lang="zh").args["query"]["description"]

    @pytest.mark.req("D2.1")
    async def test_the_published_tool_wraps_the_service_that_it_is_given(self) -> None:
        from suyuan.integrations.langchain import SearchTool

        async with client({}) as other:
            assert "[1] " in await SearchTool(other.search_service, engines="stub").ainvoke("tea")
        with pytest.raises(TypeError, match="takes a SearchService"):
            SearchTool(SearchService)  # type: ignore[arg-type]

    @pytest.mark.req("P2.1", "D2.4")
    @pytest.mark.parametrize(
        ("configured", "asked", "given"),
        [(3, 10, 3), (3, 2, 2), (3, None, 3), (10, 10, 10), (None, 10, 10), (None, None, 5)],
    )
    async def test_what_is_configured_is_the_most_that_a_call_gets(
        self, configured: int | None, asked: int | None, given: int
    ) -> None:
        from suyuan.integrations.langchain import DetailedSearchTool

        search = SearchSettings() if configured is None else SearchSettings(max_results=configured)
        async with serve(lambda _: reply(pages.ddg())) as site:
            engines = {"ddg_html": EngineSettings(base_url=site.url, rate_per_minute=0)}
            tool = DetailedSearchTool(engines="ddg_html", settings=Settings(search=search, engines=engines))
            told = await tool.ainvoke({"query": "tea", **({"count": asked} if asked else {})})
        assert told.count("https://ddg.example/page/") == given
        assert tool.args["count"]["maximum"] == (configured or 10)

    def test_both_tools_number_their_sources_together(self) -> None:
        from suyuan.integrations.langchain import FetchTool, SearchTool, web_tools

        search, fetch = web_tools(engines="stub", lang="en", settings=Settings())
        assert isinstance(search, SearchTool) and isinstance(fetch, FetchTool)
        assert fetch._citations is search.citations

    def test_the_tool_alone_keeps_its_texts(self) -> None:
        from suyuan.integrations.langchain import web_tools

        assert "搜索互联网" in web_tools(engines="stub", lang="zh", settings=Settings())[0].description


def test_a_missing_package_names_its_extra() -> None:
    code = "import sys; sys.modules['langchain_core'] = None; import suyuan.integrations.langchain"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert "pip install 'suyuan[langchain]'" in done.stderr
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'suyuan\[mcp\]'"), needs("mcp"):
        import_module("no_such_package_at_all")
    # A module of our own that is missing is our fault.
    with pytest.raises(ModuleNotFoundError, match="suyuan.nowhere"), needs("mcp"):
        import_module("suyuan.nowhere")


DESCRIPTION = "搜索互联网获取实时信息。当需要了解最新事件、实时数据、当前新闻或验证信息时使用此工具。"


@pytest.mark.req("C14.2", "C14.3")
@pytest.mark.parametrize("locale", ["C", "en_US.UTF-8", "de_DE.UTF-8", "zh_CN.UTF-8"])
def test_the_tool_has_the_words_of_the_documents_whatever_the_locale(
    locale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from suyuan.integrations.langchain import SearchTool, web_tools

    for name in ("LANG", "LC_ALL", "SUYUAN_LANG"):
        monkeypatch.setenv(name, locale)
    for tool in (SearchTool(engines="stub"), web_tools(engines="stub")[0]):
        assert tool.description.split("\n")[0] == DESCRIPTION
        assert tool.args["query"]["description"] == "搜索查询关键词,应该具体、清晰、针对性强"
    assert SearchTool(engines="stub", lang="en").description.startswith("Search the internet")


@pytest.mark.req("C14.3", "D2.2", "P4.2")
@pytest.mark.parametrize("detailed", [False, True])
@pytest.mark.parametrize(("name", "value"), [("count", 3), ("freshness", "week"), ("country", "US"), ("surprise", "x")])
def test_an_argument_that_the_tool_does_not_offer_is_named(name: str, value: object, detailed: bool) -> None:
    from suyuan.integrations.langchain import DetailedSearchTool, SearchTool

    tool = (DetailedSearchTool if detailed else SearchTool)(engines="stub")
    offered = name in tool.args
    told = tool.invoke({"query": "x", name: value})
    assert ("bad_argument" in told and repr(name) in told) is not offered
    assert "bad_argument" not in tool.invoke({"query": "x", name: ""})
