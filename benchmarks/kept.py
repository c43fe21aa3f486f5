"""What much that is kept costs: starting, finding, adding, backing up and ending, at 1, 10 and 100 times the smallest.

``python -m benchmarks.kept --fill FOLDER --size 100`` fills a folder and measures nothing. Where the environment has
``KEPT_FOLDERS``, the part takes its filled folders from there (``size-1``, ``size-10``, …), and makes those that are
missing, which takes most of an hour.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import quote

from suyuan.store.conversations import Store

from . import _kept_text as invented
from ._kept_add import Added, add_documents
from ._kept_fill import CONVERSATIONS, DOCUMENTS, PAGES, PARTS, fill, store_of
from ._kept_server import KeptServer, serving
from ._machine import rss
from ._report import Target, table

SIZES = (0, 1, 10, 100)
LARGEST = SIZES[-1]
STARTS, LOOKUPS = 5, 9
FOLDERS = "KEPT_FOLDERS"
# What the logarithm of the size allows is allowed so much more, and so many seconds in any case: others use the
# machine too.
_NOISE, _MOMENT = 1.5, 0.005
_FIND, _SEARCH = 0.05, 0.3
_LIMITS = {"conversations": _FIND, "archive": _SEARCH, "library": _SEARCH, "research": _SEARCH}

Question = tuple[str, dict[str, Any] | None]
"""A path, and what is sent to it."""


@dataclass(slots=True)
class Figures:
    """What was measured at one size, in seconds."""

    starts: list[float] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)
    """The CPU time of each start."""
    ends: list[float] = field(default_factory=list)
    lookups: dict[str, list[float]] = field(default_factory=dict)
    megabytes: float = 0.0
    backup: float = 0.0
    slowest_health: float = 0.0


def run() -> list[Target]:
    """Measure all sizes."""
    with _folders() as folders:
        found = {size: Figures() for size in SIZES}
        # In turn, so that what else the machine does meets all of them.
        for _ in range(STARTS):
            for size, folder in folders.items():
                with serving(folder) as server:
                    pass
                found[size].starts.append(server.started)
                found[size].spent.append(server.spent)
                found[size].ends.append(server.ended)
        for size, folder in folders.items():
            _look_up(found[size], folder, size)
    libraries = [add_documents(DOCUMENTS * size) for size in (1, LARGEST)]
    _print(found, libraries)
    return [*_targets(found), *libraries[-1].targets()]


@contextmanager
def _folders() -> Iterator[dict[int, Path]]:
    with tempfile.TemporaryDirectory(prefix="suyuan-kept-") as made:
        above = Path(os.environ.get(FOLDERS) or made)
        folders = {size: above / f"size-{size}" for size in SIZES}
        for size, folder in folders.items():
            if not folder.exists():
                fill(folder, size)
        yield folders


# --- looking up --------------------------------------------------------------------------------------------------------
def questions(size: int) -> Mapping[str, Question]:
    """What a server is asked, by name."""
    rare, frequent = invented.WORDS - 5, 0
    words = {
        "a rare word": invented.word(rare),
        "a rare Chinese word": invented.word(rare, chinese=True),
        "a frequent word": invented.word(frequent),
        "a frequent Chinese word": invented.word(frequent, chinese=True),
        "three words": " ".join(invented.word(rank) for rank in (1, 30, 900)),
    }
    last = max(size, 1)
    alone = {
        "conversations": invented.serial(CONVERSATIONS * last - 1, "talk"),
        "archive": invented.serial(PAGES * last - 1, "page"),
        "library": invented.serial(DOCUMENTS * last - 1, "document"),
    }
    asked: dict[str, Question] = {"conversations: the list": ("/api/conversations", None)}
    for place, word in alone.items():
        for name, text in {"a word of one": word, **words, "a word of none": "qxqxqxqx"}.items():
            by_engine = ("/api/search", {"query": text, "engines": place})
            asked[f"{place}: {name}"] = (_find(text), None) if place == "conversations" else by_engine
    return {
        **asked,
        "library: the list": ("/api/library?limit=100", None),
        "research: the list": ("/api/research", None),
    }


def _find(text: str) -> str:
    return f"/api/conversations?text={quote(text)}"


def _look_up(figures: Figures, folder: Path, size: int) -> None:
    """Ask a server everything, and back its store up meanwhile."""
    with serving(folder) as server:
        for _ in range(LOOKUPS):
            for name, (path, body) in questions(size).items():
                if size or not body:
                    figures.lookups.setdefault(name, []).append(server.took(path, body))
        figures.megabytes = rss(server.process.pid)
        _back_up(figures, server)
    figures.lookups["conversations: a word of one, Store.find"] = list(_found(folder, size))


def _found(folder: Path, size: int) -> Iterator[float]:
    """How long the store takes to find, without a server."""
    word = invented.serial(CONVERSATIONS * max(size, 1) - 1, "talk")
    with closing(Store(store_of(folder))) as store:
        for _ in range(LOOKUPS):
            begun = time.monotonic()
            store.find(word)
            yield time.monotonic() - begun


def _back_up(figures: Figures, server: KeptServer) -> None:
    with tempfile.TemporaryDirectory(prefix="suyuan-backup-") as made:
        begun, slowest = time.monotonic(), 0.0
        command = [sys.executable, "-m", "suyuan", "store", "backup", str(Path(made) / "backup.sqlite")]
        backup = subprocess.Popen(command, env=server.environ, stdout=subprocess.DEVNULL)
        while backup.poll() is None:
            slowest = max(slowest, server.took("/healthz"))
            time.sleep(0.01)
        figures.backup, figures.slowest_health = time.monotonic() - begun, slowest
        if backup.returncode:
            raise RuntimeError(f"the backup ended with {backup.returncode}")


# --- what it means -----------------------------------------------------------------------------------------------------
def _print(found: Mapping[int, Figures], libraries: Sequence[Added]) -> None:
    head = ("", *(f"× {size}" if size else "empty" for size in found), f"× {LARGEST} / × 1")
    every = list(found.values())
    rows = [
        _row("start to /healthz, s", [median(each.starts) for each in every], 2),
        _row("the same in CPU time, s", [median(each.spent) for each in every], 2),
        _row("end, s", [median(each.ends) for each in every], 2),
        _row("memory after all look-ups, MB", [each.megabytes for each in every], 0),
        _row("backup of the store, s", [each.backup for each in every], 1),
        _row("slowest /healthz meanwhile, ms", [1000 * each.slowest_health for each in every], 0),
    ]
    table(
        f"kept: 500 conversations, 20 research jobs, 1,000 pages, 200 documents × size; medians of {STARTS}", head, rows
    )
    rows = []
    for name in found[LARGEST].lookups:
        times = [each.lookups.get(name) or [math.nan] for each in every]
        rows.append(_row(name, [1000 * median(each) for each in times], 1))
    table(f"look-ups, ms, medians of {LOOKUPS}", head, rows)
    head = ("files in a folder that is added", "added", "s", "ms each", f"one of the last {500} / of the first")
    table("library", head, [added.row() for added in libraries])


def _row(name: str, values: Sequence[float], digits: int) -> tuple[str, ...]:
    said = ["–" if math.isnan(value) else f"{value:.{digits}f}" for value in values]
    return (name, *said, f"{values[-1] / values[1]:.2f}" if values[1] else "–")


def _targets(found: Mapping[int, Figures]) -> list[Target]:
    empty, one, most = found[0], found[1], found[LARGEST]
    slowest = {
        place: max(median(times) for name, times in most.lookups.items() if name.startswith(place)) for place in _LIMITS
    }
    worst = max((_beyond_logarithm(one.lookups[name], most.lookups[name]), name) for name in most.lookups)
    return [
        *(Target(f"{place}: the slowest look-up", 1000 * slowest[place], 1000 * _LIMITS[place], unit=" ms") for place in _LIMITS),
        Target(f"look-ups: time beside what the logarithm allows, at most, in “{worst[1]}”", worst[0], 1.0),
        Target("start to /healthz, beside an empty folder", median(most.starts) / median(empty.starts), 1.3),
        Target("end, beside an empty folder", median(most.ends) / median(empty.ends), 1.3),
        Target("memory, beside an empty folder", most.megabytes / empty.megabytes, 1.3),
        Target("backup of the store", most.backup, 10, unit=" s"),
        Target("slowest /healthz during the backup", 1000 * most.slowest_health, 300, unit=" ms"),
    ]  # fmt: skip


def _beyond_logarithm(small: Sequence[float], large: Sequence[float]) -> float:
    """The time at the largest size beside what would be the logarithm's: 1 and less is no faster growth."""
    growth = math.log(CONVERSATIONS * LARGEST) / math.log(CONVERSATIONS)
    # The shortest times: what it takes where nobody else has the processor.
    return min(large) / (min(small) * growth * _NOISE + _MOMENT)


def main() -> int:
    """Fill a folder, and measure nothing."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kept", description="Fill a data folder with inventions."
    )
    parser.add_argument("--fill", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--size", type=int, default=LARGEST, help="how many times the smallest size (100)")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    args = parser.parse_args()
    only = args.only.split(",")
    if unknown := set(only) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    fill(args.fill, args.size, only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
