"""Faults of PostgreSQL, Redis and the clock, which come in the middle of an answer and go away again."""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp

from ._suyuan import Running, reset, start

NETWORK = ("refuse", "stall", "reset in mid-body", "garbage", "slow")
_FAKE_CLOCK = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
_SLOW_BYTES, _SLOW_SECONDS = 40, 0.5
_PATIENCE = 60.0

Ask = Callable[..., Awaitable[Any]]
"""Asks a question of a server; ``seen`` is awaited when the first word has come."""
Row = tuple[str, ...]


class FaultyWay:
    """A TCP port that leads to the socket of a server, and does to what passes what it is told to."""

    def __init__(self, target: str) -> None:
        self._target = target
        self.fault = ""
        self.port = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._passing: set[asyncio.Task[None]] = set()

    async def listen(self) -> None:
        """Take connections, at the same port as before."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def begin(self, fault: str) -> None:
        """Fail from now on."""
        self.fault = fault
        if fault == "refuse":
            assert self._server is not None
            self._server.close()
            self._drop_all()

    async def end(self) -> None:
        """Work again; connections that met the fault are gone."""
        if self.fault == "refuse":
            await self.listen()
        self.fault = ""
        self._drop_all()

    def _drop_all(self) -> None:
        for writer in list(self._open):
            if not writer.is_closing():
                reset(writer)

    async def close(self) -> None:
        """Take no more connections."""
        if self._server is not None:
            self._server.close()
        self._drop_all()
        # Not the tasks of the connections themselves: asyncio would report them as failed.
        for each in list(self._passing):
            each.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        if task := asyncio.current_task():
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        passing: list[asyncio.Task[None]] = []
        try:
            theirs, ours = await asyncio.open_unix_connection(self._target)
            ways = self._pass(reader, ours, True), self._pass(theirs, writer, False)
            passing = [asyncio.create_task(way) for way in ways]
            self._passing.update(passing)
            await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
            ours.close()
        except OSError:
            # The server is away, and so is this way to it.
            pass
        finally:
            for each in passing:
                each.cancel()
            await asyncio.gather(*passing, return_exceptions=True)
            self._passing.difference_update(passing)
            writer.close()
            self._open.discard(writer)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_question: bool) -> None:
        while data := await reader.read(65_536):
            if self.fault == "stall":
                await asyncio.sleep(3600)
            if self.fault == "slow":
                for at in range(0, len(data), _SLOW_BYTES):
                    writer.write(data[at : at + _SLOW_BYTES])
                    await writer.drain()
                    await asyncio.sleep(_SLOW_SECONDS)
                continue
            if not is_question and self.fault == "reset in mid-body":
                writer.write(data[: len(data) // 2])
                await writer.drain()
                reset(writer)
                return
            garbage = not is_question and self.fault == "garbage"
            writer.write(random.Random(1).randbytes(len(data)) if garbage else data)
            await writer.drain()


class Shared:
    """One server of the product on PostgreSQL and Redis, both behind a way that can fail."""

    def __init__(self, database: Any, live: Any, name: str) -> None:
        self._database, self._name = database, name
        self._live = live
        self.ways = {
            "PostgreSQL": FaultyWay(f"{database.folder}/.s.PGSQL.5432"),
            "Redis": FaultyWay(f"{live.folder}/redis.sock"),
        }

    def environ(self) -> dict[str, str]:
        """The settings that lead to both."""
        store, redis = self.ways["PostgreSQL"].port, self.ways["Redis"].port
        return {
            "SUYUAN_STORE_URL": f"postgresql://suyuan@127.0.0.1:{store}/{self._name}",
            "SUYUAN_REDIS_URL": f"redis://127.0.0.1:{redis}/0",
        }

    async def begin(self, part: str, fault: str) -> None:
        """Break one of them."""
        if fault == "disk full":
            await asyncio.to_thread(self._fill, part, True)
        else:
            await self.ways[part].begin(fault)

    async def end(self, part: str, fault: str) -> None:
        """Mend it."""
        if fault == "disk full":
            await asyncio.to_thread(self._fill, part, False)
        else:
            await self.ways[part].end()

    def _fill(self, part: str, full: bool) -> None:
        """Let PostgreSQL refuse writes with the code of a full disk, and Redis with that of a full memory."""
        if part == "Redis":
            import redis

            with redis.Redis.from_url(self._live.url) as client:
                client.config_set("maxmemory", 1 if full else 0)
            return
        what = "BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END"
        made = f"CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ {what} $$"
        trigger = "CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON suyuan_messages EXECUTE FUNCTION full_disk()"
        for statement in (made, trigger) if full else ("DROP TRIGGER full_disk ON suyuan_messages",):
            self._database.run(statement, self._name)


async def run(ask: Ask, environ: Callable[[], dict[str, str]]) -> list[Row]:
    """Each fault in the middle of an answer: what was said, after how long, and whether anything was lost."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from support.postgres import binaries, postgres
    from support.redis import program, redis_server

    programs, redis = binaries(), program()
    if programs is None or redis is None:
        print("\nfaults of PostgreSQL and Redis: skipped, one of them is not installed")
        return []
    rows: list[Row] = []
    with postgres(programs) as database, redis_server(redis) as live:
        for part in ("PostgreSQL", "Redis"):
            async with _shared(database, live) as shared, _serving({**environ(), **shared.environ()}) as server:
                await ask(server)
                for fault in (*NETWORK, "disk full"):
                    rows.append(await _cell(server, ask, part, fault, shared))
            rows.append(await _unknown_host(ask, environ(), part, database, live))
    return rows


