"""Accounts: who may log in, what a token may do, and that nobody sees what is another's."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("argon2", reason="the optional extra suyuan[team] is not installed")

from server.serving import Client, Served, serving, settings_of
from support.oai import hold, reply, serve_model
from support.talk import openai
from support.timing import PATIENCE, eventually
from suyuan.cli.main import main
from suyuan.config.settings import PeopleSettings
from suyuan.core.errors import InvalidInput
from suyuan.core.person import QUOTAS, SCOPES
from suyuan.store.accounts import add_account, clean_name, hash_password, make_token
from suyuan.store.conversations import Store
from suyuan.store.logins import digest_of
from suyuan.store.people import People

PASSWORD = "correct horse battery"
CARL = "another long password"


@dataclass
class Team:
    """A server with accounts, and the folder of its data."""

    served: Served
    people: People
    data: Path

    @asynccontextmanager
    async def as_(self, name: str = "", **token: Any) -> AsyncIterator[Client]:
        """A client with a token of somebody; without a name, of a stranger."""
        headers = {}
        if name:
            made, _ = make_token(self.people, self.people.named(name), token.get("scopes", ("search", "read", "chat")))
            headers["Authorization"] = f"Bearer {made}"
        timeout = aiohttp.ClientTimeout(PATIENCE)
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(headers=headers, timeout=timeout, cookie_jar=jar) as session:
            yield Client(session, self.served.url)


@pytest.fixture(scope="module")
def go_on() -> threading.Event:
    return threading.Event()


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory, go_on: threading.Event) -> Iterator[Team]:
    data = tmp_path_factory.mktemp("team")
    with serve_model([[reply("half "), hold(go_on), reply("done.")]]) as model:
        settings = settings_of(data=data, model=openai(model.url))
        with serving(settings, users=True) as served:
            people = served.app.state.client.chat.store.people
            for name in ("anna", "bob", "carl"):
                add_account(people, name, PASSWORD)
            yield Team(served, people, data)
            go_on.set()


async def test_the_first_account_is_an_administrators_and_logs_in_and_out(team: Team) -> None:
    assert [(each.name, each.role) for each in team.people.all()] == [
        ("anna", "admin"), ("bob", "member"), ("carl", "member")
    ]  # fmt: skip
    async with team.as_() as browser:
        status, problem = await browser("GET", "/api/me")
        assert status == 401 and problem["error"]["detail_code"] == "login_needed"
        for name, password in (("anna", "wrong password"), ("nobody", PASSWORD), ("", "")):
            status, problem = await browser("POST", "/api/login", {"name": name, "password": password})
            assert status == 401 and problem["error"]["detail_code"] == "login_wrong"
        status, me = await browser("POST", "/api/login", {"name": " Anna ", "password": PASSWORD})
        assert status == 200 and me["name"] == "anna" and me["role"] == "admin" and "admin" in me["scopes"]
        assert (await browser("GET", "/api/me"))[1] == me
        assert (await browser("GET", "/"))[0] == 200
        assert (await browser("POST", "/api/logout"))[0] == 204
        assert (await browser("GET", "/api/me"))[0] == 401
        status, page = await browser("GET", "/", Accept="text/html")
        assert status == 303
    actions = [line["action"] for line in team.people.noted(person="anna")]
    assert actions[:2] == ["login", "login failed"]


async def test_people_log_in_by_the_page(team: Team) -> None:
    async with team.as_() as browser:
        form = (await browser("GET", "/login"))[1]
        assert 'name="name"' in form and 'name="password"' in form
        wrong = {"name": "bob", "password": "not his password", "next": "/settings"}
        async with browser.session.post(browser.url + "/login", data=wrong, allow_redirects=False) as answer:
            assert answer.status == 401 and "wrong" in await answer.text()
        right = {**wrong, "password": PASSWORD}
        async with browser.session.post(browser.url + "/login", data=right, allow_redirects=False) as answer:
            assert answer.status == 303 and answer.headers["Location"] == "/settings"
            cookie = answer.headers["Set-Cookie"]
            assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert (await browser("GET", "/api/me"))[1]["name"] == "bob"
        assert 'action="/logout"' in (await browser("GET", "/settings"))[1]
        async with browser.session.post(browser.url + "/logout", allow_redirects=False) as answer:
            assert answer.status == 303 and answer.headers["Location"] == "/login"
        assert (await browser("GET", "/api/me"))[0] == 401


async def test_a_cookie_that_is_replaced_stays_one_for_encrypted_connections(tmp_path: Path) -> None:
    """A proxy that is trusted says how the browser reaches it."""
    with serving(settings_of(data=tmp_path), users=True, trusted_proxies=("127.0.0.0/8",)) as served:
        accounts = served.app.state.accounts
        add_account(accounts.people, "anna", PASSWORD)
        async with aiohttp.ClientSession(headers={"X-Forwarded-Proto": "https"}) as session:
            body = {"name": "anna", "password": PASSWORD}
            async with session.post(served.url + "/api/login", json=body) as answer:
                first = answer.cookies["__Host-suyuan_login"]
            accounts._clock = lambda: time.time() + 2 * 86_400
            headers = {"Cookie": f"__Host-suyuan_login={first.value}"}
            async with session.get(served.url + "/api/me", headers=headers) as answer:
                second = answer.cookies["__Host-suyuan_login"]
            # What a page of another host of the domain, or one by http, has set is not read.
            async with session.get(
                served.url + "/api/me", headers={"Cookie": f"suyuan_login={second.value}"}
            ) as answer:
                assert answer.status == 401 and "suyuan_login=;" in answer.headers["Set-Cookie"]
    assert first["secure"] and second["secure"] and second.value != first.value
    assert second["max-age"] == first["max-age"]


async def test_a_cookie_is_replaced_after_a_day_and_ends_with_the_password(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with team.as_() as browser:
        await browser("POST", "/api/login", {"name": "carl", "password": PASSWORD})
        before = {cookie.value for cookie in browser.session.cookie_jar}
        team.served.app.state.accounts.forget_known()
        with monkeypatch.context() as later:
            later.setattr("suyuan.store.accounts._ROTATED_AFTER", -1.0)
            assert (await browser("GET", "/api/me"))[0] == 200
        after = {cookie.value for cookie in browser.session.cookie_jar}
        assert after != before and (await browser("GET", "/api/me"))[0] == 200
        async with team.as_("anna", scopes=SCOPES) as admin:
            status, _ = await admin("PATCH", "/api/users/carl", {"password": "another long password"})
            assert status == 200
        assert (await browser("GET", "/api/me"))[0] == 401


async def test_guessing_is_slowed_by_account_and_by_address(team: Team) -> None:
    async with team.as_() as stranger:
        wrong = {"name": "victim", "password": "guess number one"}
        found = [(await stranger("POST", "/api/login", wrong))[0] for _ in range(12)]
        assert found == [401] * 10 + [429] * 2
        # Others are not locked out by it.
        assert (await stranger("POST", "/api/login", {"name": "bob", "password": PASSWORD}))[0] == 200


async def test_strangers_lock_nobody_out_who_has_logged_in_before(team: Team) -> None:
    """Wrong passwords for an account from elsewhere stop those from elsewhere."""
    wrong, right = {"name": "carl", "password": "guess number one"}, {"name": "carl", "password": CARL}
    connector = aiohttp.TCPConnector(local_addr=("127.0.3.1", 0))
    team.people.change(team.people.named("carl").id, password=hash_password(CARL))
    async with team.as_() as carl, aiohttp.ClientSession(connector=connector) as session:
        stranger = Client(session, team.served.url)
        assert (await carl("POST", "/api/login", right))[0] == 200
        assert [(await stranger("POST", "/api/login", wrong))[0] for _ in range(12)] == [401] * 10 + [429] * 2
        assert (await stranger("POST", "/api/login", right))[0] == 429
        assert (await carl("POST", "/api/login", right))[0] == 200
        # Many at once are counted as well.
        tried = await asyncio.gather(*(carl("POST", "/api/login", wrong) for _ in range(25)))
        assert sum(status == 401 for status, _ in tried) == 10
        assert (await carl("GET", "/api/me"))[0] == 200, "a login that was begun goes on"


async def test_wrong_cookies_and_tokens_are_counted_and_right_ones_taken(team: Team) -> None:
    connector = aiohttp.TCPConnector(local_addr=("127.0.3.2", 0))
    async with team.as_("bob") as bob, aiohttp.ClientSession(connector=connector) as session:
        ask, token = Client(session, team.served.url), bob.session.headers["Authorization"]
        tries = [{"Cookie": f"suyuan_login=guess-{n}"} if n % 2 else {"X-Api-Key": f"guess-{n}"} for n in range(40)]
        found = [(await ask("GET", "/api/me", **each))[0] for each in tries]
        assert found == [401] * 30 + [429] * 10
        assert (await ask("GET", "/api/me", Authorization=token))[0] == 200


async def test_a_token_cannot_make_one_that_outlives_it(team: Team) -> None:
    async with team.as_("bob") as bob:
        _, short = await bob("POST", "/api/tokens", {"days": 1})
        for wanted in ({}, {"days": 300}, {"days": 0.5}):
            status, made = await bob("POST", "/api/tokens", wanted, Authorization=f"Bearer {short['token']}")
            assert status == 201 and made["expires_at"] and made["expires_at"] <= short["expires_at"], wanted


async def test_a_member_gets_no_settings_of_the_server(team: Team, go_on: threading.Event) -> None:
    go_on.set()
    async with team.as_("bob") as bob, team.as_("anna", scopes=SCOPES) as anna, asyncio.timeout(PATIENCE):
        for ask, knows in ((bob, False), (anna, True)):
            run = await ask.ask(await ask.conversation(search=False))
            await ask.answer(run)
            _, found = await ask("GET", f"/api/runs/{run}/debug")
            assert found["run"] == run and ("settings" in found) is knows


_FIELDS = {"/api/fetch": ("url",), "/api/search": ("query",), "/v1/chat/completions": ("model", "messages")}


async def test_a_token_may_do_what_its_scopes_say_and_nothing_else(team: Team) -> None:
    async with team.as_("bob", scopes=("search",)) as finder, team.as_("bob", scopes=("read",)) as reader:
        assert (await finder("POST", "/api/search", {"query": "x", "engines": "stub"}))[0] != 403
        for ask, method, path in (
            (finder, "GET", "/api/conversations"), (finder, "POST", "/api/fetch"), (finder, "GET", "/"),
            (finder, "GET", "/api/users"), (finder, "GET", "/metrics"), (finder, "GET", "/?q=x"), (reader, "POST", "/api/search"),
            (reader, "GET", "/?q=x"), (reader, "GET", "/search?q=x&format=json"), (reader, "POST", "/v1/chat/completions"),
        ):  # fmt: skip
            said = [{"role": "user", "content": "x"}]
            body = {"query": "x", "url": "http://10.0.0.1/", "model": "suyuan", "messages": said}
            wanted = {name: body[name] for name in _FIELDS.get(path, ())} if method == "POST" else None
            status, problem = await ask(method, path, wanted)
            assert status == 403 and "scope_missing" in str(problem), (path, status, problem)
        assert (await reader("POST", "/r", {"url": "http://10.0.0.1/"}))[1]["detail"]["detail_code"] == "guard_refused"
        # A token cannot make one that may do more.
        status, problem = await finder("POST", "/api/tokens", {"scopes": ["chat"]})
        assert status == 403
    async with team.as_("bob") as member:
        for path in ("/api/users", "/api/audit", "/api/users/anna/export", "/metrics"):
            assert (await member("GET", path))[0] == 403, path
        assert "conversations" in (await member("GET", "/api/users/bob/export"))[1]
        assert (await member("POST", "/api/users", {"name": "x", "password": PASSWORD}))[0] == 403
        status, made = await member("POST", "/api/tokens", {"label": "mine", "scopes": ["search"], "days": 1})
        assert status == 201 and made["token"].startswith("suyuan_") and made["expires_at"]
        status, listed = await member("GET", "/api/tokens")
        assert made["token"] not in str(listed) and made["id"] in str(listed)
        assert (await member("DELETE", f"/api/tokens/{made['id']}"))[0] == 204
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {made['token']}"}) as session:
        assert (await Client(session, team.served.url)("GET", "/api/me"))[0] == 401
    with team.people._database.read() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM suyuan_tokens").all()
    assert made["token"] not in str(rows), "only hashes are kept"


@pytest.mark.parametrize("missing", SCOPES)
async def test_no_token_gives_more_than_it_may_do_itself(team: Team, missing: str) -> None:
    """Whoever knows a password may do all that its account may; so only a token that may all can set one, or a role."""
    async with team.as_("anna", scopes=[scope for scope in SCOPES if scope != missing]) as admin:
        for method, path, body in (
            ("PATCH", "/api/users/anna", {"password": PASSWORD + "!"}), ("PATCH", "/api/users/carl", {"password": PASSWORD + "!"}),
            ("PATCH", "/api/users/carl", {"role": "admin"}), ("POST", "/api/users", {"name": "eve", "password": PASSWORD}),
        ):  # fmt: skip
            status, problem = await admin(method, path, body)
            assert status == 403 and problem["error"]["detail_code"] == "scope_missing", (path, body, problem)
            assert missing in problem["error"]["message"]
        if missing != "admin":
            assert (await admin("PATCH", "/api/users/carl", {"quotas": {"searches": 0}}))[0] == 200
    assert team.people.named("carl").role == "member" and team.people.by_name("eve") is None


async def test_ones_own_password_needs_the_old_one(team: Team) -> None:
    kept = team.people.named("anna").password
    async with team.as_("anna", scopes=SCOPES) as admin:
        status, problem = await admin("PATCH", "/api/users/anna", {"password": PASSWORD + "!"})
    assert status == 403 and problem["error"]["detail_code"] == "own_password"
    assert team.people.named("anna").password == kept


async def test_the_audit_log_names_who_did_it(team: Team) -> None:
    async with team.as_("anna", scopes=("admin", "search", "read", "chat")) as admin, team.as_("bob") as member:
        _, made = await member("POST", "/api/tokens", {"label": "noted"})
        assert (await member("DELETE", f"/api/tokens/{made['id']}"))[0] == 204
        assert (await admin("GET", "/api/users/carl/export"))[0] == 200
        assert (await admin("PATCH", "/api/users/carl", {"quotas": {"searches": 0}}))[0] == 200
        _, log = await admin("GET", "/api/audit")
    who = {(line["action"], line["what"]): line["person"] for line in log["audit"]}
    assert who["token created", made["id"]] == who["token revoked", made["id"]] == "bob"
    assert who["user exported", "carl"] == who["user changed", "carl"] == "anna"


async def test_a_shared_link_shows_the_conversation_as_it_was_until_it_is_revoked(
    team: Team, go_on: threading.Event
) -> None:
    go_on.set()
    async with team.as_("bob") as owner, team.as_("carl") as other, team.as_() as stranger, asyncio.timeout(PATIENCE):
        id = await owner.conversation(search=False)
        await owner.answer(await owner.ask(id, "a question to share"))
        assert '"share": true' in (await owner("GET", f"/c/{id}"))[1], "the page offers it"
        assert (await other("POST", f"/api/conversations/{id}/shares"))[0] == 404
        status, share = await owner("POST", f"/api/conversations/{id}/shares", {"days": 7})
        assert status == 201 and share["expires_at"]
        path = share["url"].removeprefix(team.served.url)
        await owner.answer(await owner.ask(id, "a question that came later"))
        status, page = await stranger("GET", path)
        assert status == 200 and "a question to share" in page and "came later" not in page
        status, shown = await stranger("GET", path.replace("/s/", "/api/shared/"))
        assert [each["text"] for each in shown["messages"]] == ["a question to share", "half done."]
        assert shown["messages"][1]["answer"]["text"] == "half done."
        assert (await stranger("GET", "/s/" + "x" * 32))[0] == 404
        _, listed = await owner("GET", f"/api/conversations/{id}/shares")
        assert [each["id"] for each in listed["shares"]] == [share["id"]] and "url" not in listed["shares"][0]
        assert (await owner("DELETE", f"/api/conversations/{id}/shares/{share['id']}"))[0] == 204
        assert (await stranger("GET", path))[0] == 404 and (await stranger("GET", f"/c/{id}"))[0] in (303, 401)


async def test_a_shared_link_shows_no_answer_that_was_finished_later(tmp_path: Path) -> None:
    go_on = threading.Event()
    with serve_model([[reply("half "), hold(go_on), reply("done.")]]) as model:
        with serving(settings_of(data=tmp_path, model=openai(model.url)), users=True) as served:
            team = Team(served, served.app.state.client.chat.store.people, tmp_path)
            add_account(team.people, "anna", PASSWORD)
            async with team.as_("anna") as anna, team.as_() as stranger, asyncio.timeout(PATIENCE):
                id = await anna.conversation(search=False)

                async def share() -> str:
                    _, made = await anna("POST", f"/api/conversations/{id}/shares")
                    return str(made["url"]).removeprefix(served.url).replace("/s/", "/api/shared/")

                async def shown(path: str) -> list[str]:
                    return [each["text"] for each in (await stranger("GET", path))[1]["messages"]]

                run = await anna.ask(id, "the first")
                early = await share()
                assert await shown(early) == ["the first"]
                go_on.set()
                await anna.answer(run)
                assert await shown(early) == ["the first"]
                whole = await share()
                assert await shown(whole) == ["the first", "half done."]
                # Nor one that took the place of the answer which was there.
                again = await anna("POST", f"/api/conversations/{id}/retry", {"answer": run})
                await anna.answer(again[1]["run"])
                _, then = await stranger("GET", whole)
                assert [each["id"] for each in then["messages"]][1] == run
                _, now = await stranger("GET", await share())
                assert [each["id"] for each in now["messages"]][1] == again[1]["run"]
                assert await shown(early) == ["the first"]


async def test_the_links_of_a_closed_account_lead_nowhere(team: Team) -> None:
    add_account(team.people, "erik", PASSWORD)
    async with team.as_("erik") as erik, team.as_() as stranger, team.as_("anna", scopes=("admin",)) as admin:
        _, share = await erik("POST", f"/api/conversations/{await erik.conversation(search=False)}/shares")
        path = share["url"].removeprefix(team.served.url)
        for closed, status in ((False, 200), (True, 404), (False, 200)):
            assert (await admin("PATCH", "/api/users/erik", {"disabled": closed}))[0] == 200
            for place in (path, path.replace("/s/", "/api/shared/")):
                assert (await stranger("GET", place))[0] == status, (closed, place)


async def test_quotas_hold_and_are_counted_by_person(tmp_path: Path) -> None:
    with serve_model([[reply("an answer of several words.")]]) as model:
        settings = replace(settings_of(data=tmp_path, model=openai(model.url)), people=PeopleSettings(answers=2))
        with serving(settings, users=True) as served:
            team = Team(served, served.app.state.client.chat.store.people, tmp_path)
            for name in ("anna", "bob"):
                add_account(team.people, name, PASSWORD)
            team.people.change(team.people.named("anna").id, quotas={"answers": 0, "searches": 1})
            async with team.as_("bob") as bob, team.as_("anna") as anna, asyncio.timeout(PATIENCE):
                id = await bob.conversation(search=False)
                for _ in range(2):
                    await bob.answer(await bob.ask(id))
                status, problem = await bob("POST", f"/api/conversations/{id}/messages", {"text": "a third"})
                assert status == 429 and problem["error"]["detail_code"] == "person_quota_spent"
                # A command is no answer.
                assert (await bob("POST", f"/api/conversations/{id}/messages", {"text": "/search on"}))[0] == 200
                # Nor by any other way to an answer: those of other products, and the form of the page without scripts.
                asked = {"model": "suyuan", "max_tokens": 9, "messages": [{"role": "user", "content": "a third"}]}
                for path, body in (
                    ("/research", {"input": "a third"}), ("/api/research", {"question": "a third"}),
                    ("/v1/responses", {"input": "a third"}), ("/v1/messages", asked), ("/v1/chat/completions", asked),
                ):  # fmt: skip
                    status, problem = await bob("POST", path, body)
                    assert status == 429, (path, problem)
                async with bob.session.post(f"{served.url}/ask", data={"text": "a third"}) as answer:
                    assert answer.status == 429
                me = (await bob("GET", "/api/me"))[1]
                assert me["quotas"]["answers"] == 2 and me["used"]["answers"] == 2
                async with team.as_("anna", scopes=("admin",)) as admin:
                    users = {each["name"]: each for each in (await admin("GET", "/api/users"))[1]["users"]}
                assert users["bob"]["limits"]["answers"] == users["bob"]["used"]["answers"] == 2
                assert users["anna"]["limits"]["answers"] == 0 and users["anna"]["limits"]["searches"] == 1
                mine = await anna.conversation(search=False)
                for _ in range(3):
                    await anna.answer(await anna.ask(mine))
                found = [(await anna("POST", "/api/search", {"query": "x y"}))[0] for _ in range(2)]
                assert found[0] != 429 and found[1] == 429


async def test_documents_have_a_quota_too(tmp_path: Path) -> None:
    settings = replace(settings_of(data=tmp_path), people=PeopleSettings(documents=1))
    with serving(settings, users=True) as served:
        team = Team(served, served.app.state.client.chat.store.people, tmp_path)
        for name in ("anna", "bob"):
            add_account(team.people, name, PASSWORD)
        team.people.change(team.people.named("anna").id, quotas={"documents": 0})

        async def send(ask: Client, *bodies: bytes) -> tuple[int, Any]:
            form = aiohttp.FormData()
            for number, body in enumerate(bodies):
                form.add_field("files", body, filename=f"{number}.txt")
            async with ask.session.post(ask.url + "/api/library", data=form) as answer:
                return answer.status, await answer.json()

        async with team.as_("bob") as bob, team.as_("anna") as anna, asyncio.timeout(PATIENCE):
            note = b"A walrus note. " * 28_000
            status, sent = await send(bob, note, note)
            assert status == 201 and len(sent["documents"]) == 1, "the file and its text are counted"
            assert sent["errors"][0]["error"]["detail_code"] == "library_full"
            status, problem = await send(bob, note)
            assert status == 413 and "--documents" in problem["error"]["hint"], problem
            me = (await bob("GET", "/api/me"))[1]
            assert me["quotas"]["documents"] == 1 and 0.6 < me["used"]["documents"] < 1
            # Many at once find no more room than one after the other.
            assert (await bob("DELETE", f"/api/library/{sent['documents'][0]['id']}"))[0] == 204
            found = await asyncio.gather(*(send(bob, note) for _ in range(3)))
            assert sorted(status for status, _ in found) == [201, 413, 413]
            assert [(await send(anna, note))[0] for _ in range(3)] == [201] * 3, "no limit"


def run(*args: str, stdin: str = "", monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
    return main(["users", *args])


async def test_accounts_on_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    store = f"sqlite:///{tmp_path / 'chat.sqlite'}"
    monkeypatch.setenv("SUYUAN_STORE_URL", store)
    before = Store(store)
    before.create(title="from before")
    before.close()
    assert run("add", "Ann", "--password-stdin", stdin=PASSWORD + "\n", monkeypatch=monkeypatch) == 0
    assert run("add", "ann", "--password-stdin", stdin=PASSWORD + "\n", monkeypatch=monkeypatch) != 0
    assert run("add", "bob", "--password-stdin", stdin="short\n", monkeypatch=monkeypatch) != 0
    assert run("add", "bob", "--password-stdin", stdin=PASSWORD, monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    assert run("token", "bob", "--scope", "search", "--scope", "read", "--json", monkeypatch=monkeypatch) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["token"].startswith("suyuan_") and made["scopes"] == ["search", "read"]
    assert run("token", "bob", "--scope", "admin", monkeypatch=monkeypatch) != 0, "a member gives no more than it has"
    capsys.readouterr()
    new = ("password", "bob", "--password-stdin")
    assert run(*new, stdin=PASSWORD, monkeypatch=monkeypatch) == 0
    told = capsys.readouterr().out
    assert made["id"] in told and "search, read" in told and "--revoke-tokens" in told, (
        "the tokens that go on are listed"
    )
    assert run(*new, "--revoke-tokens", "--json", stdin=PASSWORD, monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out)["revoked"] == 1
    assert run("role", "ann", "member", monkeypatch=monkeypatch) != 0, "the last administrator stays one"
    capsys.readouterr()
    assert run("list", "--json", monkeypatch=monkeypatch) == 0
    assert [(each["name"], each["role"]) for each in json.loads(capsys.readouterr().out)["users"]] == [
        ("ann", "admin"), ("bob", "member")
    ]  # fmt: skip
    assert run("list", monkeypatch=monkeypatch) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [["ann", "admin"], ["bob", "member"]]
    for bad in (
        ("quota", "ann", "--searches", "-5"),
        ("quota", "ann", "--money", "nan"),
        ("token", "ann", "--days", "0"),
    ):
        with pytest.raises(SystemExit):
            run(*bad, monkeypatch=monkeypatch)
    monkeypatch.setenv("SUYUAN_QUOTA_ANSWERS", "40")
    assert run("quota", "ann", "--searches", "7", monkeypatch=monkeypatch) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["used", "limit"], ["searches", "0", "7"], ["answers", "0", "40"], ["tokens", "0", "none"],
        ["money", "0", "none"], ["documents", "0", "1000"],
    ]  # fmt: skip
    assert run("quota", "ann", "--json", monkeypatch=monkeypatch) == 0
    assert json.loads(capsys.readouterr().out) == {
        "quotas": {"searches": 7},
        "limits": {"searches": 7, "answers": 40, "tokens": 0, "money": 0, "documents": 1000},
        "used": dict.fromkeys(QUOTAS, 0),
    }
    assert run("delete", "bob", stdin="", monkeypatch=monkeypatch) == 130, "nobody was there to say yes"
    assert run("export", "ann", "--output", str(tmp_path), monkeypatch=monkeypatch) == 2, "a folder"
    target = tmp_path / "ann.json"
    assert run("export", "ann", "--output", str(target), monkeypatch=monkeypatch) == 0
    assert target.stat().st_mode & 0o077 == 0
    exported = json.loads(target.read_text())
    assert [each["title"] for each in exported["conversations"]] == ["from before"], "the first one gets what was there"
    assert "argon2" not in target.read_text()
    assert run("delete", "bob", "--yes", monkeypatch=monkeypatch) == 0
    capsys.readouterr()
    assert run("audit", monkeypatch=monkeypatch) == 0
    assert "user deleted" in capsys.readouterr().out.splitlines()[0]
    assert run("audit", "--json", monkeypatch=monkeypatch) == 0
    actions = [line["action"] for line in json.loads(capsys.readouterr().out)["audit"]]
    assert {"user added", "token created", "user exported", "user deleted"} <= {*actions}
    assert run("audit", monkeypatch=monkeypatch) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(actions)


async def test_everything_of_a_deleted_person_is_gone(team: Team, go_on: threading.Event) -> None:
    go_on.set()
    add_account(team.people, "dora", PASSWORD)
    account = team.people.named("dora")
    async with team.as_("dora") as dora, team.as_("anna", scopes=("admin",)) as admin, asyncio.timeout(PATIENCE):
        id = await dora.conversation(search=False)
        await dora.answer(await dora.ask(id, "a walrus of my own"))
        form = aiohttp.FormData()
        form.add_field("files", io.BytesIO(b"A walrus note."), filename="note.txt")
        async with dora.session.post(dora.url + "/api/library", data=form) as answer:
            assert answer.status == 201
        assert (team.data / "people" / account.id).is_dir()
        _, exported = await dora("GET", "/api/users/dora/export")
        assert "a walrus of my own" in json.dumps(exported)
        _, known = await admin("GET", "/api/users/dora/export")
        assert known["account"]["name"] == "dora" and "walrus" not in json.dumps(known)
        assert (await admin("DELETE", "/api/users/dora"))[0] == 200

        async def shut_out() -> bool:
            return bool((await dora("GET", "/api/me"))[0] == 401)

        assert await eventually(shut_out)
    assert not (team.data / "people" / account.id).exists() and team.people.by_name("dora") is None
    assert b"a walrus of my own" not in (team.data / "chat.sqlite").read_bytes()


async def test_without_accounts_there_is_one_person_and_no_login(tmp_path: Path) -> None:
    with serving(settings_of(data=tmp_path)) as served:
        async with aiohttp.ClientSession() as session:
            ask = Client(session, served.url)
            _, me = await ask("GET", "/api/me")
            assert me["accounts"] is False and me["role"] == "admin"
            assert (await ask("GET", "/api/users"))[1]["error"]["detail_code"] == "no_accounts"
            id = await ask.conversation(search=False)
            _, share = await ask("POST", f"/api/conversations/{id}/shares")
            assert (await ask("GET", share["url"].removeprefix(served.url)))[0] == 200


async def _made(ask: Client, scopes: Sequence[str] = ("search", "read", "chat")) -> dict[str, Any]:
    status, made = await ask("POST", "/api/tokens", {"scopes": list(scopes)})
    assert status == 201, made
    return dict(made)


@asynccontextmanager
async def _by(team: Team, made: dict[str, Any]) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {made['token']}"}) as session:
        yield Client(session, team.served.url)


@pytest.mark.parametrize("ended", range(4))
async def test_what_a_token_has_made_ends_with_it_however_far_down(team: Team, ended: int) -> None:
    async with AsyncExitStack() as opened:
        ask = await opened.enter_async_context(team.as_("bob"))
        other = await _made(ask)
        chain: list[dict[str, Any]] = []
        asks: list[Client] = []
        for _ in range(4):
            chain.append(await _made(asks[-1] if asks else ask))
            asks.append(await opened.enter_async_context(_by(team, chain[-1])))
        sides = [await _made(each) for each in asks]
        assert (await ask("DELETE", f"/api/tokens/{chain[ended]['id']}"))[0] == 204
        for at, (below, side) in enumerate(zip(chain, sides, strict=True)):
            goes_on = at < ended
            async with _by(team, below) as holder:
                assert ((await holder("GET", "/api/me"))[0] == 200) is goes_on, (ended, at)
            assert (team.people.token(digest_of(side["token"])) is not None) is goes_on, (ended, at)
        async with _by(team, other) as holder:
            assert (await holder("GET", "/api/me"))[0] == 200
        left = {each["id"] for each in (await ask("GET", "/api/tokens"))[1]["tokens"]}
        assert not left & {each["id"] for each in chain[ended:] + sides[ended:]} and other["id"] in left


async def test_a_token_sees_and_ends_only_itself_and_what_it_has_made(team: Team) -> None:
    async with team.as_("bob") as ask:
        mine, other = await _made(ask), await _made(ask)
    async with _by(team, mine) as holder:
        made = await _made(holder)
        assert {each["id"] for each in (await holder("GET", "/api/tokens"))[1]["tokens"]} == {mine["id"], made["id"]}
        assert (await holder("DELETE", f"/api/tokens/{other['id']}"))[0] == 404
        assert (await holder("DELETE", f"/api/tokens/{made['id']}"))[0] == 204
        assert (await holder("DELETE", f"/api/tokens/{mine['id']}"))[0] == 204
        assert (await holder("GET", "/api/me"))[0] == 401
    async with _by(team, other) as holder:
        assert (await holder("GET", "/api/me"))[0] == 200


async def test_a_token_without_a_scope_is_not_made(team: Team) -> None:
    async with team.as_("bob") as ask:
        status, problem = await ask("POST", "/api/tokens", {"scopes": []})
        assert status == 400 and "scopes" in str(problem)


@pytest.mark.parametrize("name", ["аnna", "bоb", "αnna", "anna.с", "Οla", "аnna@x.example"])
def test_a_name_has_the_letters_of_one_alphabet(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        clean_name(name, check=True)
    assert caught.value.detail_code == "bad_name"


@pytest.mark.parametrize(
    "name", ["anna", "анна", "άννα", "小明", "小明.li", "たなか", "김민수", "josé", "o-brien+1@x.example"]
)
def test_honest_names_are_taken(name: str) -> None:
    assert clean_name(name, check=True)


async def test_what_all_people_used_is_for_administrators(team: Team) -> None:
    async with team.as_("bob") as ask:
        status, used = await ask("GET", "/usage")
    mine = team.people.used(team.people.named("bob").id)
    assert status == 200 and used["key"]["usage"] == used["key"]["search_usage"] == mine["searches"]
