"""``suyuan library``: the user's own documents."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ..client import AsyncClient
from ..config.settings import Settings
from ..core.setting import whole
from ..messages.catalog import Texts
from .arguments import checked
from .failure import NOTHING, OK
from .tables import show_table
from .terminal import Terminal, print_json, with_progress

if TYPE_CHECKING:
    from ..pages.library import Library
    from ..pages.library_update import LibraryChange

_LISTED = 1000
_COUNT, _OFFSET = whole(1, 1_000_000), whole(0, 1_000_000_000)
Action = Callable[["Library", argparse.Namespace, Texts], Awaitable[int]]


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    library = commands.add_parser("library", help=t("help.library"), description=t("help.library"))
    library.set_defaults(run=run, failed="library.failed")
    actions = library.add_subparsers(metavar="add|list|remove|update", required=True)
    more = actions.add_parser("add", help=t("help.library_add"))
    more.add_argument("what", nargs="+", metavar="DIR|FILE|URL", help=t("help.library_what"))
    more.add_argument("--json", action="store_true", help=t("help.json"))
    more.set_defaults(action=_add)
    shown = actions.add_parser("list", help=t("help.library_list"))
    shown.add_argument("--limit", type=checked(_COUNT, t), default=_LISTED, metavar="N", help=t("help.library_limit"))
    shown.add_argument("--offset", type=checked(_OFFSET, t), default=0, metavar="N", help=t("help.library_offset"))
    shown.add_argument("--json", action="store_true", help=t("help.json"))
    shown.set_defaults(action=_list)
    remove = actions.add_parser("remove", help=t("help.library_remove"))
    remove.add_argument("which", help=t("help.library_which"))
    remove.set_defaults(action=_remove)
    update = actions.add_parser("update", help=t("help.library_update"))
    update.add_argument("--json", action="store_true", help=t("help.json"))
    update.set_defaults(action=_update)


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Run one command of the library."""
    return asyncio.run(_run(args.action, args, AsyncClient(settings), t))


async def _run(action: Action, args: argparse.Namespace, client: AsyncClient, t: Texts) -> int:
    async with client:
        return await action(client.library, args, t)


async def _add(library: Library, args: argparse.Namespace, t: Texts) -> int:
    from ..pages.library_update import LibraryChange

    total = LibraryChange()
    for what in args.what:
        change = await with_progress(library.add(what), t, "reading")
        if not args.json:
            _show_change(change, t)
        total.add(change)
    return _end(total, args, t)


async def _update(library: Library, args: argparse.Namespace, t: Texts) -> int:
    change = await with_progress(library.update(force=True), t, "reading")
    if not args.json:
        _show_change(change, t)
    return _end(change, args, t)


def _end(change: LibraryChange, args: argparse.Namespace, t: Texts) -> int:
    if args.json:
        print_json(change.as_dict(t.lang))
    return NOTHING if change.problems else OK


async def _remove(library: Library, args: argparse.Namespace, t: Texts) -> int:
    Terminal(sys.stdout).line(t("library.removed", count=await library.remove(args.which)))
    return OK


async def _list(library: Library, args: argparse.Namespace, t: Texts) -> int:
    entries = await library.entries(args.limit, args.offset)
    left = await library.count() - args.offset - len(entries)
    if args.json:
        print_json([library.as_dict(entry, t.lang) for entry in entries])
        _say_what_is_left(left, args, t)
        return OK
    out = Terminal(sys.stdout)
    if not entries:
        out.line(t("library.none"))
        return NOTHING
    rows = []
    for entry in entries:
        file = entry.file
        told = [each.message(t.lang) for each in (file.problem, entry.cut) if each is not None]
        about = [(entry.title, ""), ("  " + file.shown_path, "dim"), *((f"  {each}", "yellow") for each in told)]
        rows.append((file.id, file.read_at[:16], str(entry.characters), about))
    head = t("library.id"), t("library.read_at"), t("library.size"), t("library.document")
    show_table(out, rows, head, wrapped=(3,))
    _say_what_is_left(left, args, t)
    return OK


def _say_what_is_left(left: int, args: argparse.Namespace, t: Texts) -> None:
    """Say how the list goes on; beside it, so that JSON stays JSON."""
    if left > 0:
        Terminal(sys.stderr).line(t("library.left", count=left, offset=args.offset + args.limit))


def _show_change(change: LibraryChange, t: Texts) -> None:
    """Say what an update did."""
    failed = len(change.problems)
    for path, error in change.problems:
        Terminal(sys.stderr).line(t("library.problem", path=path, why=error.say(t.lang)[0]))
    for path, cut in change.cut:
        Terminal(sys.stderr).line(t("library.problem", path=path, why=cut.message(t.lang)))
    out = Terminal(sys.stdout)
    out.line(t("library.read", count=change.read, same=change.same, removed=change.removed, failed=failed))
    if change.cut:
        out.line(t("library.read_cut", count=len(change.cut)))
