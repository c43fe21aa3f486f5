"""``suyuan shell``: search for every line that is typed or piped in."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

from ..client import AsyncClient
from ..config.settings import Settings
from ..messages.catalog import Texts
from .failure import OK
from .search import add_common, search
from .terminal import Terminal


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    shell = commands.add_parser("shell", help=t("help.shell"), description=t("help.shell"))
    add_common(shell, t)
    shell.set_defaults(
        run=run, failed="failed", freshness="", site=[], not_site=[], summary=False, json=False, shape=None
    )


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Search for each line until the end of the input."""
    return asyncio.run(_shell(args, settings, t))


async def _shell(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    interactive = sys.stdin.isatty()
    code = OK
    async with AsyncClient(settings) as client:
        if interactive:
            Terminal(sys.stdout).line(t("shell.hint", engine=args.engine or settings.search.default))
        while True:
            if interactive:
                sys.stdout.write(t("shell.prompt"))
                sys.stdout.flush()
            line = await asyncio.to_thread(sys.stdin.readline)
            if not line:
                # The exit code of the last search is for scripts; on a terminal each failure was shown.
                return OK if interactive else code
            if line.strip():
                code = await search(client, line, args, t)
