"""``suyuan engines parse``: read a saved result page without a network."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..config.settings import Settings
from ..core.engine import Engine
from ..core.errors import SuyuanError, WebBlocked
from ..core.query import SearchQuery
from ..core.result import SearchResult
from ..core.wire import Response
from ..engines import registry
from ..messages.catalog import Texts
from .terminal import Terminal


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    parse = commands.add_parser("parse", help=t("help.parse"), description=t("help.parse"))
    parse.add_argument("engine", metavar="ENGINE")
    parse.add_argument("file", metavar="FILE", help=t("help.file"))
    parse.add_argument("--status", type=int, default=200, metavar="N", help=t("help.status"))
    parse.add_argument("--query", default="", help=t("help.parse_query"))
    parse.add_argument("--json", action="store_true", help=t("help.json"))
    parse.set_defaults(run=run)


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Read a saved page as the engine would."""
    try:
        body = sys.stdin.buffer.read() if args.file == "-" else Path(args.file).read_bytes()
    except OSError as error:
        Terminal(sys.stderr).line(t("no_file", path=args.file, why=error.strerror or error))
        return 2
    items: list[dict[str, Any]] = []
    failure: SuyuanError | None = None
    try:
        items = _items(args, settings, body)
        outcome = "ok" if items else "empty"
    except SuyuanError as error:
        if error.code == "InvalidInput":
            Terminal(sys.stderr).line(" ".join(error.say(t.lang)))
            return 2
        failure = error
        outcome = "blocked" if isinstance(error, WebBlocked) else "error"
    if args.json:
        code, detail = (failure.code, failure.detail_code or None) if failure else (None, None)
        data = {"outcome": outcome, "code": code, "detail_code": detail, "items": items}
        sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    else:
        _show(outcome, items, failure, t)
    return 0


def _items(args: argparse.Namespace, settings: Settings, body: bytes) -> list[dict[str, Any]]:
    engine = registry.load(args.engine)(settings.engines.get(registry.canonical(args.engine)))
    query = SearchQuery(args.query) if args.query else None
    found = engine.parse(Response(args.status, body), query) if isinstance(engine, Engine) else None
    return [_item(rank, result) for rank, result in enumerate(found.results if found else (), 1)]


def _item(rank: int, r: SearchResult) -> dict[str, Any]:
    return {"rank": rank, "title": r.title, "url": r.url, "snippet": r.snippet, "published_at": r.published_at}


def _show(outcome: str, items: list[dict[str, Any]], failure: SuyuanError | None, t: Texts) -> None:
    out = Terminal(sys.stdout)
    out.line(outcome + (f" [{failure.code}/{failure.detail_code}]" if failure else f" ({len(items)})"))
    for line in failure.say(t.lang) if failure else ():
        out.line(line)
    for item in items:
        out.line(f"{item['rank']:>2}. {item['title']}")
        out.line(f"    {item['url']}" + (f"  · {item['published_at']}" if item["published_at"] else ""))
        for line in out.folded(item["snippet"], "    "):
            out.line(line)
