"""One worker and two on PostgreSQL and Redis: searches for each second of CPU, answers at once, 500 followers of one.

On a machine that does other things too, time on the clock says little: the CPU that the workers used is what is compared.
By the clock, workers are compared that have the same small share of a core each, so that the others on the machine (the
clients, PostgreSQL, Redis) are never what they wait for.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from ._cpu_share import limited
from ._report import Target, table

SEARCHES, TOGETHER = 600, 16
SHARE, SHARED_SECONDS = 0.1, 15.0
ANSWERS = 40
FOLLOWERS = 500
WORDS = 150
_EACH = 12  # streams of one client; loopback has addresses enough to be many clients
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Figures:
    """What was measured with so many workers."""

    workers: int
    a_second: float = 0.0
    a_cpu_second: float = 0.0
    shares: tuple[float, ...] = ()
    answered: int = 0
    answers_seconds: float = 0.0
    followed: int = 0
    follow_cpu: float = 0.0
    megabytes: float = 0.0
    shared_a_second: float = 0.0
    """Searches a second where each worker has :data:`SHARE` of a core; 0 where that could not be arranged."""


def run() -> list[Target]:
    """Measure one worker, then two."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from support.postgres import binaries, postgres
    from support.redis import program, redis_server

    programs, redis = binaries(), program()
    if programs is None or redis is None:
        print("\nscale: skipped, PostgreSQL or Redis is not installed")
        return []
    with postgres(programs) as database, redis_server(redis) as live:
        found = [_measured(count, database.fresh(), live.url) for count in (1, 2)]
    head = (
        "workers",
        "searches/s",
        "searches/CPU s",
        "share of each",
        "answers",
        "in s",
        "followers",
        "CPU s",
        "RSS MB",
        f"searches/s at {SHARE:.0%} of a core",
    )
    rows = [
        (
            str(each.workers), f"{each.a_second:.0f}", f"{each.a_cpu_second:.0f}",
            " ".join(f"{share:.0%}" for share in each.shares), str(each.answered), f"{each.answers_seconds:.1f}",
            str(each.followed), f"{each.follow_cpu:.1f}", f"{each.megabytes:.0f}", f"{each.shared_a_second:.1f}",
        )
        for each in found
    ]  # fmt: skip
    table("scale", head, rows)
    one, two = found
    return [
        *_by_the_clock(one, two),
        Target("two workers: searches for each CPU second, of one worker's", two.a_cpu_second / one.a_cpu_second, 0.85, at_least=True),
        Target("followers of one answer that got all of it", two.followed, FOLLOWERS, at_least=True),
        Target("answers at once that were whole", two.answered, ANSWERS, at_least=True),
    ]  # fmt: skip


def _by_the_clock(one: Figures, two: Figures) -> list[Target]:
    if not one.shared_a_second or not two.shared_a_second:
        print("\nscale by the clock: skipped, no control group could be made (Linux, as root)")
        return []
    name = f"two workers at {SHARE:.0%} of a core each: searches a second, of twice one worker's"
    return [Target(name, two.shared_a_second / (2 * one.shared_a_second), 0.85, at_least=True)]


