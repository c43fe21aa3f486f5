"""The small parts of the policy: limit, cache, plan, language, normalising and merging."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.timing import PATIENCE
from suyuan.core.errors import InvalidInput, WebProviderError
from suyuan.core.foreign_engine import adapted
from suyuan.core.query import SearchQuery
from suyuan.core.result import SearchResult
from suyuan.core.urls import is_page, page_key
from suyuan.engines import registry
from suyuan.search.cache import SingleFlight, TtlCache
from suyuan.search.fusion import fuse
from suyuan.search.normalize import matching, ranked, unique
from suyuan.search.plan import Plan, make_plan
from suyuan.search.rate_limit import RateLimiter
from suyuan.search.runner import EngineRunner


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def result(url: str, engine: str = "x", **fields: str) -> SearchResult:
    return SearchResult(fields.get("title", "T"), url, fields.get("snippet", ""), engine)


class TestLimit:
    @pytest.mark.req("P9.2")
    def test_places_are_given_out_evenly(self) -> None:
        clock = Clock()
        limit = RateLimiter(60, 1, clock)
        assert [limit.take() for _ in range(3)] == [0.0, 1.0, 2.0]
        clock.now = 2.5
        assert limit.take() == 0.5

    def test_a_burst_goes_through_at_once(self) -> None:
        clock = Clock()
        limit = RateLimiter(60, 3, clock)
        assert [limit.take() for _ in range(4)] == [0.0, 0.0, 0.0, 1.0]

    def test_a_place_given_back_is_free_again(self) -> None:
        limit = RateLimiter(60, 1, Clock())
        limit.take()
        limit.take()
        limit.give_back()
        assert limit.wait() == 1.0

    def test_an_idle_time_does_not_add_up_to_more_than_the_burst(self) -> None:
        clock = Clock()
        limit = RateLimiter(60, 2, clock)
        clock.now = 1000.0
        assert [limit.take() for _ in range(3)] == [0.0, 0.0, 1.0]

    @pytest.mark.req("P9.2")
    @given(
        per_minute=st.sampled_from([0.5, 1, 2, 3, 7, 10, 30]),
        burst=st.integers(1, 12),
        pauses=st.lists(st.sampled_from([0.0, 0.0, 0.0, 0.1, 3.0, 6.0, 29.0, 61.0]), min_size=1, max_size=60),
        given_back=st.sets(st.integers(0, 59), max_size=8),
    )
    def test_no_minute_has_more_requests_than_it_may(
        self, per_minute: float, burst: int, pauses: list[float], given_back: set[int]
    ) -> None:
        clock = Clock()
        limit = RateLimiter(per_minute, burst, clock)
        sent: list[float] = []
        for place, pause in enumerate(pauses):
            clock.now += pause
            wait = limit.take()
            if place in given_back:
                limit.give_back()
            else:
                sent.append(clock.now + wait)
        assert sent == sorted(sent)
        most = max(1, int(per_minute))
        for first, later in zip(sent, sent[most:], strict=False):
            assert later - first >= 60.0 - 1e-6, sent

    @pytest.mark.req("P9.2", "G5.2")
    @pytest.mark.parametrize(("per_minute", "burst", "at_once"), [(3, 5, 3), (10, 5, 5), (1, 5, 1), (60, 1, 1)])
    def test_a_burst_is_never_more_than_the_limit(self, per_minute: int, burst: int, at_once: int) -> None:
        limit = RateLimiter(per_minute, burst, Clock())
        assert [limit.take() for _ in range(at_once + 1)].count(0.0) == at_once

    def test_no_limit(self) -> None:
        limit = RateLimiter(None)
        assert {limit.take() for _ in range(100)} == {0.0}


class TestCache:
    def test_values_grow_old(self) -> None:
        clock = Clock()
        cache: TtlCache[int] = TtlCache(clock=clock)
        cache.put("a", 1)
        clock.now = 9.9
        assert cache.get("a", 10) == 1
        clock.now = 10.0
        assert cache.get("a", 10) is None

    def test_the_least_recently_used_goes_first(self) -> None:
        cache: TtlCache[int] = TtlCache(size=2, clock=Clock())
        cache.put("a", 1)
        cache.put("b", 2)
        cache.get("a", 10)
        cache.put("c", 3)
        assert (cache.get("a", 10), cache.get("b", 10), cache.get("c", 10)) == (1, None, 3)


class TestRunner:
    async def test_the_usual_time_of_an_engine_is_learned_and_decides_when_the_next_one_is_asked(self) -> None:
        clock = Clock()

        class Timed:
            name = "timed"
            seconds = 0.1

            async def search(self, query: SearchQuery, num_results: int) -> list[SearchResult]:
                clock.now += self.seconds
                return [result("https://a.example/")]

        engine = Timed()
        runner = EngineRunner(adapted(engine), clock=clock)
        delays = [runner.hedge_delay]
        for seconds in (0.1, 0.6, 30.0):
            engine.seconds = seconds
            for _ in range(30):
                assert (await runner.run(SearchQuery("x"), PATIENCE)).error is None
            delays.append(round(runner.hedge_delay, 2))
        assert delays == [1.5, 0.25, 1.2, 1.5]


class TestSingleFlight:
    async def test_an_error_reaches_every_passenger_and_is_not_kept(self) -> None:
        flights: SingleFlight[int] = SingleFlight()
        runs = 0

        async def fail() -> int:
            nonlocal runs
            runs += 1
            await asyncio.sleep(0)
            raise ValueError("no")

        outcomes = await asyncio.gather(*(flights.run("k", fail) for _ in range(3)), return_exceptions=True)
        assert all(isinstance(outcome, ValueError) for outcome in outcomes) and runs == 1
        with pytest.raises(ValueError, match="no"):
            await flights.run("k", fail)
        assert runs == 2

    async def test_when_all_leave_the_work_is_cancelled(self) -> None:
        flights: SingleFlight[int] = SingleFlight()
        begun, ended = asyncio.Event(), asyncio.Event()

        async def work() -> int:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return 1

        passengers = [asyncio.ensure_future(flights.run("k", work)) for _ in range(2)]
        await asyncio.wait_for(begun.wait(), PATIENCE)
        for passenger in passengers:
            passenger.cancel()
        await asyncio.wait_for(ended.wait(), PATIENCE)
        assert (await asyncio.gather(*passengers, return_exceptions=True)) and not flights._flights


class TestPlan:
    known = ("stub", "searxng", "brave", "bocha", "ddg_html", "baidu_html", "bing_html")

    def plan(self, spec: str, lang: str = "", ready: set[str] | None = None) -> Plan:
        able = ready if ready is not None else set(self.known)
        return make_plan(spec, self.known, able.__contains__, chinese=lang.startswith("zh"))

    def test_auto_without_keys(self) -> None:
        ready = set(self.known) - {"brave", "bocha"}
        assert self.plan("auto", "en", ready).names == ("searxng", "ddg_html", "bing_html", "baidu_html")

    def test_auto_prefers_what_is_good_at_chinese_for_chinese(self) -> None:
        names = self.plan("auto", "zh-CN").names
        assert names == ("searxng", "bocha", "brave", "ddg_html", "baidu_html", "bing_html")

    def test_the_stub_is_never_part_of_auto(self) -> None:
        assert "stub" not in self.plan("auto").names

    @pytest.mark.parametrize(
        ("spec", "names", "mode"),
        [
            ("ddg_html", ("ddg_html",), "failover"),
            ("brave, ddg_html", ("brave", "ddg_html"), "failover"),
            ("ddg_html+bing_html", ("ddg_html", "bing_html"), "fanout"),
            ("ddg_html,ddg_html", ("ddg_html",), "failover"),
        ],
    )
    def test_specs(self, spec: str, names: tuple[str, ...], mode: str) -> None:
        plan = self.plan(spec)
        assert (plan.names, plan.mode) == (names, mode)

    @pytest.mark.parametrize("spec", ["{}", "{},ddg_html", "{}+ddg_html", "{},auto", "auto,{}", "{}+auto", "auto+{}"])
    @pytest.mark.parametrize("name", ["archive", "library"])
    def test_what_belongs_to_one_person_is_asked_however_the_plan_names_it(self, spec: str, name: str) -> None:
        plan = make_plan(spec.format(name), (*self.known, "archive", "library"), lambda _: True)
        assert plan.private and name in (*plan.names, *plan.beside, plan.last)

    def test_nonsense(self) -> None:
        with pytest.raises(InvalidInput):
            self.plan("ddg_html,yahoo")
        with pytest.raises(WebProviderError):
            self.plan(" , ")
        with pytest.raises(WebProviderError):
            self.plan("auto", ready=set())


class TestNormalise:
    @pytest.mark.req("T1.2", "T1.3")
    def test_only_pages_each_once_ranked_from_one(self) -> None:
        found = [
            result("ftp://a.example/"),
            result("https://a.example/x/"),
            result("javascript:alert(1)"),
            result("http://www.a.example/x?utm_source=z#top"),
            result(""),
            result("https://"),
            result("https://b.example/x", title="", snippet=""),
        ]
        kept = ranked(unique(matching(found, SearchQuery("q"))), 10)
        assert [(r.url, r.rank) for r in kept] == [("https://a.example/x/", 1), ("https://b.example/x", 2)]

    def test_the_address_itself_is_never_changed(self) -> None:
        url = "HTTPS://WWW.Example.com:443/a%2Fb/?utm_source=x&q=%E4%BD%A0#frag".replace("HTTPS", "https")
        assert ranked(unique([result(url)]), 10)[0].url == url

    @given(st.lists(st.text(max_size=30).map(lambda t: result("https://h.example/" + t)), max_size=15))
    @settings(derandomize=True, max_examples=200)
    def test_it_is_idempotent(self, found: list[SearchResult]) -> None:
        once = ranked(unique(found), 10)
        assert ranked(unique(once), 10) == once

    @given(st.text(max_size=60))
    @settings(derandomize=True, max_examples=300)
    def test_any_text_can_be_compared(self, text: str) -> None:
        for url in (text, "https://" + text, "http://a.example/" + text):
            assert isinstance(page_key(url), str)
            assert is_page(url) in (True, False)

    @pytest.mark.parametrize(
        ("one", "other", "same"),
        [
            ("http://a.example/x", "https://www.a.example/x/", True),
            ("https://a.example/x?a=1&b=2", "https://a.example/x?b=2&a=1", False),
            ("https://a.example/x?a=1", "https://a.example/x?a=2", False),
            ("https://a.example/x#part", "https://a.example/x", True),
            ("https://a.example/#!/one", "https://a.example/#!/two", False),
            ("https://a.example:8443/", "https://a.example/", False),
            ("https://a.example/X", "https://a.example/x", False),
        ],
    )
    def test_which_addresses_are_the_same_page(self, one: str, other: str, same: bool) -> None:
        assert (page_key(one) == page_key(other)) is same


class TestFuse:
    @pytest.mark.req("T1.3")
    def test_a_page_that_several_found_rises(self) -> None:
        one = [result(f"https://a.example/{i}", "one") for i in range(3)]
        two = [result("https://b.example/", "two"), result("https://a.example/2", "two", snippet="better")]
        merged = fuse([one, two])
        assert merged[0].url == "https://a.example/2"
        assert (merged[0].engine, merged[0].also_from, merged[0].snippet) == ("one", ("two",), "better")
        assert len(merged) == 4

    def test_a_page_of_the_archive_keeps_the_day_on_which_it_was_read(self) -> None:
        read = SearchResult("T", "https://a.example/", "", "archive", fetched_at="2026-11-16T10:00:00+00:00")
        (merged,) = fuse([[read], [result("https://a.example/", "one")]])
        assert (merged.engine, merged.fetched_at) == ("archive", read.fetched_at)

    def test_a_page_that_holds_the_words_of_the_query_rises(self) -> None:
        one = [result(f"https://a.example/{i}", title="Cooking") for i in range(5)]
        two = [result(f"https://b.example/{i}", title="Tea pots from China" if i == 2 else "Cars") for i in range(5)]
        places = [
            [r.url for r in fuse([one, two], query)].index("https://b.example/2") for query in ("", "chinese tea pots")
        ]
        assert places == [5, 2]

    def test_the_absence_from_a_short_list_means_less_than_that_from_a_full_one(self) -> None:
        full = [result(f"https://full.example/{i}") for i in range(10)]
        same = [result(f"https://same.example/{i}") for i in range(10)]
        short = [result("https://short.example/")]
        merged = [r.url for r in fuse([full, short, same])]
        assert merged[:4] == [f"https://{name}.example/{i}" for i in (0, 1) for name in ("full", "same")]

    def test_equal_places_keep_the_order_of_the_engines(self) -> None:
        merged = fuse([[result("https://a.example/")], [result("https://b.example/")]])
        assert [r.source for r in merged] == ["a.example", "b.example"]


class TestDomains:
    def kept(self, *urls: str, allowed: str = "", blocked: str = "", engine: str = "x") -> list[str]:
        query = SearchQuery("x", allowed_domains=tuple(allowed.split()), blocked_domains=tuple(blocked.split()))
        opaque_links = registry.load(engine)(None).opaque_links if engine in registry.BUILT_IN else ()  # type: ignore[attr-defined]
        return [found.url for found in matching([result(url, engine) for url in urls], query, opaque_links)]

    @pytest.mark.req("T3.2")
    @pytest.mark.parametrize(
        "url",
        [
            "https://baidu.com/", "https://www.baidu.com/x", "https://tieba.baidu.com/p/1", "https://BAIDU.com/",
            "https://baidu.com:8443/", "https://baidu.com./", "https://baid%75.com/", "https://u:p@baidu.com/",
            "https://baidu.com?q", "http://www.baidu.com/link?url=x",
        ],
    )  # fmt: skip
    def test_a_blocked_domain_is_blocked_however_it_is_written(self, url: str) -> None:
        for engine in ("x", "baidu_html"):
            assert not self.kept(url, blocked="baidu.com", engine=engine)
            assert not self.kept(url, allowed="python.org", blocked="baidu.com", engine=engine)
            assert not self.kept(url, allowed="baidu.com", blocked="https://www.Baidu.com:443/", engine=engine)

    @pytest.mark.req("T3.2")
    def test_only_baidu_itself_may_hide_pages(self) -> None:
        link, own = "https://www.baidu.com/link?url=x", "https://www.baidu.com/"
        assert self.kept(link, own, allowed="python.org", engine="baidu_html") == [link]
        assert not self.kept(link, own, allowed="python.org")

    def test_an_allowed_domain_and_what_is_below_it(self) -> None:
        good = ["https://python.org/", "https://docs.python.org:443/3/", "https://Python.ORG./x"]
        bad = [
            "https://notpython.org/", "https://python.org.evil.example/", "https://evil.example/python.org",
            "https://python.org@evil.example/", "https://evil.example\\@python.org/", "https://evil.example#.python.org",
        ]  # fmt: skip
        assert self.kept(*good, *bad, allowed="python.org") == [*good[:2], "https://python.org./x"]

    @pytest.mark.parametrize("name", ["münchen.de", "xn--mnchen-3ya.de", "MÜNCHEN.de."])
    def test_names_in_other_scripts(self, name: str) -> None:
        urls = ["https://www.münchen.de/x", "https://xn--mnchen-3ya.de/x", "https://stadt.M%C3%BCnchen.de/"]
        shown = [
            f"https://{host}" for host in ("www.xn--mnchen-3ya.de/x", "xn--mnchen-3ya.de/x", "stadt.xn--mnchen-3ya.de/")
        ]
        assert self.kept(*urls, allowed=name) == shown and not self.kept(*urls, blocked=name)
