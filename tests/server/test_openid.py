"""Logging in elsewhere: at an OpenID provider, which may lie, and at a proxy, which only a trusted one may claim to be."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("jwt", reason="the optional extra suyuan[team] is not installed")

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from server.serving import Client, Served, serving, settings_of
from support.timing import PATIENCE
from suyuan.client import AsyncClient
from suyuan.config.settings import ServerSettings
from suyuan.core.errors import SuyuanError
from suyuan.core.secret import Secret
from suyuan.server.openid import CALLBACK, OpenIdLogin
from suyuan.store.accounts import add_account
from suyuan.store.people import People

CLIENT, SECRET, PASSWORD = "suyuan", "a secret/with signs", "correct horse battery"


@dataclass
class Provider:
    """A small OpenID provider that logs in whoever comes, as ``who``; ``claims`` and ``header`` are its lies."""

    who: str = "dora"
    claims: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    key: Any = field(default_factory=lambda: rsa.generate_private_key(65_537, 2048))
    signing: Any = None
    url: str = ""
    asked: dict[str, dict[str, str]] = field(default_factory=dict)
    exchanged: list[str] = field(default_factory=list)

    def answer(self, path: str, body: str, authorization: str) -> dict[str, Any]:
        if path == "/.well-known/openid-configuration":
            names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            return {"issuer": self.url} | {name: f"{self.url}/{at}" for name, at in names.items()}
        if path == "/keys":
            key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return {"keys": [{**key, "kid": "1", "use": "sig"}]}
        return self._token(dict(parse_qsl(body)), authorization)

    def authorize(self, location: str) -> tuple[str, str]:
        """What the page of the provider does: a code, and the address that the browser is sent to with it."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        assert asked["response_type"] == "code" and asked["code_challenge_method"] == "S256" and asked["nonce"]
        code = f"code{len(self.asked)}"
        self.asked[code] = asked
        return code, f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def _token(self, form: dict[str, str], authorization: str) -> dict[str, Any]:
        asked = self.asked[form["code"]]
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        both = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        right = challenge.decode() == asked["code_challenge"] and both == "suyuan:a%20secret%2Fwith%20signs"
        if not right or form["redirect_uri"] != asked["redirect_uri"] or form["code"] in self.exchanged:
            return {"error": "invalid_grant"}
        self.exchanged.append(form["code"])
        now = int(time.time())
        claims = {
            "iss": self.url, "aud": CLIENT, "sub": f"id of {self.who}", "preferred_username": self.who,
            "nonce": asked["nonce"], "iat": now, "exp": now + 60, **self.claims,
        }  # fmt: skip
        head = {"kid": "1", **self.header}
        algorithm = head.pop("alg", "RS256")
        key = {"none": None, "HS256": "a shared password of enough length"}.get(algorithm, self.signing or self.key)
        return {"id_token": jwt.encode(claims, key, algorithm=algorithm, headers=head)}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    made = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            data = json.dumps(made.answer(self.path, body, self.headers.get("Authorization", ""))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, name="openid")
    thread.start()
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def served(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    options: dict[str, Any] = {"oidc_issuer": provider.url, "oidc_client": CLIENT, "oidc_secret": Secret(SECRET)}
    proxy: dict[str, Any] = {"trusted_proxies": ("127.0.0.2/32",), "user_header": "Remote-User"}
    with serving(settings_of(data=tmp_path_factory.mktemp("people")), users=True, **options, **proxy) as server:
        people: People = server.app.state.client.chat.store.people
        add_account(people, "anna", PASSWORD)
        for name in ("dora", "emil"):
            add_account(people, name, "", "member", by_password=False)
        yield server


@pytest.fixture(autouse=True)
def honest(provider: Provider) -> None:
    provider.claims, provider.header, provider.signing, provider.who = {}, {}, None, "dora"


@asynccontextmanager
async def browser(served: Served, address: str = "127.0.0.1") -> AsyncIterator[Client]:
    timeout, jar = aiohttp.ClientTimeout(PATIENCE), aiohttp.CookieJar(unsafe=True)
    connector = aiohttp.TCPConnector(local_addr=(address, 0))
    async with aiohttp.ClientSession(timeout=timeout, cookie_jar=jar, connector=connector) as session:
        yield Client(session, served.url)


async def begun(ask: Client, target: str = "/settings") -> str:
    """Where the browser is sent when it begins to log in."""
    async with ask.session.get(f"{ask.url}/login/openid?next={target}", allow_redirects=False) as answer:
        cookie = answer.headers["Set-Cookie"]
        assert answer.status == 303 and "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/login" in cookie
        return answer.headers["Location"]


async def came_back(ask: Client, address: str) -> tuple[int, str]:
    fetched = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    async with ask.session.get(address, allow_redirects=False, headers={**fetched, "Accept": "text/html"}) as answer:
        return answer.status, await answer.text()


async def test_somebody_logs_in_at_the_provider_and_stays_the_same_person(served: Served, provider: Provider) -> None:
    for name in ("dora", "another name"):
        provider.claims = {"preferred_username": name}
        async with browser(served) as ask:
            assert "/login/openid?next=%2F" in (await ask("GET", "/login"))[1]
            _, back = provider.authorize(await begun(ask))
            status, page = await came_back(ask, back)
            assert status == 200 and 'content="0;url=/settings"' in page
            _, me = await ask("GET", "/api/me")
            assert (me["name"], me["role"]) == ("dora", "member")
            # The code and the state count once.
            status, page = await came_back(ask, back)
            assert status == 403 and "not begun in this browser" in page
    people: People = served.app.state.client.chat.store.people
    assert people.noted(person="dora")[0]["what"] == "OpenID"


def lies() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    now = int(time.time())
    return [
        ("issuer", {"iss": "https://evil.example"}, {}),
        ("audience", {"aud": "another"}, {}),
        ("party", {"aud": [CLIENT, "another"]}, {}),
        ("expired", {"exp": now - 3600, "iat": now - 7200}, {}),
        ("future", {"iat": now + 3600}, {}),
        ("endless", {"exp": None}, {}),
        ("nonce", {"nonce": "of another login"}, {}),
        ("unsigned", {}, {"alg": "none"}),
        ("password", {}, {"alg": "HS256"}),
        ("key", {}, {"kid": "2"}),
        ("forged", {}, {}),
        ("nameless", {"preferred_username": ""}, {}),
    ]


@pytest.mark.parametrize(("lie", "claims", "header"), lies(), ids=[each[0] for each in lies()])
async def test_a_token_that_proves_nothing_is_refused(
    served: Served, provider: Provider, lie: str, claims: dict[str, Any], header: dict[str, Any]
) -> None:
    provider.claims, provider.header = claims, header
    if lie == "forged":
        provider.signing = rsa.generate_private_key(65_537, 2048)
    async with browser(served) as ask:
        _, back = provider.authorize(await begun(ask))
        status, page = await came_back(ask, back)
        assert status == 403 and 'role="alert"' in page
        assert (await ask("GET", "/api/me"))[0] == 401


async def test_a_login_must_come_back_to_the_browser_that_began_it(served: Served, provider: Provider) -> None:
    async with browser(served) as mine, browser(served) as theirs:
        await begun(mine)
        _, back = provider.authorize(await begun(theirs))
        assert (await came_back(mine, back))[0] == 403, "the login of another, put under one's own"
        async with browser(served) as nobody:
            assert (await came_back(nobody, f"{nobody.url}{CALLBACK}?code=x&state="))[0] == 403
        code, _ = provider.authorize(await begun(mine))
        assert (await came_back(mine, f"{mine.url}{CALLBACK}?{urlencode({'code': code, 'state': 'x'})}"))[0] == 403
        assert (await mine("GET", "/api/me"))[0] == 401
        # With the state of this browser and the code of another the verifier does not fit.
        code, _ = provider.authorize(await begun(mine))
        state = parse_qs(urlsplit(await begun(theirs)).query)["state"][0]
        mixed = f"{theirs.url}{CALLBACK}?{urlencode({'code': code, 'state': state})}"
        assert (await came_back(theirs, mixed))[0] == 403
        state = parse_qs(urlsplit(await begun(theirs)).query)["state"][0]
        refused = f"{theirs.url}{CALLBACK}?{urlencode({'error': 'access_denied', 'state': state})}"
        assert "access_denied" in (await came_back(theirs, refused))[1]


@pytest.mark.parametrize("who", ["anna", "stranger"])
async def test_the_provider_cannot_give_away_an_account_with_a_password_or_make_one(
    served: Served, provider: Provider, who: str
) -> None:
    provider.who = who
    async with browser(served) as ask:
        _, back = provider.authorize(await begun(ask))
        status, page = await came_back(ask, back)
        assert status == 403 and "no account here" in page


async def test_only_a_trusted_proxy_can_name_a_person(served: Served) -> None:
    async with browser(served, "127.0.0.2") as proxy, browser(served) as anybody:
        assert (await proxy("GET", "/api/me", Remote_User="emil"))[1]["name"] == "emil"
        assert (await proxy("GET", "/api/me", Remote_User="Emil", X_Forwarded_For="203.0.113.7"))[1]["name"] == "emil"
        assert (await proxy("GET", "/api/me"))[0] == 401
        status, problem = await proxy("GET", "/api/me", Remote_User="stranger")
        assert status == 403 and problem["error"]["detail_code"] == "no_account_here"
        for more in ({}, {"X_Forwarded_For": "127.0.0.2"}, {"Forwarded": "for=127.0.0.2"}):
            assert (await anybody("GET", "/api/me", Remote_User="emil", **more))[0] == 401
        two = [("Remote-User", "emil"), ("Remote-User", "anna")]
        async with proxy.session.get(proxy.url + "/api/me", headers=two) as answer:
            assert answer.status == 401, "one of them is the client's"


async def test_new_people_get_an_account_where_that_is_wanted(provider: Provider) -> None:
    options: dict[str, Any] = {
        "oidc_issuer": provider.url,
        "oidc_client": CLIENT,
        "oidc_secret": Secret(SECRET),
        "new_users": True,
    }
    proxy: dict[str, Any] = {"trusted_proxies": ("127.0.0.2/32",), "user_header": "Remote-User"}
    provider.who = "new one@example.com".replace(" ", ".")
    with serving(settings_of(), users=True, **options, **proxy) as served:
        async with browser(served) as ask, browser(served, "127.0.0.2") as known:
            _, back = provider.authorize(await begun(ask))
            assert (await came_back(ask, back))[0] == 200
            _, me = await ask("GET", "/api/me")
            assert me["name"] == "new.one@example.com" and me["role"] == "member", (
                "the first is no administrator either"
            )
            assert (await known("GET", "/api/me", Remote_User="frieda"))[1]["role"] == "member"


def test_a_provider_without_https_is_refused() -> None:
    client = AsyncClient(settings_of())
    with pytest.raises(SuyuanError) as caught:
        OpenIdLogin(ServerSettings(oidc_issuer="http://login.example.com", oidc_client=CLIENT), client.network.send)
    client.close_sync()
    assert caught.value.detail_code == "oidc_not_safe"
