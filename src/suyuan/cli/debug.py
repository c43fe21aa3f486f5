"""``suyuan debug``: everything known about one answer, to attach to a bug report."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from ..client import AsyncClient
from ..config.settings import Settings
from ..core.private_file import write_private
from ..messages.catalog import Texts
from .failure import OK
from .terminal import Terminal, print_json


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    debug = commands.add_parser("debug", help=t("help.debug"), description=t("help.debug"))
    debug.add_argument("run_id", nargs="?", default="", metavar="RUN_ID", help=t("help.debug_run"))
    debug.add_argument("-o", "--out", default="", metavar="FILE", help=t("help.debug_out"))
    debug.set_defaults(run=run, failed="ask.failed")


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Write the bundle."""
    bundle = asyncio.run(_bundle(settings, args.run_id))
    if not args.out:
        print_json(bundle)
        return OK
    try:
        write_private(Path(args.out), json.dumps(bundle, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        Terminal(sys.stderr).line(t("debug.unwritten", path=args.out, why=error.strerror or error))
        return 2
    Terminal(sys.stderr).line(t("debug.written", path=args.out))
    return OK


async def _bundle(settings: Settings, run_id: str) -> dict[str, Any]:
    from ..doctor.debug_bundle import bundle

    async with AsyncClient(settings) as client:
        return bundle(client, run_id)
