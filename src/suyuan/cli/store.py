"""``suyuan store``: move the store to another database, and copy it alone to a file and back."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..config.settings import Settings
from ..core.folder_use import FolderUse
from ..core.secret import Secret
from ..messages.catalog import Texts
from .failure import OK
from .progress import ProgressLine
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
    for parser, work in ((migrate, _migrate), (backup, _backup), (restore, _restore)):
        parser.add_argument("--json", action="store_true", help=t("help.json"))
        parser.set_defaults(run=run, work=work, failed="store.failed")


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Copy, and say how much."""
    data = settings.data_dir
    # Not while everything is being restored.
    use = FolderUse.shared(data if data is not None and data.is_dir() else None)
    with closing(use), ProgressLine(t, "store.progress") as progress:
        counts = args.work(args, settings, progress)
    if args.json:
        print_json(counts)
    else:
        Terminal(sys.stdout).line(t("store.copied", rows=sum(counts.values()), tables=len(counts)))
    return OK


def _migrate(args: argparse.Namespace, settings: Settings, progress: ProgressLine) -> Mapping[str, int]:
    from ..store.connections import parse
    from ..store.transfer_units import archives_below

    source = _address(args.source)
    before = parse(source)[1]
    return _copied(source, _address(args.target), progress, archives_below(before.parent) if before else {})


def _restore(args: argparse.Namespace, settings: Settings, progress: ProgressLine) -> Mapping[str, int]:
    return _copied(_address(str(args.file)), settings.store_address, progress, {})


def _backup(args: argparse.Namespace, settings: Settings, progress: ProgressLine) -> Mapping[str, int]:
    from ..core.causes.store import STORE_NO_BACKUP, STORE_NOT_EMPTY
    from ..store.connections import parse
    from ..store.file_copy import copy_database
    from ..store.transfer import copy_store
    from ..store.transfer_units import tables

    file = args.file.absolute()
    if file.exists():
        raise STORE_NOT_EMPTY(where=str(file))
    source = parse(settings.store_address)[1]
    if source is not None and not source.is_file():
        raise STORE_NO_BACKUP(where=str(source))
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    try:
        if source is None:
            counts = copy_store(settings.store_address, _address(str(part)), told=progress)
        else:
            own = {table.name for table in tables()}
            copy = copy_database(source, part, lambda done, total: progress(file.name, done, total))
            counts = {name: count for name, count in copy.rows.items() if name in own}
        # Only a whole backup has the name that was asked for.
        part.replace(file)
        return counts
    finally:
        for suffix in ("", "-wal", "-shm"):
            part.with_name(part.name + suffix).unlink(missing_ok=True)


def _copied(source: Secret, target: Secret, progress: ProgressLine, archives: Mapping[str, Path]) -> Mapping[str, int]:
    """Copy with the pages that people have read: on one machine they are in files beside the store."""
    from ..store.connections import parse
    from ..store.transfer import copy_store

    after = parse(target)[1]
    return copy_store(source, target, archives=archives, folder=after.parent if after else None, told=progress)


def _address(given: str) -> Secret:
    """An address of a database, or the file of one in SQLite."""
    return Secret(given if "://" in given else f"sqlite:///{quote(str(Path(given).absolute()))}")
