"""``suyuan archive``: the pages that were read."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from ..client import AsyncClient
from ..config.settings import Settings
from ..core.causes.library import FILE_UNREADABLE, NO_SUCH_FILE
from ..core.person import Person, current_person
from ..core.private_file import private_writer
from ..messages.catalog import Text, Texts
from ..pages.archive_lines import exported, pages_in
from .failure import BAD_INPUT, NOTHING, OK
from .page_text import show_page
from .progress import ProgressLine
from .tables import show_table
from .terminal import Terminal, print_json

if TYPE_CHECKING:
    from ..core.document import Document
    from ..pages.page_archive import PageArchive


_AT_ONCE = 100
_SHOWN = 20


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    archive = commands.add_parser("archive", help=t("help.archive"), description=t("help.archive"))
    archive.set_defaults(run=run, failed="archive.failed")
    actions = archive.add_subparsers(metavar="list|show|search|export|import|prune", required=True)
    actions.add_parser("list", help=t("help.archive_list")).set_defaults(action=_list)
    show = actions.add_parser("show", help=t("help.archive_show"))
    show.add_argument("which", metavar="URL|NUMBER")
    show.set_defaults(action=_show)
    search = actions.add_parser("search", help=t("help.archive_search"))
    search.add_argument("question", nargs="+")
    search.set_defaults(action=_search)
    export = actions.add_parser("export", help=t("help.archive_export"))
    export.add_argument("--output", type=Path, default=None, metavar="FILE", help=t("help.output"))
    export.set_defaults(action=_export)
    take_in = actions.add_parser("import", help=t("help.archive_import"), description=t("help.archive_import"))
    take_in.add_argument("file", metavar="FILE|-", help=t("help.archive_file"))
    take_in.add_argument("--user", metavar="NAME", default="", help=t("help.archive_user"))
    take_in.add_argument("--json", action="store_true", help=t("help.json"))
    take_in.set_defaults(action=_import)
    actions.add_parser("prune", help=t("help.archive_prune")).set_defaults(action=_prune)


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Run one command of the archive."""
    client = AsyncClient(settings)
    try:
        if user := getattr(args, "user", ""):
            account = client.chat.store.people.named(user)
            current_person.set(Person(account.id, account.name))
        if client.archive is None:
            Terminal(sys.stderr).line(t("archive.off"))
            return BAD_INPUT
        archive = client.archive.open()
        code: int = args.action(archive, args, t)
        return code
    finally:
        client.close_sync()


def _list(archive: PageArchive, args: argparse.Namespace, t: Texts) -> int:
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


def _show(archive: PageArchive, args: argparse.Namespace, t: Texts) -> int:
    # SQLite takes numbers of 18 digits in any case.
    is_number = args.which.isdecimal() and len(args.which) <= 18
    document = archive.by_number(int(args.which)) if is_number else archive.get(args.which)
    if document is None:
        Terminal(sys.stderr).line(t("archive.none", what=args.which))
        return 1
    about = f"{document.final_url} · {document.fetched_at} · sha256 {document.sha256[:16]}…"
    show_page(Terminal(sys.stdout), document.title, about, document.text)
    return 0


def _search(archive: PageArchive, args: argparse.Namespace, t: Texts) -> int:
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


def _export(archive: PageArchive, args: argparse.Namespace, t: Texts) -> int:
    if args.output is None:
        _write_pages(archive, sys.stdout)
        return OK
    try:
        with private_writer(args.output) as out:
            _write_pages(archive, out)
    except OSError as error:
        Terminal(sys.stderr).line(t("debug.unwritten", path=args.output, why=error.strerror or error))
        return BAD_INPUT
    return OK


def _write_pages(archive: PageArchive, out: TextIO) -> None:
    for document in archive.export():
        out.write(json.dumps(exported(document), ensure_ascii=False) + "\n")


def _import(archive: PageArchive, args: argparse.Namespace, t: Texts) -> int:
    before, count = len(archive), 0
    unreadable: list[tuple[int, Text]] = []
    with _opened(args.file) as (stream, size), ProgressLine(t, "archive.import_progress") as progress:
        waiting: list[tuple[Document, str]] = []
        for line, found in pages_in(stream):
            if isinstance(found, Text):
                unreadable.append((line, found))
                continue
            count += 1
            waiting.append((found, ""))
            if len(waiting) == _AT_ONCE:
                progress(args.file, stream.tell() if size else 0, size)
                archive.put_all(waiting)
                waiting.clear()
        archive.put_all(waiting)
    most = len(archive)
    archive.prune()
    after = len(archive)
    _show_import(args, t, unreadable, {"read": count, "before": before, "after": after, "removed": most - after})
    return NOTHING if unreadable else OK


@contextmanager
def _opened(name: str) -> Iterator[tuple[BinaryIO, int]]:
    """A file, or standard input, and its size where that is known."""
    if name == "-":
        yield sys.stdin.buffer, 0
        return
    path = Path(name)
    if not path.exists():
        raise NO_SUCH_FILE(path=name)
    try:
        with path.open("rb") as file:
            yield file, path.stat().st_size
    except (PermissionError, IsADirectoryError) as error:
        raise FILE_UNREADABLE(path=name, why=error.strerror or error) from None


def _show_import(
    args: argparse.Namespace, t: Texts, unreadable: Sequence[tuple[int, Text]], counts: Mapping[str, int]
) -> None:
    lines = [{"line": line, "why": why.localized(t.lang)} for line, why in unreadable]
    if args.json:
        print_json({**counts, "unreadable": lines})
        return
    err, out = Terminal(sys.stderr), Terminal(sys.stdout)
    for line in lines[:_SHOWN]:
        err.text(t("archive.unreadable_line", **line))
    if lines:
        err.text(t("archive.unreadable", count=len(lines)))
    out.line(t("archive.imported", count=counts["read"], before=counts["before"], after=counts["after"]))
    if counts["removed"] > 0:
        out.text(t("archive.over_limits", count=counts["removed"]))


def _prune(archive: PageArchive, args: argparse.Namespace, t: Texts) -> int:
    Terminal(sys.stdout).line(t("archive.pruned", count=archive.prune(), left=len(archive)))
    return 0
