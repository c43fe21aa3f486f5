"""The whole search core, from a query to a page with its receipt, against engines on loopback."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support import pages
from support.client import KEY, client
from support.site import Reply, Seen, free_port, json_reply, reply, reset, serve, stall
from support.timing import PATIENCE, quickest, seconds_of
from suyuan.client import AsyncClient
from suyuan.config.load import load_settings
from suyuan.config.settings import Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import (
    AuthError,
    BadGateway,
    InvalidInput,
    NetworkError,
    SuyuanError,
    Timeout,
    WebBlocked,
    WebProviderError,
)
from suyuan.core.foreign_engine import adapted
from suyuan.core.query import SearchQuery
from suyuan.core.result import SearchPage, SearchResult
from suyuan.core.secret import Secret
from suyuan.core.views import VIEWS, receipt
from suyuan.engines.catalogue import ENGINES
from suyuan.search.engine_state import forget_states
from suyuan.search.fanout import fan_out
from suyuan.search.runner import EngineRunner

GOOD = reply(pages.ddg())
CAPTCHA_PAGE = '<html><body><form id="captcha-form"><div class="g-recaptcha"></div></form></body></html>'


@pytest.mark.req("G1.1", "G2.2", "T5.2", "P1.1")
async def test_a_search_gives_ten_results_with_title_url_snippet_and_domain() -> None:
    async with serve(lambda _: GOOD) as site, client({"ddg_html": site.url}) as h:
        page = await h.search_service.search("anything", engines="ddg_html")
    assert len(page.results) == 10
    first = page.results[0]
    assert (first.title, first.url, first.snippet) == (
        "Result 1",
        "https://ddg.example/page/1?a=1&b=2",
        "Snippet of result 1.",
    )
    assert (first.source, first.rank, first.engine) == ("ddg.example", 1, "ddg_html")
    assert [a.outcome for a in page.attempts] == ["ok"]


@pytest.mark.req("G1.2")
async def test_a_chinese_query_arrives_as_it_was_typed_and_sets_a_chinese_region() -> None:
    async with serve(lambda _: GOOD) as site, client({"ddg_html": site.url}) as h:
        await h.search_service.search("人工智能 最新进展", engines="ddg_html")
    assert site.seen[0].params["q"] == "人工智能 最新进展"
    assert site.seen[0].params["kl"] == "cn-zh"


@pytest.mark.req("G1.2")
@pytest.mark.parametrize(
    ("query", "first"),
    [
        (SearchQuery("人工智能 最新进展"), ["bocha", "brave"]), (SearchQuery("茶", lang="en"), ["brave", "bocha"]),
        (SearchQuery("latest news"), ["brave", "bocha"]), (SearchQuery("AI", lang="zh-CN"), ["bocha", "brave"]),
    ],
)  # fmt: skip
async def test_a_chinese_query_goes_first_to_those_who_know_chinese_pages(query: SearchQuery, first: list[str]) -> None:
    async with client({"brave": "http://127.0.0.1:9", "bocha": "http://127.0.0.1:9"}) as h:
        asked = h.search_service.plan_for(query).asked
    assert [name for name in asked if name in first] == first


@pytest.mark.req("G6.2", "T7.1")
@pytest.mark.parametrize("text", ["", "   ", "\t\n", "\u200b\ufeff", "\x00"])
async def test_a_blank_query_is_refused_before_any_request(text: str) -> None:
    async with serve(lambda _: GOOD) as site, client({"ddg_html": site.url}) as h:
        with pytest.raises(InvalidInput) as caught:
            await h.search_service.search(text, engines="ddg_html")
    assert caught.value.detail_code == "empty_query" and site.seen == []


@pytest.mark.req("P9.1")
async def test_an_address_in_a_query_is_searched_for_and_never_asked() -> None:
    async with serve(lambda _: GOOD) as site, serve(lambda _: GOOD) as inside, client({"ddg_html": site.url}) as h:
        for text in (f"{inside.url}/admin", f"site:{inside.url}", f"tea {inside.url}/x?y=1#z"):
            await h.search(text, engines="ddg_html")
        assert [seen.params["q"] for seen in site.seen] == [
            f"{inside.url}/admin", f"site:{inside.url}", f"tea {inside.url}/x?y=1#z",
        ]  # fmt: skip
    assert inside.seen == []


@pytest.mark.req("T7.1")
async def test_an_unknown_engine_is_refused_with_the_known_ones() -> None:
    async with client({}) as h:
        with pytest.raises(InvalidInput) as caught:
            await h.search_service.search("x", engines="altavista")
    assert "ddg_html" in caught.value.hint


@pytest.mark.req("G1.3", "T7.1", "T7.2", "T7.3")
@pytest.mark.parametrize(
    ("engine", "answer", "kind", "detail"),
    [
        ("ddg_html", reply(pages.DDG_CHALLENGE, 202), WebBlocked, "captcha_required"),
        ("ddg_html", reply("", 403), WebBlocked, "http_403"),
        ("ddg_html", reply("", 429), WebBlocked, "http_429"),
        ("ddg_html", reply("", 503), BadGateway, "http_5xx"),
        ("ddg_html", reply("<html><body>Hello</body></html>"), WebProviderError, "layout_changed"),
        ("ddg_html", reset, NetworkError, "connection_broken"),
        ("searxng", reply("<title>403 Forbidden</title>", 403), AuthError, "searxng_forbids"),
        ("searxng", reply("", 401), AuthError, "searxng_login"),
        ("searxng", reply("<html>", 200), NetworkError, "not_searxng"),
        ("searxng", json_reply(pages.searxng(0, dead=[["google", "CAPTCHA"]])), WebProviderError, "engines_captcha"),
        ("searxng", reply("", 502), BadGateway, "http_5xx"),
        (
            "brave",
            json_reply('{"type":"ErrorResponse","error":{"code":"SUBSCRIPTION_TOKEN_INVALID"}}', 422),
            AuthError,
            "key_rejected",
        ),
    ],
)
async def test_a_failure_keeps_its_name_up_to_the_caller(
    engine: str, answer: Reply, kind: type[SuyuanError], detail: str
) -> None:
    async with serve(lambda _: answer) as site, client({engine: site.url}) as h:
        with pytest.raises(kind) as caught:
            await h.search_service.search("some words", engines=engine)
    assert caught.value.detail_code == detail
    assert caught.value.message and caught.value.hint and caught.value.say("zh")[0] != caught.value.message
    assert caught.value.attempts[-1].detail_code == detail


@pytest.mark.req("T7.3", "P2.2")
async def test_brave_without_its_key_asks_nobody() -> None:
    async with client({}) as h:
        with pytest.raises(AuthError) as caught:
            await h.search_service.search("x", engines="brave")
    assert "BRAVE_API_KEY" in caught.value.hint


async def test_nothing_found_is_a_result() -> None:
    async with serve(lambda _: reply(pages.DDG_NONE)) as site, client({"ddg_html": site.url}) as h:
        page = await h.search_service.search("xqzt", engines="ddg_html")
    assert page.results == () and page.attempts[0].outcome == "empty"


class TestDeadline:
    @pytest.mark.req("G6.1", "C2.3")
    async def test_a_silent_engine_is_left_at_the_deadline_and_its_socket_closed(self) -> None:
        async with serve(lambda _: stall) as site, client({"ddg_html": site.url}) as h:

            async def search() -> None:
                with pytest.raises(Timeout) as caught:
                    await h.search_service.search("x", engines="ddg_html", budget_ms=400)
                assert "0.4 s" in caught.value.message and "ddg_html" in caught.value.message
                chinese = caught.value.say("zh")[0]
                assert "0.4 秒" in chinese and "ddg_html" in chinese

            assert await quickest(lambda: seconds_of(search()), 0.6) < 0.6
            assert await site.until_idle()

    @pytest.mark.req("T5.4", "T5.5", "T5.6")
    @pytest.mark.parametrize("engine", ["searxng", "bocha", "brave"])
    @pytest.mark.parametrize("own", ["400", None])
    async def test_the_time_of_an_engine_comes_before_the_common_one(
        self, engine: str, own: str | None, tmp_path: Path
    ) -> None:
        name = engine.upper()
        async with serve(lambda _: stall) as site:
            environ = {"HOME": str(tmp_path), "WEB_SEARCH_TIMEOUT_MS": "600", f"{name}_BASE_URL": site.url}
            environ |= {f"{name}_API_KEY": KEY, **({f"{name}_TIMEOUT_MS": own} if own else {})}
            async with AsyncClient(load_settings(environ, tmp_path)) as h:
                with pytest.raises(Timeout) as caught:
                    await h.search("tea", engines=engine)
        assert ("0.4 s" if own else "0.6 s") in caught.value.message

    @pytest.mark.req("G6.1")
    async def test_of_many_stalled_engines_each_gets_its_turn_and_the_deadline_holds(self) -> None:
        names = ("searxng", "brave", "bocha", "ddg_html", "baidu_html", "bing_html")
        async with serve(lambda _: stall) as site:
            for plan in (",".join(names), "+".join(names)):

                async def search(plan: str = plan) -> float:
                    forget_states()
                    async with client(dict.fromkeys(names, site.url)) as h:
                        started = time.monotonic()
                        with pytest.raises(Timeout) as caught:
                            await h.search_service.search("x", engines=plan, budget_ms=2000)
                        took = time.monotonic() - started
                    assert {a.engine for a in caught.value.attempts} == set(names)
                    assert {a.outcome for a in caught.value.attempts} == {"timeout"}
                    return took

                assert await quickest(search, 2.2) < 2.2
            assert await site.until_idle()

    async def test_cancelling_a_search_closes_its_sockets(self) -> None:
        async with serve(lambda _: stall) as site, client({"ddg_html": site.url, "bing_html": site.url}) as h:
            task = asyncio.ensure_future(h.search_service.search("x", engines="ddg_html,bing_html"))
            await site.until_asked()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await site.until_idle()

    async def test_an_engine_may_have_a_shorter_time_of_its_own(self) -> None:
        async with serve(lambda _: stall) as slow, serve(lambda _: reply(pages.bing())) as fast:
            async with client({"ddg_html": slow.url, "bing_html": fast.url}) as h:
                h.search_service.engines["ddg_html"].timeout = 0.2
                page = await h.search_service.search("some words", engines="ddg_html,bing_html")
        assert page.engine == "bing_html"
        assert [(a.engine, a.outcome) for a in page.attempts] == [("ddg_html", "timeout"), ("bing_html", "ok")]


class TestChain:
    @pytest.mark.req("P3.2")
    @pytest.mark.parametrize(
        "bad", [reply("", 429), reply(pages.DDG_CHALLENGE, 202), reset, reply("", 500), reply("<html>")]
    )
    async def test_when_the_first_fails_the_next_answers_and_the_receipt_says_why(self, bad: Reply) -> None:
        async with serve(lambda _: bad) as one, serve(lambda _: reply(pages.bing())) as two:
            async with client({"ddg_html": one.url, "bing_html": two.url}) as h:
                page = await h.search_service.search("some words", engines="ddg_html,bing_html")
        assert page.engine == "bing_html" and len(page.results) == 10
        assert page.attempts[0].engine == "ddg_html" and page.attempts[0].code

    async def test_a_slow_engine_is_overtaken_before_its_time_is_over(self) -> None:
        async with serve(lambda _: stall) as slow, serve(lambda _: reply(pages.bing())) as fast:
            async with client({"ddg_html": slow.url, "bing_html": fast.url}) as h:

                async def search() -> None:
                    page = await h.search_service.search("some words", engines="ddg_html,bing_html", budget_ms=60_000)
                    assert {(a.engine, a.outcome) for a in page.attempts} == {
                        ("ddg_html", "cancelled"),
                        ("bing_html", "ok"),
                    }

                assert await quickest(lambda: seconds_of(search()), 3.0) < 3
            assert await slow.until_idle()

    async def test_an_engine_that_was_overtaken_twice_is_asked_last(self) -> None:
        async with serve(lambda _: stall) as slow, serve(lambda _: reply(pages.bing())) as fast:
            async with client({"ddg_html": slow.url, "bing_html": fast.url}) as h:
                seen = []
                for n in range(3):
                    page = await h.search_service.search(f"some words {n}", engines="ddg_html,bing_html")
                    assert page.engine == "bing_html"
                    seen.append(len(slow.seen))
                breaker = h.search_service.engines["ddg_html"].breaker
        assert 0 < seen[0] < seen[1] == seen[2], "the third search does not ask it any more"
        assert breaker.timeouts >= 2 and breaker.reason == "slow" and not breaker.hard

    @pytest.mark.req("C2.3")
    @pytest.mark.parametrize("others", ["work", "do not"])
    async def test_one_that_is_slow_at_its_health_check_is_waited_for_when_no_other_works(self, others: str) -> None:
        async def slowly(writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(0.8)
            await reply("OK", kind="text/plain")(writer)

        def far_away(seen: Seen) -> Reply:
            return slowly if seen.path == "/healthz" else json_reply(pages.searxng())

        async with serve(far_away) as one, serve(lambda _: GOOD) as two:
            async with client(
                {"searxng": one.url} | ({"ddg_html": two.url} if others == "work" else {}), seconds=20
            ) as h:
                page = await h.search_service.search("some words", engines="auto")
        assert (page.attempts[0].engine, page.attempts[0].outcome, page.attempts[0].detail_code) == (
            "searxng",
            "skipped",
            "engine_timeout",
        )
        assert page.engine == ("ddg_html" if others == "work" else "searxng") and len(page.results) == 10

    async def test_what_never_passes_its_health_check_never_sees_the_query(self) -> None:
        async with serve(lambda _: stall) as hangs, client({"searxng": hangs.url}) as h:
            with pytest.raises(SuyuanError):
                await h.search_service.search("private words", engines="auto", budget_ms=2500)
        assert {seen.path for seen in hangs.seen} == {"/healthz"}

    async def test_an_empty_answer_is_checked_with_the_next_engine(self) -> None:
        async with serve(lambda _: reply(pages.DDG_NONE)) as one, serve(lambda _: reply(pages.bing())) as two:
            async with client({"ddg_html": one.url, "bing_html": two.url}) as h:
                page = await h.search_service.search("rare words", engines="ddg_html,bing_html")
        assert [(a.engine, a.outcome) for a in page.attempts] == [("ddg_html", "empty"), ("bing_html", "ok")]
        assert page.results[0].engine == "bing_html"

    @pytest.mark.req("T3.2")
    async def test_an_engine_with_nothing_in_the_asked_domains_has_found_nothing(self) -> None:
        async with (
            serve(lambda _: reply(pages.bing(3, "spam.example"))) as one,
            serve(lambda _: reply(pages.ddg(3, "python.org"))) as two,
        ):
            async with client({"bing_html": one.url, "ddg_html": two.url}) as h:
                page = await h.search_service.search(
                    "words", engines="bing_html,ddg_html", allowed_domains=("python.org",)
                )
        assert [(a.engine, a.outcome, a.count) for a in page.attempts] == [
            ("bing_html", "empty", 0),
            ("ddg_html", "ok", 3),
        ]
        assert {r.source for r in page.results} == {"python.org"}

    async def test_nothing_found_by_one_and_a_failure_of_the_other_is_nothing_found(self) -> None:
        async with serve(lambda _: reply(pages.DDG_NONE)) as one, serve(lambda _: reply("", 403)) as two:
            async with client({"ddg_html": one.url, "bing_html": two.url}) as h:
                page = await h.search_service.search("rare words", engines="ddg_html,bing_html")
        assert page.results == () and {a.outcome for a in page.attempts} == {"empty", "blocked"}

    @pytest.mark.req("C7.1")
    async def test_when_all_fail_the_shortest_wait_is_named(self) -> None:
        async with (
            serve(lambda _: reply("", 429, {"Retry-After": "60"})) as one,
            serve(lambda _: reply("", 503, {"Retry-After": "30"})) as two,
        ):
            async with client({"ddg_html": one.url, "bing_html": two.url}) as h:
                with pytest.raises(WebProviderError) as caught:
                    await h.search_service.search("some words", engines="ddg_html,bing_html")
                assert caught.value.detail_code == "all_engines_failed" and caught.value.retry_after == 30
                # Now the breakers are open: the wait is what is left of it.
                with pytest.raises(WebProviderError) as caught:
                    await h.search_service.search("other words", engines="ddg_html,bing_html")
                assert caught.value.retry_after is not None and 0 < caught.value.retry_after <= 30
        message = caught.value.say("zh")[0]
        assert message.startswith("没有引擎能够响应。") and "ddg_html" in message and "bing_html" in message

    @pytest.mark.req("C7.1", "C7.3")
    async def test_without_a_network_one_sentence_says_so(self) -> None:
        nowhere = {name: f"http://{name}.invalid" for name in ("ddg-html", "bing-html")}
        urls = {name.replace("-", "_"): url for name, url in nowhere.items()}
        async with client(urls) as h:
            with pytest.raises(NetworkError) as caught:
                await h.search_service.search("some words", engines="ddg_html,bing_html")
        assert caught.value.detail_code == "dns" and caught.value.retryable
        assert caught.value.say("zh")[0] == "没有网络连接：所有引擎的域名都无法解析（ddg_html, bing_html）。"
        assert [attempt.detail_code for attempt in caught.value.attempts] == ["dns", "dns"]

    @pytest.mark.req("G1.3", "C7.1")
    async def test_when_all_fail_each_cause_is_named(self, caplog: pytest.LogCaptureFixture) -> None:
        async with serve(lambda _: reply("", 403)) as one, serve(lambda _: reply("", 500)) as two:
            async with client({"ddg_html": one.url, "bing_html": two.url}) as h:
                with pytest.raises(WebProviderError) as caught:
                    await h.search_service.search("some words", engines="ddg_html,bing_html")
        assert "ddg_html" in caught.value.message and "bing_html" in caught.value.message
        assert {a.detail_code for a in caught.value.attempts} == {"http_403", "http_5xx"}
        assert any("http_403" in record.message for record in caplog.records if record.levelno == logging.WARNING)

    @pytest.mark.req("C7.3")
    async def test_no_network_at_all_is_said_at_once(self) -> None:
        async with client({}) as h:

            async def search() -> None:
                with pytest.raises(NetworkError) as caught:
                    await h.search_service.search("some words", engines="ddg_html,bing_html,baidu_html")
                assert caught.value.code == "NetworkError" and "network" in caught.value.hint.lower()

            assert await quickest(lambda: seconds_of(search()), 2.0) < 2

    @pytest.mark.req("G3.2", "T5.3")
    async def test_a_single_engine_that_asks_for_a_captcha_is_asked_once(self) -> None:
        async with serve(lambda _: reply(pages.DDG_CHALLENGE, 202)) as site, client({"ddg_html": site.url}) as h:
            with pytest.raises(WebBlocked):
                await h.search_service.search("some words", engines="ddg_html")
            assert len(site.seen) == 1

    @pytest.mark.req("G3.2")
    async def test_where_all_ask_for_a_captcha_none_is_asked_a_third_time(self) -> None:
        async with (
            serve(lambda _: reply(pages.DDG_CHALLENGE, 202)) as one,
            serve(lambda _: reply(CAPTCHA_PAGE, 429)) as two,
            client({"ddg_html": one.url, "bing_html": two.url}, seconds=4.0) as h,
        ):
            with pytest.raises(WebBlocked) as caught:
                await h.search_service.search("some words", engines="ddg_html,bing_html")
        assert caught.value.detail_code == "captcha_required"
        assert 1 <= len(one.seen) <= 2 and 1 <= len(two.seen) <= 2

    async def test_a_connection_that_broke_off_is_tried_again(self) -> None:
        answers = iter([reply("", 502), GOOD])
        async with serve(lambda _: next(answers)) as site, client({"ddg_html": site.url}) as h:
            page = await h.search_service.search("some words", engines="ddg_html")
        assert len(page.results) == 10 and [a.outcome for a in page.attempts] == ["error", "ok"]

    async def test_an_engine_that_told_us_to_wait_is_not_asked_until_then(self) -> None:
        async with (
            serve(lambda _: reply("", 429, {"Retry-After": "30"})) as one,
            serve(lambda _: reply(pages.bing())) as two,
        ):
            async with client({"ddg_html": one.url, "bing_html": two.url}) as h:
                for n in range(3):
                    page = await h.search_service.search(f"some words {n}", engines="ddg_html,bing_html")
            assert len(one.seen) == 1
        resting = next(a for a in page.attempts if a.engine == "ddg_html")
        assert (resting.outcome, resting.detail_code) == ("skipped", "circuit_open")
        assert resting.failure is not None and "http_429" in resting.failure.message()

    async def test_the_rest_outlives_the_process(self, tmp_path: object) -> None:
        from dataclasses import replace
        from pathlib import Path

        async with serve(lambda _: reply("", 429, {"Retry-After": "30"})) as site:
            async with client({"ddg_html": site.url}) as h:
                settings = replace(h.settings, state_dir=Path(str(tmp_path)))
            async with AsyncClient(settings) as first:
                with pytest.raises(WebBlocked):
                    await first.search_service.search("x", engines="ddg_html")
            second = AsyncClient(settings)
            assert 25 < second.engines["ddg_html"].breaker.cooldown_left() <= 30
            with pytest.raises(WebBlocked) as caught:
                await second.search_service.search("y", engines="ddg_html")
            await second.close()
        assert caught.value.detail_code == "circuit_open" and len(site.seen) == 1


class TestFanOut:
    async def test_results_are_merged_and_ranked_anew(self) -> None:
        async with (
            serve(lambda _: reply(pages.ddg(5, "same.example"))) as one,
            serve(lambda _: reply(pages.bing(5, "other.example"))) as two,
            client({"ddg_html": one.url, "bing_html": two.url}) as h,
        ):
            page = await h.search_service.search("some words", engines="ddg_html+bing_html")
        assert [r.rank for r in page.results] == list(range(1, 11))
        assert [r.source for r in page.results[:2]] == ["same.example", "other.example"]
        assert page.engine in ("ddg_html+bing_html", "bing_html+ddg_html")

    async def test_a_slow_engine_delays_the_page_only_a_little(self) -> None:
        async with serve(lambda _: GOOD) as fast, serve(lambda _: stall) as slow:
            async with client({"ddg_html": fast.url, "bing_html": slow.url}) as h:

                async def search() -> None:
                    page = await h.search_service.search("some words", engines="ddg_html+bing_html", budget_ms=60_000)
                    assert {(a.engine, a.outcome) for a in page.attempts} == {
                        ("ddg_html", "ok"),
                        ("bing_html", "late"),
                    }
                    late = page.attempts[1]
                    assert late.detail_code == "late" and late.failure and late.failure.retry_after

                assert await quickest(lambda: seconds_of(search()), 4.0) < 4
                assert not h.search_service.engines["bing_html"].breaker.timeouts, "late is not an absence"


class TestAuto:
    @pytest.mark.req("C2.2", "T5.4")
    async def test_searxng_comes_first_when_it_is_well(self) -> None:
        def play(seen: Seen) -> Reply:
            return reply("OK", kind="text/plain") if seen.path == "/healthz" else json_reply(pages.searxng())

        async with serve(play) as sx, serve(lambda _: GOOD) as dd, client({"searxng": sx.url, "ddg_html": dd.url}) as h:
            page = await h.search_service.search("some words")
            await h.search_service.search("other words")
        assert page.engine == "searxng" and dd.seen == []
        # The health check is remembered.
        assert [s.path for s in sx.seen] == ["/healthz", "/search", "/search"]

    @pytest.mark.req("C2.4", "P2.3", "P1.1", "P3.2")
    async def test_without_searxng_and_keys_duckduckgo_answers_and_the_receipt_says_why(self) -> None:
        async with (
            serve(lambda _: GOOD) as dd,
            client({"ddg_html": dd.url, "searxng": f"http://127.0.0.1:{free_port()}"}) as h,
        ):
            page = await h.search_service.search("some words")
        assert page.engine == "ddg_html"
        assert [(a.engine, a.outcome, a.detail_code) for a in page.attempts] == [
            ("searxng", "skipped", "searxng_down"),
            ("ddg_html", "ok", ""),
        ]

    async def test_something_else_on_port_8080_is_not_sent_the_query(self) -> None:
        async with serve(lambda _: reply("<html>Jenkins</html>")) as other, serve(lambda _: GOOD) as dd:
            async with client({"searxng": other.url, "ddg_html": dd.url}) as h:
                page = await h.search_service.search("my private question")
        assert page.attempts[0].detail_code == "not_searxng"
        assert all("private" not in s.target for s in other.seen)

    @pytest.mark.req("P1.1", "P3.3", "T5.6")
    async def test_a_key_brings_brave_in_front_of_duckduckgo(self) -> None:
        async with serve(lambda _: json_reply(pages.brave())) as bv, serve(lambda _: GOOD) as dd:
            async with client({"brave": bv.url, "ddg_html": dd.url}) as h:
                page = await h.search_service.search("some words")
        assert page.engine == "brave" and dd.seen == []
        assert (bv.seen[0].path, bv.seen[0].headers["x-subscription-token"]) == ("/res/v1/web/search", KEY)


class TestCacheAndFlight:
    @pytest.mark.req("P3.2", "P3.3")
    async def test_an_equal_query_is_answered_from_the_cache(self) -> None:
        async with serve(lambda _: GOOD) as site, client({"ddg_html": site.url}, cache_minutes=5) as h:
            first = await h.search_service.search("some words", engines="ddg_html")
            second = await h.search_service.search(" some  words ", engines="ddg_html")
            await h.search_service.search("some words", engines="ddg_html", count=5)
        assert (first.cached, second.cached) == (False, True) and first.results == second.results
        assert len(site.seen) == 2

    @pytest.mark.req("P3.2", "P2.1")
    async def test_a_page_is_kept_for_the_configured_minutes(self) -> None:
        passed = 0.0
        async with serve(lambda _: GOOD) as site, client({"ddg_html": site.url}, cache_minutes=2) as h:
            h.search_service._cache._clock = lambda: 1000.0 + passed
            requests = []
            for moment in (0.0, 119.0, 121.0):
                passed = moment
                await h.search_service.search("some words", engines="ddg_html")
                requests.append(len(site.seen))
        assert requests == [1, 1, 2]

    @pytest.mark.req("P2.1")
    async def test_a_cache_time_of_zero_keeps_nothing(self) -> None:
        async with serve(lambda _: GOOD) as site, client({"ddg_html": site.url}, cache_minutes=0) as h:
            for _ in range(2):
                await h.search_service.search("some words", engines="ddg_html")
        assert len(site.seen) == 2

    async def test_failures_and_empty_pages_are_not_kept(self) -> None:
        answers = iter([reply("", 403), reply(pages.DDG_NONE), GOOD])
        async with serve(lambda _: next(answers)) as site, client({"ddg_html": site.url}, cache_minutes=5) as h:
            with pytest.raises(WebBlocked):
                await h.search_service.search("some words", engines="ddg_html")
            assert (await h.search_service.search("some words", engines="ddg_html")).results == ()
            assert len((await h.search_service.search("some words", engines="ddg_html")).results) == 10

    async def test_equal_queries_at_the_same_time_are_one_request(self) -> None:
        async with serve(lambda _: GOOD) as site, client({"ddg_html": site.url}) as h:
            found = await asyncio.gather(
                *(h.search_service.search("some words", engines="ddg_html") for _ in range(20))
            )
        assert len(site.seen) == 1 and len({page.results for page in found}) == 1
        assert len({page.query.trace_id for page in found}) == 20

    async def test_one_who_leaves_does_not_end_the_search_of_the_others(self) -> None:
        go = asyncio.Event()

        def play(_: Seen) -> Reply:
            async def send(writer: asyncio.StreamWriter) -> None:
                await go.wait()
                await GOOD(writer)

            return send

        async with serve(play) as site, client({"ddg_html": site.url}) as h:
            stays = asyncio.ensure_future(h.search_service.search("some words", engines="ddg_html"))
            leaves = asyncio.ensure_future(h.search_service.search("some words", engines="ddg_html"))
            await site.until_asked()
            leaves.cancel()
            with pytest.raises(asyncio.CancelledError):
                await leaves
            go.set()
            assert len((await stays).results) == 10


class TestParameters:
    @pytest.mark.req("T3.2")
    async def test_what_an_engine_cannot_honour_stands_in_the_receipt(self) -> None:
        html = (
            '<div id="content_left"><div class="result c-container" mu="https://a.example/"><h3><a href="http://www.baidu.com/link?url=x">'
            "标题</a></h3></div></div>"
        )
        async with serve(lambda _: reply(html)) as site, client({"baidu_html": site.url}) as h:
            page = await h.search_service.search(
                "词", engines="baidu_html", country="CN", freshness="week", need_summary=True
            )
        assert set(page.attempts[0].unsupported_params) == {"country", "need_summary"}

    @pytest.mark.req("T3.2")
    async def test_domains_are_filtered_whatever_the_engine_does(self) -> None:
        mixed = pages.bing(3, "docs.python.org") + pages.bing(3, "spam.example")
        async with serve(lambda _: reply(mixed)) as site, client({"bing_html": site.url}) as h:
            only = await h.search_service.search("some words", engines="bing_html", allowed_domains=("python.org",))
            without = await h.search_service.search("some words", engines="bing_html", blocked_domains=("python.org",))
        assert {r.source for r in only.results} == {"docs.python.org"}
        assert {r.source for r in without.results} == {"spam.example"}
        assert site.seen[0].params["q"] == "some words site:python.org"

    @pytest.mark.req("T3.2", "T4.1")
    async def test_trace_id_and_provider_meta_come_back(self) -> None:
        async with serve(lambda _: GOOD) as site, client({"ddg_html": site.url}) as h:
            page = await h.search_service.search(SearchQuery("x", trace_id="trace-1"), engines="ddg_html")
        meta = VIEWS["items"](page)["provider_meta"]
        assert (meta["provider_name"], meta["trace_id"]) == ("ddg_html", "trace-1") and meta["latency_ms"] >= 0


@pytest.mark.req("P9.2")
async def test_duckduckgo_is_asked_at_most_so_often_a_minute() -> None:
    async with serve(lambda _: GOOD) as site, client({"ddg_html": site.url}, rate=60) as h:
        h.search_service.engines["ddg_html"].limiter.slack = 0.0
        for n in range(2):
            await h.search_service.search(f"x{n}", engines="ddg_html")
        with pytest.raises(Timeout) as caught:
            await h.search_service.search("x3", engines="ddg_html", budget_ms=300)
        assert caught.value.detail_code == "own_rate_limit" and len(site.seen) == 2
        for n in range(3):
            with pytest.raises(Timeout):
                await h.search_service.search(f"x4 {n}", engines="ddg_html", budget_ms=300)
        assert not h.search_service.engines["ddg_html"].breaker.cooling_down, "it is our limit, not a fault of theirs"
    assert len(site.seen) == 2


@pytest.mark.req("P9.2")
@pytest.mark.parametrize("name", ["ddg_html", "bing_html", "baidu_html"])
async def test_the_configured_number_a_minute_is_the_most_that_are_sent(name: str) -> None:
    async with serve(lambda _: reply("", 500)) as site, client({name: site.url}, rate=3) as h:
        runner = h.search_service.engines[name]
        assert runner.engine.burst <= 5 and runner.limiter.most == 3
        refused = [await runner.run(SearchQuery(f"x{n}"), 1.0) for n in range(5)]
        assert len(site.seen) == 3
    assert [reply.attempt.detail_code for reply in refused[3:]] == ["own_rate_limit"] * 2


@pytest.mark.req("P9.2")
@pytest.mark.parametrize("name", ["searxng", "ddg_html", "brave"])
@pytest.mark.parametrize("rate", [1, 3, 6, 10])
async def test_a_limit_of_so_many_a_minute_allows_as_many_and_no_more(name: str, rate: int) -> None:
    forget_states()
    own = EngineSettings(rate_per_minute=float(rate), api_key=Secret("k"))
    limiter = AsyncClient(Settings(engines={name: own})).engines[name].limiter
    assert [limiter.take() for _ in range(rate)] == [0.0] * rate and limiter.take() > 50.0


@pytest.mark.req("G5.2", "P9.2")
@pytest.mark.parametrize("name", [info.name for info in ENGINES if info.needs_browser])
def test_the_default_rate_lets_a_session_begin_with_several_searches(name: str) -> None:
    forget_states()
    limiter = AsyncClient(Settings()).engines[name].limiter
    assert [limiter.take() for _ in range(10)] == [0.0] * 10 and limiter.take() > 0.0


@pytest.mark.req("G6.1", "P9.2", "G1.3")
@pytest.mark.parametrize("plan", ["ddg_html", "ddg_html,bing_html"])
async def test_the_wait_for_the_rate_limit_is_named_where_it_took_the_time(plan: str) -> None:
    urls = dict.fromkeys(plan.split(","), "")
    async with serve(lambda _: stall) as site, client(dict.fromkeys(urls, site.url), rate=60) as h:
        for name in urls:
            limiter = h.search_service.engines[name].limiter
            limiter.slack = 0.0
            limiter.take()
        with pytest.raises(SuyuanError) as caught:
            await h.search_service.search("tea", engines=plan, budget_ms=1500)
    for lang, named in (("en", "limit of 60 requests per minute"), ("zh", "每分钟最多 60 次请求")):
        assert named in caught.value.failure.message(lang)
    assert {attempt.detail_code for attempt in caught.value.attempts} == {"own_rate_limit"}


@pytest.mark.req("P9.3")
@pytest.mark.parametrize(
    "answer",
    [
        reply(f"bad token {KEY}", 401),
        json_reply('{"type":"ErrorResponse","error":{"code":"X","detail":"token ' + KEY + ' is wrong"}}', 422),
        json_reply("[]"),
        reset,
        stall,
        reply("", 429),
        reply("", 302, {"Location": f"http://elsewhere.example/?key={KEY}"}),
        reply(b"\x00\x01\xff" * 100),
    ],
)
async def test_a_failing_search_leaves_no_key_behind(answer: Reply, caplog: pytest.LogCaptureFixture) -> None:
    import traceback

    caplog.set_level(logging.DEBUG)
    async with serve(lambda _: answer) as site, client({"brave": site.url}) as h:
        with pytest.raises(SuyuanError) as caught:
            await h.search_service.search("x", engines="brave", budget_ms=2000)
        engine = h.search_service.engines["brave"].engine
        left = [
            caplog.text,
            "".join(traceback.format_exception(caught.value)),
            repr(caught.value.as_dict()) + repr(caught.value.as_dict("zh")) + repr(caught.value.__dict__),
            repr(receipt(caught.value.attempts)) + repr(caught.value.attempts),
            repr(h.settings) + repr(engine.__dict__) + repr(h.search_service.engines["brave"]),
        ]
    assert site.seen[0].headers["x-subscription-token"] == KEY
    for text in left:
        assert KEY not in text


@pytest.mark.req("D2.2", "D2.3")
def test_synchronous_callers_share_connections_and_may_be_many() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from suyuan.config.settings import SearchSettings, Settings
    from suyuan.core.engine import EngineSettings

    async def main() -> int:
        async with serve(lambda _: GOOD) as site:
            settings = Settings(
                search=SearchSettings(cache_minutes=0),
                engines={"ddg_html": EngineSettings(base_url=site.url, rate_per_minute=0)},
            )
            h = AsyncClient(settings)

            def search(n: int) -> int:
                return len(h.search_service.search_sync(f"words {n}", engines="ddg_html").results)

            def many() -> list[int]:
                with ThreadPoolExecutor(8) as pool:
                    found = list(pool.map(search, range(40)))
                h.close_sync()
                return found

            assert await asyncio.to_thread(many) == [10] * 40
            assert await site.until_idle()
            return site.connections

    assert asyncio.run(main()) <= 8


async def test_an_engine_with_a_fault_in_its_code_does_not_end_the_search() -> None:
    async with serve(lambda _: reply(pages.bing())) as site, client({"bing_html": site.url}) as h:

        class Faulty:
            name = "stub"

            async def search(self, query: SearchQuery, num_results: int) -> list[object]:
                raise KeyError("oops")

        h.search_service.engines["stub"].engine = adapted(Faulty())  # type: ignore[arg-type]
        page = await h.search_service.search("some words", engines="stub,bing_html")
    assert page.engine == "bing_html" and page.attempts[0].detail_code == "engine_bug"


class TestFaultyPolicy:
    """A fault in the rules around a search does not end it while an engine can answer."""

    class Broken:
        """Stands for any part of the policy: whatever it is asked to do fails."""

        per_minute = None
        refusals = 0

        @property
        def open(self) -> bool:
            raise OverflowError

        cooling_down = open

        def __getattr__(self, name: str) -> Callable[..., object]:
            def fail(*_: object) -> object:
                raise OverflowError(name)

            return fail

    @pytest.mark.parametrize("plan", ["ddg_html", "ddg_html,bing_html", "ddg_html+bing_html"])
    @pytest.mark.parametrize("part", ["breaker", "limiter", "latency"])
    async def test_the_engine_answers(self, part: str, plan: str) -> None:
        async with (
            serve(lambda _: GOOD) as one,
            serve(lambda _: reply(pages.bing())) as two,
            client({"ddg_html": one.url, "bing_html": two.url}) as h,
        ):
            for name in ("ddg_html", "bing_html"):
                state = h.search_service.engines[name].state
                if part == "latency":
                    state.latency, state.measured = 1e308, True
                else:
                    setattr(state, part, self.Broken())
            assert len((await h.search_service.search("some words", engines=plan)).results) == 10

    async def test_the_cache_and_the_check_of_relevance(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise RecursionError

        monkeypatch.setattr("suyuan.search.relevance.relevance", fail)
        async with serve(lambda _: GOOD) as site, client({"ddg_html": site.url}, cache_minutes=5) as h:
            h.search_service._cache = self.Broken()  # type: ignore[assignment]
            page = await h.search_service.search("some words", engines="ddg_html")
        assert len(page.results) == 10 and page.attempts[0].relevance is None

    @pytest.mark.parametrize(
        "kept",
        [
            b"\xff\xfe\x00garbage",
            b"[" * 100_000,
            b'{"ddg_html@direct": []}',
            b'{"ddg_html@direct": {"refusals": 1e999, "timeouts": "many", "until": null, "hard": 1, "reason": {}}}',
            b'{"ddg_html@direct": {"refusals": 0, "timeouts": 99999999999999999999999, "until": NaN, "hard": true,'
            b' "reason": "x", "latency": "fast"}}',
            b'{"ddg_html@direct": {"refusals": 5, "timeouts": 5, "until": 9e99, "hard": true, "reason": "x",'
            b' "latency": -5}}',
        ],
    )
    async def test_a_state_file_that_is_not_ours(self, kept: bytes, tmp_path: Path) -> None:
        file = tmp_path / "engines.json"
        file.write_bytes(kept)
        async with serve(lambda _: GOOD) as site:
            async with client({"ddg_html": site.url}, state_dir=tmp_path) as h:
                assert len((await h.search_service.search("some words", engines="ddg_html")).results) == 10
        forget_states()
        again = json.loads(file.read_text(encoding="utf-8"))["ddg_html@direct"]
        assert again["until"] == 0 and again["latency"] < 60, "what is written next is whole again"

    @pytest.mark.req("G3.2")
    async def test_thousands_of_absences_and_a_restart(self, tmp_path: Path) -> None:
        for _ in range(2):
            forget_states()
            async with client({}, state_dir=tmp_path) as h:
                breaker = h.search_service.engines["ddg_html"].breaker
                for _ in range(5000):
                    breaker.timed_out("dns")
                    breaker.refused("http_429")
        forget_states()
        async with serve(lambda _: reply(pages.bing())) as site:
            async with client({"bing_html": site.url}, state_dir=tmp_path) as h:
                page = await h.search_service.search("some words", engines="ddg_html,bing_html")
        assert page.engine == "bing_html" and page.attempts[0].detail_code == "circuit_open"


class Timed:
    """An engine that takes so many seconds."""

    def __init__(self, name: str, seconds: float) -> None:
        self.name, self.seconds = name, seconds

    async def search(self, query: SearchQuery, num_results: int) -> list[SearchResult]:
        await asyncio.sleep(self.seconds)
        return [SearchResult("T", f"https://{self.name}.example/{i}", "", self.name) for i in range(5)]


@pytest.mark.req("T5.4")
async def test_a_merged_page_waits_for_each_engine_about_as_long_as_it_usually_takes() -> None:
    runners = [EngineRunner(adapted(Timed(*each))) for each in (("a", 0.05), ("b", 0.05), ("slow", 0.5))]

    async def merged() -> set[str]:
        outcome = await fan_out(runners, SearchQuery("some words"), time.monotonic() + 30)
        return {runner.name for runner, _ in outcome.found}

    for _ in range(3):
        found = await asyncio.gather(*(merged() for _ in range(4)))
        assert all("slow" in names for names in found), "12 of 12"
    assert runners[2].breaker.timeouts == 0 and runners[2].state.latency > 0.4


@pytest.mark.req("P9.2")
async def test_many_at_once_on_one_engine_are_told_when_to_come_again_or_wait_themselves() -> None:
    async with serve(lambda _: GOOD) as site:
        async with client({"ddg_html": site.url}, rate=300, seconds=2.0) as h:

            async def search(n: int, max_wait: float) -> SearchPage | SuyuanError:
                try:
                    return await h.search(f"words {n}", engines="ddg_html", max_wait=max_wait)
                except SuyuanError as error:
                    return error

            hasty = await asyncio.gather(*(search(n, 0.0) for n in range(30)))
            failed = [outcome for outcome in hasty if isinstance(outcome, SuyuanError)]
            assert any(error.detail_code == "own_rate_limit" for error in failed)
            assert all(error.retryable and error.retry_after for error in failed)
            patient = await asyncio.gather(*(search(n, PATIENCE) for n in range(30, 50)))
            assert all(isinstance(outcome, SearchPage) for outcome in patient)


@pytest.mark.parametrize("bad", [reply("", 503), reset, reply(pages.DDG_CHALLENGE, 202), reply(""), stall])
@pytest.mark.parametrize("plan", ["ddg_html", "ddg_html,bing_html", "ddg_html+bing_html", "auto"])
async def test_every_failure_that_may_pass_says_when_to_try_again(bad: Reply, plan: str) -> None:
    async with serve(lambda _: bad) as site:
        urls = dict.fromkeys(("ddg_html", "bing_html", "baidu_html", "searxng"), site.url)
        async with client(urls, seconds=1.0) as h:
            with pytest.raises(SuyuanError) as caught:
                await h.search("some words", engines=plan)
    assert caught.value.retryable and caught.value.retry_after
    for attempt in caught.value.attempts:
        assert not (attempt.failure and attempt.failure.retryable) or attempt.failure.retry_after


@pytest.mark.req("C7.2")
async def test_each_result_that_is_skipped_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """What a person who reads the log sees of an answer with good and with bad rows."""
    good = {"title": "Tea", "url": "https://tea.example/", "content": "About tea."}
    bad = [7, {"url": 5, "title": "a"}, {**good, "url": "ftp://x.example"}, {**good, "url": None}, "text"]
    rows = {"results": [good, *bad, {**good, "url": "https://pot.example/"}]}
    async with serve(lambda _: json_reply(json.dumps(rows))) as site, client({"searxng": site.url}) as h:
        page = await h.search_service.search(SearchQuery("tea", trace_id="t-17"), engines="searxng")
    assert len(page.results) == 2
    records = [record for record in caplog.records if "skipped" in record.getMessage()]
    assert len(records) == len(bad) and {record.levelname for record in records} == {"WARNING"}
    told = [record.getMessage() for record in records]
    assert all("trace=t-17" in line and "engine=searxng" in line for line in told)
    assert [f"row {number}:" in line for number, line in enumerate(told, 2)] == [True] * len(bad)
    assert "ftp://x.example" in told[2] and "int" in told[0]


@pytest.mark.req("C7.2")
async def test_a_result_that_leads_to_no_page_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    class Loose:
        name = "stub"

        async def search(self, query: SearchQuery, num_results: int) -> list[SearchResult]:
            return [
                SearchResult("Tea words", "https://tea.example/"),
                SearchResult("Bad words", "javascript:alert(1)"),
                SearchResult("No words", ""),
            ]

    async with client({}) as h:
        h.search_service.engines["stub"].engine = adapted(Loose())
        page = await h.search_service.search("some words", engines="stub")
    assert [one.title for one in page.results] == ["Tea words"]
    told = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert any("Bad words" in line and "javascript:alert(1)" in line for line in told)
    assert any("No words" in line for line in told)


@pytest.mark.req("C7.2")
async def test_an_answer_full_of_bad_rows_does_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    good = {"title": "Tea", "url": "https://tea.example/", "content": "About tea."}
    rows = {"results": [good, *["x" * 500] * 500, *[{"url": "z" * 1_000}] * 500]}
    async with serve(lambda _: json_reply(json.dumps(rows))) as site, client({"searxng": site.url}) as h:
        await h.search_service.search(SearchQuery("tea"), engines="searxng")
    told = [record.getMessage() for record in caplog.records if "skipped" in record.getMessage()]
    assert len(told) == 11 and "990 more" in told[-1] and max(map(len, told)) < 400
