"""One engine and its limits: what counts as its time, and what a slow or failed health check means."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from urllib.parse import quote

import pytest

from doctor.fake_servers import searxng
from support.client import client
from support.site import Seen, reply, serve, stall
from support.timing import PATIENCE
from suyuan.core.errors import WebBlocked
from suyuan.core.foreign_engine import adapted
from suyuan.core.query import QueryText, SearchQuery
from suyuan.core.result import SearchResult
from suyuan.search.rate_limit import RateLimiter
from suyuan.search.runner import EngineRunner


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Kettle:
    """An engine that answers after a quarter of a second of ``clock``."""

    name = "kettle"

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def search(self, query: SearchQuery, num_results: int) -> Sequence[SearchResult]:
        self._clock.now += 0.25
        return [SearchResult("Tea", "https://tea.example/", engine=self.name)]


async def test_loading_the_network_client_is_not_the_time_of_the_engine() -> None:
    clock = Clock()

    def load() -> None:
        clock.now += 4.0

    runner = EngineRunner(adapted(Kettle(clock)), clock=clock, prepare=load)
    reply = await runner.run(SearchQuery("tea"), 1.0)
    assert (reply.attempt.outcome, reply.attempt.latency_ms) == ("ok", 250)


async def test_waiting_for_the_own_rate_limit_is_not_the_time_of_the_engine() -> None:
    clock = Clock()

    class Waiting(RateLimiter):
        def take(self) -> float:
            clock.now += 3.0
            return 0.001

    runner = EngineRunner(adapted(Kettle(clock)), clock=clock)
    runner.state.limiter = Waiting(60)
    reply = await runner.run(SearchQuery("tea"), 10.0)
    assert (reply.attempt.outcome, reply.attempt.latency_ms) == ("ok", 250)


async def test_an_instance_that_was_healthy_lately_is_busy_when_it_is_slow() -> None:
    healthy = True
    usual, hanging = searxng(), searxng({"healthz": stall})

    def handle(seen: Seen) -> object:
        return (usual if healthy else hanging)(seen)

    async with serve(handle) as site, client({"searxng": site.url}) as searching:  # type: ignore[arg-type]
        runner = searching.engines["searxng"]
        assert await runner.check_health() is None
        healthy = False
        assert await runner.check_health(0.05) is None
        page = await searching.search_service.search("some words")
        assert page.engine == "searxng"
        runner.state.healthy = float("-inf")
        problem = await runner.check_health(0.05)
        assert problem is not None and problem.detail_code == "engine_timeout"
        assert "busy" in problem.message and "suyuan searxng check" in problem.hint


async def test_a_failed_health_check_names_the_cause_that_the_doctor_names() -> None:
    async with serve(searxng(prefix="/sx")) as site, client({"searxng": site.url}) as searching:
        problem = await searching.engines["searxng"].check_health(60.0)
    assert problem is not None and problem.detail_code == "searxng_wrong_path"
    async with serve(lambda _: reply("", 401)) as site, client({"searxng": site.url}) as searching:
        problem = await searching.engines["searxng"].check_health(60.0)
    assert problem is not None and problem.detail_code == "searxng_login"


class ByTheDocument:
    """An engine as somebody writes it who knows only its interface: a text and a number in, results out."""

    name = "bythedocument"

    def __init__(self) -> None:
        self.asked: list[object] = []

    def search(self, query: str, num_results: int) -> list[SearchResult]:
        url = f"https://x.example/?q={quote(query)}&n={num_results}"
        self.asked.append(threading.current_thread())
        return [SearchResult(query.upper() + " " + "-".join(query.split()), url, "", self.name)]


class AwaitableByTheDocument(ByTheDocument):
    """The same, asynchronous."""

    async def search(self, query: str, num_results: int) -> list[SearchResult]:  # type: ignore[override]
        return super().search(query, num_results)


@pytest.mark.req("G4.1", "G4.2")
@pytest.mark.parametrize("kind", [ByTheDocument, AwaitableByTheDocument])
async def test_an_engine_gets_a_text_and_may_be_synchronous(kind: type[ByTheDocument]) -> None:
    engine = kind()
    reply = await EngineRunner(adapted(engine)).run(SearchQuery("茶 tea", count=3), 10)
    assert reply.error is None and reply.results is not None
    [found] = reply.results.results
    assert found.title == "茶 TEA 茶-tea" and found.url == f"https://x.example/?q={quote('茶 tea')}&n=3"
    assert (engine.asked[0] is threading.main_thread()) is (kind is AwaitableByTheDocument), "the event loop goes on"


@pytest.mark.req("T1.2", "C7.2")
async def test_what_is_no_page_of_an_engine_from_elsewhere_is_dropped_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    urls = ("ftp://x.example/a", "https://x.example/1", "javascript:alert(1)", "", "http://x.example/2")

    class Mixed(ByTheDocument):
        def search(self, query: str, num_results: int) -> list[SearchResult]:
            return [SearchResult("Tea", url, "", self.name) for url in urls]

    reply = await EngineRunner(adapted(Mixed())).run(SearchQuery("tea"), 10)
    assert reply.results is not None
    assert [result.url for result in reply.results.results] == ["https://x.example/1", "http://x.example/2"]
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 3 and "ftp://x.example/a" in warnings[0]


@pytest.mark.req("G4.1")
async def test_a_synchronous_engine_that_fails_or_is_slow_is_a_failure_with_its_cause() -> None:
    release = threading.Event()

    class Slow(ByTheDocument):
        def search(self, query: str, num_results: int) -> list[SearchResult]:
            release.wait(PATIENCE)
            return []

    class Wrong(ByTheDocument):
        def search(self, query: str, num_results: int) -> list[SearchResult]:
            raise WebBlocked("no", hint="ask later")

    try:
        assert (await EngineRunner(adapted(Slow())).run(SearchQuery("tea"), 0.2)).attempt.outcome == "timeout"
        assert (await EngineRunner(adapted(Wrong())).run(SearchQuery("tea"), 5)).attempt.outcome == "blocked"
    finally:
        release.set()


def test_the_text_of_a_query_is_a_text_with_the_fields_of_the_query() -> None:
    query = SearchQuery("tea pot", lang="de", count=4)
    text = QueryText(query)
    assert text == "tea pot" and isinstance(text, str) and text.text == "tea pot" and text.lang == "de"
    assert SearchQuery.of(text, {}) is query and pickle.loads(pickle.dumps(text)).lang == "de"
    with pytest.raises(AttributeError):
        _ = text.nothing
