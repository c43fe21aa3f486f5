"""One contender in a process of its own: searches a loopback address and says what that cost."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Callable
from itertools import count

from ._child import answer, leave, questions

Run = Callable[[int, int], int]
"""Searches so many times at such a concurrency, and returns how many answers had ten results."""


def suyuan(url: str) -> Run:
    """Search through the asynchronous service, without cache and limit, in one event loop."""
    from suyuan.client import AsyncClient
    from suyuan.config.settings import SearchSettings, Settings
    from suyuan.core.engine import EngineSettings

    settings = Settings(
        search=SearchSettings(default="ddg_html", cache_minutes=0),
        engines={"ddg_html": EngineSettings(base_url=url, rate_per_minute=0)},
    )
    client = AsyncClient(settings)
    numbers = count()
    # One loop for all phases, so that the connections are kept as in a running service.
    loop = asyncio.new_event_loop()

    async def searches(n: int, concurrency: int) -> int:
        turns = iter(range(n))
        good = 0

        async def work() -> None:
            nonlocal good
            for _ in turns:
                page = await client.search_service.search(f"programming language {next(numbers)}", engines="ddg_html")
                good += len(page.results) == 10

        await asyncio.gather(*(work() for _ in range(concurrency)))
        return good

    return lambda n, concurrency: loop.run_until_complete(searches(n, concurrency))


def ddgs(url: str, fresh: bool = False) -> Run:
    """Search through ddgs in threads, with one object for all calls or a ``fresh`` one for each."""
    from concurrent.futures import ThreadPoolExecutor

    from ddgs import DDGS
    from ddgs.engines.duckduckgo import Duckduckgo

    Duckduckgo.search_url = f"{url}/html/"
    shared = DDGS()
    numbers = count()
    pools: dict[int, ThreadPoolExecutor] = {}

    def one(text: str) -> bool:
        client = DDGS() if fresh else shared
        return len(client.text(text, backend="duckduckgo", max_results=10)) == 10

    def searches(n: int, concurrency: int) -> int:
        texts = [f"programming language {next(numbers)}" for _ in range(n)]
        if concurrency == 1:
            return sum(map(one, texts))
        # The pool is kept, as in a running service.
        if concurrency not in pools:
            pools[concurrency] = ThreadPoolExecutor(concurrency)
        return sum(pools[concurrency].map(one, texts))

    return searches


CONTENDERS: dict[str, Callable[[str], Run]] = {
    "suyuan": suyuan,
    "ddgs": ddgs,
    "ddgs, new object each": lambda url: ddgs(url, fresh=True),
}


def memory(field: str) -> float:
    """Return a field of this process's status, such as VmRSS, in MB (1024 × 1024 bytes)."""
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(field + ":"))


def measure(run: Run, n: int, concurrency: int) -> dict[str, float]:
    """Search ``n`` times and return what that cost."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    good = run(n, concurrency)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    if good != n:
        raise RuntimeError(f"only {good} of {n} searches had ten results")
    return {"cpu_ms": cpu / n * 1000, "per_second": n / wall, "rss": memory("VmRSS"), "peak": memory("VmHWM")}


def main(name: str, url: str) -> None:
    """Answer each question, a count and a concurrency, with what so many searches cost."""
    run = CONTENDERS[name](url)
    for n, concurrency in questions():
        answer(measure(run, n, concurrency))
    leave()


if __name__ == "__main__":
    main(*sys.argv[1:3])
