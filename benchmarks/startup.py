"""What it costs to begin: imports and one search on the command line, in CPU time of fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from statistics import median

from ._report import Target, table
from ._server import Site, servers

ROUNDS = 25

BARE, IMPORT = "python, bare", "import suyuan"
STUB, LOOPBACK, MCP = (
    "suyuan search --engine stub hello",
    "the same, an engine on loopback",
    "suyuan mcp, started and ended",
)
COMMANDS = {
    BARE: ("-c", "pass"),
    IMPORT: ("-c", "import suyuan"),
    "suyuan, a client made": ("-c", "from suyuan import AsyncClient; AsyncClient()"),
    STUB: ("-m", "suyuan", "search", "--engine", "stub", "hello"),
    LOOPBACK: ("-m", "suyuan", "search", "--engine", "ddg_html", "language"),
    MCP: ("-m", "suyuan", "mcp"),
    "import asyncio": ("-c", "import asyncio"),
    "import aiohttp": ("-c", "import aiohttp"),
    "import the server of mcp": ("-c", "import mcp.server.lowlevel.server, mcp.server.stdio"),
}
if find_spec("ddgs"):
    COMMANDS |= {
        "import ddgs": ("-c", "import ddgs"),
        "ddgs, an object made": ("-c", "from ddgs import DDGS; DDGS()"),
    }


def run() -> list[Target]:
    """Start every command in turn, many times, and return the targets."""
    print(f"\nstartup: fresh processes, {ROUNDS} rounds in turn")
    cpu: dict[str, list[float]] = {name: [] for name in COMMANDS}
    wall: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as home, servers(Site("ddg", first=1)) as (urls, _):
        for round_number in range(ROUNDS + 1):
            for name, arguments in COMMANDS.items():
                used, took = _start(arguments, home, urls[0])
                # The first round only writes the byte code and fills the file cache.
                if round_number:
                    cpu[name].append(used)
                    wall[name].append(took)
    rows = [
        (
            name,
            f"{median(cpu[name]):.1f}",
            f"{min(cpu[name]):.1f}",
            f"{above(cpu, name):+.1f}",
            f"{median(wall[name]):.1f}",
        )
        for name in COMMANDS
    ]
    table("milliseconds", ("", "CPU, median", "smallest", "above bare", "wall, median"), rows)
    limits = {IMPORT: 30, STUB: 120, LOOPBACK: 120, MCP: 1000}
    return [
        Target(f"`{name}`, CPU above the bare interpreter", above(cpu, name), limit, unit=" ms")
        for name, limit in limits.items()
    ]


def above(cpu: dict[str, list[float]], name: str) -> float:
    """Return how much more CPU ``name`` took than the bare interpreter of the same round, as a median."""
    return median(one - bare for one, bare in zip(cpu[name], cpu[BARE], strict=True))


def _start(arguments: tuple[str, ...], home: str, engine: str) -> tuple[float, float]:
    """Return the CPU time and the wall time of one process in milliseconds."""
    # An empty home: what the user has configured must not change the figures.
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environment = {**kept, "HOME": home, "LANG": "C.UTF-8", "DDG_BASE_URL": engine, "DDG_RATE_PER_MINUTE": "0"}
    started = time.perf_counter()
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, *arguments], stdin=quiet, stdout=quiet, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000, took * 1000
