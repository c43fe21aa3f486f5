"""The search of one session and its cache."""

from __future__ import annotations

import asyncio
import logging

import pytest

from support import pages
from support.client import client
from support.site import reply, serve
from suyuan.core.errors import InvalidInput, WebBlocked
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.text.asked_anew import asked_anew
from suyuan.tools.session import SessionSearch, query_from


@pytest.mark.req("C13.1", "C13.2")
async def test_a_query_is_searched_once_and_the_hit_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with serve(lambda _: reply(pages.ddg())) as site, client({"ddg_html": site.url}) as h:
        session = SessionSearch(h.search_service, engines="ddg_html")
        first, repeated_first = await session.search(SearchQuery("some words"))
        second, repeated_second = await session.search(SearchQuery("some words"))
    assert (repeated_first, repeated_second) == (False, True) and first.results == second.results and second.cached
    assert len(site.seen) == 1
    assert any("session cache hit" in record.message for record in caplog.records)


@pytest.mark.req("C13.4")
async def test_twenty_queries_the_least_recently_used_goes_first() -> None:
    async with serve(lambda _: reply(pages.ddg())) as site, client({"ddg_html": site.url}) as h:
        session = SessionSearch(h.search_service, engines="ddg_html")
        for n in range(20):
            await session.search(SearchQuery(f"q{n}"))
        await session.search(SearchQuery("q0"))
        await session.search(SearchQuery("q20"))
        assert len(site.seen) == 21
        for kept in (0, *range(2, 21)):
            assert (await session.search(SearchQuery(f"q{kept}")))[1] is True
        assert (await session.search(SearchQuery("q1")))[1] is False


@pytest.mark.req("C13.3")
async def test_sessions_do_not_see_each_other_s_cache() -> None:
    async with serve(lambda _: reply(pages.ddg())) as site, client({"ddg_html": site.url}) as h:
        one, two = (SessionSearch(h.search_service, engines="ddg_html") for _ in range(2))
        await one.search(SearchQuery("x"))
        assert (await two.search(SearchQuery("x")))[1] is False
    assert len(site.seen) == 2


async def test_equal_queries_at_the_same_time_are_one_request() -> None:
    async with serve(lambda _: reply(pages.ddg())) as site, client({"ddg_html": site.url}) as h:
        session = SessionSearch(h.search_service, engines="ddg_html")
        await asyncio.gather(*(session.search(SearchQuery("x")) for _ in range(10)))
    assert len(site.seen) == 1


async def test_a_failure_is_not_kept() -> None:
    answers = iter([reply("", 403), reply(pages.ddg())])
    async with serve(lambda _: next(answers)) as site, client({"ddg_html": site.url}) as h:
        session = SessionSearch(h.search_service, engines="ddg_html")
        with pytest.raises(WebBlocked):
            await session.search(SearchQuery("x"))
        page, _ = await session.search(SearchQuery("x"))
    assert len(page.results) == 10 and len(site.seen) == 2


@pytest.mark.req("P4.2")
def test_what_a_model_leaves_empty_counts_as_not_given() -> None:
    query = query_from({"query": "x", "count": None, "country": "", "freshness": None, "allowed_domains": []}, count=5)
    assert (query.count, query.country, query.freshness, query.allowed_domains) == (5, "", None, ())


@pytest.mark.parametrize(
    ("name", "value"),
    [("query", ["x"]), ("query", 5), ("country", 5), ("language", 5), ("freshness", 7), ("focus", ["news"]),
     ("allowed_domains", 5), ("allowed_domains", [5]), ("blocked_domains", {"a": 1})],
)  # fmt: skip
def test_what_a_model_has_wrong_is_said(name: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=name):
        query_from({"query": "x", name: value}, count=5)
    one = query_from({"query": "x", "allowed_domains": "python.org"}, count=5)
    assert one.allowed_domains == ("python.org",), "one text in place of a list"


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.req("C13.2", "C13.3")
@pytest.mark.parametrize(("cache_minutes", "limit"), [(5.0, 300.0), (1.0, 60.0), (0.0, 300.0)])
async def test_what_a_session_found_ages(cache_minutes: float, limit: float) -> None:
    clock = Clock()
    async with (
        serve(lambda _: reply(pages.ddg())) as site,
        client({"ddg_html": site.url}, cache_minutes=cache_minutes) as h,
    ):
        session = SessionSearch(h.search_service, engines="ddg_html", clock=clock)
        first, _ = await session.search(SearchQuery("some words"))
        clock.now += limit - 1
        kept, repeated = await session.search(SearchQuery("some words"))
        assert repeated and kept.searched_at == first.searched_at and len(site.seen) == 1
        clock.now += 2
        found, repeated = await session.search(SearchQuery("some words"))
        assert not repeated, "it is no repetition in this session"
        # The cache behind it has its own clock, and the results the time at which they were found.
        assert len(site.seen) == (1 if cache_minutes else 2)
        assert first.searched_at and (found.searched_at == first.searched_at) is bool(cache_minutes)


@pytest.mark.req("C13.2")
@pytest.mark.parametrize(
    "query",
    [SearchQuery("tea", freshness=Freshness.parse("day")), SearchQuery("tea news"), SearchQuery("茶 最新消息"), SearchQuery("tea prices today"),
     SearchQuery("refresh the tea prices")],
)  # fmt: skip
async def test_a_query_for_news_goes_out_after_a_minute_whatever_is_kept(query: SearchQuery) -> None:
    clock = Clock()
    async with serve(lambda _: reply(pages.ddg())) as site, client({"ddg_html": site.url}, cache_minutes=60) as h:
        session = SessionSearch(h.search_service, engines="ddg_html", clock=clock)
        await session.search(query)
        clock.now += 59
        assert (await session.search(query))[1] is True, "a model that repeats itself is answered from the session"
        clock.now += 2
        assert (await session.search(query, max_age=0.0))[1] is False
    assert len(site.seen) == 2


@pytest.mark.req("C13.3")
async def test_a_session_that_was_closed_forgets_and_searches_no_more() -> None:
    async with serve(lambda _: reply(pages.ddg())) as site, client({"ddg_html": site.url}) as h:
        session = SessionSearch(h.search_service, engines="ddg_html")
        await session.search(SearchQuery("x"))
        under_way = asyncio.create_task(session.search(SearchQuery("y")))
        await asyncio.sleep(0)
        session.close()
        await under_way
        for text in ("x", "y", "z"):
            with pytest.raises(InvalidInput) as caught:
                await session.search(SearchQuery(text))
            assert caught.value.detail_code == "session_ended" and caught.value.hint
    assert len(site.seen) == 2


@pytest.mark.parametrize(
    ("text", "anew"),
    [
        ("请再查一次", True), ("重新搜索一下茶的价格", True), ("刷新", True), ("search again please", True),
        ("can you look that up again?", True), ("re-check it", True), ("do a new search", True), ("今天的新闻", True),
        ("latest Python release", True), ("what happened today?", True),
        ("again", False), ("茶的历史", False), ("how tall is the Eiffel Tower", False), ("再见", False),
        ("newspaper archives of 1910", False), ("Dead Again, the film", False), ("how to search a list in Python", False),
    ],
)  # fmt: skip
def test_who_asks_anew_is_told_apart(text: str, anew: bool) -> None:
    assert asked_anew(text) is anew
