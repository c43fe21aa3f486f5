"""Everything that a failing run leaves behind, searched for every secret that the server knows, however it is written."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, quote_plus

import aiohttp
import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import Client, serving, settings_of
from support.oai import error, serve_model
from support.site import Reply, Seen, reply, serve
from support.talk import openai
from support.timing import PATIENCE, eventually
from suyuan.core.engine import EngineSettings
from suyuan.core.secret import Secret

TOKEN = "server-token-8c1f5e2b"
MODEL_KEY = 'sk-model"4f<7&a/b+c='
ENGINE_KEY = "tvly-engine'9e>2&d/f+g="
ENTERED_KEY = 'brave-entered"3b<1&h/j+k='
SECRETS = (TOKEN, MODEL_KEY, ENGINE_KEY, ENTERED_KEY)


def forms(secret: str) -> set[bytes]:
    """The ways in which a program writes a text."""
    plain = secret.encode()
    found = {secret, quote(secret), quote_plus(secret), quote(secret, safe=""), html.escape(secret), repr(secret)[1:-1]}
    found |= {json.dumps(secret)[1:-1], json.dumps(json.dumps(secret))[3:-3], base64.b64encode(plain).decode()}
    found |= {base64.b64encode(b"user:" + plain).decode()}
    return {form.encode() for form in found}


def leaks(where: str, data: bytes) -> list[str]:
    return [f"{where}: {form.decode()}" for secret in SECRETS for form in forms(secret) if form in data]


def echo(seen: Seen) -> Reply:
    """A service that repeats what it was sent, in its own way of writing, in the body and in the address it names."""
    sent = json.dumps(seen.headers) + html.escape(json.dumps(seen.headers)) + quote(str(seen.headers)) + str(seen.body)
    keys = [value.removeprefix("Bearer ") for value in seen.headers.values()]
    more = "".join(
        base64.b64encode(f"user:{key}".encode()).decode() + base64.b64encode(key.encode()).decode() for key in keys
    )
    body = json.dumps({"error": {"message": sent + more}, "detail": {"error": sent + more}, "message": sent + more})
    return reply(body, 401, {"X-Error": quote(keys[0])}, kind="application/json")


@pytest.mark.req("P9.3")
async def test_no_secret_is_in_anything_that_a_failing_run_leaves_behind(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    told = {"error": {"message": "".join(form.decode() + " " for form in sorted(forms(MODEL_KEY))), "code": MODEL_KEY}}
    found: list[str] = []
    async with serve(echo) as site:
        with serve_model([[error(401, told)]]) as model:
            base = settings_of(site.url, data=tmp_path, model=replace(openai(model.url), api_key=Secret(MODEL_KEY)))
            engine = EngineSettings(base_url=site.url, api_key=Secret(ENGINE_KEY))
            with serving(replace(base, engines={**base.engines, "tavily": engine}), token=TOKEN) as served:
                timeout, bearer = aiohttp.ClientTimeout(PATIENCE), {"Authorization": f"Bearer {TOKEN}"}
                async with (
                    aiohttp.ClientSession(headers=bearer, timeout=timeout) as session,
                    asyncio.timeout(4 * PATIENCE),
                ):
                    found += await _failing(Client(session, served.url), site.url, model.url)
                    assert site.seen and ENGINE_KEY in str([each.headers for each in site.seen]), "the keys were sent"
                    assert ENTERED_KEY in str([each.headers for each in site.seen])
    found += leaks("log", caplog.text.encode())
    found += _in_files(tmp_path)
    assert found == []


def _in_files(folder: Path) -> list[str]:
    """What the files of a data folder tell; the keys that were entered on the page have one of their own."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert {"chat.sqlite", "engine-keys.json"} <= {file.name for file in files}
    kept = [file for file in files if file.name in ("engine-keys.json", "models.json", "connected-models.json")]
    assert all(file.stat().st_mode & 0o077 == 0 for file in kept)
    return [leak for file in files if file not in kept for leak in leaks(file.name, file.read_bytes())]


async def _failing(ask: Client, site: str, model: str) -> list[str]:
    """Fail in every way that there is, and return the secrets that an answer tells."""
    found: list[str] = []

    async def told(method: str, path: str, body: object = None, **headers: str) -> str:
        async with ask.session.request(method, ask.url + path, json=body, headers=headers) as response:
            data, head = await response.read(), str(dict(response.headers)).encode()
        found.extend(leaks(f"{method} {path}", data + head))
        return data.decode("utf-8", "replace")

    await told("PUT", "/api/engines/brave", {"api_key": ENTERED_KEY, "base_url": site})
    await told("POST", "/api/engines/brave/test", {"api_key": ENTERED_KEY, "base_url": site})
    for engines in ("tavily", "brave", "searxng", "tavily+brave"):
        await told("POST", "/api/search", {"query": "x", "engines": engines})
        await told("GET", f"/search?q=x&format=json&engines={engines}")
    key = {"base_url": model + "/v1", "name": "m", "api_key": MODEL_KEY}
    for path in ("/api/models/list", "/api/models/test", "/api/models"):
        await told("POST", path, key)
    await _foreign(told)
    for search in (True, False):
        id = await ask.conversation(search=search, engine="tavily")
        run = await ask.ask(id)
        for path in (f"/api/runs/{run}/events", f"/stream/{run}", f"/api/runs/{run}/debug", f"/c/{id}"):
            await told("GET", path)
        for form in ("md", "html", "json", "bib"):
            await told("GET", f"/api/conversations/{id}/export?form={form}")
        await told("GET", f"/api/conversations/{id}/messages")
        link = (await ask("POST", f"/api/conversations/{id}/shares"))[1]["url"].removeprefix(ask.url)
        await told("GET", link)
    job = json.loads(await told("POST", "/api/research", {"question": "When was it built?", "depth": "quick"}))["id"]

    async def ended() -> bool:
        return bool((await ask("GET", f"/api/research/{job}"))[1]["state"] in ("done", "failed"))

    assert await eventually(ended)
    for path in (f"/api/research/{job}", f"/api/research/{job}/events", f"/research/{job}"):
        await told("GET", path, Accept="text/html")
    for path in ("/metrics", "/api/health", "/api/engines", "/api/models", "/settings", "/dialog/connect", "/"):
        await told("GET", path)
    await told("POST", "/settings/doctor")
    return found


async def _foreign(told: Callable[[str, str, object], Awaitable[str]]) -> None:
    """The answers of the APIs of others."""
    question = {"role": "user", "content": "When was it built?"}
    for stream in (False, True):
        await told("POST", "/v1/chat/completions", {"messages": [question], "stream": stream})
        await told("POST", "/v1/messages", {"messages": [question], "stream": stream, "max_tokens": 9})
        await told("POST", "/v1/responses", {"input": "When was it built?", "stream": stream})
    await told("POST", "/search", {"query": "x", "include_answer": True})
