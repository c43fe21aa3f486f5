"""Who may ask: names, websites, tokens, sizes."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from starlette.requests import HTTPConnection

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

import httptools

from server.serving import Client, client, searxng, serving, settings_of
from support.site import serve
from support.timing import PATIENCE, soon
from suyuan.config.settings import ServerSettings
from suyuan.core.causes.store import STORE_UNREACHABLE
from suyuan.core.errors import SuyuanError
from suyuan.core.secret import Secret
from suyuan.net.credentials import Credentials, client_key, is_loopback
from suyuan.server.cookies import Cookies
from suyuan.server.limits import OpenStreams
from suyuan.server.security import HEADERS, SecurityMiddleware
from suyuan.server.sockets import check_open
from suyuan.store.conversations import Store
from suyuan.store.logins import Logins
from suyuan.store.people import People

TOKEN = "correct-horse-battery-staple"


async def raw(port: int, request: str) -> tuple[int, str]:
    """Send exactly these bytes; return the status and all that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request.replace("\n", "\r\n").encode())
        await writer.drain()
        async with asyncio.timeout(PATIENCE):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next(
                (int(line.split(":")[1]) for line in head.splitlines() if line.lower().startswith("content-length")), 0
            )
            return int(head.split()[1]), head + (await reader.readexactly(length)).decode()
    finally:
        writer.close()


class TestHostNames:
    @pytest.mark.parametrize(
        "host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST", "[::1]:{port}", "127.0.0.1", "localhost."]
    )
    async def test_own_host_names_are_accepted(self, host: str) -> None:
        with serving(settings_of()) as served:
            status, _ = await raw(served.port, f"GET /healthz HTTP/1.1\nHost: {host.format(port=served.port)}\n\n")
            assert status == 200

    @pytest.mark.parametrize(
        "head",
        ["Host: evil.example\n", "Host: 127.0.0.1.evil.example\n", "Host: localhost.evil.example:8642\n",
         "Host: localhost:80@evil.example\n", "Host: 169.254.169.254\n", "Host: [::1\n",
         "Host: 127.0.0.1 evil.example\n", "Host: \n"],
    )  # fmt: skip
    async def test_other_host_names_are_refused_on_every_path(self, head: str) -> None:
        with serving(settings_of()) as served:
            for path in ("/", "/healthz", "/api/conversations", "/v1/models", "/search?q=x&format=json", "/no/such"):
                status, text = await raw(served.port, f"GET {path} HTTP/1.1\n{head}\n")
                assert status in (400, 421), (path, text)
                assert "conversations" not in text

    async def test_the_configured_host_name_is_accepted_with_a_token(self) -> None:
        with serving(settings_of(), token=TOKEN, host="suyuan.lan") as served:
            for host, expected in (("suyuan.lan", 200), ("Suyuan.lan:8642", 200), ("other.lan", 421)):
                status, _ = await raw(
                    served.port, f"GET /api/models HTTP/1.1\nHost: {host}\nAuthorization: Bearer {TOKEN}\n\n"
                )
                assert status == expected

    async def test_on_all_interfaces_every_host_name_is_accepted_with_the_token(self) -> None:
        with serving(settings_of(), token=TOKEN, host="0.0.0.0") as served:
            assert (
                await raw(served.port, f"GET /api/models HTTP/1.1\nHost: 10.1.2.3\nAuthorization: Bearer {TOKEN}\n\n")
            )[0] == 200
            assert (await raw(served.port, "GET /api/models HTTP/1.1\nHost: rebound.example\n\n"))[0] == 401


