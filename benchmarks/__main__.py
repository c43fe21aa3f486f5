"""``python -m benchmarks [search exchange startup parse faults attack browser extract hidden fetch reading fuzz claims answers research followups streaming page searxng relevance fusion depth soak scale kept] [--check]``."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ._report import Target, table

PARTS = (
    "search",
    "exchange",
    "startup",
    "parse",
    "faults",
    "attack",
    "browser",
    "extract",
    "hidden",
    "fetch",
    "reading",
    "fuzz",
    "claims",
    "answers",
    "research",
    "followups",
    "streaming",
    "page",
    "searxng",
    "relevance",
    "fusion",
    "depth",
    "soak",
    "scale",
    "kept",
)


def main() -> int:
    """Run the chosen parts, print the targets, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure suyuan beside its peers, on loopback only."
    )
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"any of: {', '.join(PARTS)} (all where none is named)"
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 where a target is missed")
    args = parser.parse_args()
    if unknown := [part for part in args.parts if part not in PARTS]:
        parser.error(f"no such part: {', '.join(unknown)} (there are {', '.join(PARTS)})")
    # The children are started as modules of this package, wherever we were called from.
    os.chdir(Path(__file__).resolve().parents[1])
    started = time.monotonic()
    targets: list[Target] = []
    for part in args.parts or PARTS:
        targets += _browser() if part == "browser" else (_part(part)() or [])
    if targets:
        table("targets", ("", "target", "figure", ""), [target.row() for target in targets])
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    print(
        f"\n{os.cpu_count()} cores, Python {sys.version.split()[0]}, load {load}, {time.monotonic() - started:.0f} s in all"
    )
    return 1 if args.check and not all(target.reached for target in targets) else 0


def _part(name: str) -> Callable[[], list[Target] | None]:
    run: Callable[[], list[Target] | None] = import_module(f".{name}", __package__).run
    return run


def _browser() -> list[Target]:
    """Run the browser's benchmark, which prints its own figures, where everything it needs is there."""
    if find_spec(f"{__package__}.browser") is None:
        print("\nbrowser: skipped, there is no such benchmark here")
    elif find_spec("playwright") is None:
        print("\nbrowser: skipped, playwright is not installed")
    else:
        print("\nbrowser")
        asyncio.run(import_module(".browser", __package__).run())
    return []


if __name__ == "__main__":
    sys.exit(main())
