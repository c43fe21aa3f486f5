"""Models and engines that are connected at one process of the server are there at all others at once, and none is lost."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from live.workers import Worker
from server.serving import Client, client
from support.timing import PATIENCE

_KEYED = ("brave", "kagi", "tavily", "exa", "serper", "serpapi")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def workers(home: Path) -> Iterator[tuple[Worker, Worker]]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    both = Worker(environ), Worker(environ)
    try:
        for each in both:
            each.start()
        yield both
    finally:
        for each in both:
            each.end()


def _kept(home: Path, name: str) -> list[str]:
    return [row["name"] for row in json.loads((home / ".local/share/suyuan" / name).read_text())]


async def _models(ask: Client) -> list[str]:
    _, found = await ask("GET", "/api/models")
    return [model["name"] for model in found["models"]]


async def test_models_that_are_connected_at_two_processes_at_once_are_at_both(
    workers: tuple[Worker, Worker], home: Path
) -> None:
    a, b = workers
    async with client(a.url) as at_a, client(b.url) as at_b, asyncio.timeout(PATIENCE):
        server = {"base_url": "http://127.0.0.1:9/v1", "api_key": "k"}
        names = [f"model-{number}" for number in range(20)]
        asked = [
            (at_a, at_b)[place % 2]("POST", "/api/models", {**server, "name": name}) for place, name in enumerate(names)
        ]
        assert {status for status, _ in await asyncio.gather(*asked)} == {201}
        assert sorted(_kept(home, "models.json")) == sorted(names)
        for each in (at_a, at_b):
            assert set(names) <= set(await _models(each))
            assert (await each("POST", "/api/conversations", {"model": names[-1]}))[0] == 201
        assert (await at_a("DELETE", f"/api/models/{names[0]}"))[0] == 204
        assert names[0] not in await _models(at_b)
        assert (await at_b("POST", "/api/conversations", {"model": names[0]}))[0] == 400


async def test_keys_that_are_entered_at_two_processes_at_once_are_at_both(
    workers: tuple[Worker, Worker], home: Path
) -> None:
    a, b = workers
    async with client(a.url) as at_a, client(b.url) as at_b, asyncio.timeout(PATIENCE):
        asked = [
            (at_a, at_b)[place % 2]("PUT", f"/api/engines/{name}", {"api_key": "key-of-it"})
            for place, name in enumerate(_KEYED)
        ]
        assert {status for status, _ in await asyncio.gather(*asked)} == {204}
        assert sorted(_kept(home, "engine-keys.json")) == sorted(_KEYED)
        for each in (at_a, at_b):
            _, found = await each("GET", "/api/engines")
            ready = {engine["name"] for engine in found["engines"] if engine["state"] == "ready"}
            assert set(_KEYED) <= ready
