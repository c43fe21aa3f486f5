"""Clients that leave while they are answered, by a reset above all, many at once: the server has nothing to say about it."""

from __future__ import annotations

import json
import os
import random
import re
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from pkgutil import iter_modules
from typing import Any
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from fastapi import APIRouter
from fastapi.routing import APIRoute

from support.oai import reply, serve_model
from support.site import free_port
from support.timing import PATIENCE, until
from suyuan import server as server_package
from suyuan.server import compat

CLIENTS, AT_ONCE, ANSWERS = 240, 12, 8
TOKEN = "a-Token-of-some-Length-0123456789-xyz"
# As on a system without uvloop, and with it.
SERVER = """
import sys
from functools import partial
from suyuan.server import listen
listen.server_config = partial(listen.server_config, loop=sys.argv.pop(1))
from suyuan.cli.main import main
main()
"""
_RESET = struct.pack("ii", 1, 0)
_COMPLAINT = re.compile(r"WARNING|ERROR|CRITICAL|Traceback|exception", re.I)


@dataclass
class Running:
    port: int
    log: Path

    def ask(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"})
        with urlopen(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read())

    def complaints(self) -> list[str]:
        return [line for line in self.log.read_text().splitlines() if _COMPLAINT.search(line)]


@pytest.fixture(scope="module", params=["uvloop", "asyncio"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    if request.param == "uvloop":
        pytest.importorskip("uvloop")
    with served(tmp_path_factory.mktemp("left"), request.param) as running:
        yield running


@contextmanager
def served(folder: Path, loop: str, **more: str) -> Iterator[Running]:
    port = free_port()
    running = Running(port, folder / "log.txt")
    with serve_model([[reply("word " * 800, delay=0.001)]]) as model, running.log.open("wb") as log:
        environ = {
            "PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "HOME": str(folder),
            "LANG": "C.UTF-8", "SUYUAN_MODEL": "m", "SUYUAN_MODEL_BASE_URL": model.url, "SUYUAN_MODEL_API_KEY": "k",
            "SUYUAN_STREAMS_PER_CLIENT": "1000", **more,
        }  # fmt: skip
        command = [
            sys.executable,
            "-c",
            SERVER,
            loop,
            "-v",
            "serve",
            "--no-supervise",
            "--no-open",
            "--port",
            str(port),
        ]
        process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=log)
        try:
            assert until(lambda: _is_up(running) or process.poll() is not None)
            assert process.poll() is None, running.log.read_text()
            yield running
        finally:
            process.terminate()
            process.wait(PATIENCE)
    if not more:
        # What was still under way at the end is no more said than the rest.
        assert running.complaints() == []


def _is_up(running: Running) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", running.port), PATIENCE) as sock:
        sock.sendall(f"GET /healthz HTTP/1.0\r\nHost: 127.0.0.1:{running.port}\r\n\r\n".encode())
        return sock.recv(12).endswith(b"200")
    return False


@contextmanager
def connected(port: int, *, reset: bool) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as sock:
        if reset:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        # The server may be quicker to end the connection.
        with suppress(OSError):
            yield sock


def leave_early(port: int, paths: list[str], seed: int) -> None:
    """Ask once or several times on one connection, read nothing or a part of it, and leave."""
    chance = random.Random(seed)
    path, count = chance.choice(paths), chance.choice([1, 1, 1, 5, 20])
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    with connected(port, reset=chance.random() < 0.7) as sock:
        sock.sendall(head * count)
        if chance.random() < 0.5:
            sock.recv(chance.choice([1, 100, 10_000]))
        if chance.random() < 0.2:
            sock.shutdown(socket.SHUT_WR)


def leave_answer(running: Running, seed: int) -> None:
    """Follow an answer that is being written, and leave in its middle."""
    chance = random.Random(seed)
    conversation = running.ask("/api/conversations", {"search": False})["id"]
    run = running.ask(f"/api/conversations/{conversation}/messages", {"text": "A question"})["run"]
    for path in (f"/stream/{run}", f"/api/runs/{run}/events") * 2:
        with connected(running.port, reset=True) as sock:
            sock.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n\r\n".encode())
            wanted = chance.choice([1, 2_000, 20_000])
            while wanted > 0 and (got := sock.recv(wanted)):
                wanted -= len(got)


def test_clients_that_leave_at_any_moment_leave_nothing_in_the_log(server: Running) -> None:
    conversation = server.ask("/api/conversations", {"search": False})["id"]
    paths = [
        "/", "/healthz", "/api/health", "/api/conversations", f"/api/conversations/{conversation}/changes",
        "/guide/searxng", "/api/openapi.json", "/nowhere", "/stream/none", "/settings",
    ]  # fmt: skip
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(partial(leave_early, server.port, paths), range(CLIENTS)))
    assert server.ask("/api/health")["status"] == "ok"
    # All of them are noticed to be gone, also those that had sent more requests, and what they held is free again.
    assert until(lambda: _open_streams(server) == 0)
    assert server.complaints() == []


def test_followers_that_leave_a_growing_answer_leave_nothing_in_the_log(server: Running) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(partial(leave_answer, server), range(ANSWERS)))
    assert server.ask("/api/health")["status"] == "ok"
    assert until(lambda: _open_streams(server) == 0)
    assert server.complaints() == []


