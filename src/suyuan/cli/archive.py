"""``suyuan archive``: the pages that were read."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from ..client import AsyncClient
from ..config.settings import Settings
from ..messages.catalog import Texts
from .failure import NOTHING
from .page_text import show_page
from .tables import show_table
from .terminal import Terminal

if TYPE_CHECKING:
    from ..pages.archive import Archive


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    archive = commands.add_parser("archive", help=t("help.archive"), description=t("help.archive"))
    archive.set_defaults(run=run, failed="archive.failed")
    actions = archive.add_subparsers(metavar="list|show|search|export|prune", required=True)
    actions.add_parser("list", help=t("help.archive_list")).set_defaults(action=_list)
    show = actions.add_parser("show", help=t("help.archive_show"))
    show.add_argument("which", metavar="URL|NUMBER")
    show.set_defaults(action=_show)
    search = actions.add_parser("search", help=t("help.archive_search"))
    search.add_argument("question", nargs="+")
    search.set_defaults(action=_search)
    actions.add_parser("export", help=t("help.archive_export")).set_defaults(action=_export)
    actions.add_parser("prune", help=t("help.archive_prune")).set_defaults(action=_prune)


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Run one command of the archive."""
    client = AsyncClient(settings)
    if client.archive is None:
        Terminal(sys.stderr).line(t("archive.off"))
        return 2
    try:
        archive = client.archive.open()
        code: int = args.action(archive, args, t)
        if archive.notice is not None:
            Terminal(sys.stderr).line(archive.notice.say(t.lang)[0])
        return code
    finally:
        client.close_sync()


def _list(archive: Archive, args: argparse.Namespace, t: Texts) -> int:
    out = Terminal(sys.stdout)
    entries = archive.newest()
    if not entries:
        out.line(t("archive.empty"))
        return NOTHING
    gap = "\n" if out.interactive else "  "
    rows = [
        (
            str(entry.id),
            entry.fetched_at[:16],
            f"{entry.size / 1000:.1f} kB",
            [(entry.title or "-", ""), (gap + entry.url, "dim")],
        )
        for entry in entries
    ]
    show_table(
        out, rows, (t("archive.number"), t("archive.read_at"), t("archive.size"), t("archive.page")), wrapped=(3,)
    )
    return 0


def _show(archive: Archive, args: argparse.Namespace, t: Texts) -> int:
    # SQLite takes numbers of 18 digits in any case.
    is_number = args.which.isdecimal() and len(args.which) <= 18
    document = archive.by_number(int(args.which)) if is_number else archive.get(args.which)
    if document is None:
        Terminal(sys.stderr).line(t("archive.none", what=args.which))
        return 1
    about = f"{document.final_url} · {document.fetched_at} · sha256 {document.sha256[:16]}…"
    show_page(Terminal(sys.stdout), document.title, about, document.text)
    return 0


def _search(archive: Archive, args: argparse.Namespace, t: Texts) -> int:
    out, question = Terminal(sys.stdout), " ".join(args.question)
    hits = archive.search(question)
    for rank, hit in enumerate(hits, 1):
        out.line(f"{rank:>2}. " + out.paint(hit.document.title or hit.document.final_url, "bold"))
        out.line(f"    {hit.document.final_url} · {hit.document.fetched_at[:10]}")
        for line in out.folded(hit.snippet, "    "):
            out.line(line)
    if not hits:
        out.line(t("archive.none", what=question))
    return 0 if hits else 1


def _export(archive: Archive, args: argparse.Namespace, t: Texts) -> int:
    for document in archive.export():
        sys.stdout.write(json.dumps(document.as_dict(), ensure_ascii=False) + "\n")
    return 0


def _prune(archive: Archive, args: argparse.Namespace, t: Texts) -> int:
    Terminal(sys.stdout).line(t("archive.pruned", count=archive.prune(), left=len(archive)))
    return 0