def _measured(count: int, store: str, redis: str) -> Figures:
    from support.oai import reply, serve_model

    with ExitStack() as stack:
        home = stack.enter_context(tempfile.TemporaryDirectory())
        model = stack.enter_context(serve_model([[reply("word " * WORDS, delay=0.02)]]))
        environ = {
            **{name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV")},
            "HOME": home, "LANG": "C.UTF-8", "SUYUAN_STORE_URL": store, "SUYUAN_REDIS_URL": redis,
            "SUYUAN_WORKERS": str(count), "SUYUAN_MODEL": "m", "SUYUAN_MODEL_BASE_URL": model.url,
            "SUYUAN_MODEL_API_KEY": "k", "WEB_SEARCH_CACHE_TTL_MINUTES": "0",
        }  # fmt: skip
        url, supervisor = stack.enter_context(_serving(environ))
        workers = _children(supervisor) if count > 1 else [supervisor]
        return asyncio.run(_asked(Figures(count), url, workers))


async def _asked(figures: Figures, url: str, workers: list[int]) -> Figures:
    before, begun = [_cpu(pid) for pid in workers], time.monotonic()
    await _search_all(url)
    used = [_cpu(pid) - was for pid, was in zip(workers, before, strict=True)]
    figures.a_second, figures.a_cpu_second = SEARCHES / (time.monotonic() - begun), SEARCHES / sum(used)
    figures.shares = tuple(part / sum(used) for part in used)
    begun = time.monotonic()
    figures.answered = sum(await asyncio.gather(*(_answered(url, number) for number in range(ANSWERS))))
    figures.answers_seconds = time.monotonic() - begun
    before = [_cpu(pid) for pid in workers]
    figures.followed = await _follow_all(url)
    figures.follow_cpu = sum(_cpu(pid) - was for pid, was in zip(workers, before, strict=True))
    figures.megabytes = sum(_rss(pid) for pid in workers)
    with limited(workers, SHARE) as arranged:
        figures.shared_a_second = await _searches_a_second(url) if arranged else 0.0
    return figures


async def _searches_a_second(url: str) -> float:
    """How many searches end in a second, with clients that always ask for the next."""
    done, begun = 0, time.monotonic()

    async def client() -> None:
        nonlocal done
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
            while time.monotonic() - begun < SHARED_SECONDS:
                body = {"query": f"another question {done} {random.random()}", "engines": "stub"}
                async with session.post(f"{url}/api/search", json=body) as answer:
                    assert answer.status == 200, await answer.text()
                done += 1

    await asyncio.gather(*(client() for _ in range(TOGETHER)))
    return done / (time.monotonic() - begun)


async def _search_all(url: str) -> None:
    left = iter(range(SEARCHES))

    async def client() -> None:
        # A connection for each search, so that the system spreads them over the workers.
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
            for number in left:
                body = {"query": f"question {number}", "engines": "stub"}
                async with session.post(f"{url}/api/search", json=body) as answer:
                    assert answer.status == 200, await answer.text()

    await asyncio.gather(*(client() for _ in range(TOGETHER)))


def _session(number: int) -> aiohttp.ClientSession:
    address = (f"127.0.2.{1 + number // _EACH}", 0)
    connector = aiohttp.TCPConnector(local_addr=address, limit=0)
    return aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(180))


async def _begun(session: aiohttp.ClientSession, url: str) -> str:
    async with session.post(f"{url}/api/conversations", json={"search": False}) as answer:
        id = (await answer.json())["id"]
    async with session.post(f"{url}/api/conversations/{id}/messages", json={"text": "a question"}) as answer:
        return str((await answer.json())["run"])


async def _whole(session: aiohttp.ClientSession, url: str, run: str) -> bool:
    async with session.get(f"{url}/api/runs/{run}/events") as answer:
        text = await answer.text() if answer.status == 200 else ""
    return "event: answer" in text and text.count("word ") >= WORDS


async def _answered(url: str, number: int) -> bool:
    async with _session(number) as session:
        return await _whole(session, url, await _begun(session, url))


async def _follow_all(url: str) -> int:
    async with _session(0) as session:
        run = await _begun(session, url)

        async def follow(number: int) -> bool:
            async with _session(number) as own:
                return await _whole(own, url, run)

        return sum(await asyncio.gather(*(follow(number) for number in range(FOLLOWERS))))


@contextmanager
def _serving(environ: dict[str, str]) -> Iterator[tuple[str, int]]:
    command = [sys.executable, "-m", "suyuan", "serve", "--no-supervise", "--no-open", "--port", "18642"]
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        while b"Ctrl-C" not in (line := process.stdout.readline()):
            assert line, "the server does not start"
        yield "http://127.0.0.1:18642", process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _children(parent: int) -> list[int]:
    from support.processes import children

    return children(parent)


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def _rss(pid: int) -> float:
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
