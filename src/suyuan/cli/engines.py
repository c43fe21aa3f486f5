"""``suyuan engines``: the engines and their state."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..client import AsyncClient
from ..config.settings import Settings
from ..core.errors import SuyuanError
from ..messages.catalog import Texts
from ..search.runner import EngineRunner
from . import engines_parse
from .tables import show_table
from .terminal import Terminal, print_json

_COLUMNS = ("name", "auto", "key", "state", "address")


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
    rows = [{**_row(name, client, t), **_learned(name, client, order)} for name in client.engines]
    if args.json:
        print_json(rows)
        return 0
    head = t("engine.name"), t("engine.auto"), t("engine.key"), t("engine.state"), t("engine.address")
    cells = [[_auto(row, t) if name == "auto" else str(row[name]) for name in _COLUMNS] for row in rows]
    show_table(Terminal(sys.stdout), cells, head, wrapped=(3, 4))
    return 0


def _learned(name: str, client: AsyncClient, order: list[str]) -> dict[str, object]:
    """The place in ``auto``, and what was seen of an engine."""
    place = order.index(name) + 1 if name in order else None
    try:
        state = client.engines[name].state
    except SuyuanError:
        return {"auto": place, "seen": 0, "worth": None, "latency_ms": None}
    seen = round(state.experience.strength())
    return {
        "auto": place,
        "seen": seen,
        "worth": round(state.experience.worth, 2) if seen else None,
        "latency_ms": round(1000 * state.latency) if state.measured else None,
    }


def _auto(row: dict[str, object], t: Texts) -> str:
    place = str(row["auto"] or "–")
    return t("engine.seen", place=place, percent=100 * float(str(row["worth"]))) if row["seen"] else place


def _row(name: str, client: AsyncClient, t: Texts) -> dict[str, object]:
    try:
        runner: EngineRunner = client.engines[name]
    except SuyuanError as error:
        return {"name": name, "key": "", "state": t("state.broken"), "address": error.say(t.lang)[0], "ready": False}
    engine = runner.engine
    variable = getattr(engine, "api_key_env", "")
    configured = bool(getattr(engine, "configured", True))
    cooldown = runner.breaker.cooldown_left()
    state, address = t("state.ready"), getattr(engine, "base_url", "") if name != "stub" else "-"
    browser_problem = client.network.browser_problem() if getattr(engine, "via_browser", False) else None
    if browser_problem:
        state, address = t("state.no_browser"), " ".join(browser_problem.say(t.lang))
    elif not configured:
        state = t("state.no_key")
    elif cooldown:
        state = t("state.paused", seconds=cooldown, why=runner.breaker.reason)
    key = t("key.none") if not variable else t("key.set") if configured else t("key.missing", variable=variable)
    return {
        "name": name,
        "title": getattr(engine, "title", name),
        "key": key,
        "state": state,
        "address": address,
        "ready": configured and not cooldown and not browser_problem,
        "cooldown_seconds": round(cooldown),
    }
