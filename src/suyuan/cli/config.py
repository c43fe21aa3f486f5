"""``suyuan config``: the values of all settings, their origins, and the problems found."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

from ..config.schema import agents_schema, config_schema
from ..config.settings import Settings
from .terminal import Terminal, padded
from .texts import Texts


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    config = commands.add_parser("config", help=t("help.config"), description=t("help.config"))
    words = config.add_subparsers(metavar="show|check|schema", required=True)
    show = words.add_parser("show", help=t("help.config_show"))
    show.add_argument("--json", action="store_true", help=t("help.json"))
    show.set_defaults(run=run_show)
    words.add_parser("check", help=t("help.config_check")).set_defaults(run=run_check)
    schema = words.add_parser("schema", help=t("help.config_schema"))
    schema.add_argument("which", nargs="?", choices=("config", "agents"), default="config")
    schema.set_defaults(run=run_schema)


def run_show(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Print the value and the origin of every setting, with secrets masked."""
    if args.json:
        values = [asdict(value) for value in settings.values]
        problems = [str(problem) for problem in settings.problems]
        data = {"file": str(settings.config_file or ""), "values": values, "problems": problems}
        sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")
        return 0
    out = Terminal(sys.stdout)
    out.line(f"{t('config.file')}: {settings.config_file or t('config.no_file')}")
    width = max(len(value.path) for value in settings.values) + 2
    for value in settings.values:
        out.line(padded(value.path, width) + padded(value.value, 24) + out.paint(value.origin, "dim"))
    _report(settings)
    return 0


def run_check(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Report the problems; exit code 2 where there are any."""
    if not settings.problems:
        Terminal(sys.stdout).line(t("config.fine"))
        return 0
    _report(settings)
    return 2


def run_schema(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Print a published JSON Schema."""
    schema = agents_schema() if args.which == "agents" else config_schema()
    sys.stdout.write(json.dumps(schema, ensure_ascii=False, indent=2) + "\n")
    return 0


def _report(settings: Settings) -> None:
    err = Terminal(sys.stderr)
    for problem in settings.problems:
        err.line(err.paint("!", "red") + f" {problem}")
