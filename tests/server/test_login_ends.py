"""What ends with a login, whoever ends it and in which worker: the cookie, and the streams that were opened with it."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("argon2", reason="the optional extra suyuan[team] is not installed")

from server.serving import Client, serving, settings_of
from server.test_accounts import PASSWORD, Team
from support.oai import hold, reply, serve_model
from support.talk import openai
from support.timing import PATIENCE
from suyuan.server import sse
from suyuan.store import accounts, logins
from suyuan.store.accounts import add_account, set_password
from suyuan.store.people import People

TOKEN = "correct-horse-battery-staple"
NEW = "another long password"


@pytest.fixture(autouse=True, scope="module")
def soon_known() -> Iterator[None]:
    """Servers that look more often whether a login has ended; usually within ten seconds."""
    usual = sse._LOOK_SECONDS + logins._KNOWN_SECONDS, sse._LOOK_SECONDS + accounts._KNOWN_SECONDS
    assert max(usual) <= 10
    with pytest.MonkeyPatch.context() as often:
        often.setattr(sse, "_LOOK_SECONDS", 0.1)
        often.setattr(logins, "_KNOWN_SECONDS", 0.2)
        often.setattr(accounts, "_KNOWN_SECONDS", 0.2)
        yield


@asynccontextmanager
async def browser(url: str) -> AsyncIterator[Client]:
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar, timeout=aiohttp.ClientTimeout(PATIENCE)) as session:
        yield Client(session, url)


async def by_form(ask: Client, path: str, **fields: str) -> tuple[int, str, str]:
    """Status, text and target of a form that was sent."""
    async with ask.session.post(ask.url + path, data=fields, allow_redirects=False) as answer:
        return answer.status, await answer.text(), answer.headers.get("Location", "")


async def test_the_login_of_a_server_with_a_token_is_ended_on_the_server(tmp_path: Path) -> None:
    with (
        serving(settings_of(data=tmp_path), token=TOKEN) as first,
        serving(settings_of(data=tmp_path), token=TOKEN) as second,
    ):
        for way in ("/logout", "/api/logout"):
            async with browser(first.url) as ask:
                status, _, _ = await by_form(ask, "/login", token=TOKEN)
                assert status == 303 and (await ask("GET", "/api/models"))[0] == 200
                stolen = "; ".join(f"{each.key}={each.value}" for each in ask.session.cookie_jar)
                page = (await ask("GET", "/settings"))[1]
                assert 'action="/logout"' in page and "Logged in with the token" in page
                other = Client(ask.session, second.url)
                assert (await other("GET", "/api/models", Cookie=stolen))[0] == 200
                status, _, target = await by_form(ask, way)
                assert (status, target) in ((303, "/login"), (204, ""))
                assert not list(ask.session.cookie_jar), "the browser forgets it"
            async with aiohttp.ClientSession() as session:
                assert (await Client(session, first.url)("GET", "/api/models", Cookie=stolen))[0] == 401
                # The other worker looks again after a few seconds.
                elsewhere = Client(session, second.url)
                async with asyncio.timeout(PATIENCE):
                    while (await elsewhere("GET", "/api/models", Cookie=stolen))[0] != 401:
                        await asyncio.sleep(0.2)
    with serving(settings_of()) as served:
        async with browser(served.url) as ask:
            assert (await ask("POST", "/api/logout"))[0] == 404, "nobody is logged in where there is no token"
            assert 'action="/logout"' not in (await ask("GET", "/settings"))[1]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Team, Team]]:
    """Two workers of one server, and an answer that does not end."""
    data, go_on = tmp_path_factory.mktemp("team"), threading.Event()
    with serve_model([[reply("half "), hold(go_on)]]) as model:
        settings = settings_of(data=data, model=openai(model.url))
        with serving(settings, users=True) as first, serving(settings, users=True) as second:
            people = first.app.state.client.chat.store.people
            add_account(people, "anna", PASSWORD)
            yield Team(first, people, data), Team(second, people, data)
            go_on.set()


End = Callable[[People, str, Client], Awaitable[None]]


async def _log_out(people: People, name: str, ask: Client) -> None:
    assert (await ask("POST", "/api/logout"))[0] == 204


async def _other_password(people: People, name: str, ask: Client) -> None:
    set_password(people, people.named(name), NEW)


async def _removed(people: People, name: str, ask: Client) -> None:
    people.remove(people.named(name).id)


async def _closed(people: People, name: str, ask: Client) -> None:
    people.change(people.named(name).id, disabled=True)


async def _revoked(people: People, name: str, ask: Client) -> None:
    person = people.named(name)
    for token in people.tokens(person.id):
        people.remove_token(person.id, token.id)


@pytest.mark.parametrize(
    ("by", "end"),
    [("login", _log_out), ("login", _other_password), ("login", _removed), ("token", _removed), ("token", _closed),
     ("token", _revoked), ("expiry", None)],
)  # fmt: skip
async def test_streams_end_with_the_login(team: tuple[Team, Team], by: str, end: End | None) -> None:
    """A stream of each kind, in the worker in which it is ended and in the other one."""
    here, there = team
    name = f"p{by}{end.__name__ if end else ''}"
    add_account(here.people, name, PASSWORD)
    async with AsyncExitStack() as stack, asyncio.timeout(2 * PATIENCE):
        if by == "login":
            ask = await stack.enter_async_context(browser(here.served.url))
            assert (await ask("POST", "/api/login", {"name": name, "password": PASSWORD}))[0] == 200
        else:
            ask = await stack.enter_async_context(here.as_(name))
        if by == "expiry":
            _, made = await ask("POST", "/api/tokens", {"days": 2 / 86_400})
            ask.session.headers["Authorization"] = f"Bearer {made['token']}"
        id = await ask.conversation(search=False)
        run = await ask.ask(id)
        paths = (f"/api/conversations/{id}/changes", f"/api/runs/{run}/events", f"/stream/{run}")
        async with here.as_("anna") as anna:
            mine = await anna.conversation(search=False)
            others = await stack.enter_async_context(anna.session.get(f"{anna.url}/api/conversations/{mine}/changes"))
            streams = [
                await stack.enter_async_context(ask.session.get(served.url + path))
                for served in (here.served, there.served)
                for path in paths
            ]
            assert {each.status for each in streams} == {200}
            reading = [asyncio.ensure_future(each.text()) for each in streams]
            if end is not None:
                await end(here.people, name, ask)
            for text in await asyncio.gather(*reading):
                last = re.findall(r"event: (\w+)", text)[-1:]
                # What belonged to somebody who is removed ends by itself, perhaps before it has said anything.
                gone = end is _removed and last in ([], ["interrupted"], ["answer"], ["change"])
                refused = last == ["error"] and ("login_needed" in text or "api_token_wrong" in text)
                assert refused or gone, text[-300:]
            assert (await ask("GET", "/api/me"))[0] == 401
            assert not others.content.at_eof(), "the stream of somebody else goes on"


async def test_who_changes_the_password_is_told_of_the_tokens(team: tuple[Team, Team]) -> None:
    here, _ = team
    for name in ("olga", "pia"):
        add_account(here.people, name, PASSWORD)
    async with here.as_("olga") as program, browser(here.served.url) as ask, browser(here.served.url) as other:
        for each in (ask, other):
            assert (await each("POST", "/api/login", {"name": "olga", "password": PASSWORD}))[0] == 200
        assert (await ask("POST", "/api/password", {"old": "wrong password", "new": NEW}))[0] == 401
        assert (await ask("POST", "/api/password", {"old": PASSWORD, "new": "short"}))[0] == 400
        status, told = await ask("POST", "/api/password", {"old": PASSWORD, "new": NEW})
        assert status == 200 and len(told["tokens"]) == 1 and told["revoked"] == 0
        assert (await other("GET", "/api/me"))[0] == 401, "other browsers are logged out"
        assert (await ask("GET", "/api/me"))[0] == 200 and (await program("GET", "/api/me"))[0] == 200
        # And on the page, with a button for each of them.
        status, text, target = await by_form(ask, "/settings/password", old=NEW, new=PASSWORD)
        assert (status, target) == (303, "/settings?password=changed#account"), text
        page = (await ask("GET", "/settings?password=changed"))[1]
        assert "These API tokens go on" in page and told["tokens"][0]["id"] in page
        assert (await by_form(ask, "/settings/tokens", token=told["tokens"][0]["id"]))[0] == 303
        assert (await program("GET", "/api/me"))[0] == 401
        assert told["tokens"][0]["id"] not in (await ask("GET", "/settings"))[1]
    async with here.as_("pia") as program, here.as_("pia") as second:
        status, told = await program("POST", "/api/password", {"old": PASSWORD, "new": NEW, "revoke_tokens": True})
        assert status == 200 and told == {"tokens": [], "revoked": 2}
        assert (await second("GET", "/api/me"))[0] == (await program("GET", "/api/me"))[0] == 401
    async with here.as_("pia"), here.as_("anna", scopes=("search", "read", "chat", "admin")) as admin:
        _, changed = await admin("PATCH", "/api/users/pia", {"password": PASSWORD})
        assert len(changed["tokens"]) == 1
        _, changed = await admin("PATCH", "/api/users/pia", {"password": NEW, "revoke_tokens": True})
        assert changed["tokens"] == []
