"""``suyuan notices``: what was set aside, cut, dropped or started anew, until it is dismissed."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..config.settings import Settings
from ..core.kept_files import tell_missing
from ..core.notices import Notices, StoredNotice
from ..messages.catalog import Texts
from .failure import NOTHING, OK
from .terminal import Terminal, print_json


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    notices = commands.add_parser("notices", help=t("help.notices"), description=t("help.notices"))
    notices.add_argument("--dismiss", nargs="?", const="", metavar="ID", help=t("help.notices_dismiss"))
    notices.add_argument("--json", action="store_true", help=t("help.json"))
    notices.set_defaults(run=run)


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """List or dismiss the notices of this data folder and of the people in it."""
    folder = settings.data_dir
    folders = [folder, *sorted(folder.glob("people/*"))] if folder else []
    kept = [Notices(each) for each in folders]
    tell_missing(settings.kept_folders)
    if args.dismiss is not None:
        count = sum(notices.dismiss(args.dismiss) for notices in kept)
        Terminal(sys.stdout).line(t("notices.dismissed", count=count))
        return OK if count else NOTHING
    found = [notice for notices in kept for notice in notices.open()]
    if args.json:
        print_json([notice.published(t.lang) for notice in found])
        return OK
    _show(found, t)
    return OK


def _show(found: list[StoredNotice], t: Texts) -> None:
    out = Terminal(sys.stdout)
    if not found:
        out.line(t("notices.none"))
    for notice in found:
        message, hint = notice.failure.say(t.lang)
        out.text(f"{notice.id}  {notice.at[:16]}  {message}", notice.id, "bold")
        if hint:
            out.text(t("hint", hint=hint))
