"""The public API: the verbs, ``Client``, ``AsyncClient``, and the clients that a process shares."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest

import suyuan
from support import pages
from support.client import client
from support.site import Handler, Site, reply, serve
from support.talk import ARTICLES, talking
from support.timing import PATIENCE
from suyuan import shared
from suyuan.config.agents import AgentWebSearch
from suyuan.config.settings import PageSettings, SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.integrations.agents import AgentManager, create_web_search_tool
from suyuan.integrations.providers import BuiltinProvider, web_search
from suyuan.search.connected_engines import ConnectedEngines

T = TypeVar("T")


def settings_for(url: str, *, rate: float = 0.0, **more: Any) -> Settings:
    """DuckDuckGo at a loopback address, and no cache."""
    engines = {"ddg_html": EngineSettings(base_url=url, rate_per_minute=rate)}
    return Settings(search=SearchSettings(default="ddg_html", cache_minutes=0.0), engines=engines, **more)


def with_site(handler: Handler, work: Callable[[Site], T]) -> T:
    """Run synchronous ``work`` in a thread while a loopback server answers."""

    async def main() -> T:
        async with serve(handler) as site:
            return await asyncio.to_thread(work, site)

    return asyncio.run(main())


class TestVerbs:
    def test_search_takes_typed_keywords(self) -> None:
        page = suyuan.search("what is a bloom filter", engines="stub", count=2, freshness="month", lang="en")
        assert [result.rank for result in page.results] == [1, 2]
        assert page.query.freshness is not None and page.engine == "stub"

    def test_a_misspelt_keyword_is_found_by_mypy_and_at_run_time(self) -> None:
        # mypy --strict reports an ignore that is not needed: so this line also shows that mypy sees the mistake.
        with pytest.raises(TypeError, match="cuont"):
            suyuan.search("x", engines="stub", cuont=5)  # type: ignore[call-arg]

    def test_bad_input_raises_before_anything_is_asked(self) -> None:
        with pytest.raises(suyuan.InvalidInput):
            suyuan.search("  ", engines="stub")

    def test_the_folder_of_the_same_name_does_not_hide_the_function(self) -> None:
        import suyuan.search.service

        assert suyuan.search("x", engines="stub").results
        assert suyuan.search.service.SearchService is suyuan.SearchService  # type: ignore[attr-defined]

    def test_ask_cites_and_leaves_receipts(self) -> None:
        answer = suyuan.ask("what is the stub engine?", engines="stub")
        assert answer.text and answer.citations[0].url.startswith("https://example.com/")
        assert answer.citations[0].verdict == "supported" and answer.citations[0].quote
        assert answer.receipts[0]["engines"][0]["engine"] == "stub"

    def test_the_process_ends_without_a_word(self) -> None:
        code = "import suyuan; print(suyuan.search('x', engines='stub').engine, suyuan.ask('what is it?', engines='stub').mode)"
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=PATIENCE
        )
        assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["stub", "chat"], "")

    def test_open_connections_are_closed_at_exit(self) -> None:
        code = (
            "import sys, suyuan; from suyuan.integrations.providers import web_search\n"
            "suyuan.search('x', engines='ddg_html'); web_search('y', engines='ddg_html')"
        )

        def work(site: Site) -> tuple[int, str, int]:
            environment = {"DDG_BASE_URL": site.url, "PATH": "", "PYTHONPATH": ":".join(sys.path)}
            done = subprocess.run(
                [sys.executable, "-W", "error", "-c", code],
                capture_output=True, text=True, timeout=PATIENCE, env=environment,
            )  # fmt: skip
            return done.returncode, done.stderr, site.connections

        # Both searches go over the one connection of the one client.
        assert with_site(lambda _: reply(pages.ddg()), work) == (0, "", 1)

    def test_everything_public_can_be_imported(self) -> None:
        for name in suyuan.__all__:
            assert getattr(suyuan, name) is not None
        assert set(suyuan.__all__) == set(dir(suyuan))


class TestClient:
    def test_search_and_read(self, tmp_path: Path) -> None:
        html = "<title>Teapots</title><article><h1>Teapots</h1><p>Anna made the first teapot in 1512.</p>" + (
            "<p>Many teapots have a lid and a handle, and all of them have a spout.</p>" * 30
        )

        def work(site: Site) -> tuple[suyuan.SearchPage, suyuan.Document, suyuan.Document]:
            access = PageSettings(allow_networks=("127.0.0.1/32",))
            with suyuan.Client(settings_for(site.url, pages=access, data_dir=tmp_path)) as client:
                return (
                    client.search("teapots", count=3),
                    client.read(f"{site.url}/teapots"),
                    client.read(f"{site.url}/teapots", question="who made the first teapot?", max_tokens=60),
                )

        def handler(seen: Any) -> Any:
            return reply(html if seen.path == "/teapots" else pages.ddg())

        page, plain, asked = with_site(handler, work)
        assert len(page.results) == 3 and plain.title == "Teapots" and not plain.passages
        assert any("Anna" in passage.text for passage in asked.passages) and len(asked.passages) < 5
        assert all(asked.text[each.start : each.end] == each.text for each in asked.passages)

    async def test_ask_searches_and_reads(self) -> None:
        async with talking() as (client, web):
            answer = await client.ask("港珠澳大桥全长多少公里？")
            assert "55" in answer.text and answer.citations[0].url == f"{web.url}{ARTICLES[0].path}"
            kinds = [event.kind async for event in client.stream("港珠澳大桥全长多少公里？")]
        assert kinds[0] == "turn.started" and kinds[-1] == "answer" and kinds.count("answer") == 1

    async def test_a_question_without_an_answer_says_why(self) -> None:
        async with client({}) as nowhere:
            answer = await nowhere.ask("what is a bloom filter?", engines="ddg_html")
        assert answer.unverified and not answer.citations
        assert answer.receipts[0]["engines"][0]["code"] == "NetworkError"


class TestSearchMany:
    async def test_it_waits_for_its_turn(self) -> None:
        """Eight searches where five may come at once and 60 a minute: none fails, none is lost."""
        async with serve(lambda _: reply(pages.ddg())) as site:
            async with client({"ddg_html": site.url}, rate=60.0, default="ddg_html", seconds=2.5) as many:
                outcomes = await many.search_many([f"query {i}" for i in range(8)], count=3)
                assert all(isinstance(page, suyuan.SearchPage) and len(page.results) == 3 for page in outcomes)
                assert [page.query.text for page in outcomes if isinstance(page, suyuan.SearchPage)] == [
                    f"query {i}" for i in range(8)
                ]
                assert len(site.seen) >= 8

    async def test_one_that_fails_does_not_cost_the_others(self) -> None:
        def handler(seen: Any) -> Any:
            return reply("", 500) if "bad" in seen.params.get("q", "") else reply(pages.ddg())

        async with serve(handler) as site:
            async with client({"ddg_html": site.url}, default="ddg_html") as many:
                good, bad = await many.search_many(["good", "bad"], max_wait=0.5)
        assert isinstance(good, suyuan.SearchPage) and isinstance(bad, suyuan.BadGateway)

    async def test_the_wait_has_an_end(self) -> None:
        async with serve(lambda _: reply(pages.ddg())) as site:
            async with client({"ddg_html": site.url}, rate=1.0, default="ddg_html") as many:
                outcomes = await many.search_many([f"q{i}" for i in range(7)], max_wait=0.0)
        failed = [error for error in outcomes if isinstance(error, suyuan.SuyuanError)]
        assert failed and all(error.retry_after for error in failed) and len(outcomes) - len(failed) == len(site.seen)


class TestShared:
    @pytest.mark.req("P4.1")
    def test_a_tool_needs_its_options_only(self) -> None:
        assert create_web_search_tool(AgentWebSearch(enabled=False)) is None
        tool = create_web_search_tool(AgentWebSearch(enabled=True, provider="stub"))
        assert tool is not None and tool.name == "web_search" and "Example" in tool.invoke({"query": "x"})

    def test_equal_settings_share_a_client_and_the_last_user_closes_it(self) -> None:
        settings = settings_for("http://127.0.0.1:9")
        first, second = shared.acquire(settings), shared.acquire(replace(settings))
        other = shared.acquire(settings_for("http://127.0.0.1:10"))
        assert first is second and other is not first
        shared.release(first)
        assert shared.acquire(settings) is first
        for _ in range(2):
            shared.release(first)
        assert shared.acquire(settings) is not first

    def test_a_client_with_a_key_that_was_entered_on_the_page_is_shared_too(self, tmp_path: Path) -> None:
        settings = Settings(data_dir=tmp_path)
        ConnectedEngines(tmp_path / "engine-keys.json", {}).add("brave", {"api_key": "entered-key"})
        assert shared.acquire(settings) is shared.acquire(settings)

    @pytest.mark.req("P9.2")
    def test_every_face_keeps_to_one_limit(self) -> None:
        """Separate clients, providers, sessions and plain calls: together they are allowed five requests at once."""

        def work(site: Site) -> int:
            settings = settings_for(site.url, rate=5.0)
            options = AgentWebSearch(enabled=True, provider="ddg_html", timeout_seconds=1.0)
            manager = AgentManager(settings, lang="en")
            refused = []
            for i in range(5):
                session = manager.get_or_create_session(f"s{i}", web_search=options)
                session.tools[0].invoke({"query": f"agent {i}"})
                own_time = replace(settings, search=replace(settings.search, seconds=2.0 + i))
                with suyuan.Client(own_time) as own, BuiltinProvider(settings) as provider:
                    for call in (
                        partial(own.search, f"client {i}"),
                        partial(provider.execute, "web.search", {"query": f"provider {i}"}),
                        partial(web_search, f"plain {i}", settings=settings),
                    ):
                        try:
                            call()
                        except suyuan.Timeout as error:
                            refused.append((error.detail_code, bool(error.retry_after)))
            manager.close()
            assert set(refused) == {("own_rate_limit", True)}
            return len(site.seen)

        assert with_site(lambda _: reply(pages.ddg()), work) == 5
