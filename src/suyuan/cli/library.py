"""``suyuan library``: the user's own documents."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ..client import AsyncClient
from ..config.settings import Settings
from ..messages.catalog import Texts
from .failure import NOTHING, OK
from .tables import show_table
from .terminal import Terminal, print_json, with_progress

if TYPE_CHECKING:
    from ..pages.library import Library, LibraryChange

Action = Callable[["Library", argparse.Namespace, Texts], Awaitable[int]]


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    library = commands.add_parser("library", help=t("help.library"), description=t("help.library"))
    library.set_defaults(run=run, failed="library.failed")
    actions = library.add_subparsers(metavar="add|list|remove|update", required=True)
    more = actions.add_parser("add", help=t("help.library_add"))
    more.add_argument("what", nargs="+", metavar="DIR|FILE|URL", help=t("help.library_what"))
    more.set_defaults(action=_add)
    shown = actions.add_parser("list", help=t("help.library_list"))
    shown.add_argument("--json", action="store_true", help=t("help.json"))
    shown.set_defaults(action=_list)
    remove = actions.add_parser("remove", help=t("help.library_remove"))
    remove.add_argument("which", help=t("help.library_which"))
    remove.set_defaults(action=_remove)
    actions.add_parser("update", help=t("help.library_update")).set_defaults(action=_update)


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Run one command of the library."""
    return asyncio.run(_run(args.action, args, AsyncClient(settings), t))


async def _run(action: Action, args: argparse.Namespace, client: AsyncClient, t: Texts) -> int:
    async with client:
        return await action(client.library, args, t)


async def _add(library: Library, args: argparse.Namespace, t: Texts) -> int:
    failed = 0
    for what in args.what:
        failed += _show_change(await with_progress(library.add(what), t, "reading"), t)
    return NOTHING if failed else OK


async def _update(library: Library, args: argparse.Namespace, t: Texts) -> int:
    return NOTHING if _show_change(await with_progress(library.update(force=True), t, "reading"), t) else OK


async def _remove(library: Library, args: argparse.Namespace, t: Texts) -> int:
    Terminal(sys.stdout).line(t("library.removed", count=await library.remove(args.which)))
    return OK


async def _list(library: Library, args: argparse.Namespace, t: Texts) -> int:
    entries = await library.entries()
    if args.json:
        print_json([library.as_dict(entry, t.lang) for entry in entries])
        return OK
    out = Terminal(sys.stdout)
    if not entries:
        out.line(t("library.none"))
        return NOTHING
    rows = []
    for entry in entries:
        file = entry.file
        why = f"  {file.problem.message(t.lang)}" if file.problem else ""
        about = [(entry.title, ""), ("  " + file.shown_path, "dim"), (why, "yellow")]
        rows.append((file.id, file.read_at[:16], str(entry.characters), about))
    head = t("library.id"), t("library.read_at"), t("library.size"), t("library.document")
    show_table(out, rows, head, wrapped=(3,))
    return OK


def _show_change(change: LibraryChange, t: Texts) -> int:
    """Say what an update did; return how many documents could not be read."""
    failed = len(change.problems)
    for path, error in change.problems:
        Terminal(sys.stderr).line(t("library.problem", path=path, why=error.say(t.lang)[0]))
    text = t("library.read", count=change.read, same=change.same, removed=change.removed, failed=failed)
    Terminal(sys.stdout).line(text)
    return failed
