"""The search of one session and its cache."""

from __future__ import annotations

import asyncio
import logging

import pytest

from support import pages
from support.client import client
from support.site import reply, serve
from suyuan.core.errors import InvalidInput, WebBlocked
from suyuan.core.query import SearchQuery
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
