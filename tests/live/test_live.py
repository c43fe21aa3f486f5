"""What workers share in Redis, and what happens while it is away; the same promises hold for one worker alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Any

import pytest

from support.redis import Redis
from support.timing import PATIENCE, eventually, soon
from suyuan.chat.remote_runs import RemoteRun
from suyuan.core.causes.engine import CAPTCHA
from suyuan.core.errors import SuyuanError
from suyuan.core.extras import DirectAnswer, Extras, Infobox
from suyuan.core.foreign_engine import adapted
from suyuan.core.query import SearchQuery
from suyuan.core.result import Attempt, Details, SearchPage, SearchResult
from suyuan.core.secret import Secret
from suyuan.live.live import Live
from suyuan.live.redis_server import LiveAway, RedisServer
from suyuan.live.tries import Tries
from suyuan.search.engine_state import EngineState
from suyuan.search.page_json import dump_page, load_page
from suyuan.search.rate_limit import RateLimiter
from suyuan.search.runner import EngineRunner
from suyuan.search.service import SearchService
from suyuan.search.shared_engine import SharedEngine
from suyuan.store.conversation import Message


@asynccontextmanager
async def workers(redis: Redis, count: int = 2) -> AsyncIterator[list[Live]]:
    """Workers of one product, which nobody else shares."""
    prefix = f"test-{token_hex(4)}"
    made = [Live(Secret(redis.url), f"worker-{number}", prefix) for number in range(count)]
    for each in made:
        each.notifications.start()
    try:
        yield made
    finally:
        for each in made:
            await each.close()


class Counting:
    """An engine that counts how often it is asked; it refuses while ``refusal`` is set."""

    name = "counting"

    def __init__(self, seconds: float = 0.0) -> None:
        self.asked = 0
        self.seconds = seconds
        self.refusal: Callable[[], SuyuanError] | None = None

    async def search(self, query: SearchQuery, num_results: int) -> list[SearchResult]:
        self.asked += 1
        await asyncio.sleep(self.seconds)
        if self.refusal is not None:
            raise self.refusal()
        return [SearchResult(query.text, "https://a.example/", query.text, self.name, 1)]


def runner(engine: Counting, live: Live, per_minute: float | None = None) -> EngineRunner:
    state = EngineState(limiter=RateLimiter(per_minute))
    return EngineRunner(adapted(engine), state=state, shared=SharedEngine(live, engine.name, state))


def service(engine: Counting, live: Live) -> SearchService:
    return SearchService({engine.name: runner(engine, live)}, default=engine.name, shared=live.cache)


class TestEventsOfARun:
    async def test_events_are_read_by_another_worker_as_they_come_and_from_any_number_on(self, redis: Redis) -> None:
        async with workers(redis) as (a, b):
            assert await a.streams.publish("run", [(0, b"zero"), (1, b"one")]) == 2
            assert await b.streams.read("run", -1) == [(0, b"zero"), (1, b"one")]
            waiting = asyncio.create_task(b.streams.read("run", 1, seconds=60))
            await a.streams.publish("run", [(2, b"two")])
            assert await waiting == [(2, b"two")]
            assert await b.streams.read("run", 2) == []

    async def test_an_event_that_is_sent_twice_is_there_once(self, redis: Redis) -> None:
        async with workers(redis, 1) as (a,):
            await a.streams.publish("run", [(0, b"zero"), (1, b"one")])
            assert await a.streams.publish("run", [(0, b"zero"), (1, b"one"), (2, b"two")]) == 3
            assert [number for number, _ in await a.streams.read("run", -1)] == [0, 1, 2]

    async def test_followers_who_come_at_the_same_moment_see_all_events(self, redis: Redis) -> None:
        async def stored(after: int) -> tuple[Message | None, list[tuple[int, dict[str, Any]]]]:
            return Message("run", "c", "assistant", "", "running", "2026-01-01"), []

        async with workers(redis) as (a, b):
            await a.streams.publish("run", [(0, b'{"kind": "text"}'), (1, b'{"kind": "text"}')])
            remote = RemoteRun("run", b.streams, stored)
            assert all(await asyncio.gather(remote.load(), remote.load()))
            await a.streams.publish("run", [(2, b'{"kind": "answer"}')])
            assert [number async for number, _ in remote.follow()] == [0, 1, 2]
            await remote.close()


class TestSearches:
    def test_a_page_comes_back_from_the_cache_as_it_was(self) -> None:
        query = SearchQuery("溯源")
        failed = Attempt("b", "blocked", failure=CAPTCHA(engine="b").failure, notes=("n",), relevance=0.5)
        result = SearchResult("t", "https://a/", "s", "a", 1, also_from=("b",), details=Details(("X",), topics=("y",)))
        extras = Extras((DirectAnswer("42"),), (Infobox("t", facts=(("a", "b"),)),), ("x",), ("y",))
        page = SearchPage(query, (result,), (Attempt("a", "ok", 1, 20), failed), 20, extras=extras)
        assert load_page(dump_page(page), query) == page
        for garbage in (b"", b"[]", b"{}", b"null", b"\xff", b'{"results": 1}'):
            with pytest.raises(ValueError):
                load_page(garbage, query)

    async def test_what_one_worker_found_the_other_need_not_search(self, redis: Redis) -> None:
        async with workers(redis) as (a, b):
            engine = Counting()
            first = await service(engine, a).search("x y z")
            again = await service(engine, b).search("x y z")
            assert engine.asked == 1 and again.cached and not first.cached and again.results == first.results

    async def test_the_same_search_at_the_same_moment_is_made_once_by_all_workers(self, redis: Redis) -> None:
        async with workers(redis) as (a, b):
            engine = Counting(seconds=0.3)
            pages = await asyncio.gather(*(service(engine, each).search("x y z") for each in (a, b, a, b)))
            assert engine.asked == 1 and len({page.results for page in pages}) == 1

    async def test_waiting_for_another_worker_is_part_of_the_time_of_a_search(self, redis: Redis) -> None:
        async with workers(redis) as (a, b):
            slow = Counting(seconds=PATIENCE)
            first = asyncio.create_task(service(slow, a).search("x y z", budget_ms=1000))
            assert await soon(lambda: slow.asked == 1)
            with pytest.raises(SuyuanError) as raised:
                await service(slow, b).search("x y z", budget_ms=1000)
            assert raised.value.attempts[0].latency_ms < 1000
            with pytest.raises(SuyuanError):
                await first

    @pytest.mark.req("P9.2")
    @pytest.mark.parametrize(("most", "burst", "at_once"), [(3, 5, 3), (10, 5, 5), (2, 1, 1)])
    async def test_all_workers_together_send_no_more_in_a_minute_than_one_may(
        self, redis: Redis, most: int, burst: int, at_once: int
    ) -> None:
        async with workers(redis) as (a, b):
            alone = RateLimiter(most, burst)
            waits = [
                await each.limits.take("x", alone.interval, alone.slack, 300.0, alone.most) for each in (a, b) * most
            ]
            together = [round(wait or 0.0) for wait in waits]
            assert together == [round(alone.take()) for _ in waits] and together.count(0) == at_once
            await a.limits.give_back("x", alone.interval)
            alone.give_back()
            assert (
                round(await b.limits.take("x", alone.interval, alone.slack, 300.0, alone.most) or 0.0) == together[-1]
            )

    async def test_the_rate_limit_counts_for_all_workers_together(self, redis: Redis) -> None:
        async with workers(redis) as (a, b):
            engine = Counting()
            asked = [await runner(engine, each, per_minute=60).run(SearchQuery("x"), 0.5) for each in (a, b)]
            assert [reply.attempt.detail_code for reply in asked] == ["", "own_rate_limit"] and engine.asked == 1
            # A turn that was given up can be used by the other.
            queued = asyncio.create_task(runner(engine, a, per_minute=60).run(SearchQuery("x"), 30))
            assert await eventually(lambda: _is_taken(b))
            queued.cancel()
            await asyncio.gather(queued, return_exceptions=True)
            assert (await runner(engine, b, per_minute=60).run(SearchQuery("x"), 30)).results

    async def test_an_engine_that_refuses_one_worker_is_left_alone_by_the_other_and_tried_by_one(
        self, redis: Redis
    ) -> None:
        async with workers(redis) as (a, b):
            engine = Counting(seconds=0.1)
            engine.refusal = lambda: CAPTCHA(engine=engine.name, retry_after=0.5)
            here, there = runner(engine, a), runner(engine, b)
            await here.run(SearchQuery("x"), 5)
            assert await soon(lambda: there.breaker.hard)
            engine.refusal = None
            assert await soon(lambda: not here.breaker.open and not there.breaker.open)
            replies = await asyncio.gather(*(each.run(SearchQuery("x"), 5) for each in (here, there)))
            assert sorted(reply.attempt.detail_code for reply in replies) == ["", "circuit_open"] and engine.asked == 2
            assert await soon(lambda: not here.breaker.hard and not there.breaker.hard)

    async def test_a_worker_that_starts_later_knows_what_the_others_learned(self, redis: Redis) -> None:
        async with workers(redis) as (a, b):
            engine = Counting()
            engine.refusal = lambda: CAPTCHA(engine=engine.name, retry_after=60)
            await runner(engine, a).run(SearchQuery("x"), 5)
            assert await eventually(lambda: _has_breakers(a))
            late = Live(Secret(redis.url), "late", a.server._prefix)
            state = runner(engine, late)
            late.notifications.start()
            assert await soon(lambda: state.open)
            await late.close()


async def _is_taken(live: Live) -> bool:
    wait = await live.limits.take("counting", 1.0, 0.0, 0.0, 60)
    return wait is not None and wait > 1.0


async def _has_breakers(live: Live) -> bool:
    return bool(await live.server.ask(lambda client: client.hlen(live.server.key("breakers"))))


class TestWithoutRedis:
    @pytest.mark.parametrize("fault", ["stopped", "stalled"])
    async def test_searches_go_on_and_what_is_shared_comes_back(self, redis: Redis, fault: str) -> None:
        async with workers(redis) as (a, b):
            engine = Counting()
            with getattr(redis, fault)():
                for text in ("one two", "three four", "five six"):
                    begun = time.monotonic()
                    page = await service(engine, a).search(text)
                    assert page.results
                # Only the first one waits for a server that does not answer.
                assert a.server.away and time.monotonic() - begun < 0.4
                reply = await runner(engine, a, per_minute=60).run(SearchQuery("x"), 5)
                assert reply.results, "the limit of this process holds"
            assert await soon(lambda: not a.server.away)
            asked = engine.asked
            await service(engine, a).search("seven eight")
            assert await eventually(lambda: _seen(b))
            await service(engine, b).search("seven eight")
            assert engine.asked == asked + 1

    async def test_a_server_that_takes_nothing_new_is_away(self, redis: Redis) -> None:
        async with workers(redis, 1) as (a,):
            engine = Counting()
            await a.streams.publish("run", [(0, b"zero")])
            with redis.full():
                assert (await service(engine, a).search("one two")).results
                assert await soon(lambda: not a.server.away)
                with pytest.raises(LiveAway):
                    await a.streams.publish("run", [(1, b"one")])
                assert (await a.tries.count("a", 60))[0] == 1
            assert await eventually(lambda: _seen(a))
            assert await a.streams.publish("run", [(1, b"one")]) == 2

    async def test_messages_are_heard_again_after_it_was_away(self, redis: Redis) -> None:
        async with workers(redis) as (a, b):
            heard: list[Any] = []

            async def note(message: Any) -> None:
                heard.append(message["run"])

            b.notifications.on("stop", note)

            async def told() -> bool:
                await a.notifications.send("stop", run="x")
                await asyncio.sleep(0.05)
                return bool(heard)

            assert await eventually(told)
            with redis.stopped():
                assert not await a.notifications.send("stop", run="lost")
            heard.clear()
            assert await eventually(told)

    async def test_garbage_in_redis_is_no_failure(self, redis: Redis) -> None:
        async with workers(redis) as (a, b):
            engine = Counting()
            await service(engine, a).search("x y z")
            client = a.server.client()
            for key in await client.keys(f"{a.server._prefix}:cache:*"):
                await client.set(key, b"\xff garbage")
            await client.hset(a.server.key("breakers"), engine.name, b"garbage")
            await client.publish(a.server.key("nudges"), b"garbage")
            await client.set(a.server.key("rate", engine.name), b"garbage")
            assert (await service(engine, b).search("x y z")).results

    async def test_another_program_on_that_port_is_no_failure(self, tmp_path: Any) -> None:
        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        server = await asyncio.start_unix_server(talk, tmp_path / "s")
        async with server:
            other = RedisServer(Secret(f"unix://{tmp_path}/s"))
            with pytest.raises(LiveAway):
                await other.ask(lambda client: client.ping())
            await other.close()


async def _seen(live: Live) -> bool:
    return not live.server.away and await live.server.attempt(lambda client: client.ping()) is not None


@pytest.fixture(params=["memory", "redis"])
async def tries(request: pytest.FixtureRequest) -> AsyncIterator[Tries]:
    if request.param == "memory":
        yield Tries()
        return
    async with workers(request.getfixturevalue("redis"), 1) as (live,):
        yield live.tries


class TestTries:
    async def test_they_are_counted_until_they_are_forgotten(self, tries: Tries) -> None:
        assert [(await tries.count("a", 60))[0] for _ in range(4)] == [1, 2, 3, 4]
        number, left = await tries.count("a", 60, -1)
        assert number == 3 and 50 < left <= 60 and (await tries.count("b", 60))[0] == 1
        await tries.forget("a")
        assert (await tries.count("a", 0.05))[0] == 1
        await asyncio.sleep(0.1)
        assert (await tries.count("a", 60))[0] == 1

    async def test_all_workers_count_together(self, redis: Redis) -> None:
        async with workers(redis) as (a, b):
            assert [(await each.tries.count("a", 60))[0] for each in (a, b, a)] == [1, 2, 3]
            with redis.stopped():
                assert (await a.tries.count("a", 60))[0] == 3, "what this process saw itself still counts"


async def test_its_address_says_how_long_a_command_may_take(redis: Redis) -> None:
    async def took(address: str) -> float:
        server = RedisServer(Secret(address))
        begun = asyncio.get_running_loop().time()
        with pytest.raises(LiveAway):
            await server.ask(lambda client: client.ping())
        await server.close()
        return asyncio.get_running_loop().time() - begun

    server = RedisServer(Secret(redis.patient_url))
    assert await server.ask(lambda client: client.ping())
    await server.close()
    with redis.stalled():
        assert await took(redis.url + "?socket_timeout=1&db=0") >= 1


@pytest.mark.parametrize("answer", [b"\x00\xff garbage \r\n" * 20, b"$100\r\nhalf", b"", b"-LOADING it is\r\n"])
async def test_a_server_that_answers_nonsense_is_away(answer: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        server = RedisServer(Secret(f"redis://127.0.0.1:{listening.sockets[0].getsockname()[1]}/0"))
        with pytest.raises(LiveAway):
            await server.ask(lambda client: client.ping())
        assert server.away
        await server.close()


def test_bad_addresses_have_a_cause() -> None:
    seconds = ("soon", "0", "-1", "nan", "1e9")
    for url in (
        "http://x",
        "localhost:6379",
        "postgresql://x",
        *(f"redis://x?socket_timeout={each}" for each in seconds),
    ):
        with pytest.raises(SuyuanError) as caught:
            RedisServer(Secret(url))
        assert caught.value.detail_code == "live_bad_address"
