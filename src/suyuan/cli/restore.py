"""``suyuan restore``: put what ``suyuan backup`` wrote in place, here or on another machine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ..config.settings import Settings
from ..messages.catalog import Texts
from .backup import amounts, view
from .failure import OK
from .progress import ProgressLine
from .terminal import Terminal, print_json


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    restore = commands.add_parser("restore", help=t("help.restore"), description=t("help.restore_about"))
    restore.add_argument("source", type=Path, metavar="FOLDER|FILE", help=t("help.restore_source"))
    restore.add_argument("--replace", action="store_true", help=t("help.restore_replace"))
    restore.add_argument("--json", action="store_true", help=t("help.json"))
    restore.set_defaults(run=run, failed="restore.failed")


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Restore, and say where everything is."""
    from ..backup.restoring import restore

    with ProgressLine(t, "restore.progress") as progress:
        restored = restore(settings, args.source, progress, replace=args.replace)
    manifest = restored.manifest
    if args.json:
        print_json({"path": str(settings.data_dir), **view(manifest), "set_aside": restored.asides})
        return OK
    out = Terminal(sys.stdout)
    when, version = manifest.created_at, manifest.version
    out.text(t("restore.done", path=settings.data_dir, when=when, version=version, **amounts(manifest)))
    for path in restored.asides:
        out.text(t("restore.aside", path=path))
    return OK
