"""The fault drill: engines that stall, refuse, challenge and reset, and how many searches still get results in time."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from statistics import median, quantiles

from suyuan import AsyncClient, SuyuanError
from suyuan.config.settings import SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.secret import Secret

from . import _dependencies
from ._report import Target, table
from ._server import CHALLENGE, LIMITED, RESET, STALL, Site, servers

SECONDS = 5.0
CONCURRENCY = 20
# Which request meets which fault depends on the moment also where the seed is fixed: one run of 1,000 is not enough.
QUERIES, RUNS = 1000, 3
PEER_QUERIES, ALONE_QUERIES = 400, 200
SEED = 20261
CHAIN = {"ddg_html": "ddg", "bing_html": "bing", "searxng": "searxng"}
PEER_CHAIN = {"duckduckgo": "ddg", "mojeek": "mojeek", "brave": "brave"}
SILENT = ("searxng", "brave", "bocha", "ddg_html", "baidu_html", "bing_html")
SILENT_SECONDS, SILENT_QUERIES = 1.0, 5


@dataclass(frozen=True, slots=True)
class Search:
    """How one search ended: whether it had results, and after how many seconds."""

    found: bool
    seconds: float


Work = Callable[[dict[str, str], int, float], list[Search]]
"""Searches through the engines at these addresses, so many times, within so many seconds each."""


@dataclass(slots=True)
class Drill:
    """All searches of one contender, and the requests that its servers counted."""

    name: str
    searches: list[Search] = field(default_factory=list)
    requests: int = 0

    @property
    def in_time(self) -> float:
        """The percentage of searches with results within the budget."""
        return 100 * sum(s.found and s.seconds <= SECONDS for s in self.searches) / len(self.searches)

    def row(self) -> tuple[str, ...]:
        """Return the row of the table."""
        taken = [s.seconds for s in self.searches]
        found = 100 * sum(s.found for s in self.searches) / len(taken)
        figures = (median(taken), quantiles(taken, n=20)[-1], max(taken), self.requests / len(taken))
        return (
            self.name,
            str(len(taken)),
            f"{self.in_time:.2f} %",
            f"{found:.2f} %",
            *(f"{figure:.2f}" for figure in figures),
        )


def run() -> list[Target]:
    """Run the drills for suyuan and ddgs, and return the targets."""
    logging.getLogger("suyuan").setLevel(logging.CRITICAL)
    return [*_failing(), *_silent(), *_dependencies.run()]


def _failing() -> list[Target]:
    shares = f"{STALL:.0%} stall, {LIMITED:.0%} 429, {CHALLENGE:.0%} challenge, {RESET:.0%} reset"
    print(f"\nfaults: each request fails by itself ({shares}), budget {SECONDS:g} s, {CONCURRENCY} at once")
    drills = [
        _drill("suyuan, chain of 3", CHAIN, QUERIES, _suyuan, RUNS),
        _drill("ddgs, 3 backends", PEER_CHAIN, PEER_QUERIES, _ddgs),
        _drill("suyuan, 1 engine", {"ddg_html": "ddg"}, ALONE_QUERIES, _suyuan),
        _drill("ddgs, 1 backend", {"duckduckgo": "ddg"}, ALONE_QUERIES, _ddgs),
    ]
    head = ("", "queries", f"results in {SECONDS:g} s", "results at all", "p50 s", "p95 s", "max s", "requests a query")
    table("same pages, same seeds", head, [drill.row() for drill in drills])
    return [
        Target(
            f"searches with results within {SECONDS:g} s, chain of 3", drills[0].in_time, 99.5, at_least=True, unit=" %"
        )
    ]


def _drill(name: str, engines: dict[str, str], queries: int, work: Work, runs: int = 1) -> Drill:
    drill = Drill(name)
    for run in range(runs):
        with servers(*(Site(kind, SEED + 100 * run + i) for i, kind in enumerate(engines.values()))) as (
            urls,
            requests,
        ):
            drill.searches += work(dict(zip(engines, urls, strict=True)), queries, SECONDS)
            drill.requests += requests()
    return drill


def _silent() -> list[Target]:
    """Ask engines that never answer, and see how long it takes until that is said."""
    print(f"\nfaults: all engines silent, budget {SILENT_SECONDS:g} s, {SILENT_QUERIES} searches one after the other")
    ways: dict[str, tuple[tuple[str, ...], Work]] = {
        "suyuan, chain of 6": (SILENT, partial(_suyuan, at_once=1)),
        "suyuan, 6 at once": (SILENT, partial(_suyuan, at_once=1, joint="+")),
        "ddgs, 3 backends": (tuple(PEER_CHAIN), partial(_ddgs, at_once=1)),
    }
    taken: dict[str, list[float]] = {}
    for name, (engines, work) in ways.items():
        with servers(*(Site("ddg", silent=True) for _ in engines)) as (urls, _):
            taken[name] = [
                s.seconds for s in work(dict(zip(engines, urls, strict=True)), SILENT_QUERIES, SILENT_SECONDS)
            ]
    table(
        "seconds until the search ended",
        ("", "median", "max"),
        [(n, f"{median(t):.2f}", f"{max(t):.2f}") for n, t in taken.items()],
    )
    longest = max(seconds for name, times in taken.items() if name.startswith("suyuan") for seconds in times)
    return [Target(f"six silent engines, budget {SILENT_SECONDS:g} s: the longest search", longest, 1.1, unit=" s")]


def _suyuan(
    urls: dict[str, str], queries: int, seconds: float, at_once: int = CONCURRENCY, joint: str = ","
) -> list[Search]:
    settings = Settings(
        search=SearchSettings(seconds=seconds, cache_minutes=0),
        engines={
            name: EngineSettings(base_url=url, api_key=Secret("none"), rate_per_minute=0) for name, url in urls.items()
        },
    )
    return asyncio.run(_searches(settings, joint.join(urls), queries, at_once))


async def _searches(settings: Settings, plan: str, queries: int, at_once: int) -> list[Search]:
    numbers = iter(range(queries))
    done: list[Search] = []
    async with AsyncClient(settings) as client:

        async def work() -> None:
            for i in numbers:
                started = time.perf_counter()
                # Too short to be judged: the pages are of other queries, and results must be about theirs.
                try:
                    found = bool((await client.search_service.search(f"language {i}", engines=plan)).results)
                except SuyuanError:
                    found = False
                done.append(Search(found, time.perf_counter() - started))

        await asyncio.gather(*(work() for _ in range(at_once)))
    return done


def _ddgs(urls: dict[str, str], queries: int, seconds: float, at_once: int = CONCURRENCY) -> list[Search]:
    from ddgs import DDGS
    from ddgs.engines import ENGINES
    from ddgs.exceptions import DDGSException

    for name, url in urls.items():
        ENGINES["text"][name].search_url = url + ("/html/" if name == "duckduckgo" else "/search")
    client = DDGS(timeout=round(seconds))

    def one(i: int) -> Search:
        started = time.perf_counter()
        try:
            found = bool(client.text(f"language {i}", backend=",".join(urls), max_results=10))
        except DDGSException:
            found = False
        return Search(found, time.perf_counter() - started)

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(one, range(queries)))