class TestOrigins:
    @pytest.mark.parametrize(
        "headers",
        [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"}, {"Origin": "http://localhost.evil.example"},
         {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}, {"Origin": ""},
         {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"},
         {"Origin": "https://evil.example", "Sec_Fetch_Site": "same-origin"}],
    )  # fmt: skip
    async def test_other_websites_cannot_change_anything(self, headers: dict[str, str]) -> None:
        with serving(settings_of()) as served:
            async with client(served.url) as ask:
                id = await ask.conversation()
                for method, path, body in (
                    ("POST", "/api/conversations", {}), ("PATCH", f"/api/conversations/{id}", {"title": "owned"}),
                    ("DELETE", f"/api/conversations/{id}", None),
                    ("POST", f"/api/conversations/{id}/messages", {"text": "x"}),
                    ("POST", "/api/search", {"query": "x"}), ("POST", "/v1/chat/completions", {"messages": []}),
                    ("POST", "/search", None),
                    ("OPTIONS", "/api/search", None),
                ):  # fmt: skip
                    status, told = await ask(method, path, body, **headers)
                    assert status == 403 and "origin_refused" in json.dumps(told), (method, path)
                _, found = await ask("GET", "/api/conversations")
                assert [each["title"] for each in found["conversations"]] == [""]

    async def test_the_own_page_and_programs_are_accepted(self) -> None:
        with serving(settings_of()) as served:
            async with client(served.url) as ask:
                own = {"Origin": served.url, "Sec_Fetch_Site": "same-origin"}
                for headers in ({}, own, {"Origin": served.url}, {"Sec_Fetch_Site": "none"}):
                    assert (await ask("POST", "/api/conversations", {}, **headers))[0] == 201

    async def test_a_link_on_another_website_opens_the_page_but_no_api(self) -> None:
        visit = {
            "Sec_Fetch_Site": "cross-site",
            "Sec_Fetch_Mode": "navigate",
            "Sec_Fetch_Dest": "document",
            "Accept": "text/html",
        }
        embedded = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors", "Sec_Fetch_Dest": "image"}
        with serving(settings_of()) as served:
            async with client(served.url) as ask:
                assert (await ask("GET", "/", **visit))[0] == 200
                for path in (
                    "/api/conversations",
                    "/search?q=x&format=json",
                    "/?q=x&format=json",
                    "/search?format=csv",
                ):
                    assert (await ask("GET", path, **visit))[0] == 403, path
                typed = visit | {"Sec_Fetch_Site": "none"}
                for path in ("/", "/search?q=x", "/api/models", "/search?q=&format=json"):
                    assert (await ask("GET", path, **typed))[0] in (200, 303, 400), path
                for path in ("/", "/search?q=x&format=json", "/api/health", "/healthz"):
                    assert (await ask("GET", path, **embedded))[0] == 403

    async def test_no_website_can_read_answers(self) -> None:
        with serving(settings_of()) as served:
            async with aiohttp.ClientSession() as session:
                async with session.get(
                    served.url + "/api/health", headers={"Origin": "https://evil.example"}
                ) as response:
                    assert response.status == 403
                    assert not [name for name in response.headers if name.lower().startswith("access-control")]
                own = {"Origin": "chrome-extension://abc"}
                async with session.get(served.url + "/api/health", headers=own) as response:
                    assert response.status == 200


class TestHeaders:
    async def test_every_response_has_the_headers(self) -> None:
        with serving(settings_of(), token=TOKEN) as served:
            async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session:
                for path, expected in (
                    ("/", 200),
                    ("/no/such", 404),
                    ("/api/health", 200),
                    ("/login", 200),
                    ("/api/conversations?limit=0", 400),
                ):
                    async with session.get(served.url + path, headers={"Accept": "text/html"}) as response:
                        assert response.status == expected
                        assert {
                            name: response.headers.get(name) for name in HEADERS
                        } == HEADERS and "Server" not in response.headers
                        assert response.headers["Cache-Control"] == "no-store"
        policy = HEADERS["Content-Security-Policy"]
        assert (
            policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
            and "unsafe" not in policy
            and "frame-ancestors 'none'" in policy
        )

    async def test_an_unhandled_error_has_the_headers_and_no_details(self, caplog: pytest.LogCaptureFixture) -> None:
        with serving(settings_of()) as served:

            @served.app.get("/api/broken")
            async def broken() -> None:
                raise ZeroDivisionError("secret detail")

            async with aiohttp.ClientSession() as session:
                async with session.get(served.url + "/api/broken") as response:
                    told = await response.json()
                    assert (
                        response.status == 500
                        and told["error"]["detail_code"] == "unexpected"
                        and "secret" not in str(told)
                    )
                    assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert caplog.text.count("ZeroDivisionError: secret detail") == 1, "the log has the whole of it, once"
        [run] = re.findall(r"unhandled error run=(\w+) in GET /api/broken", caplog.text)
        assert run in told["error"]["hint"]


class TestToken:
    @pytest.mark.parametrize(
        "path", ["/api/health", "/v1/models", "/metrics", "/search?q=x&format=json", "/api/openapi.json", "/static/x"]
    )
    async def test_everything_needs_the_token(self, path: str) -> None:
        with serving(settings_of(), token=TOKEN) as served:
            async with client(served.url) as ask:
                for headers in (
                    {},
                    {"Authorization": "Bearer wrong"},
                    {"Cookie": "suyuan_login=1.2"},
                    {"Cookie": f"suyuan_login={TOKEN}"},
                ):
                    status, told = await ask("GET", path, **headers)
                    assert status == 401 and "token" in json.dumps(told)
                assert (await ask("GET", "/healthz"))[0] == 200

    async def test_programs_send_it(self) -> None:
        with serving(settings_of(), token=TOKEN) as served:
            async with client(served.url) as ask:
                for value in (f"Bearer {TOKEN}", f"bearer {TOKEN}", TOKEN):
                    assert (await ask("GET", "/api/models", Authorization=value))[0] == 200

    async def test_a_login_returns_to_the_requested_page(self) -> None:
        with serving(settings_of(), token=TOKEN) as served:
            jar = aiohttp.CookieJar(unsafe=True)
            async with aiohttp.ClientSession(cookie_jar=jar) as session:
                async with session.get(
                    served.url + "/c/abc?x=1", headers={"Accept": "text/html", "Accept-Language": "zh"}
                ) as response:
                    page = await response.text()
                    assert (
                        response.url.path == "/login"
                        and 'value="/c/abc?x=1"' in page
                        and "令牌" in page
                        and "<script" not in page
                    )
                async with session.post(served.url + "/login", data={"token": "wrong", "next": "/"}) as response:
                    assert (
                        response.status == 401 and "The token is incorrect." in await response.text() and not list(jar)
                    )
                form = {"token": TOKEN, "next": "/api/models"}
                async with session.post(served.url + "/login", data=form, allow_redirects=False) as response:
                    cookie = response.headers["Set-Cookie"]
                    assert response.status == 303 and response.headers["Location"] == "/api/models"
                assert (
                    "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie and TOKEN not in cookie
                )
                async with session.get(served.url + "/api/models") as response:
                    assert response.status == 200
            other = {"Cookie": cookie.split(";")[0]}
            with serving(settings_of(), token="another token") as elsewhere:
                async with client(elsewhere.url) as ask:
                    assert (await ask("GET", "/api/models", **other))[0] == 401, "another token, another proof"

    @pytest.mark.parametrize(
        "target",
        ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/login", "/\r\nX: y"],
    )
    async def test_a_login_does_not_redirect_to_other_sites(self, target: str) -> None:
        with serving(settings_of(), token=TOKEN) as served:
            async with aiohttp.ClientSession() as session:
                form = {"token": TOKEN, "next": target}
                async with session.post(served.url + "/login", data=form, allow_redirects=False) as response:
                    assert (
                        response.status == 303 and response.headers["Location"] == "/" and "X" not in response.headers
                    )

    async def test_the_form_escapes_what_it_is_given(self) -> None:
        with serving(settings_of(), token=TOKEN) as served:
            async with client(served.url) as ask:
                _, page = await ask("GET", "/login?next=/%22%3E%3Cscript%3Ealert(1)%3C/script%3E", Accept="text/html")
                assert "<script" not in page

    async def test_wrong_credentials_of_every_kind_are_counted_together(self) -> None:
        with serving(settings_of(), token=TOKEN) as served:
            async with client(served.url) as ask:
                ways = [{"Authorization": "Bearer {}"}, {"Cookie": "suyuan_login={}"}, {"Authorization": "{}"}]
                statuses = []
                for number in range(300):
                    headers = {n: v.format(f"guess-{number}") for n, v in ways[number % 3].items()}
                    status, told = await ask("GET", ("/api/models", "/v1/models")[number % 2], **headers)
                    statuses.append(status)
                assert statuses == [401] * 10 + [429] * 290 and "too_many_tries" in json.dumps(told)
                async with ask.session.post(served.url + "/login", data={"token": "guess"}) as response:
                    assert response.status == 429 and int(response.headers["Retry-After"]) > 200
                    assert "<form" in await response.text(), "the form for the right token stays"

    async def test_the_right_credential_is_accepted_whatever_others_guess(self) -> None:
        with serving(settings_of(), token=TOKEN) as served:
            async with client(served.url) as ask:
                cookie = await logged_in(ask)
                for number in range(30):
                    await ask("GET", "/api/models", Authorization=f"Bearer guess-{number}")
                assert (await ask("GET", "/api/models", Authorization=f"Bearer {TOKEN}"))[0] == 200
                assert (await ask("GET", "/api/models", Cookie=cookie))[0] == 200
                assert (await ask("GET", "/api/models", Cookie=await logged_in(ask)))[0] == 200

    async def test_a_forwarded_address_is_believed_only_from_a_proxy_that_was_configured(self) -> None:
        with serving(settings_of(), token=TOKEN) as served:
            async with client(served.url) as ask:
                statuses = [await guess(ask, X_Forwarded_For=f"203.0.113.{number}") for number in range(12)]
                assert statuses[-1] == 429
        with serving(settings_of(), token=TOKEN, trusted_proxies=("127.0.0.0/8",)) as served:
            async with client(served.url) as ask:
                statuses = [await guess(ask, X_Forwarded_For=f"203.0.113.{number}") for number in range(12)]
                assert statuses == [401] * 12
                forged = [await guess(ask, X_Forwarded_For=f"198.51.100.{n}, 203.0.113.99") for n in range(12)]
                assert forged[-1] == 429, "what the client wrote before the proxy's own entry does not count"

    async def test_the_cookie_cannot_be_computed_and_ends_with_its_token(self, tmp_path: Path) -> None:
        settings = settings_of(data=tmp_path)
        with serving(settings, token=TOKEN) as served:
            async with client(served.url) as ask:
                cookie = await logged_in(ask)
                assert cookie != await logged_in(ask)
        with serving(settings, token=TOKEN) as served:
            async with client(served.url) as ask:
                assert (await ask("GET", "/api/models", Cookie=cookie))[0] == 200, "a login outlives the server"
        assert cookie.partition("=")[2].encode() not in stored(tmp_path)
        with serving(settings, token="another token") as served:
            async with client(served.url) as ask:
                assert (await ask("GET", "/api/models", Cookie=cookie))[0] == 401

    async def test_an_expired_cookie_is_removed_and_leads_to_the_form(self) -> None:
        with serving(settings_of(), token=TOKEN) as served:
            async with aiohttp.ClientSession() as session:
                headers = {"Cookie": "suyuan_login=old", "Accept": "text/html"}
                for number in range(12):
                    async with session.get(served.url + "/", headers=headers, allow_redirects=False) as response:
                        assert "suyuan_login=;" in response.headers["Set-Cookie"]
                        assert response.status == (303 if number < 10 else 429)
                        assert number < 10 or "<form" in await response.text()

    async def test_logins_outlive_a_store_that_is_away(self) -> None:
        now = [1000.0]
        logins = Logins(_away, Secret(TOKEN), clock=lambda: now[0])
        value, _ = await logins.begin()
        assert await logins.find(value)
        now[0] += 60
        assert await logins.find(value), "what is known is kept while the store is away"
        with pytest.raises(SuyuanError):
            await logins.find("unknown")
        with pytest.raises(SuyuanError):
            await logins.begin("a person")
        now[0] += 31 * 86_400
        assert not await logins.find(value), "a login ends"

    @pytest.mark.parametrize(
        ("public_url", "scheme", "name", "path"),
        [
            ("https://suyuan.example", "http", "__Host-suyuan_login", "/"),
            ("https://suyuan.example/search", "http", "__Secure-suyuan_login", "/search"),
            ("", "https", "__Host-suyuan_login", "/"),
            ("", "http", "suyuan_login", "/"),
        ],
    )
    def test_the_name_of_a_cookie_binds_it_to_the_host(
        self, public_url: str, scheme: str, name: str, path: str
    ) -> None:
        cookies = Cookies(ServerSettings(public_url=public_url))
        sent = f"{name}=right; suyuan_login=plain".encode()
        browser = HTTPConnection({"type": "http", "scheme": scheme, "headers": [(b"cookie", sent)]})
        header = cookies.set("right", 60, browser)
        assert header.startswith(f"{name}=right; Path={path}; HttpOnly; SameSite=Strict; Max-Age=60")
        assert ("; Secure" in header) == name.startswith("__") and "Domain" not in header
        assert cookies.read(browser) == ("right" if name.startswith("__") else "plain")
        ends = cookies.ended(browser)
        assert {end.partition("=")[0] for end in ends} == {name, "suyuan_login"} and all("Max-Age=0" in e for e in ends)

    async def test_there_is_one_way_of_logins(self) -> None:
        """With the token and with accounts; neither takes the cookies of the other."""
        now = [1000.0]
        store = Store(clock=lambda: now[0])

        async def in_store(work: Callable[[People], Any]) -> Any:
            return await asyncio.to_thread(work, store.people)

        by_token, by_account = (Logins(in_store, token, lambda: now[0]) for token in (Secret(TOKEN), None))
        anna = store.people.add("anna", "")
        token_cookie, seconds = await by_token.begin()
        cookie, same_seconds = await by_account.begin(anna.id)
        assert seconds == same_seconds == 30 * 86_400
        for known, other in ((by_token, cookie), (by_account, token_cookie)):
            assert await known.find(other) is None
        for again, value, person in (
            (Logins(in_store, Secret(TOKEN), lambda: now[0]), token_cookie, ""),
            (by_account, cookie, anna.id),
        ):
            found = await again.find(value)
            assert found is not None and found.person == person
        renewed = await by_account.renew(cookie)
        assert renewed is not None and await by_account.find(renewed[0])
        now[0] += 61
        assert await by_account.find(cookie) is None, "the old cookie is taken for a minute"
        store.people.change(anna.id, password="another")
        assert await by_account.find(renewed[0]) is None, "known for five seconds at most"
        now[0] += 31 * 86_400
        assert await by_token.find(token_cookie) is None, "a login ends"
        store.close()

    def test_wrong_tokens_are_forgotten_after_a_while(self) -> None:
        now = [0.0]
        credentials = Credentials(Secret(TOKEN), most=2, seconds=10, clock=lambda: now[0], clients=3)
        codes = [credentials.refuse("a").detail_code for _ in range(3)]
        assert codes == ["token_wrong", "token_wrong", "too_many_tries"]
        assert credentials.refuse("b").detail_code == "token_wrong"
        now[0] = 11
        assert credentials.refuse("a").detail_code == "token_wrong"
        for other in "bcdef":
            credentials.refuse(other)
        assert len(credentials) == 3, "many clients hold no memory"

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "suyuan.lan", ""])
    def test_other_machines_need_a_token(self, host: str) -> None:
        for origin in (ServerSettings(host), ServerSettings(public_url="https://suyuan.example")):
            with pytest.raises(SuyuanError) as raised:
                check_open(origin)
            assert raised.value.detail_code == "token_for_network" and "SUYUAN_TOKEN" in raised.value.hint
        with pytest.raises(SuyuanError):
            SecurityMiddleware(_nothing, ServerSettings(host), Logins(_away))
        check_open(ServerSettings(host, token=Secret(TOKEN)))

    @pytest.mark.parametrize("token", ["1234567", "hunter2hunt", "a" * 40, "abcabcabcabcabcabc"])
    def test_a_token_that_can_be_guessed_is_refused(self, token: str) -> None:
        for host in ("127.0.0.1", "0.0.0.0"):
            with pytest.raises(SuyuanError) as raised:
                check_open(ServerSettings(host, token=Secret(token)))
            assert raised.value.detail_code == "token_weak" and "openssl rand" in raised.value.hint

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.53", "[::1]"])
    def test_loopback_needs_no_token(self, host: str) -> None:
        assert is_loopback(host)
        check_open(ServerSettings(host))

    async def test_the_public_address_is_accepted(self) -> None:
        with serving(settings_of(), token=TOKEN, public_url="https://suyuan.example.com") as served:
            async with client(served.url) as ask:
                known = {"Authorization": f"Bearer {TOKEN}"}
                assert (await ask("GET", "/api/models", Host="suyuan.example.com", **known))[0] == 200
                assert (await ask("GET", "/api/models", Host="other.example.com", **known))[0] == 421
                for origin, status in (("https://suyuan.example.com", 201), ("https://evil.example", 403)):
                    assert (await ask("POST", "/api/conversations", {}, Origin=origin, **known))[0] == status
                form = {"token": TOKEN}
                async with ask.session.post(served.url + "/login", data=form, allow_redirects=False) as response:
                    assert "Secure" in response.headers["Set-Cookie"]


