"""What a search costs: CPU, throughput and memory of suyuan and ddgs on the same page from loopback."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from ._child import Ask, child, in_turn
from ._machine import Neighbours
from ._pages import origin, page
from ._report import Target, ratio, spread, table
from ._server import Site, servers

ROUNDS, CHOICE_ROUNDS = 21, 5
# Searches a second are taken from rounds in which others left the machine alone: wait for so many, but not for ever.
QUIET_ROUNDS, MOST_ROUNDS, QUIET_CORES, FEW = 9, 45, 0.25, 5
# How many searches a step has, by concurrency.
STEPS = {1: 60, 32: 320}
MEMORY_RUNS, MEMORY_SEARCHES = 3, 200
WAYS = {1: "one at a time", 32: "32 at once"}
PEERS = ("ddgs", "ddgs, new object each")

Figures = dict[tuple[str, int], list[float]]
"""The figures of all rounds, by their name and the concurrency."""


@dataclass(slots=True)
class Contest:
    """The figures of two contenders, round by round, and how many cores others used in each round."""

    names: tuple[str, str]
    figures: dict[str, Figures]
    others: list[float] = field(default_factory=list)

    @property
    def quiet(self) -> list[int]:
        """The rounds in which the machine was ours."""
        return [i for i, cores in enumerate(self.others) if cores < QUIET_CORES]

    @property
    def quietest(self) -> list[int]:
        """The rounds to take searches a second from: the quiet ones, or the least disturbed where there are too few."""
        return (
            self.quiet if len(self.quiet) >= FEW else sorted(range(len(self.others)), key=self.others.__getitem__)[:FEW]
        )


def run() -> list[Target]:
    """Run both contenders in turn and return the targets."""
    print(f"\nsearch: one DuckDuckGo html page ({origin()}, {len(page('ddg')) / 1000:.0f} kB), both contenders in turn")
    with servers(Site("ddg")) as ((url,), _):
        contest = _contest(url, ("suyuan", _faster_peer(url)), ROUNDS, MOST_ROUNDS)
        for name, figures in contest.figures.items():
            figures |= _memory(url, name)
    return _report(contest)


def _faster_peer(url: str) -> str:
    """Return the way to use ddgs that costs it less."""
    figures = _contest(url, PEERS, CHOICE_ROUNDS, CHOICE_ROUNDS).figures
    return min(PEERS, key=lambda name: sum(median(figures[name]["cpu_ms", n]) for n in STEPS))


def _contest(url: str, names: tuple[str, str], rounds: int, most: int) -> Contest:
    contest = Contest(
        names, {name: {(key, n): [] for key in ("cpu_ms", "per_second") for n in STEPS} for name in names}
    )
    with child("_contender", names[0], url) as first, child("_contender", names[1], url) as second:
        asks = dict(zip(names, (first, second), strict=True))
        # A first round to warm up: imports, connections, threads.
        _round(asks, 0)
        while len(contest.others) < rounds or (len(contest.quiet) < QUIET_ROUNDS and len(contest.others) < most):
            neighbours = Neighbours()
            for (name, key, n), value in _round(asks, len(contest.others)).items():
                contest.figures[name][key, n].append(value)
            contest.others.append(neighbours.cores())
    return contest


def _round(asks: dict[str, Ask], number: int) -> dict[tuple[str, str, int], float]:
    found: dict[tuple[str, str, int], float] = {}
    for n, searches in STEPS.items():
        for name in in_turn(asks, number):
            step = asks[name]([searches, n])
            found |= {(name, key, n): step[key] for key in ("cpu_ms", "per_second")}
    return found


def _memory(url: str, name: str) -> Figures:
    figures: Figures = {(key, n): [] for key in ("rss", "peak") for n in WAYS}
    for n in WAYS:
        for _ in range(MEMORY_RUNS):
            with child("_contender", name, url) as ask:
                step = ask([MEMORY_SEARCHES, n])
                for key in ("rss", "peak"):
                    figures[key, n].append(step[key])
    return figures


def _report(contest: Contest) -> list[Target]:
    ours, theirs = (contest.figures[name] for name in contest.names)
    print(
        f"  {len(contest.others)} rounds; others used {spread(contest.others)} cores and left us alone in {len(contest.quiet)} rounds"
    )
    if len(contest.quiet) < FEW:
        print(f"  too few of those: searches a second are from the {FEW} least disturbed rounds, and say little")
    for figures in (ours, theirs):
        for n in WAYS:
            figures["per_second", n] = [figures["per_second", n][i] for i in contest.quietest]
    rows = []
    kinds = (
        ("cpu_ms", "CPU ms a search", 2),
        ("per_second", "searches a second", 0),
        ("rss", "RSS, MB", 1),
        ("peak", "peak RSS, MB", 1),
    )
    for key, what, digits in kinds:
        for n, way in WAYS.items():
            a, b = ours[key, n], theirs[key, n]
            rows.append((f"{what}, {way}", spread(a, digits), spread(b, digits), f"{ratio(a, b):.2f}"))
    title = f"median (smallest–largest), ratio = median of the rounds' ratios; RSS after {MEMORY_SEARCHES} searches in a fresh process"
    table(title, ("", *contest.names, "ratio"), rows)
    return [
        *(
            Target(f"CPU a search, {way}, against ddgs", ratio(ours["cpu_ms", n], theirs["cpu_ms", n]), 0.65)
            for n, way in WAYS.items()
        ),
        Target(
            "searches a second, 32 at once, against ddgs",
            ratio(ours["per_second", 32], theirs["per_second", 32]),
            1.5,
            at_least=True,
        ),
        Target(
            f"RSS after {MEMORY_SEARCHES} searches, the larger of both ways",
            max(median(ours["rss", n]) for n in WAYS),
            45,
            unit=" MB",
        ),
    ]
