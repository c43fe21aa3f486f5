"""Behind a real nginx: HTTPS, a path of its own, event streams that arrive as they are written."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml
from multidict import CIMultiDict

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import Client, serving, settings_of
from support.oai import hold, reply, serve_model
from support.site import free_port, serve
from support.site import reply as answer
from support.talk import openai
from support.timing import PATIENCE, until
from suyuan.server.prefix import PrefixMiddleware

DEPLOY = Path(__file__).parents[2] / "deploy" / "team"
TOKEN = "correct-horse-battery-staple"
NGINX = shutil.which("nginx") or ("/usr/sbin/nginx" if Path("/usr/sbin/nginx").exists() else None)


@dataclass
class Proxied:
    url: str
    go_on: threading.Event
    client: ssl.SSLContext


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    if NGINX is None:
        pytest.skip("nginx is not installed on this machine (apt-get install nginx)")
    folder, port, go_on = tmp_path_factory.mktemp("nginx"), free_port(), threading.Event()
    url = f"https://localhost:{port}/suyuan"
    with serve_model([[reply("first "), hold(go_on), reply("second.")]]) as model:
        settings = settings_of(data=folder / "data", model=openai(model.url))
        with serving(settings, token=TOKEN, public_url=url, trusted_proxies=("127.0.0.1/32",)) as served:
            _certificate(folder)
            recipe = (DEPLOY / "nginx.conf").read_text()
            for old, new in (
                ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"), ("search.example.com;", "localhost;"),
                ("127.0.0.1:8642", f"127.0.0.1:{served.port}"), ("proxy_set_header Host $host", "proxy_set_header Host $http_host"),
                ("/etc/ssl/certs/search.example.com.pem", f"{folder}/cert.pem"),
                ("/etc/ssl/private/search.example.com.key", f"{folder}/key.pem"),
            ):  # fmt: skip
                assert old in recipe, old
                recipe = recipe.replace(old, new)
            try:
                with _nginx(folder, recipe):
                    yield Proxied(url, go_on, ssl.create_default_context(cafile=str(folder / "cert.pem")))
            finally:
                go_on.set()


@contextmanager
def _nginx(folder: Path, recipe: str) -> Iterator[None]:
    """A real nginx with the blocks of a recipe, after its own check of them."""
    assert NGINX is not None
    places = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    conf = folder / "nginx.conf"
    conf.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}} "
        f"http {{ access_log off; {places} {recipe} }}"
    )
    command = [NGINX, "-p", str(folder), "-c", str(conf)]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        assert until(
            lambda: bool((folder / "pid").exists() and (folder / "pid").read_text()) or process.poll() is not None
        )
        assert process.poll() is None, (folder / "error.log").read_text()
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _certificate(folder: Path) -> None:
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([*command, *files], check=True, stderr=subprocess.DEVNULL)


async def test_people_log_in_ask_and_follow_through_nginx(proxied: Proxied) -> None:
    connector = aiohttp.TCPConnector(ssl=proxied.client)
    timeout = aiohttp.ClientTimeout(PATIENCE)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session, asyncio.timeout(PATIENCE):
        ask = Client(session, proxied.url)
        async with session.get(proxied.url + "/", headers={"Accept": "text/html"}) as answer:
            form = await answer.text()
            assert answer.status == 200 and answer.url.path == "/suyuan/login" and 'action="/suyuan/login"' in form
        async with session.post(proxied.url + "/login", data={"token": TOKEN, "next": "/"}) as answer:
            page = await answer.text()
            assert answer.status == 200 and answer.url.path == "/suyuan/", answer.url
        cookie = next(iter(session.cookie_jar))
        assert cookie["path"] == "/suyuan" and cookie["secure"]
        # Every link of the page stays below the path.
        links = re.findall(r'(?:href|src|action)="(/[^"]*)"', page)
        assert links and all(link.startswith("/suyuan/") for link in links), links
        script = next(link for link in links if link.partition("?")[0].endswith("app.js"))
        async with session.get(proxied.url.removesuffix("/suyuan") + script) as answer:
            code = await answer.text()
            assert answer.status == 200 and "/suyuan/api/conversations" in code
            assert not re.search(r"[\"'`]/(api|c|stream|static)/", code) and 'event.key === "/suyuan' not in code
        id = await ask.conversation(search=False)
        run = await ask.ask(id)
        seen = []
        async for _, kind, data in ask.events(f"/api/runs/{run}/events"):
            seen.append(kind)
            if kind == "text" and "first" in data["text"]:
                # It has come before the end was written: nothing waits in a buffer.
                proxied.go_on.set()
        assert seen[-1] == "answer"
        _, stream = await ask("GET", f"/stream/{run}")
        assert not re.search(r'href=\\"/(?!suyuan/)', stream)
        assert (await ask("GET", "/healthz"))[0] == 200


RECIPES = ("nginx.conf", "compose-nginx.conf")
# What login services call the header, as clients may spell it.
SPELLINGS = (
    "Remote-User", "remote-user", "REMOTE-USER", "Remote_User", "REMOTE_USER", "HTTP_REMOTE_USER", "X-Remote-User",
    "X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Preferred-Username", "X-Auth-Request-User",
    "X-Auth-Request-Email", "X-Auth-Request-Preferred-Username", "X-WebAuth-User", "x-authentik-username",
    "X_Forwarded_User", "Tailscale-User-Login",
)  # fmt: skip


@pytest.mark.parametrize("recipe", RECIPES)
async def test_no_client_can_name_itself_through_nginx(recipe: str, tmp_path: Path) -> None:
    """A real nginx with each recipe: what clients send of who they are does not arrive, in whatever spelling."""
    if NGINX is None:
        pytest.skip("nginx is not installed on this machine (apt-get install nginx)")
    port = free_port()
    async with serve(lambda seen: answer("fine")) as site:
        behind = site.url.removeprefix("http://")
        text = (DEPLOY / recipe).read_text()
        _certificate(tmp_path)
        for old, new in (
            ("listen 443 ssl", f"listen 127.0.0.1:{port}"), ("listen 8080", f"listen 127.0.0.1:{port}"),
            ("server 127.0.0.1:8642;", f"server {behind};"), ("server suyuan1:8642;", f"server {behind};"),
            ("    server suyuan2:8642;\n", ""),
            ("/etc/ssl/certs/search.example.com.pem", f"{tmp_path}/cert.pem"),
            ("/etc/ssl/private/search.example.com.key", f"{tmp_path}/key.pem"),
        ):  # fmt: skip
            text = text.replace(old, new)
        with _nginx(tmp_path, text):
            sent = [(name, "mallory") for name in SPELLINGS] + [
                ("X-Forwarded-For", "203.0.113.9"),
                ("X-Other", "arrives"),
            ]
            async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(PATIENCE)) as session:
                async with session.get(f"http://127.0.0.1:{port}/suyuan/", headers=CIMultiDict(sent)) as response:
                    assert response.status == 200
        [seen] = site.seen
    arrived = {name.lower(): value for name, value in seen.headers.items()}
    assert "mallory" not in arrived.values(), arrived
    assert arrived["x-other"] == "arrives" and arrived["x-forwarded-for"] == "127.0.0.1"


async def test_a_proxy_that_takes_the_path_away_is_fine_too() -> None:
    seen = []

    async def app(scope: dict[str, object], receive: object, send: object) -> None:
        seen.append(scope["path"])

    wrapped = PrefixMiddleware(app, "/suyuan/")  # type: ignore[arg-type]
    for path in ("/suyuan/c/1", "/c/1", "/suyuan", "/suyuanx"):
        await wrapped({"type": "http", "path": path, "headers": []}, None, None)  # type: ignore[arg-type]
    assert seen == ["/c/1", "/c/1", "/", "/suyuanx"]


async def test_addresses_that_are_no_links_have_the_path_too(tmp_path: Path) -> None:
    """The browser installs the page and searches by it, and clients follow a crawl, by whole addresses."""
    settings = settings_of(data=tmp_path)
    with serving(settings, public_url="https://localhost/suyuan") as served:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{served.port}/suyuan/") as session:
            async with session.get("manifest.webmanifest") as answer:
                manifest = json.loads(await answer.text())
            async with session.get("opensearch.xml") as answer:
                described = await answer.text()
            batch = {"urls": [f"http://127.0.0.1:{served.port}/healthz"]}
            async with session.post("v2/batch/scrape", json=batch) as answer:
                begun = await answer.json()
    assert {manifest["id"], manifest["start_url"], manifest["share_target"]["action"]} == {"/suyuan/"}
    assert manifest["icons"][0]["src"].startswith("/suyuan/static/icon.svg")
    own = f"http://127.0.0.1:{served.port}/suyuan"
    assert f'template="{own}/?q=' in described and f">{own}/static/icon.svg" in described
    assert begun["url"] == f"{own}/v2/batch/scrape/{begun['id']}"


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        ('<a class="x" href="/c/1">', '<a class="x" href="/suyuan/c/1">'),
        ('<a href="//other.example/">', '<a href="//other.example/">'),
        ('<meta http-equiv="refresh" content="0;url=/c/1">', '<meta http-equiv="refresh" content="0;url=/suyuan/c/1">'),
        # What an answer says is nobody's to change.
        ('<code>&lt;a href="/docs"&gt; src="/x"</code>', '<code>&lt;a href="/docs"&gt; src="/x"</code>'),
    ],
)
async def test_links_are_changed_and_texts_are_not(sent: str, got: str) -> None:
    bodies = []

    async def app(scope: object, receive: object, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": sent.encode()})

    async def client(message: dict[str, Any]) -> None:
        bodies.append(message.get("body", b""))

    await PrefixMiddleware(app, "/suyuan")({"type": "http", "path": "/", "headers": []}, None, client)  # type: ignore[arg-type]
    assert b"".join(bodies).decode() == got


def test_the_deployment_files_fit_together() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yml").read_text())
    assert {"suyuan1", "suyuan2", "nginx", "valkey", "postgres", "searxng"} == set(compose["services"])
    example = (DEPLOY / "env.example").read_text()
    for name in set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yml").read_text())):
        assert f"{name}=" in example, name
    from suyuan.config.settings import Settings
    from suyuan.core.setting import declarations

    known = {one.env for one in declarations(Settings)} | {"SUYUAN_DATA_DIR", "SUYUAN_STATE_DIR", "SUYUAN_CONFIG_DIR"}
    for file in ("Dockerfile", "compose.yml", "suyuan.service"):
        named = set(re.findall(r"\bSUYUAN_[A-Z_]+", (DEPLOY / file).read_text()))
        assert named <= known, (file, named - known)
    for volume in compose["services"]["nginx"]["volumes"] + compose["services"]["searxng"]["volumes"]:
        assert (DEPLOY / volume.partition(":")[0]).exists(), volume
