"""``suyuan store``: move the store to another database, back it up, and restore it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..config.settings import Settings
from ..core.secret import Secret
from ..messages.catalog import Texts
from .terminal import Terminal, print_json


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    store = commands.add_parser("store", help=t("help.store"), description=t("help.store"))
    actions = store.add_subparsers(dest="action", required=True, metavar="ACTION")
    migrate = actions.add_parser("migrate", help=t("help.store_migrate"), description=t("help.store_migrate"))
    migrate.add_argument("source", metavar="FROM", help=t("help.store_address"))
    migrate.add_argument("target", metavar="TO", help=t("help.store_address"))
    backup = actions.add_parser("backup", help=t("help.store_backup"), description=t("help.store_backup"))
    restore = actions.add_parser("restore", help=t("help.store_restore"), description=t("help.store_restore"))
    for parser in (backup, restore):
        parser.add_argument("file", type=Path, metavar="FILE")
    for parser in (migrate, backup, restore):
        parser.add_argument("--json", action="store_true", help=t("help.json"))
        parser.set_defaults(run=run, failed="store.failed")


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Copy, and say how much."""
    from ..core.causes.store import STORE_NOT_EMPTY

    own = settings.store_address
    if args.action == "migrate":
        from ..store.transfer import archives_beside

        archives = {} if "://" in args.source else archives_beside(Path(args.source).absolute())
        return _copied(_address(args.source), _address(args.target), args, t, archives)
    file = args.file.absolute()
    if args.action == "restore":
        return _copied(_address(str(file)), own, args, t)
    if file.exists():
        raise STORE_NOT_EMPTY(where=str(file))
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    try:
        code = _copied(own, _address(str(part)), args, t)
        # Only a whole backup has the name that was asked for.
        part.replace(file)
        return code
    finally:
        part.unlink(missing_ok=True)


def _copied(
    source: Secret, target: Secret, args: argparse.Namespace, t: Texts, archives: Mapping[str, Path] | None = None
) -> int:
    from ..store.transfer import copy_store

    counts = copy_store(source, target, archives=archives)
    if args.json:
        print_json(counts)
    else:
        Terminal(sys.stdout).line(t("store.copied", rows=sum(counts.values()), tables=len(counts)))
    return 0


def _address(given: str) -> Secret:
    """An address of a database, or the file of one in SQLite."""
    return Secret(given if "://" in given else f"sqlite:///{quote(str(Path(given).absolute()))}")
