"""A search through ``suyuan serve`` beside a real SearXNG: both with one worker, on the same three engines on loopback.

SearXNG reads the pages with its generic engines (``xpath``, ``json_engine``), which do less than its own ones.
``BENCH_SEARXNG`` names its source folder, ``BENCH_SEARXNG_PYTHON`` a Python that has its requirements.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any

from ._child import Ask, child, in_turn
from ._machine import Neighbours, cpu_seconds, rss
from ._report import Target, ratio, spread, table
from ._searxng import json_engine, missing, searxng, xpath_engine
from ._server import Site, servers

ROUNDS = 7
# How many searches a step has, by concurrency; SearXNG's container has four threads.
STEPS = {1: 150, 16: 300}
WAYS = {1: "one at a time", 16: "16 at once"}
# The pages of the three engines share five results each: 20 in all.
SITES = (Site("ddg", first=1), Site("bing_plain", first=6), Site("brave_api", first=11))
OURS, OUR_API, THEIRS = "suyuan /search", "suyuan /api/search", "searxng /search"
# The number of the first query of each contender, so that no query is asked twice of any server.
FIRST = {OURS: 0, OUR_API: 15_000, THEIRS: 30_000}

Figures = dict[tuple[str, str, int], list[float]]
"""The figures of all rounds by contender, name and concurrency."""


def run() -> list[Target]:
    """Search through both servers in turn and return the targets."""
    if why := missing():
        print(f"\nsearxng: skipped, {why}")
        return []
    print(f"\nsearxng: {len(SITES)} engines on loopback, one worker each, every query another")
    with (
        servers(*SITES) as (urls, _),
        suyuan_server(urls) as (ours, our_pid),
        searxng(engines(urls)) as (theirs, their_pid),
        ExitStack() as stack,
    ):
        pids = {OURS: our_pid, OUR_API: our_pid, THEIRS: their_pid}
        asks = {
            name: stack.enter_context(child("_load", url, api, str(FIRST[name])))
            for name, url, api in ((OURS, ours, "searxng"), (OUR_API, ours, "api"), (THEIRS, theirs, "searxng"))
        }
        before = {name: rss(pid) for name, pid in pids.items()}
        figures, others = _rounds(asks, pids)
        after = {name: rss(pid) for name, pid in pids.items()}
    print(f"  {ROUNDS} rounds; others used {spread(others)} cores")
    return [*_report(figures, before, after), *_slow_engine()]


def _slow_engine() -> list[Target]:
    """Search while one engine needs half a second: its results must be in, and the others must not wait in vain."""
    with (
        servers(*SITES[:2], Site("brave_api", first=11, delay=0.5)) as (urls, _),
        suyuan_server(urls) as (url, _pid),
        child("_load", url, "searxng", "0") as ask,
    ):
        ask([64, 32])
        step = ask([640, 32])
    what = "searches a second, 32 at once, one engine needs 500 ms (64 is the most)"
    return [
        Target(what, step["per_second"], 55, at_least=True),
        Target("the fewest results in these searches", step["least"], 20, at_least=True),
    ]


def engines(urls: list[str]) -> list[dict[str, Any]]:
    """The three engines as SearXNG knows them."""
    ddg, bing, brave = urls
    snippet = './/*[@class="result__snippet"]'
    return [
        xpath_engine("ddg", f"{ddg}/html/", '//div[contains(@class, "web-result")]', './/a[@class="result__a"]', snippet),
        xpath_engine("bing", f"{bing}/search", '//li[@class="b_algo"]', ".//h2/a", ".//p"),
        json_engine("brave", f"{brave}/res/v1/web/search", "web/results", "description"),
    ]  # fmt: skip


@contextmanager
def suyuan_server(urls: list[str], **variables: str) -> Iterator[tuple[str, int]]:
    """Run ``suyuan serve`` with these addresses of its engines; gives its address and the id of its process."""
    ddg, bing, brave = urls
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
            "HOME": home, "LANG": "C.UTF-8", "WEB_SEARCH_BACKEND": "ddg_html+bing_html+brave",
            "DDG_BASE_URL": ddg, "BING_BASE_URL": bing, "BRAVE_BASE_URL": brave, "BRAVE_API_KEY": "none",
            "DDG_RATE_PER_MINUTE": "0", "BING_RATE_PER_MINUTE": "0", "BRAVE_RATE_PER_MINUTE": "0", **variables,
        }  # fmt: skip
        command = [sys.executable, "-m", "suyuan", "serve", "--no-supervise", "--port", "0", "--no-open"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1], process.pid
        finally:
            process.terminate()
            process.communicate(timeout=15)


def _rounds(asks: dict[str, Ask], pids: dict[str, int]) -> tuple[Figures, list[float]]:
    figures: Figures = {}
    others = []
    for number in range(-1, ROUNDS):
        neighbours = Neighbours()
        for together, searches in STEPS.items():
            for name in in_turn(asks, number):
                began = cpu_seconds(pids[name])
                step = asks[name]([searches, together])
                step["cpu"] = 1000 * (cpu_seconds(pids[name]) - began) / searches
                # The first round warms up: imports, connections, threads.
                for key, value in step.items() if number >= 0 else ():
                    figures.setdefault((name, key, together), []).append(value)
        if number >= 0:
            others.append(neighbours.cores())
    return figures, others


def _report(figures: Figures, before: dict[str, float], after: dict[str, float]) -> list[Target]:
    names = (OURS, OUR_API, THEIRS)
    kinds = (("cpu", "CPU ms a search", 2), ("per_second", "searches a second", 0), ("p50", "ms a search, median", 1))
    rows = [
        (f"{what}, {way}", *(spread(figures[name, key, n], digits) for name in names))
        for key, what, digits in kinds
        for n, way in WAYS.items()
    ]
    rows.append(("results", *(f"{min(figures[name, 'least', 1]):.0f}" for name in names)))
    rows.append(("RSS, MB, started → after load", *(f"{before[name]:.0f} → {after[name]:.0f}" for name in names)))
    table("median (smallest–largest)", ("", *names), rows)
    targets = []
    for n, way in WAYS.items():
        theirs = figures[THEIRS, "cpu", n]
        for name in (OURS, OUR_API):
            share = ratio(figures[name, "cpu", n], theirs)
            targets.append(Target(f"CPU of {name}, {way}, against SearXNG", share, 0.2))
    targets.append(Target(f"CPU of {OURS}, 16 at once", median(figures[OURS, "cpu", 16]), 1.5, unit=" ms"))
    targets.append(Target("RSS of suyuan serve after load", after[OURS], 110, unit=" MB"))
    return targets
