"""A quota counts what was used, and whatever uses it stops there: jobs, answers, interfaces of others, many at once."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("argon2", reason="the optional extra suyuan[team] is not installed")

from server.serving import Client, serving, settings_of
from server.test_accounts import PASSWORD, Team
from support.oai import ModelServer, error, hold, reply, serve_model, tool_call, usage
from support.site import Reply, Seen, Site, json_reply, serve
from support.site import reply as page_reply
from support.talk import openai
from support.timing import PATIENCE, eventually, soon
from suyuan.config.settings import PeopleSettings, Settings
from suyuan.store.accounts import add_account
from suyuan.store.conversations import Store
from suyuan.store.people import People

QUESTION = "When was the harbour of Arvika built, who built it, how deep is it, and what was the mill for?"


@asynccontextmanager
async def site_of_arvika() -> AsyncIterator[Site]:
    """A search engine that finds another page for every query, and the pages."""
    here: Site

    def answer(seen: Seen) -> Reply:
        if seen.path == "/healthz":
            return json_reply("OK")
        if seen.path != "/search":
            return page_reply(
                f"<title>Page</title><p>The harbour of Arvika was built in 1811. {'By a lake. ' * 20}</p>"
            )
        url = f"{here.url}/page/{seen.params['q']}".replace(" ", "-")
        found = {
            "title": "Harbour of Arvika",
            "url": url,
            "content": "The harbour of Arvika was built in 1811.",
            "engine": "x",
        }
        return json_reply(json.dumps({"query": "q", "results": [found], "unresponsive_engines": []}))

    async with serve(answer) as here:
        yield here


def searches(site: Site) -> int:
    return sum(seen.path == "/search" for seen in site.seen)


def settings_at(site: Site, data: Path, model: ModelServer | None = None) -> Settings:
    base = settings_of(site.url, data=data, model=openai(model.url) if model else None)
    pages = replace(base.pages, allow_networks=("127.0.0.0/8",))
    return replace(base, pages=pages, people=PeopleSettings(price_input=1.0, price_output=2.0))


@asynccontextmanager
async def bob(
    site: Site, data: Path, model: ModelServer | None = None, **quotas: float
) -> AsyncIterator[tuple[Client, Team]]:
    """A client of bob, whose quotas these are; what the server itself asks at its start is over, and not seen."""
    settings = settings_at(site, data, model)
    with serving(settings, users=True) as served:
        people = served.app.state.client.chat.store.people
        if people.by_name("bob") is None:
            for name in ("anna", "bob"):
                add_account(people, name, PASSWORD)
        if quotas:
            people.change(people.named("bob").id, quotas=quotas)
        team = Team(served, people, data)
        assert await soon(lambda: not served.app.state.health._tasks)
        site.seen.clear()
        async with team.as_("bob") as ask, asyncio.timeout(4 * PATIENCE):
            yield ask, team


async def used(ask: Client) -> dict[str, float]:
    found: dict[str, float] = (await ask("GET", "/api/me"))[1]["used"]
    return found


async def ended(ask: Client, id: str) -> dict[str, Any]:
    """A job when it has ended."""
    job: dict[str, Any] = {}

    async def over() -> bool:
        job.update((await ask("GET", f"/api/research/{id}"))[1])
        return job["state"] in ("done", "failed", "cancelled")

    assert await eventually(over, 2 * PATIENCE)
    return job


async def test_a_job_stops_at_the_searches_of_its_person_and_says_so(tmp_path: Path) -> None:
    async with site_of_arvika() as site:
        async with bob(site, tmp_path, searches=3) as (ask, team):
            _, planned = await ask("POST", "/api/research", {"question": QUESTION, "wait_for_plan": True})
            _, job = await ask("POST", "/api/research", {"question": QUESTION, "depth": "deep"})
            done = await ended(ask, job["id"])
            assert done["state"] == "done" and searches(site) == 3 == (await used(ask))["searches"]
            assert "quota" in done["budget"]["reached"] and "the quota of the day" in done["report"]
            assert "1811" in done["report"], "what was found is told"

            async def refused(ask: Client) -> None:
                for way, body in (("start", {}), ("resume", {}), ("verify", None)):
                    id = job["id"] if way == "verify" else planned["id"]
                    status, problem = await ask("POST", f"/api/research/{id}/{way}", body)
                    assert status == 429 and problem["error"]["detail_code"] == "person_quota_spent", (way, problem)
                assert (await ask("POST", "/api/research", {"question": QUESTION}))[0] == 429

            await refused(ask)
            assert searches(site) == 3
            async with team.as_("anna") as anna:
                assert (await anna("POST", "/api/search", {"query": "x"}))[0] == 200, "each has an own quota"
        # Another worker, or the same after a restart, knows it.
        async with bob(site, tmp_path) as (ask, _):
            await refused(ask)


async def test_a_job_stops_at_the_tokens_of_its_person(tmp_path: Path) -> None:
    with serve_model([[reply("The harbour was built in 1811 [1]."), usage(40, 10)]]) as model:
        async with site_of_arvika() as site, bob(site, tmp_path, model, tokens=100) as (ask, _):
            _, job = await ask("POST", "/api/research", {"question": QUESTION})
            done = await ended(ask, job["id"])
            mine = await used(ask)
            assert len(model.requests) == 2 and mine["tokens"] == 100 and mine["money"] == pytest.approx(120 / 1e6)
            assert (
                done["state"] == "done"
                and "quota" in done["budget"]["reached"]
                and "the quota of the day" in done["report"]
            )
            assert (await ask("POST", f"/api/research/{job['id']}/verify"))[0] == 429


async def test_an_answer_stops_at_the_searches_of_its_person(tmp_path: Path) -> None:
    calls = [[tool_call("web_search", {"query": f"harbour of Arvika {n}"}), usage(10, 5)] for n in range(5)]
    with serve_model([*calls, [reply("It was built in 1811 [1]."), usage(10, 5)]]) as model:
        async with site_of_arvika() as site, bob(site, tmp_path, model, searches=2) as (ask, _):
            said = [{"role": "user", "content": QUESTION}]
            status, answer = await ask("POST", "/v1/chat/completions", {"model": "suyuan-agent", "messages": said})
            assert status == 200 and "1811" in answer["choices"][0]["message"]["content"]
            mine = await used(ask)
            assert searches(site) == 2 == mine["searches"] and mine["tokens"] == 15 * len(model.requests)


async def test_an_answer_asks_its_model_no_more_than_the_tokens_allow(tmp_path: Path) -> None:
    calls = [[tool_call("web_search", {"query": f"harbour of Arvika {n}"}), usage(40, 10)] for n in range(5)]
    with serve_model([*calls, [reply("Done.")]]) as model:
        async with site_of_arvika() as site, bob(site, tmp_path, model, tokens=100) as (ask, _):
            id = await ask.conversation(mode="agent")
            answer = await ask.answer(await ask.ask(id, QUESTION))
            assert answer["failure"]["detail_code"] == "person_quota_spent" and answer["sources"], (
                "what was found is kept"
            )
            assert len(model.requests) == 2 and (await used(ask))["tokens"] == 100


@pytest.mark.parametrize("quota", ["tokens", "money"])
@pytest.mark.parametrize(("left", "most"), [(1, 1), (1500, 3)])
async def test_many_answers_at_once_use_no_more_than_fits(tmp_path: Path, quota: str, left: int, most: int) -> None:
    """However many begin together, only those for which there is something left ask the model."""
    go_on = threading.Event()
    with serve_model([[hold(go_on), reply("An answer."), usage(40, 10)]]) as model:
        async with site_of_arvika() as site, bob(site, tmp_path, model) as (ask, team):
            bobs = team.people.named("bob").id
            price = 2 / 1e6 if quota == "money" else 1
            team.people.change(bobs, quotas={quota: left * price})
            wish = {"model": "suyuan", "input": "What is it?", "tool_choice": "none"}
            asked = [asyncio.create_task(ask("POST", "/v1/responses", wish)) for _ in range(24)]
            # Those for which nothing is left are refused while the others still wait for the model.
            refused = await soon(lambda: sum(each.done() for each in asked) >= 24 - most)
            go_on.set()
            statuses = [status for status, _ in await asyncio.gather(*asked)]
            ran = len(model.requests)
            assert refused and 1 <= ran <= most and statuses.count(200) == ran and statuses.count(429) == 24 - ran
            mine = team.people.used(bobs)
            assert mine["tokens"] == 50 * ran and mine["money"] == pytest.approx(60 / 1e6 * ran), (
                "the rest is given back"
            )


async def test_what_a_failed_request_had_set_aside_is_given_back(tmp_path: Path) -> None:
    with serve_model([[error(400, "no")]]) as model:
        async with site_of_arvika() as site, bob(site, tmp_path, model, tokens=100) as (ask, _):
            wish = {"model": "suyuan", "input": "What is it?", "tool_choice": "none"}
            assert (await ask("POST", "/v1/responses", wish))[0] >= 400
            assert (await used(ask))["tokens"] == 0


async def test_what_was_set_aside_yesterday_is_settled_there(tmp_path: Path) -> None:
    now = [86_399.0]
    people = People(Store(f"sqlite:///{tmp_path / 'people.sqlite'}").people._database, lambda: now[0])
    assert not people.take("bob", {"tokens": 500}, {"tokens": 100}, people.today())
    yesterday, now[0] = people.today(), 86_401.0
    people.count("bob", {"tokens": -450}, yesterday)
    assert people.used("bob")["tokens"] == 0 and not people.take("bob", {"tokens": 1}, {"tokens": 1})
    now[0] = 86_399.0
    assert people.used("bob")["tokens"] == 50


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/responses", {"model": "suyuan", "input": "x", "tool_choice": "none"}, 200),
        ("/v1/responses", {"model": "suyuan", "input": "x"}, 429),
        ("/v1/responses", {"model": "suyuan-agent", "input": "x"}, 429),
        ("/api/conversations", {"search": False, "text": "x"}, 201), ("/api/conversations", {"search": True, "text": "x"}, 429),
        ("/api/conversations", {"mode": "agent", "text": "x"}, 429),
    ],
)  # fmt: skip
async def test_only_an_answer_that_searches_needs_searches(
    tmp_path: Path, path: str, body: dict[str, Any], status: int
) -> None:
    with serve_model([[reply("An answer.")]]) as model:
        async with site_of_arvika() as site, bob(site, tmp_path, model, searches=1) as (ask, team):
            team.people.count(team.people.named("bob").id, {"searches": 1})
            assert (await ask("POST", path, body))[0] == status


async def test_an_answer_that_was_stopped_is_counted_as_far_as_it_came(tmp_path: Path) -> None:
    go_on = threading.Event()
    with serve_model([[reply("word " * 200), hold(go_on)]]) as model:
        async with site_of_arvika() as site, bob(site, tmp_path, model) as (ask, _):
            run = await ask.ask(await ask.conversation(search=False), QUESTION)

            async def began() -> bool:
                return bool(model.requests)

            async for _, name, _ in ask.events(f"/api/runs/{run}/events"):
                if name == "text":
                    await ask("POST", f"/api/runs/{run}/stop")
            assert await eventually(began) and (await used(ask))["tokens"] > 20
            go_on.set()


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/search", {"query": "x"}), ("POST", "/search", {"query": "x"}), ("POST", "/v2/search", {"query": "x"}),
        ("GET", "/search?q=x&format=json", None), ("GET", "/res/v1/web/search?q=x", None),
        ("POST", "/openwebui/search", {"query": "x"}),
    ],
)  # fmt: skip
async def test_many_searches_at_once_find_no_more_than_the_quota(
    tmp_path: Path, method: str, path: str, body: Sequence[Any] | None
) -> None:
    async with site_of_arvika() as site, bob(site, tmp_path, searches=4) as (ask, _):
        found = await asyncio.gather(*(ask(method, path.replace("q=x", f"q=x{n}"), body) for n in range(12)))
        statuses = [status for status, _ in found]
        assert statuses.count(200) == 4 and statuses.count(429) == 8 and (await used(ask))["searches"] == 4
        assert searches(site) <= 4
