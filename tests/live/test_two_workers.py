"""Two workers, each a process of its own, on one PostgreSQL and one Redis: it must not matter which one is asked."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from live.workers import Worker
from server.serving import Client, client
from support.oai import EngineReply, ModelServer, Step, hold, reply, serve_model
from support.postgres import Postgres
from support.processes import children
from support.redis import Redis
from support.timing import PATIENCE, eventually, until


@dataclass
class Pair:
    """Two workers, the model that they ask, and the events that its answers wait for."""

    a: Worker
    b: Worker
    waiting: dict[str, threading.Event]

    @asynccontextmanager
    async def talking(self) -> AsyncIterator[tuple[Client, Client]]:
        async with client(self.a.url) as a, client(self.b.url) as b, asyncio.timeout(PATIENCE):
            yield a, b

    @contextmanager
    def held(self, name: str) -> Iterator[threading.Event]:
        """Answers to questions with this word wait in the middle until the event is set."""
        self.waiting[name] = threading.Event()
        try:
            yield self.waiting[name]
        finally:
            self.waiting.pop(name).set()


@pytest.fixture(scope="module")
def pair(server: Postgres, redis: Redis, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    waiting: dict[str, threading.Event] = {}

    def script(asked: EngineReply) -> list[Step]:
        question = str(asked.messages[-1]["content"])
        held = next((event for name, event in list(waiting.items()) if name in question), None)
        return [reply("first part, "), hold(held), reply("second part.")] if held else [reply("a short answer.")]

    with serve_model([script]) as model:
        environ = _environ(tmp_path_factory.mktemp("workers"), server.fresh(), redis.patient_url, model)
        both = Worker(environ), Worker(environ)
        try:
            for each in both:
                each.start()
            yield Pair(*both, waiting)
        finally:
            for event in list(waiting.values()):
                event.set()
            for each in both:
                each.end()


def _environ(home: Path, store: str, redis: str, model: ModelServer) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "VIRTUAL_ENV", "PYTHONPATH")}
    return kept | {
        "HOME": str(home), "LANG": "C.UTF-8", "SUYUAN_STORE_URL": store, "SUYUAN_REDIS_URL": redis,
        "SUYUAN_MODEL": "test", "SUYUAN_MODEL_BASE_URL": model.url, "SUYUAN_MODEL_API_KEY": "k",
    }  # fmt: skip


async def begun(ask: Client, name: str) -> tuple[str, str]:
    """A conversation and an answer in it that has written its first part."""
    id = await ask.conversation(search=False)
    run = await ask.ask(id, f"a question that is {name}")
    async for _, kind, _ in ask.events(f"/api/runs/{run}/events"):
        if kind == "text":
            break
    return id, run


async def state(ask: Client, id: str) -> str:
    _, found = await ask("GET", f"/api/conversations/{id}/messages")
    return str(found["messages"][-1]["state"])


async def test_an_answer_of_one_worker_is_followed_at_the_other_event_by_event(pair: Pair) -> None:
    with pair.held("followed") as go_on:
        async with pair.talking() as (a, b):
            id, run = await begun(a, "followed")
            here = asyncio.create_task(a.all_events(f"/api/runs/{run}/events"))
            seen, there = asyncio.Event(), []

            async def follow() -> None:
                async for event in b.events(f"/api/runs/{run}/events"):
                    there.append(event)
                    if event[1] == "text":
                        seen.set()

            following = asyncio.create_task(follow())
            # What was written is there before the end is.
            await seen.wait()
            assert (await b("GET", f"/api/conversations/{id}"))[1]["running"] == run
            assert (await b("POST", f"/api/conversations/{id}/messages", {"text": "another"}))[0] == 409
            go_on.set()
            await following
            assert there == await here and there[-1][1] == "answer" and "second part" in there[-1][2]["text"]
            assert len({number for number, _, _ in there}) == len(there)
            # Continued after any event, and from the store when all is over.
            _, kind, data = (await b.all_events(f"/api/runs/{run}/events", Last_Event_ID=there[-2][0]))[-1]
            assert kind == "answer" and data["text"] == there[-1][2]["text"]
            assert await state(b, id) == "done" and (await b("GET", f"/api/conversations/{id}"))[1]["running"] is None


async def test_the_page_of_one_worker_shows_the_answer_of_the_other(pair: Pair) -> None:
    with pair.held("shown") as go_on:
        async with pair.talking() as (a, b):
            id, run = await begun(a, "shown")
            assert run in (await b("GET", f"/c/{id}"))[1]
            names = []
            async for _, name, data in b.events(f"/stream/{run}"):
                names.append(name)
                if "first part" in str(data):
                    go_on.set()
            assert names[0] == "snapshot" and names[-1] == "answer" and "second part" in str(data)


async def test_the_settings_say_where_conversations_are(pair: Pair) -> None:
    async with pair.talking() as (a, _):
        assert "kept by this server in: PostgreSQL" in (await a("GET", "/settings"))[1]


async def test_stopping_at_one_worker_stops_the_answer_of_the_other(pair: Pair) -> None:
    with pair.held("stopped"):
        async with pair.talking() as (a, b):
            id, run = await begun(a, "stopped")
            changes = b.events(f"/api/conversations/{id}/changes")
            assert (await anext(changes))[2]["run"] == run
            assert (await b("POST", f"/api/runs/{run}/stop"))[1] == {"run": run, "stopped": True}
            answer = await b.answer(run)
            assert answer["stopped"] and answer["text"].startswith("first part")
            assert await state(a, id) == await state(b, id) == "stopped"
            assert (await anext(changes))[2]["kind"] == "run.finished"
            await changes.aclose()  # type: ignore[attr-defined]
            assert (await b("POST", f"/api/runs/{run}/stop"))[1]["stopped"] is False


@pytest.mark.parametrize("fault", ["stopped", "stalled"])
async def test_without_redis_answers_go_on_and_are_stopped_and_followed(pair: Pair, redis: Redis, fault: str) -> None:
    with pair.held(f"{fault} Redis 1") as go_on, pair.held(f"{fault} Redis 2"):
        async with pair.talking() as (a, b):
            (_, first), (id, second) = await begun(a, f"{fault} Redis 1"), await begun(a, f"{fault} Redis 2")
            following = asyncio.create_task(b.answer(first))
            with getattr(redis, fault)():
                go_on.set()
                # The end of the one is in the store, and so is the wish to stop the other.
                assert "second part" in (await following)["text"]
                assert (await b("POST", f"/api/runs/{second}/stop"))[1]["stopped"]
                assert (await b.answer(second))["stopped"] and await state(b, id) == "stopped"
                assert (await b.answer(await b.ask(id, "one more")))["text"] == "a short answer."

    async with pair.talking() as (a, b):

        async def followed() -> bool:
            with pair.held("afterwards") as go_on:
                _, run = await begun(a, "afterwards")
                async for _, kind, _ in b.events(f"/api/runs/{run}/events"):
                    if kind == "text":
                        return True
                    go_on.set()
                return False

        assert await eventually(followed), "both workers find Redis again"


@pytest.mark.parametrize("fault", ["stopped", "stalled"])
async def test_without_postgresql_answers_go_on_and_are_kept_when_it_is_back(
    pair: Pair, server: Postgres, fault: str
) -> None:
    name = f"database {fault}"
    with pair.held(name) as go_on:
        async with pair.talking() as (a, b):
            id, run = await begun(a, name)
            with getattr(server, fault)():
                following = asyncio.create_task(a.answer(run))
                go_on.set()
                answer = await following
                assert answer["unsaved"] and "second part" in answer["text"]
                assert (await a("GET", "/healthz"))[0] == 200
                status, problem = await b("GET", f"/api/conversations/{id}")
                assert status == 503 and problem["error"]["code"] == "StoreError", problem

            async def kept() -> bool:
                status, found = await b("GET", f"/api/conversations/{id}/messages")
                return status == 200 and found["messages"][-1]["text"].endswith("second part.")

            assert await eventually(kept)
            assert await state(a, id) == "done"


async def test_the_answer_of_a_killed_worker_is_marked_once_and_the_conversation_goes_on(pair: Pair) -> None:
    with pair.held("killed"):
        async with pair.talking() as (a, b):
            id, run = await begun(a, "killed")

            async def text_kept() -> bool:
                return "first part" in str((await b("GET", f"/api/conversations/{id}/messages"))[1])

            assert await eventually(text_kept)
            following = asyncio.create_task(b.all_events(f"/api/runs/{run}/events"))
            pair.a.end(signal.SIGKILL)
            _, kind, data = (await following)[-1]
            assert kind == "interrupted" and data["text"].startswith("first part")
            assert await state(b, id) == "interrupted"
            assert (await b.answer(await b.ask(id, "again")))["text"] == "a short answer."
            _, page = await b("GET", f"/stream/{run}")
            assert "first part" in page
        pair.a.start()
        async with pair.talking() as (a, _):
            assert await state(a, id) == "done"


async def test_workers_on_one_machine_share_one_address(server: Postgres, redis: Redis, tmp_path: Path) -> None:
    with serve_model([[reply("an answer.")]]) as model:
        group = Worker(_environ(tmp_path, server.fresh(), redis.patient_url, model) | {"SUYUAN_WORKERS": "2"})
        group.start()
        try:
            assert group.process is not None
            workers = children(group.process.pid)
            assert len(workers) == 2
            async with client(group.url) as ask, asyncio.timeout(PATIENCE):
                id = await ask.conversation(search=False)
                assert (await ask("GET", f"/api/conversations/{id}"))[0] == 200
        finally:
            group.end()
        assert until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
