"""Fake servers for SearXNG, the engines and a model, each of whose answers a test can replace."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engines import small_pages
from support import pages
from support.site import Handler, Reply, Seen, Site, json_reply, reply, serve
from suyuan.client import AsyncClient
from suyuan.config.load import load_settings
from suyuan.net.http import HttpClient
from suyuan.net.settings import NetSettings

FORBIDDEN = "<!doctype html>\n<html lang=en>\n<title>403 Forbidden</title>\n<h1>Forbidden</h1>\n"
CONFIG = {"version": "2026.9.25+12f8b6515", "engines": [{"name": "bing", "enabled": True, "categories": ["general"]}]}


def searxng(replaced: dict[str, Reply] | None = None, prefix: str = "") -> Handler:
    """A SearXNG with replaceable answers: healthz, config, empty (an empty query as JSON), page (as HTML), search."""
    answers = {
        "healthz": reply("OK", kind="text/plain"),
        "config": json_reply(json.dumps(CONFIG)),
        "empty": json_reply('{"error": "No query"}', 400),
        "page": reply("<html><title>SearXNG</title></html>"),
        "search": json_reply(pages.searxng(8)),
        **(replaced or {}),
    }

    def handle(seen: Seen) -> Reply:
        path = seen.path.removeprefix(prefix) if seen.path.startswith(prefix + "/") else "?"
        if path == "/search":
            asked = "search" if seen.params.get("q") else "empty" if seen.params.get("format") == "json" else "page"
            return answers[asked]
        return answers.get(path.strip("/"), reply("<html><title>404</title></html>", 404))

    return handle


def engines(replaced: dict[str, Reply] | None = None) -> Handler:
    """DuckDuckGo, Bing and Baidu in one, with replaceable answers: ddg, bing, baidu."""
    baidu = small_pages.baidu_page(small_pages.baidu_row("https://www.baidu.com/link?url=x", "https://pots.example/"))
    answers = {"ddg": reply(pages.ddg()), "bing": reply(pages.bing()), "baidu": reply(baidu), **(replaced or {})}

    def handle(seen: Seen) -> Reply:
        if seen.path.startswith(("/html", "/lite")):
            return answers["ddg"]
        return answers["baidu" if seen.path.startswith("/s") and seen.path != "/search" else "bing"]

    return handle


def model(replaced: dict[str, Reply] | None = None, names: tuple[str, ...] = ("test-model",)) -> Handler:
    """An OpenAI-compatible server with replaceable answers: models, chat, stream, tools."""
    call = {"id": "1", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}
    answers = {
        "models": json_reply(json.dumps({"data": [{"id": name} for name in names]})),
        "chat": json_reply(json.dumps({"choices": [{"message": {"role": "assistant", "content": "yes"}}]})),
        "stream": reply(
            'data: {"choices": [{"delta": {"content": "yes"}}]}\n\ndata: [DONE]\n\n', kind="text/event-stream"
        ),
        "tools": json_reply(
            json.dumps({"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]})
        ),
        **(replaced or {}),
    }

    def handle(seen: Seen) -> Reply:
        if seen.path == "/v1/models":
            return answers["models"]
        if seen.path != "/v1/chat/completions":
            return reply("<html><title>404</title></html>", 404)
        asked: dict[str, Any] = json.loads(seen.body)
        return answers["tools" if asked.get("tools") else "stream" if asked.get("stream") else "chat"]

    return handle


@asynccontextmanager
async def network() -> AsyncIterator[HttpClient]:
    """A real HTTP client."""
    client = HttpClient(NetSettings())
    try:
        yield client
    finally:
        await client.close()


@dataclass
class Servers:
    """The servers of a test, and a folder for its data."""

    searxng: Site
    engines: Site
    model: Site
    folder: Path

    def environ(self, **more: str) -> dict[str, str]:
        web = self.engines.url
        return {
            "HOME": str(self.folder), "SUYUAN_DATA_DIR": str(self.folder / "data"),
            "SUYUAN_STATE_DIR": str(self.folder / "state"),
            "SEARXNG_BASE_URL": self.searxng.url, "DDG_BASE_URL": web, "BING_BASE_URL": web, "BAIDU_BASE_URL": web,
            "SUYUAN_MODEL": "test-model", "SUYUAN_MODEL_BASE_URL": f"{self.model.url}/v1", **more,
        }  # fmt: skip

    @asynccontextmanager
    async def client(self, **more: str) -> AsyncIterator[AsyncClient]:
        """A client of these servers; ``more`` are environment variables."""
        async with AsyncClient(load_settings(self.environ(**more), self.folder)) as client:
            yield client


@asynccontextmanager
async def fake_servers(
    folder: Path, *, search: Handler | None = None, web: Handler | None = None, llm: Handler | None = None
) -> AsyncIterator[Servers]:
    """Start the servers; those that are not given work without a problem."""
    async with serve(search or searxng()) as one, serve(web or engines()) as two, serve(llm or model()) as three:
        yield Servers(one, two, three, folder)


def certificate(folder: Path, days: int, name: str = "IP:127.0.0.1") -> ssl.SSLContext:
    """A server context with a new self-signed certificate ``folder/cert.pem``, valid for ``days`` from now."""
    openssl = shutil.which("openssl")
    assert openssl
    key, request, made, extra = (str(folder / part) for part in ("key.pem", "request.pem", "cert.pem", "extra"))
    Path(extra).write_text(f"subjectAltName={name}\nbasicConstraints=critical,CA:TRUE\n")
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    commands = (
        [openssl, "req", *curve, "-subj", "/CN=x", "-keyout", key, "-out", request],
        [openssl, "x509", "-req", "-in", request, "-signkey", key, "-days", str(days), "-extfile", extra, "-out", made],
    )
    for command in commands:
        subprocess.run(command, check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made, key)
    return context


@asynccontextmanager
async def secure(handler: Handler, context: ssl.SSLContext) -> AsyncIterator[int]:
    """A TLS server on loopback; yields its port."""
    site = Site(handler)
    server = await asyncio.start_server(site.accept, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in site.tasks:
            task.cancel()
        await asyncio.gather(*site.tasks, return_exceptions=True)
