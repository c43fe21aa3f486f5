"""``suyuan fetch``: read a page as Markdown, text or JSON."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

from ..client import AsyncClient, Connect
from ..config.settings import Settings
from ..core.document import Document
from ..core.notices import Notices
from ..messages.catalog import Texts
from ..pages.passages import select
from .page_text import show_page
from .terminal import Terminal, print_json, with_progress


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    fetch = commands.add_parser("fetch", help=t("help.fetch"), description=t("help.fetch"))
    fetch.add_argument("url", help=t("help.url"))
    fetch.add_argument("--format", choices=("md", "text", "json"), default="md", help=t("help.format"))
    fetch.add_argument("--question", default="", metavar="Q", help=t("help.question"))
    fetch.add_argument("--tokens", type=int, default=2000, metavar="N", help=t("help.tokens"))
    fetch.add_argument("--render", action="store_true", help=t("help.render"))
    fetch.add_argument("--fresh", action="store_true", help=t("help.fresh"))
    fetch.set_defaults(run=run, failed="fetch.failed")


def run(args: argparse.Namespace, settings: Settings, t: Texts, connect: Connect = AsyncClient) -> int:
    """Read one page and write it to standard output."""
    document = asyncio.run(_fetch(args, connect(settings), t))
    if args.format == "json":
        print_json(_with_passages(document, args, t.lang))
        return 0
    out = Terminal(sys.stdout)
    if args.format == "md":
        day = f" · {document.published_at[:10]}" if document.published_at else ""
        show_page(out, document.title, f"{document.final_url}{day}", _text(document, args, t))
    else:
        for line in _text(document, args, t).splitlines():
            out.line(line)
    for note in (*document.notes, *([document.cut.message(t.lang)] if document.cut else ())):
        Terminal(sys.stderr).line(f"({note})")
    return 0


async def _fetch(args: argparse.Namespace, client: AsyncClient, t: Texts) -> Document:
    async with client:
        archive = client.archive
        reading = client.fetcher.fetch(args.url, fresh=args.fresh, render=args.render)
        document = await with_progress(reading, t, "reading")
    if archive is not None and archive.problem is not None:
        # Told at the end of the command, and kept where anything can be.
        Notices(client.settings.data_dir).add(archive.problem, archive.path)
    return document


def _text(document: Document, args: argparse.Namespace, t: Texts) -> str:
    if not args.question:
        return document.text
    chosen = select(document.text, args.question, args.tokens)
    left = [t("fetch.cut", left=chosen.total_tokens - chosen.tokens, total=chosen.total_tokens)] if chosen.cut else []
    return "\n\n".join([*(passage.text for passage in chosen.passages), *left])


def _with_passages(document: Document, args: argparse.Namespace, lang: str) -> dict[str, Any]:
    data = document.as_dict(lang)
    if args.question:
        chosen = select(document.text, args.question, args.tokens)
        data["passages"] = [passage.as_dict() for passage in chosen.passages]
        data["tokens"], data["total_tokens"] = chosen.tokens, chosen.total_tokens
    return data
