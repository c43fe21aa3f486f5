"""One engine and its limits: what counts as its time, and what a slow or failed health check means."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.fake_servers import searxng
from support.client import client
from support.site import Seen, reply, serve, stall
from suyuan.core.query import SearchQuery
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

    runner = EngineRunner(Kettle(clock), clock=clock, prepare=load)
    reply = await runner.run(SearchQuery("tea"), 1.0)
    assert (reply.attempt.outcome, reply.attempt.latency_ms) == ("ok", 250)


async def test_waiting_for_the_own_rate_limit_is_not_the_time_of_the_engine() -> None:
    clock = Clock()

    class Waiting(RateLimiter):
        def take(self) -> float:
            clock.now += 3.0
            return 0.001

    runner = EngineRunner(Kettle(clock), clock=clock)
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
