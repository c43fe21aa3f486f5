"""``suyuan backup``: everything that is kept, in one folder or file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config.settings import Settings
from ..core.kept_files import still_missing
from ..core.notices import met
from ..messages.catalog import Texts
from .failure import OK, show_notice
from .progress import ProgressLine
from .terminal import Terminal, print_json

if TYPE_CHECKING:
    from ..backup.manifest import Manifest


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    backup = commands.add_parser("backup", help=t("help.backup"), description=t("help.backup_about"))
    backup.add_argument("target", type=Path, metavar="FOLDER|FILE", help=t("help.backup_target"))
    backup.add_argument("--json", action="store_true", help=t("help.json"))
    backup.set_defaults(run=run, failed="backup.failed")


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Write the backup, and say what is in it."""
    from ..backup.writing import write_backup

    with ProgressLine(t, "backup.progress") as progress:
        written = write_backup(settings, args.target, progress)
    if args.json:
        print_json({"path": str(written.path), **view(written.manifest)})
        return OK
    out = Terminal(sys.stdout)
    out.text(t("backup.written", path=written.path, **amounts(written.manifest)))
    out.text(t("backup.keys"))
    for path in written.manifest.left_out:
        out.text(t("backup.left_out", path=path))
    _show_missing(settings, t)
    return OK


def _show_missing(settings: Settings, t: Texts) -> None:
    """Say what a backup cannot have, also where another command has met it."""
    known = {notice.id for notice in met()}
    for notice in still_missing(settings.kept_folders):
        # What this command has met is shown at its end.
        if notice.id not in known:
            show_notice(notice, t)


def amounts(manifest: Manifest) -> dict[str, Any]:
    """How much is in a backup, for a text."""
    return {
        "files": len(manifest.entries),
        "megabytes": manifest.size / 1_000_000,
        "rows": sum(manifest.rows.values()),
    }


def view(manifest: Manifest) -> dict[str, Any]:
    """What is in a backup, for other programs."""
    return {
        "version": manifest.version,
        "created_at": manifest.created_at,
        "files": len(manifest.entries),
        "bytes": manifest.size,
        "rows": {entry.name: dict(entry.rows) for entry in manifest.entries if entry.rows},
        "left_out": list(manifest.left_out),
    }