@asynccontextmanager
async def _shared(database: Any, live: Any) -> AsyncIterator[Shared]:
    name = database.fresh().partition("?")[0].rpartition("/")[2]
    shared = Shared(database, live, name)
    async with AsyncExitStack() as stack:
        for way in shared.ways.values():
            await way.listen()
            stack.push_async_callback(way.close)
        yield shared


@asynccontextmanager
async def _serving(environ: dict[str, str]) -> AsyncIterator[Running]:
    with tempfile.TemporaryDirectory(prefix="suyuan-bench-") as folder:
        server = await start(Path(folder), **environ)
        try:
            yield server
        finally:
            server.process.terminate()
            with suppress(Exception):
                await asyncio.to_thread(server.process.wait, 20)
            server.process.kill()


async def _cell(server: Running, ask: Ask, part: str, fault: str, shared: Shared) -> Row:
    asked = await ask(server, seen=lambda: shared.begin(part, fault))
    began = time.monotonic()
    status = await _status(server)
    took = time.monotonic() - began
    await shared.end(part, fault)
    kept = await _is_kept(server, asked.text)
    lost = [
        *([] if asked.ended and asked.text else ["the end"]),
        *([] if status in (200, 503) and took < 15 else [f"another request ({status}, {took:.0f} s)"]),
        *([] if kept else ["the answer"]),
    ]
    said = ("answer, saved later" if asked.unsaved else "answer") + f"; others {status}"
    return part, fault, said, f"{asked.seconds:.1f}", " and ".join(lost) or "nothing"


async def _unknown_host(ask: Ask, environ: dict[str, str], part: str, database: Any, live: Any) -> Row:
    """A name that no DNS knows, from the start."""
    store = database.fresh() if part == "Redis" else "postgresql://suyuan@nowhere.invalid/suyuan"
    redis = live.url if part == "PostgreSQL" else "redis://nowhere.invalid:6379/0"
    try:
        async with _serving({**environ, "SUYUAN_STORE_URL": store, "SUYUAN_REDIS_URL": redis}) as server:
            asked = await ask(server)
    except RuntimeError as error:
        # Without its store a server does not start, and says why.
        good = "StoreError/store_unreachable" in str(error)
        return part, "DNS", "store_unreachable at the start", "0.0", "nothing" if good else "the cause"
    said = ", ".join(dict.fromkeys(asked.codes)) or ("an answer" if asked.text else "NOTHING")
    good = asked.ended and "unexpected" not in asked.codes and (asked.text or asked.codes)
    return part, "DNS", said, f"{asked.seconds:.1f}", "nothing" if good else "the end"


async def clock(ask: Ask, environ: Callable[[], dict[str, str]], kept: Callable[..., Awaitable[bool]]) -> list[Row]:
    """The clock of the machine jumps by a day in the middle of an answer, forwards and back."""
    if not os.path.exists(_FAKE_CLOCK):  # noqa: ASYNC240 - a benchmark
        print("\nfaults of the clock: skipped, libfaketime is not installed (apt-get install faketime)")
        return []
    rows: list[Row] = []
    for name, jump in (("clock jump, a day on", "+1d"), ("clock jump, a day back", "-1d")):
        with tempfile.NamedTemporaryFile("w", suffix=".clock") as file:
            _set_clock(file.name, "+0")
            faked = {
                "LD_PRELOAD": str(_FAKE_CLOCK), "FAKETIME_TIMESTAMP_FILE": file.name, "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_XRESET": "1",
            }  # fmt: skip
            async with _serving({**environ(), **faked}) as server:

                async def jumped(file: str = file.name, jump: str = jump) -> None:
                    _set_clock(file, jump)

                asked = await ask(server, seen=jumped)
                again = await ask(server)
                good = asked.ended and asked.text and again.text and await kept(server, asked.text)
        rows.append(
            (
                "machine",
                name,
                "an answer" if good else str(asked),
                f"{asked.seconds:.1f}",
                "nothing" if good else "the answer",
            )
        )
    return rows


def _set_clock(file: str, jump: str) -> None:
    Path(file).write_text(jump)


async def _status(server: Running) -> int:
    timeout = aiohttp.ClientTimeout(_PATIENCE)
    with suppress(aiohttp.ClientError, TimeoutError, OSError):
        async with (
            aiohttp.ClientSession(server.url, timeout=timeout) as session,
            session.get("/api/conversations") as got,
        ):
            return got.status
    return 0


async def _is_kept(server: Running, text: str) -> bool:
    """Whether the newest conversation comes to have this answer, whole."""
    wanted, deadline = text.split("[")[0].strip(), time.monotonic() + _PATIENCE
    async with aiohttp.ClientSession(server.url, timeout=aiohttp.ClientTimeout(20)) as session:
        while wanted and time.monotonic() < deadline:
            with suppress(aiohttp.ClientError, TimeoutError, OSError, KeyError, IndexError):
                async with session.get("/api/conversations") as got:
                    id = (await got.json())["conversations"][0]["id"]
                async with session.get(f"/api/conversations/{id}/messages") as got:
                    last = (await got.json())["messages"][-1]
                if last["state"] == "done" and wanted in last["text"]:
                    return True
            await asyncio.sleep(0.3)
    return False
