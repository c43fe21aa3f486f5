"""``suyuan google unlock``: let a person solve the CAPTCHA of Google."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

from ..config.settings import Settings
from ..config.ui import has_display
from ..core.query import SearchQuery
from ..engines import registry
from ..messages.catalog import Texts
from .terminal import Terminal


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    google = commands.add_parser("google", help=t("help.google"), description=t("help.google"))
    unlock = google.add_subparsers(metavar="unlock", required=True).add_parser("unlock", help=t("help.unlock"))
    unlock.add_argument("query", nargs="*", help=t("help.query"))
    unlock.set_defaults(run=run, failed="google.failed")


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Open the blocked page in a window with the stored profile, and wait until it is closed."""
    from ..net.unlock import unlock

    profile = settings.chrome_profile
    assert profile is not None, "loaded settings always have a state directory"
    err = Terminal(sys.stderr)
    query = SearchQuery(" ".join(args.query) or "suyuan")
    engine: Any = registry.load("google")(settings.engines.get("google"))
    address = next(engine.exchange(query)).url
    shown = has_display()
    if shown:
        err.line(t("google.opening"))
    asyncio.run(unlock(address, settings.browser, profile, shown, settings.net))
    err.line(t("google.kept", path=profile))
    return 0
