"""``suyuan demo``: everything on a small web inside the process, without a network."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..config.settings import ServerSettings, Settings
from ..llm.settings import EMBEDDED
from ..messages.catalog import Texts
from . import ask, chat, fetch, research, search, serve
from .arguments import PORT, checked
from .terminal import Terminal


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    demo = commands.add_parser("demo", help=t("help.demo"), description=t("help.demo"))
    demo.add_argument("--port", type=checked(PORT, t), default=0, help=t("help.port"))
    demo.add_argument("--open", action=argparse.BooleanOptionalAction, default=True, help=t("help.serve_open"))
    demo.set_defaults(
        run=run, inner=serve.run, failed="serve.failed", host="", workers=None, listen_fd=None, supervise=False
    )
    inner = demo.add_subparsers(dest="demo_command", metavar="COMMAND", help=t("help.demo_command"))
    for command in (ask, chat, search, fetch, research):
        command.add(inner, t)
    for parser in inner.choices.values():
        parser.set_defaults(run=run, inner=parser.get_default("run"))


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Run a command, or the page, on the demo web; of the settings nothing is used."""
    from ..demo.web import DemoWeb

    # On standard error, so that the mark is no part of what a command writes.
    err = Terminal(sys.stderr)
    err.text(t("demo.mark"))
    if getattr(args, "model", "") not in ("", EMBEDDED):
        err.text(t("demo.embedded"))
        args.model = EMBEDDED
    with DemoWeb() as web:
        return int(args.inner(args, web.settings(ServerSettings(port=args.port)), t, web.client))
