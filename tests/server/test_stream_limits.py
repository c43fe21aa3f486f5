"""How many live connections one client may have: whose they are counted as, and what is said where there are too many."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import Client, Served, client, serving, settings_of
from support.timing import PATIENCE, soon
from suyuan.messages.catalog import languages
from suyuan.store.accounts import add_account, make_token

LIMIT = 3
PASSWORD = "correct horse battery"
HOMES = ("203.0.113.7", "203.0.113.8")
Headers = dict[str, str]


@contextmanager
def limited(**origin: Any) -> Iterator[Served]:
    with serving(settings_of(), streams_per_client=LIMIT, **origin) as served:
        yield served


@asynccontextmanager
async def held(ask: Client, path: str, count: int, headers: Headers) -> AsyncIterator[list[int]]:
    """So many streams at the same time, by their statuses."""
    opened = [await ask.session.get(ask.url + path, headers=headers) for _ in range(count)]
    try:
        yield [response.status for response in opened]
    finally:
        for response in opened:
            response.close()


async def room_of(ask: Client, path: str, headers: Headers, most: int = LIMIT + 2) -> int:
    """How many streams are accepted beside those that are open."""
    async with held(ask, path, most, headers) as statuses:
        assert set(statuses) <= {200, 429}
        return statuses.count(200)


async def free_again(served: Served, open_now: int = 0) -> None:
    assert await soon(lambda: len(served.app.state.streams) == open_now)


@pytest.mark.parametrize("lang", languages())
async def test_the_error_names_who_has_them_and_the_setting(lang: str) -> None:
    with limited() as served:
        async with client(served.url) as ask:
            path = f"/api/conversations/{await ask.conversation()}/changes"
            async with held(ask, path, LIMIT, {}) as statuses:
                assert set(statuses) == {200}
                async with ask.session.get(ask.url + path, headers={"Accept-Language": lang}) as response:
                    error = (await response.json())["error"]
                    assert response.status == 429 and int(response.headers["Retry-After"]) == error["retry_after"] == 5
                assert error["detail_code"] == "too_many_streams" and error["retryable"]
                assert all(part in error["message"] for part in ("127.0.0.1", str(LIMIT), "server.streamsPerClient"))
                assert "server.trustedProxies" in error["hint"] and "server.streamsPerClient" in error["hint"]
            await free_again(served)
            assert await room_of(ask, path, {}) == LIMIT, "a place that was left is free"


async def test_the_limit_of_the_server_names_its_setting() -> None:
    with serving(settings_of(), streams=2) as served:
        async with client(served.url) as ask:
            path = f"/api/conversations/{await ask.conversation()}/changes"
            async with held(ask, path, 2, {}), ask.session.get(ask.url + path) as response:
                error = (await response.json())["error"]
                assert response.status == 503 and error["detail_code"] == "server_full"
                assert "server.streams" in error["message"] and "server.streams" in error["hint"]


@pytest.mark.parametrize("trusted", [(), ("127.0.0.1/32",)], ids=["not trusted", "trusted"])
async def test_behind_a_trusted_proxy_each_address_has_its_own(trusted: tuple[str, ...]) -> None:
    with limited(trusted_proxies=trusted) as served:
        async with client(served.url) as ask:
            path = f"/api/conversations/{await ask.conversation()}/changes"
            one, other = ({"X-Forwarded-For": home} for home in HOMES)
            async with held(ask, path, LIMIT, one) as statuses:
                assert set(statuses) == {200}
                async with ask.session.get(ask.url + path, headers=one) as response:
                    assert response.status == 429
                    assert (HOMES[0] if trusted else "127.0.0.1") in (await response.json())["error"]["message"]
                assert await room_of(ask, path, other) == (LIMIT if trusted else 0)


BY_TOKEN, BY_PROXY, BY_COOKIE = "token", "proxy", "cookie"


@pytest.mark.parametrize("way", [BY_TOKEN, BY_PROXY, BY_COOKIE])
@pytest.mark.parametrize("behind", [True, False], ids=["behind a proxy", "directly"])
async def test_people_with_accounts_are_counted_by_person_wherever_they_are(
    way: str, behind: bool, tmp_path: Path
) -> None:
    pytest.importorskip("argon2", reason="the optional extra suyuan[team] is not installed")
    proxies = ("127.0.0.1/32",) if behind or way == BY_PROXY else ()
    origin: dict[str, Any] = {"users": True, "trusted_proxies": proxies, "user_header": "Remote-User"}
    with serving(settings_of(data=tmp_path), streams_per_client=LIMIT, **origin) as served:
        people = served.app.state.client.chat.store.people
        # One is called like the address from which all of them come.
        names = ("anna", HOMES[0])
        for name in names:
            add_account(people, name, PASSWORD)
        async with _browsers(served, way, names) as browsers:
            path = {name: f"/api/conversations/{await browsers[name].conversation()}/changes" for name in names}
            homes = [{"X-Forwarded-For": home} if behind else {} for home in HOMES]
            for name, other in (names, names[::-1]):
                async with held(browsers[name], path[name], LIMIT, homes[0]) as statuses:
                    assert set(statuses) == {200}
                    for home in homes:
                        async with browsers[name].session.get(served.url + path[name], headers=home) as response:
                            assert response.status == 429 and f"@{name} " in (await response.json())["error"]["message"]
                    assert await room_of(browsers[other], path[other], homes[0]) == LIMIT
                await free_again(served)


@asynccontextmanager
async def _browsers(served: Served, way: str, names: tuple[str, ...]) -> AsyncIterator[dict[str, Client]]:
    sessions: dict[str, aiohttp.ClientSession] = {}
    people = served.app.state.client.chat.store.people
    try:
        for name in names:
            headers: Headers = {}
            if way == BY_TOKEN:
                token, _ = make_token(people, people.named(name), ("search", "read", "chat"))
                headers = {"Authorization": f"Bearer {token}"}
            if way == BY_PROXY:
                headers = {"Remote-User": name, "X-Forwarded-For": HOMES[0]}
            jar, timeout = aiohttp.CookieJar(unsafe=True), aiohttp.ClientTimeout(PATIENCE)
            sessions[name] = aiohttp.ClientSession(headers=headers, cookie_jar=jar, timeout=timeout)
            if way == BY_COOKIE:
                body = {"name": name, "password": PASSWORD}
                async with sessions[name].post(served.url + "/api/login", json=body) as answer:
                    assert answer.status == 200, await answer.text()
        yield {name: Client(session, served.url) for name, session in sessions.items()}
    finally:
        for session in sessions.values():
            await session.close()


async def test_every_kind_of_stream_is_counted(tmp_path: Path) -> None:
    with serving(settings_of(data=tmp_path), streams_per_client=LIMIT) as served:
        async with client(served.url) as ask:
            conversation = await ask.conversation(search=False)
            store = served.app.state.client.chat.store
            store.begin_turn(conversation, "A question", "anotherprocess01")
            job = served.app.state.client.research_service.store.create("A question?", {"question": "A question?"})
            paths = [
                f"/api/conversations/{conversation}/changes", "/stream/anotherprocess01",
                "/api/runs/anotherprocess01/events", f"/api/research/{job.id}/events",
            ]  # fmt: skip
            for first, then in product(paths, paths):
                async with held(ask, first, LIMIT, {}) as statuses:
                    assert set(statuses) == {200}, first
                    assert await room_of(ask, then, {}, 1) == 0, (first, then)
                await free_again(served)
