"""``suyuan config``: the values in force, where they come from, and their problems."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import Any

from ..config.schema import agents_schema, config_schema
from ..config.settings import Settings
from ..doctor.accounts import check_accounts
from ..engines import registry
from ..messages.catalog import Texts
from .tables import show_table
from .terminal import Terminal, print_json


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    config = commands.add_parser("config", help=t("help.config"), description=t("help.config"))
    actions = config.add_subparsers(metavar="show|check|schema", required=True)
    show = actions.add_parser("show", help=t("help.config_show"))
    show.add_argument("--json", action="store_true", help=t("help.json"))
    show.set_defaults(run=run_show)
    actions.add_parser("check", help=t("help.config_check")).set_defaults(run=run_check)
    schema = actions.add_parser("schema", help=t("help.config_schema"))
    schema.add_argument("which", nargs="?", choices=("config", "agents"), default="config")
    schema.set_defaults(run=run_schema)


def run_show(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Print every value in force and its origin, with keys masked."""
    if args.json:
        values = [asdict(value) for value in settings.values]
        problems = [problem.say(t.lang) for problem in settings.problems]
        print_json({"file": str(settings.config_file or ""), "values": values, "problems": problems})
        return 0
    out = Terminal(sys.stdout)
    out.line(t("config.file", path=settings.config_file or t("config.no_file")))
    rows = [(each.path, each.value, [(each.origin, "dim")]) for each in settings.values]
    show_table(out, rows, (t("config.setting"), t("config.value"), t("config.origin")), wrapped=(1, 2))
    _report(settings, t)
    return 0


def run_check(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Report the problems; exit code 2 where there are any."""
    if not settings.problems:
        # Raises where a server would not start with these settings.
        check_accounts(settings)
        Terminal(sys.stdout).line(t("config.fine"))
        return 0
    _report(settings, t)
    return 2


def run_schema(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Print a published JSON Schema."""
    print_json(agents_schema() if args.which == "agents" else config_schema(registry.names()))
    return 0


def _report(settings: Settings, t: Texts) -> None:
    err = Terminal(sys.stderr)
    for problem in settings.problems:
        err.text(f"! {problem.say(t.lang)}", "!", "red")
