"""Many answers at once: what the server adds to the model's own pace, and what memory it takes.

A model server in a process of its own sends words that carry the time at which they left it. The same words are read
once directly and once through ``suyuan serve``, by the same client, so that the difference is what the server adds.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp
from aiohttp import web

from ._report import Target, table

TOGETHER = (1, 20, 100)
WORDS = 120
PAUSES = (0.02, 0.05)
_WORD = re.compile(r"t(\d+\.\d{6}) ")
# One client may open 16 streams; loopback has addresses enough to be many clients.
_EACH = 10


@dataclass(slots=True)
class Read:
    """One answer as it arrived: when it was asked, and when each word left the model and came here."""

    asked: float = field(default_factory=time.time)
    left: list[float] = field(default_factory=list)
    came: list[float] = field(default_factory=list)

    def take(self, text: str) -> None:
        """Note the words in ``text``."""
        now = time.time()
        for word in _WORD.findall(text):
            self.left.append(float(word))
            self.came.append(now)

    def delays(self) -> list[float]:
        """How long each word was under way, in ms."""
        return [1000 * (came - left) for left, came in zip(self.left, self.came, strict=True)]

    def gaps(self) -> list[float]:
        """How much longer than the model's own each gap between words was, in ms."""
        own, here = itertools.pairwise(self.left), itertools.pairwise(self.came)
        return [1000 * ((b - a) - (d - c)) for (a, b), (c, d) in zip(here, own, strict=True)]


@dataclass(frozen=True, slots=True)
class Cost:
    """What the server took: memory in MB, and CPU milliseconds a word."""

    memory: float = 0.0
    cpu: float = 0.0


def run() -> list[Target]:
    """Read 1, 20 and 100 answers at once, directly and through the server, and return the targets."""
    print(f"\nstreaming: {WORDS} words an answer, one every {PAUSES[0] * 1000:.0f}–{PAUSES[1] * 1000:.0f} ms")
    with _model() as model, _server(model) as (url, process):
        results = asyncio.run(_measure(model, url, process.pid))
    rows = []
    for (many, way), (reads, cost) in results.items():
        delays, gaps = _all(reads, Read.delays), _all(reads, Read.gaps)
        first = [1000 * (read.came[0] - read.asked) for read in reads]
        spent = (f"{cost.cpu:.2f}", f"{cost.memory:.0f}") if cost.memory else ("", "")
        rows.append(
            (f"{many} at once, {way}", f"{median(first):.1f}", f"{_high(first):.1f}", f"{median(delays):.2f}", f"{_high(delays):.1f}",
             f"{_high(gaps):.1f}", *spent)
        )  # fmt: skip
    head = ("", "first word", "p99", "a word under way", "p99", "gap above the model's, p99", "CPU a word", "RSS, MB")
    table("milliseconds", head, rows)
    most, cost = results[TOGETHER[-1], "suyuan"]
    first = [1000 * (read.came[0] - read.asked) for read in most]
    return [
        Target("100 questions at once: the first word", median(first), 400, unit=" ms"),
        Target("100 streams: gap above the model's own, p99", _high(_all(most, Read.gaps)), 250, unit=" ms"),
        Target("100 streams: memory of the server", cost.memory, 300, unit=" MB"),
    ]


def _all(reads: list[Read], of: Callable[[Read], list[float]]) -> list[float]:
    return [value for read in reads for value in of(read)]


def _high(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(0.99 * len(values)))]


# --- reading ---------------------------------------------------------------------------------------------------------
async def _measure(model: str, url: str, pid: int) -> dict[tuple[int, str], tuple[list[Read], Cost]]:
    results: dict[tuple[int, str], tuple[list[Read], Cost]] = {}
    await _together(1, lambda session: _through(session, url))  # the first answer loads what answers need
    for many in TOGETHER:
        results[many, "model directly"] = (await _together(many, lambda session: _directly(session, model)), Cost())
        before = _cpu(pid)
        reads = await _together(many, lambda session: _through(session, url))
        results[many, "suyuan"] = (reads, Cost(_memory(pid), 1000 * (_cpu(pid) - before) / (many * WORDS)))
    return results


def _memory(pid: int) -> float:
    """The largest memory of a process so far, in MB."""
    return int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) / 1024


def _cpu(pid: int) -> float:
    """The CPU time of a process so far, in seconds."""
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


async def _together(many: int, one: Callable[[aiohttp.ClientSession], Coroutine[Any, Any, Read]]) -> list[Read]:
    sessions = [_session(number) for number in range(-(-many // _EACH))]
    try:
        return await asyncio.gather(*(one(sessions[number // _EACH]) for number in range(many)))
    finally:
        for session in sessions:
            await session.close()


def _session(number: int) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=0, local_addr=(f"127.0.0.{number + 2}", 0))
    return aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(120))


async def _directly(session: aiohttp.ClientSession, model: str) -> Read:
    read = Read()
    body = {"model": "bench", "stream": True, "messages": [{"role": "user", "content": "Go."}]}
    async with session.post(f"{model}/chat/completions", json=body) as response:
        async for data in _data(response):
            read.take(data["choices"][0]["delta"].get("content") or "")
    return read


async def _through(session: aiohttp.ClientSession, url: str) -> Read:
    async with session.post(f"{url}/api/conversations", json={"search": False}) as response:
        id = (await response.json())["id"]
    read = Read()
    async with session.post(f"{url}/api/conversations/{id}/messages", json={"text": "Go."}) as response:
        run = (await response.json())["run"]
    async with session.get(f"{url}/api/runs/{run}/events") as response:
        async for data in _data(response):
            if data["kind"] == "text":
                read.take(data["text"])
    if len(read.came) != WORDS:
        raise RuntimeError(f"{len(read.came)} of {WORDS} words came")
    return read


async def _data(response: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    response.raise_for_status()
    async for line in response.content:
        if line.startswith(b"data: {"):
            yield json.loads(line[6:])


# --- the other side ----------------------------------------------------------------------------------------------------
@contextmanager
def _model() -> Iterator[str]:
    """A model server in a process of its own."""
    with _process([sys.executable, "-m", f"{__package__}.streaming"]) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"


@contextmanager
def _server(model: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """``suyuan serve`` with that model and nothing else configured."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
            "HOME": home, "LANG": "C.UTF-8", "SUYUAN_MODEL_PROVIDER": "openai",
            "SUYUAN_MODEL": "bench", "SUYUAN_MODEL_BASE_URL": model, "SUYUAN_MODEL_API_KEY": "none",
        }  # fmt: skip
        with _process(
            [sys.executable, "-m", "suyuan", "serve", "--no-supervise", "--port", "0", "--no-open"], environment
        ) as process:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1], process


@contextmanager
def _process(command: list[str], environment: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=15)


async def _complete(request: web.Request) -> web.StreamResponse:
    await request.json()
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    chance = random.Random(id(request))
    for _ in range(WORDS):
        await asyncio.sleep(chance.uniform(*PAUSES))
        await response.write(_chunk({"content": f"t{time.time():.6f} "}))
    await response.write(_chunk({}, "stop") + b"data: [DONE]\n\n")
    return response


def _chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "bench", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


async def _serve_model() -> None:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", _complete)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=512)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve_model())
