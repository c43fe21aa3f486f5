"""Research jobs on two workers: one that is killed or cut off loses its jobs to the other, and nothing is paid twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("langchain", reason="the optional extra suyuan[chat] is not installed")

from live.workers import Worker
from server.serving import Client, client
from support.oai import EngineReply, Step, hold, reply, serve_model
from support.postgres import Postgres
from support.redis import Redis
from support.timing import PATIENCE, eventually
from suyuan.demo.web import DemoWeb
from suyuan.store.process_owner import LEASE_SECONDS
from suyuan.store.research import JobTaken, ResearchStore

QUESTION = "How tall is the Gull Point Lighthouse?"
PLAN = json.dumps({"sub_questions": [{"question": QUESTION, "queries": ["Gull Point Lighthouse height"]}]})


@dataclass
class Team:
    """Two workers on one store, their web and their model, which waits before it writes."""

    workers: tuple[Worker, Worker]
    store: ResearchStore
    web: DemoWeb
    asked: list[str] = field(default_factory=list)
    go_on: threading.Event = field(default_factory=threading.Event)

    def write(self, request: EngineReply) -> list[Step]:
        planning = "JSON" in request.text
        self.asked.append("plan" if planning else "section")
        return [reply(PLAN)] if planning else [hold(self.go_on), reply("No sentence without a source.")]

    async def begun(self, ask: Client) -> tuple[str, Worker, Worker]:
        """A job that is being written now, its worker, and the other one."""
        self.go_on.clear()
        self.asked.clear()
        self.web.requests.clear()
        _, job = await ask("POST", "/api/research", {"question": QUESTION, "depth": "quick"})

        async def is_written() -> bool:
            return "section" in self.asked

        assert await eventually(is_written)
        owner = (await asyncio.to_thread(self.store.get, job["id"])).owner
        mine = [str(each.process and each.process.pid) in str(owner).split("|") for each in self.workers]
        assert mine.count(True) == 1
        at = mine.index(True)
        return job["id"], self.workers[at], self.workers[1 - at]

    @asynccontextmanager
    async def talking(self, to: Worker) -> AsyncIterator[Client]:
        async with client(to.url) as ask, asyncio.timeout(PATIENCE):
            yield ask

    async def ended(self, ask: Client, id: str) -> tuple[dict[str, Any], list[tuple[str, str, Any]]]:
        events = await ask.all_events(f"/api/research/{id}/events")
        return (await ask("GET", f"/api/research/{id}"))[1], events

    def pages(self) -> list[str]:
        return [each for each in self.web.requests if "robots.txt" not in each]


@pytest.fixture(scope="module")
def team(server: Postgres, redis: Redis, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    address = server.fresh()
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "VIRTUAL_ENV", "PYTHONPATH")}
    folder = tmp_path_factory.mktemp("team")
    with DemoWeb() as web, serve_model([lambda asked: both.write(asked)]) as model:
        given = {"web": web.port, "model": model.url, "store": address, "redis": redis.url, "folder": str(folder)}
        command = (str(Path(__file__).with_name("research_worker.py")), json.dumps(given))
        environ = kept | {"HOME": str(folder), "LANG": "C.UTF-8"}
        both = Team((Worker(environ, command), Worker(environ, command)), ResearchStore(address), web)
        try:
            for each in both.workers:
                each.start()
            yield both
        finally:
            both.go_on.set()
            for each in both.workers:
                each.end()
            both.store.close()


@pytest.mark.req("T8.1")
async def test_a_job_of_a_killed_worker_is_finished_by_the_other_without_repeating_a_step(team: Team) -> None:
    async with team.talking(team.workers[0]) as first:
        id, worker, other = await team.begun(first)
    pages = sorted(team.pages())
    async with team.talking(other) as ask:
        following = asyncio.create_task(team.ended(ask, id))
        worker.end(signal.SIGKILL)

        async def is_taken() -> bool:
            return team.asked.count("section") == 2

        assert await eventually(is_taken), "the call that was under way is made again, by the other"
        team.go_on.set()
        job, events = await following
        assert job["state"] == "done" and "41 metres" in job["report"] + str(job["ledger"])
        numbers = [int(number) for number, _, _ in events if number]
        assert numbers == list(range(len(numbers))), "one who follows elsewhere sees each step once"
    assert team.asked == ["plan", *["section"] * 3], "the plan was paid for once; the last is a correction"
    assert sorted(team.pages()) == pages and pages, "nothing was searched or read again"
    worker.start()


async def test_a_job_is_followed_and_stopped_at_the_other_worker_and_outlives_the_database(
    team: Team, server: Postgres
) -> None:
    async with team.talking(team.workers[1]) as first:
        id, _, other = await team.begun(first)
    async with team.talking(other) as ask:
        shown = asyncio.Event()

        async def follow() -> None:
            async for _, kind, data in ask.events(f"/api/research/{id}/events"):
                if kind == "progress" and data["read"]:
                    shown.set()

        following = asyncio.create_task(follow())
        await shown.wait()
        following.cancel()
        with server.stopped():
            # What the model writes now cannot be stored yet.
            team.go_on.set()
            status, problem = await ask("GET", f"/api/research/{id}")
            assert status == 503 and problem["error"]["code"] == "StoreError", problem
        job, _ = await team.ended(ask, id)
        assert job["state"] == "done" and team.asked == ["plan", "section", "section"], "all was kept"

    async with team.talking(team.workers[0]) as first:
        id, _, other = await team.begun(first)
    async with team.talking(other) as ask:
        assert (await ask("POST", f"/api/research/{id}/stop"))[1]["stopping"] is True

        async def is_stopped() -> bool:
            job = await asyncio.to_thread(team.store.get, id)
            return bool(job.progress and job.stopping)

        assert await eventually(is_stopped)
        team.go_on.set()
        job, _ = await team.ended(ask, id)
        assert job["state"] == "cancelled" and job["report"]


async def test_a_worker_that_ends_hands_its_jobs_over(team: Team) -> None:
    async with team.talking(team.workers[0]) as first:
        id, worker, other = await team.begun(first)
    worker.end(signal.SIGTERM)
    async with team.talking(other) as ask:
        team.go_on.set()
        job, _ = await team.ended(ask, id)
        assert job["state"] == "done" and team.asked.count("plan") == 1
    worker.start()


# --- the rows ---------------------------------------------------------------------------------------------------------
def opened(address: str, name: str, clock: list[float]) -> ResearchStore:
    store = ResearchStore(address, clock=lambda: clock[0])
    store._owner = f"{name}|boot|1|1"
    return store


def test_a_silent_worker_loses_its_job_once_and_can_write_no_more(server: Postgres) -> None:
    address, clock = server.fresh(), [1_000_000.0]
    a, b, c = (opened(address, name, clock) for name in "abc")
    id = a.create("q", {}).id
    assert a.claim(id, "running") and not b.claim(id, "running")
    clock[0] += LEASE_SECONDS - 1
    assert not a.beat(id) and b.sweep() == 0
    clock[0] += LEASE_SECONDS + 1
    assert [b.sweep(), c.sweep()] == [1, 0] and b.waiting() == id
    assert [c.claim(id, "running"), b.claim(id, "running")] == [True, False]
    for work in (
        lambda: a.beat(id),
        lambda: a.keep(id, [("late", "page", {})], own=True),
        lambda: a.change(id, state="done", own=True),
    ):
        with pytest.raises(JobTaken):
            work()
    a.release(id)
    assert c.get(id).state == "running" and not c.steps(id)
    c.change(id, state="done", own=True)
    assert c.get(id).owner is None
    for store in (a, b, c):
        store.close()


def test_people_take_turns(server: Postgres) -> None:
    clock = [1.0]
    store = opened(server.fresh(), "a", clock)
    ids = []
    for person in ("anna", "anna", "anna", "ben"):
        clock[0] += 1
        ids.append(store.create("q", {}, person).id)
    turns = []
    while id := store.waiting():
        assert store.claim(id, "running")
        turns.append(id)
    assert turns == [ids[0], ids[3], ids[1], ids[2]]
    store.close()