async def _away(work: Callable[[People], Any]) -> Any:
    """A store that cannot be reached."""
    raise STORE_UNREACHABLE(where="db", why="gone")


def stored(folder: Path) -> bytes:
    """All that is in the files of ``folder``."""
    return b"".join(file.read_bytes() for file in folder.iterdir())


async def guess(ask: Client, **headers: str) -> int:
    """Send a wrong token, and return the status."""
    return (await ask("GET", "/api/models", Authorization="Bearer guess", **headers))[0]


async def logged_in(ask: Client) -> str:
    """Log in, and return the cookie."""
    async with ask.session.post(ask.url + "/login", data={"token": TOKEN}, allow_redirects=False) as response:
        assert response.status == 303
        return response.headers["Set-Cookie"].partition(";")[0]


async def _nothing(*_: Any) -> None: ...


class TestLimits:
    async def test_a_body_with_a_large_content_length_is_refused(self) -> None:
        with serving(settings_of()) as served:
            headers = "Host: localhost\nContent-Type: application/json\nContent-Length: 2000000\n\n"
            head = f"POST /api/search HTTP/1.1\n{headers}"
            status, text = await raw(served.port, head)
            assert status == 413 and "body_too_large" in text

    async def test_a_large_body_without_content_length_is_refused(self) -> None:
        with serving(settings_of()) as served:

            async def endless() -> Any:
                for _ in range(40):
                    yield b"x" * 50_000

            async with aiohttp.ClientSession() as session:
                for path in ("/api/search", "/v1/chat/completions", "/search?format=json"):
                    async with session.post(
                        served.url + path, data=endless(), headers={"Content-Type": "application/json"}
                    ) as response:
                        assert response.status == 413 and "body_too_large" in await response.text()

    async def test_streams_of_one_client_are_counted(self) -> None:
        with serving(settings_of()) as served:
            async with client(served.url) as ask:
                path = f"/api/conversations/{await ask.conversation()}/changes"
                opened = [await ask.session.get(served.url + path) for _ in range(16)]
                assert {response.status for response in opened} == {200}
                status, told = await ask("GET", path)
                assert status == 429 and told["error"]["detail_code"] == "too_many_streams" and told["error"]["hint"]
                opened.pop().close()
                assert await soon(lambda: len(served.app.state.streams) < 16)
                again = await ask.session.get(served.url + path)
                assert again.status == 200, "a place that was left is free"
                for response in (*opened, again):
                    response.close()

    async def test_all_streams_together_are_counted(self) -> None:
        streams = OpenStreams(ServerSettings(streams_per_client=2, streams=3))
        with streams.slot("a"), streams.slot("a"), streams.slot("b"):
            for who, code in (("a", "too_many_streams"), ("c", "server_full")):
                with pytest.raises(SuyuanError) as raised, streams.slot(who):
                    pass
                assert raised.value.detail_code == code
        assert len(streams) == 0

    @pytest.mark.parametrize(
        ("address", "who"),
        [
            ("203.0.113.7", "203.0.113.7"),
            ("2001:db8:1:2::1", "2001:0db8:0001:0002"),
            ("2001:db8:1:2:ffff::9", "2001:0db8:0001:0002"),
            ("x", "x"),
        ],
    )
    def test_one_subscriber_is_one_client(self, address: str, who: str) -> None:
        assert client_key({"client": (address, 1)}) == who
        assert client_key({}) == ""


