"""``suyuan engines``: the engines and their state."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..client import AsyncClient
from ..config.settings import Settings
from ..messages.catalog import Texts
from ..search.engine_status import EngineStatus
from . import engines_parse
from .tables import show_table
from .terminal import Terminal, print_json


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    engines = commands.add_parser("engines", help=t("help.engines"), description=t("help.engines"))
    engines.add_argument("--json", action="store_true", help=t("help.json"))
    engines.set_defaults(run=run)
    engines_parse.add(engines.add_subparsers(metavar=""), t)


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """List the engines."""
    client = AsyncClient(settings)
    order = [runner.name for runner in client.search_service.auto_order()]
    found = [client.engines.status(name) for name in client.engines]
    rows = [{**_row(each, client, t), **_learned(each, client, order)} for each in found]
    if args.json:
        print_json(rows)
        return 0
    head = t("engine.name"), t("engine.auto"), t("engine.state"), t("engine.address")
    cells = [_cells(row, each, t) for row, each in zip(rows, found, strict=True)]
    show_table(Terminal(sys.stdout), cells, head, wrapped=(2, 3))
    return 0


def _learned(status: EngineStatus, client: AsyncClient, order: list[str]) -> dict[str, Any]:
    """The place in ``auto``, and what was seen of an engine."""
    place = order.index(status.name) + 1 if status.name in order else None
    if status.state == "broken":
        return {"auto": place, "seen": 0, "worth": None, "latency_ms": None}
    state = client.engines[status.name].state
    seen = round(state.experience.strength())
    return {
        "auto": place,
        "seen": seen,
        "worth": round(state.experience.worth, 2) if seen else None,
        "latency_ms": round(1000 * state.latency) if state.measured else None,
    }


def _cells(row: dict[str, Any], status: EngineStatus, t: Texts) -> list[str]:
    """A row of the table, which must fit a narrow terminal."""
    place = str(row["auto"] or "–")
    auto = t("engine.seen", place=place, percent=100 * row["worth"]) if row["seen"] else place
    # A missing key is named; nearly all addresses begin in the same way.
    state = row["key"] if status.state == "no_key" else row["state"]
    return [row["name"], auto, state, row["address"].removeprefix("https://")]


def _row(status: EngineStatus, client: AsyncClient, t: Texts) -> dict[str, Any]:
    if status.state == "broken":
        key = ""
    elif status.state == "no_key":
        key = t("key.missing", variable=status.key_variable)
    else:
        key = t("key.set") if status.key_variable else t("key.none")
    if status.state == "circuit_open":
        why = client.engines[status.name].breaker.reason
        state = t("state.paused", seconds=status.cooldown, why=why)
    else:
        state = t(f"state.{status.state}")
    address = " ".join(status.problem.say(t.lang)) if status.problem else status.address
    return {
        "name": status.name,
        "title": status.title,
        "key": key,
        "state": state,
        "address": address or "-",
        "ready": status.ready,
        "cooldown_seconds": round(status.cooldown),
    }