def _open_streams(server: Running) -> int:
    with urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=PATIENCE) as answer:
        found = re.search(r"^suyuan_streams_open (\S+)", answer.read().decode(), re.M)
    assert found is not None
    return int(float(found[1]))


BEGUN = {
    "application/json": "{", "application/x-www-form-urlencoded": "a", "multipart/form-data; boundary=x": "--x",
    "text/plain": "a", "": "{",
}  # fmt: skip
"""The kinds of bodies, and how each begins."""
_PLACE = re.compile(r"\{[^}]*\}")


def every_route() -> list[tuple[str, str]]:
    """Method and path of each route that takes a body, those that are not described included."""
    modules = [import_module(f"suyuan.server.{found.name}") for found in iter_modules(server_package.__path__)]
    modules += [import_module(f"suyuan.server.compat.{found.name}") for found in iter_modules(compat.__path__)]
    routers = [router for module in modules for router in vars(module).values() if isinstance(router, APIRouter)]
    found = {("POST", "/login"), ("POST", "/logout"), ("POST", "/nowhere")}
    for route in chain.from_iterable(router.routes for router in routers):
        if isinstance(route, APIRoute):
            found |= {(method, _PLACE.sub("x", route.path)) for method in (route.methods or set()) - {"GET", "HEAD"}}
    return sorted(found)


def leave_within_the_body(running: Running, headers: str, route: tuple[str, str]) -> None:
    """Begin a body of each kind, and leave."""
    method, path = route
    for kind in BEGUN:
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nContent-Length: 500\r\n{headers}"
        typed = f"Content-Type: {kind}\r\n" if kind else ""
        with connected(running.port, reset=not kind) as sock:
            sock.sendall(f"{head}{typed}\r\n{BEGUN[kind]}".encode())


@pytest.mark.parametrize("open_to", ["all", "those with the token", "people"])
def test_clients_that_leave_within_a_body_leave_nothing_in_the_log(open_to: str, tmp_path: Path) -> None:
    kinds = {
        "all": {"SUYUAN_UI": "en"},
        "those with the token": {"SUYUAN_TOKEN": TOKEN},
        "people": {"SUYUAN_USERS": "1"},
    }
    credentials = ["", f"Authorization: Bearer {TOKEN}\r\n"]
    routes = every_route()
    assert len(routes) > 50
    with served(tmp_path, "asyncio", **kinds[open_to]) as running, ThreadPoolExecutor(AT_ONCE) as pool:
        for headers in credentials:
            list(pool.map(partial(leave_within_the_body, running, headers), routes))
        assert until(lambda: _is_up(running))
        assert running.complaints() == []