async def test_web_sockets_are_refused() -> None:
    with serving(settings_of()) as served:
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(served.url + "/api/health")


class TestProtocol:
    """The server's HTTP, at the level of bytes."""

    async def test_it_runs_on_uvloop_and_httptools(self) -> None:
        uvloop = pytest.importorskip("uvloop", reason="there is no uvloop for this platform")
        with serving(settings_of()) as served:
            assert isinstance(served.loop, uvloop.Loop)
            async with client(served.url) as ask:
                assert (await ask("GET", "/healthz"))[0] == 200
                (connection,) = served.server.server_state.connections
                assert isinstance(connection.parser, httptools.HttpRequestParser)  # type: ignore[union-attr]

    @pytest.mark.parametrize("pieces", [1, 7])
    async def test_a_url_with_raw_utf8_is_read(self, pieces: int) -> None:
        async with serve(searxng()) as site:
            with serving(settings_of(site.url)) as served:
                headers = "Host: localhost\r\nConnection: close\r\n\r\n"
                request = f"GET /search?q=你好，世界&format=json HTTP/1.1\r\n{headers}".encode()
                answer = await in_pieces(served.port, request, pieces)
                assert b" 200 OK" in answer and json.loads(answer.partition(b"\r\n\r\n")[2])["query"] == "你好，世界"
                answer = await in_pieces(served.port, request.replace(b"/search?q=", "/没有/".encode()), pieces)
                assert b" 404 " in answer and "/没有/".encode() in answer

    async def test_a_query_in_another_encoding_is_refused(self) -> None:
        with serving(settings_of()) as served:
            request = (
                b"GET /search?format=json&q="
                + "你好".encode("gbk")
                + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            )
            answer = await in_pieces(served.port, request)
            assert b" 400 " in answer and b"UTF-8" in answer

    @pytest.mark.parametrize("start", [b"GET /", b"GET / HTTP/1.1\r\nX: ", b"GET / HTTP/1.1\r\n"])
    async def test_an_endless_head_is_refused(self, start: bytes) -> None:
        with serving(settings_of()) as served:
            more = b"Name: value\r\n" * 7000 if start.endswith(b"\r\n") else b"a" * 80_000
            assert b" 400 Bad Request" in await in_pieces(served.port, start + more)

    async def test_endless_trailers_are_refused(self) -> None:
        with serving(settings_of()) as served:
            head = b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
            _, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(head)
            with pytest.raises(ConnectionError):
                async with asyncio.timeout(10):
                    while True:
                        writer.write(b"Name: value\r\n" * 1000)
                        await writer.drain()
            writer.close()


async def in_pieces(port: int, request: bytes, pieces: int = 1) -> bytes:
    """Send ``request`` in so many pieces, and return all that comes back until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    size = -(-len(request) // pieces)
    try:
        async with asyncio.timeout(10):
            for at in range(0, len(request), size):
                writer.write(request[at : at + size])
                await writer.drain()
                if pieces > 1:
                    # Small packets are sent together otherwise.
                    await asyncio.sleep(0.02)
            return await reader.read()
    finally:
        writer.close()
