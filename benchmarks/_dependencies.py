"""Every fault of every dependency, met by a running server: is the cause named, and is anything lost?"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from . import _shared_faults
from ._report import Target, table
from ._suyuan import Running, http, path_of, reset, site, start, suyuan

KILLS = int(os.environ.get("BENCH_KILLS", "40"))
SOAK_MINUTES = float(os.environ.get("BENCH_SOAK_MINUTES", "0.5"))
QUESTION = "How long is the harbour bridge?"
TEXT = (
    "The harbour bridge is 550 metres long. It was opened in 1932, and eight lanes of traffic cross it every day. " * 3
)
SEEN_WITHIN = 45.0


# --- a small world that can be broken -----------------------------------------------------------------------------------
class World:
    """A SearXNG, a page and a model, each of which fails in the way it is told to."""

    def __init__(self) -> None:
        self.url = ""
        self.faults: dict[str, str] = {}
        self.pause = 0.0
        """Seconds between two words of the model."""

    async def __call__(self, target: str, writer: asyncio.StreamWriter) -> None:
        """Answer a request, or fail."""
        path = path_of(target)
        part = "engine" if path in ("/search", "/healthz") else "model" if path.startswith("/v1") else "page"
        fault = self.faults.get(part, "") if path != "/healthz" else ""
        whole = self._whole(part, path)
        if fault == "stall":
            await asyncio.sleep(3600)
        elif fault == "reset in mid-body":
            writer.write(whole[: len(whole) // 2])
            await writer.drain()
            reset(writer)
        elif fault == "garbage":
            writer.write(http(random.Random(1).randbytes(3000), "application/json"))
        elif fault == "error 500":
            writer.write(http(b"<h1>oops</h1>", status="500 Internal Server Error"))
        elif fault == "slow":
            for at in range(0, len(whole), 40):
                writer.write(whole[at : at + 40])
                await writer.drain()
                await asyncio.sleep(0.5)
        elif part == "model" and self.pause:
            await self._speak(writer)
        else:
            writer.write(whole)

    def _whole(self, part: str, path: str) -> bytes:
        if path == "/healthz":
            return http(b"OK", "text/plain")
        if part == "engine":
            result = {"title": "Harbour bridge", "url": f"{self.url}/bridge", "content": TEXT[:150], "engine": "x"}
            body = {"query": QUESTION, "results": [result], "unresponsive_engines": []}
            return http(json.dumps(body).encode(), "application/json")
        if part == "model":
            return http(b"".join(_chunks("It is 550 metres long [1].")), "text/event-stream")
        return http(f"<title>Harbour bridge</title><article><h1>Harbour bridge</h1><p>{TEXT}</p></article>".encode())

    async def _speak(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        for chunk in _chunks("It is 550 metres long [1]. " + "and so on " * 60):
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(self.pause)
        writer.close()

    def environ(self) -> dict[str, str]:
        """The settings of a server that lives in this world."""
        return {
            "SEARXNG_BASE_URL": self.url, "WEB_SEARCH_BACKEND": "searxng", "WEB_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
            "SUYUAN_MODEL": "m", "SUYUAN_MODEL_BASE_URL": f"{self.url}/v1", "SUYUAN_MODEL_TIMEOUT_SECONDS": "5",
            "SEARXNG_RATE_PER_MINUTE": "0", "WEB_SEARCH_CACHE_TTL_MINUTES": "0",
        }  # fmt: skip


def _chunks(text: str) -> list[bytes]:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    deltas: list[dict[str, Any]] = [{"content": word + " "} for word in text.split()]
    chunks = [{**head, "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    return [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks] + [b"data: [DONE]\n\n"]


# --- asking -------------------------------------------------------------------------------------------------------------
@dataclass(slots=True)
class Asked:
    """What came of a question."""

    codes: tuple[str, ...] = ()
    """What was said to have failed."""
    text: str = ""
    seconds: float = 0.0
    ended: bool = False
    status: int = 0
    unsaved: bool = False


async def ask(server: Running, *, search: bool = True, seen: Callable[[], Awaitable[None]] | None = None) -> Asked:
    """Ask a question and follow it to its end; ``seen`` is awaited when the first word has come."""
    asked, started = Asked(), time.perf_counter()
    async with aiohttp.ClientSession(server.url, timeout=aiohttp.ClientTimeout(SEEN_WITHIN)) as session:
        try:
            async with session.post("/api/conversations", json={"search": search}) as response:
                made = await response.json()
            asked.status = response.status
            if response.status != 201:
                asked.codes, asked.ended = (made["error"]["detail_code"],), True
                return asked
            async with session.post(f"/api/conversations/{made['id']}/messages", json={"text": QUESTION}) as response:
                begun = await response.json()
            asked.status = response.status
            if response.status != 202:
                asked.codes, asked.ended = (begun["error"]["detail_code"],), True
                return asked
            async with session.get(f"/api/runs/{begun['run']}/events") as stream:
                async for line in stream.content:
                    if line.startswith(b"data: "):
                        event = json.loads(line[6:])
                        if event["kind"] == "text" and seen is not None:
                            await seen()
                            seen = None
                        _take(asked, event)
        except (aiohttp.ClientError, TimeoutError, OSError):
            pass
    asked.seconds = time.perf_counter() - started
    return asked


def _take(asked: Asked, event: dict[str, Any]) -> None:
    if failure := event.get("failure"):
        asked.codes += (failure["detail_code"],)
    if event["kind"] == "text":
        asked.text += event["text"]
    if event["kind"] == "answer":
        asked.ended, asked.text, asked.unsaved = True, event["text"], event.get("unsaved", False)


# --- faults of dependencies -----------------------------------------------------------------------------------------------
FAULTS = ("refuse", "stall", "reset in mid-body", "garbage", "error 500", "slow", "DNS")


async def _network_faults() -> list[tuple[str, ...]]:
    rows = []
    for part in ("engine", "page", "model"):
        world = World()
        async with site(world) as url:
            world.url = url
            for fault in FAULTS:
                world.faults = {part: fault}
                more = _elsewhere(part, fault)
                async with suyuan(None, **{**world.environ(), **more}) as server:
                    asked = await (_read(server, world, more) if part == "page" else ask(server))
                rows.append(_row(part, fault, asked))
    return rows


def _elsewhere(part: str, fault: str) -> dict[str, str]:
    """Settings that lead to a port that nothing listens on, or to a name that no DNS knows."""
    where = {"refuse": "http://127.0.0.1:9", "DNS": "http://nowhere.invalid"}.get(fault)
    if where is None:
        return {}
    names = {"engine": "SEARXNG_BASE_URL", "model": "SUYUAN_MODEL_BASE_URL", "page": "page"}
    return {names[part]: f"{where}/v1" if part == "model" else where}


async def _read(server: Running, world: World, more: dict[str, str]) -> Asked:
    started = time.perf_counter()
    url = f"{more.get('page', world.url)}/bridge"
    async with aiohttp.ClientSession(server.url, timeout=aiohttp.ClientTimeout(SEEN_WITHIN)) as session:
        try:
            async with session.post("/api/fetch", json={"url": url}) as response:
                told = await response.json()
        except (aiohttp.ClientError, TimeoutError):
            return Asked()
    codes = (told["error"]["detail_code"],) if "error" in told else ()
    return Asked(codes, told.get("text", ""), time.perf_counter() - started, True, response.status)


async def _store_faults() -> list[tuple[str, ...]]:
    """Faults that come when the answer has begun; afterwards the fault is removed, and the answer must be stored."""
    rows = []
    for fault in ("locked", "read-only folder", "disk full"):
        with tempfile.TemporaryDirectory(prefix="suyuan-bench-") as folder:
            world = World()
            world.pause = 0.02
            async with site(world) as url:
                world.url = url
                server = await start(Path(folder), **world.environ())
                try:
                    breaker = StoreFault(fault, server)
                    asked = await ask(server, seen=breaker.begin)
                    breaker.end()
                    kept = await _is_stored(server, asked.text)
                finally:
                    server.process.terminate()
                    await asyncio.to_thread(server.process.wait, 20)
            rows.append((*_row("store, SQLite", fault, asked)[:-1], "nothing" if kept else "the answer"))
    return rows


class StoreFault:
    """Something that is wrong with the file of the store for a while."""

    def __init__(self, fault: str, server: Running) -> None:
        self._fault = fault
        self._server = server
        self._file = server.folder / "data" / "chat.sqlite"
        self._other: sqlite3.Connection | None = None

    async def begin(self) -> None:
        """Break the store."""
        if self._fault == "locked":
            self._other = sqlite3.connect(self._file, isolation_level=None, timeout=20)
            self._other.execute("BEGIN IMMEDIATE")
        elif self._fault == "disk full":
            self._limit(max(file.stat().st_size for file in self._file.parent.glob("chat.sqlite*")))
        else:
            for file in self._file.parent.glob("chat.sqlite*"):
                file.rename(file.with_name(f"away-{file.name}"))
            self._file.mkdir()

    def end(self) -> None:
        """Mend it."""
        if self._other is not None:
            self._other.execute("ROLLBACK")
            self._other.close()
        elif self._fault == "disk full":
            self._limit(-1)
        else:
            self._file.rmdir()
            for file in self._file.parent.glob("away-*"):
                file.rename(file.with_name(file.name.removeprefix("away-")))

    def _limit(self, size: int) -> None:
        import resource

        resource.prlimit(self._server.process.pid, resource.RLIMIT_FSIZE, (size, -1))


async def _is_stored(server: Running, text: str) -> bool:
    """Whether the answer comes to be in the store, all of it."""
    deadline = time.monotonic() + SEEN_WITHIN
    while time.monotonic() < deadline:
        with suppress(sqlite3.Error), closing(sqlite3.connect(server.folder / "data" / "chat.sqlite")) as store:
            rows = store.execute("SELECT text, state FROM suyuan_messages WHERE role = 'assistant'").fetchall()
            if rows and rows[-1][1] != "running":
                return text.split("[")[0].strip() in rows[-1][0]
        await asyncio.sleep(0.2)
    return False


def _row(part: str, fault: str, asked: Asked) -> tuple[str, ...]:
    said = ", ".join(dict.fromkeys(asked.codes)) or ("an answer" if asked.text else "NOTHING")
    good = asked.ended and "unexpected" not in asked.codes and (asked.codes or asked.text)
    return part, fault, said, f"{asked.seconds:.1f}", "nothing" if good else "the end"


# --- kills --------------------------------------------------------------------------------------------------------------
async def _kills(kind: str) -> tuple[str, ...]:
    """Kill the server again and again, in mid-answer or while it archives; what was seen must be there afterwards."""
    world, lost, damaged, chance = World(), 0, 0, random.Random(7)
    world.pause = 0.01
    with tempfile.TemporaryDirectory(prefix="suyuan-bench-") as folder:
        async with site(world) as url:
            world.url = url
            for _ in range(KILLS):
                server = await start(Path(folder), **world.environ())
                seen: list[str] = []
                working = asyncio.ensure_future(_work(server, world, kind, seen))
                await asyncio.sleep(chance.uniform(0.4, 1.6))
                server.process.send_signal(signal.SIGKILL)
                server.process.wait()
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)
                data = Path(folder, "data")
                damaged += _is_damaged(data)
                lost += not _has_questions(data / "chat.sqlite", seen)
            async with suyuan(Path(folder), **world.environ()) as server:
                alive = (await ask(server)).ended
    return f"kill -9 {kind}", str(KILLS), str(lost), str(damaged), "yes" if alive else "NO"


async def _work(server: Running, world: World, kind: str, seen: list[str]) -> None:
    async with aiohttp.ClientSession(server.url) as session:
        while kind == "in mid-archive":
            async with session.post("/api/fetch", json={"url": f"{world.url}/{random.random()}"}) as response:
                await response.read()
        while True:
            async with session.post("/api/conversations", json={"search": True}) as response:
                id = (await response.json())["id"]
            async with session.post(f"/api/conversations/{id}/messages", json={"text": QUESTION}) as response:
                if response.status == 202:
                    seen.append((await response.json())["run"])
            await asyncio.sleep(0.1)


def _is_damaged(data: Path) -> bool:
    try:
        for file in data.glob("*.sqlite"):
            with closing(sqlite3.connect(file)) as database:
                if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                    return True
    except sqlite3.DatabaseError:
        return True
    return False


def _has_questions(file: Path, runs: list[str]) -> bool:
    if not runs:
        return True
    with closing(sqlite3.connect(file)) as store:
        kept = {row[0] for row in store.execute("SELECT id FROM suyuan_messages")}
    return set(runs) <= kept


# --- soak ---------------------------------------------------------------------------------------------------------------
async def _soak() -> list[tuple[str, ...]]:
    """Ask without a pause while the dependencies fail at random; memory, files and answers are counted."""
    world, chance, asked, lost = World(), random.Random(3), 0, 0
    async with site(world) as url:
        world.url = url
        async with suyuan(None, **world.environ()) as server:
            await ask(server)
            before, files = server.megabytes, len(os.listdir(f"/proc/{server.process.pid}/fd"))
            deadline = time.monotonic() + 60 * SOAK_MINUTES
            while time.monotonic() < deadline:
                world.faults = {
                    chance.choice(("engine", "page", "model")): chance.choice(
                        ("", "", "reset in mid-body", "garbage", "error 500")
                    )
                }
                done = await asyncio.gather(*(ask(server) for _ in range(8)))
                asked += len(done)
                lost += sum(not each.ended or "unexpected" in each.codes for each in done)
            after, files_after = server.megabytes, len(os.listdir(f"/proc/{server.process.pid}/fd"))
    return [
        (f"{SOAK_MINUTES:g} minutes", str(asked), str(lost), f"{before:.0f} → {after:.0f}", f"{files} → {files_after}")
    ]


async def _shared() -> list[tuple[str, ...]]:
    """Faults of what workers share, and of the clock, in the middle of an answer."""
    world = World()
    world.pause = 0.02
    async with site(world) as url:
        world.url = url
        rows = await _shared_faults.run(ask, world.environ)
        return rows + await _shared_faults.clock(ask, world.environ, _is_stored)


def _matrix(rows: list[tuple[str, ...]]) -> None:
    """Every dependency with every fault: whether nothing was lost; a dash where there is no such fault."""
    faults = list(dict.fromkeys(row[1] for row in rows))
    cells = {(row[0], row[1]): "ok" if row[-1] == "nothing" else "LOST" for row in rows}
    parts = dict.fromkeys(row[0] for row in rows)
    lines = [(part, *(cells.get((part, fault), "–") for fault in faults)) for part in parts]
    table("every dependency, every fault", ("", *faults), lines)


def run() -> list[Target]:
    """Break everything, print the tables, and return the targets."""
    print("\nfaults: every fault of every dependency of a running server")
    rows = asyncio.run(_network_faults()) + asyncio.run(_store_faults()) + asyncio.run(_shared())
    table("what was said", ("dependency", "fault", "said", "seconds", "lost"), rows)
    _matrix(rows)
    kills = [asyncio.run(_kills(kind)) for kind in ("in mid-answer", "in mid-archive")]
    table("kills", ("", "kills", "with something lost", "damaged files", "works afterwards"), kills)
    soak = asyncio.run(_soak())
    table("soak: faults at random, 8 questions at once", ("", "asked", "without an end", "MB", "open files"), soak)
    lost = sum(row[-1] != "nothing" for row in rows) + sum(
        int(row[2]) + int(row[3]) + (row[4] != "yes") for row in kills
    )
    return [Target("faults, kills and questions with something lost", lost + sum(int(row[2]) for row in soak), 0)]
