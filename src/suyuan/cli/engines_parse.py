"""``suyuan engines parse``: read a saved result page without a network."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..config.settings import Settings
from ..core.engine import read
from ..core.errors import InvalidInput, SuyuanError, WebBlocked
from ..core.foreign_engine import ForeignEngine
from ..core.query import SearchQuery
from ..core.result import SearchResult
from ..core.wire import Response
from ..engines import registry
from ..messages.catalog import Texts
from ..search.relevance import check_relevance, relevance_of
from .failure import BAD_INPUT, FAILED, NOTHING, OK
from .terminal import Terminal, print_json


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
        return BAD_INPUT
    items: list[dict[str, Any]] = []
    fits: float | None = None
    failure: SuyuanError | None = None
    try:
        results, fits = _read(args, settings, body)
        items = [_item(rank, result) for rank, result in enumerate(results, 1)]
        outcome = "ok" if items else "empty"
    except SuyuanError as error:
        if isinstance(error, InvalidInput):
            raise
        failure, fits = error, relevance_of(error)
        outcome = "blocked" if isinstance(error, WebBlocked) else "error"
    if args.json:
        code, detail = (failure.code, failure.detail_code or None) if failure else (None, None)
        data = {"outcome": outcome, "code": code, "detail_code": detail, "relevance": fits, "items": items}
        print_json(data)
    else:
        _show(outcome, items, fits, failure, t)
    return FAILED if failure else OK if items else NOTHING


def _read(args: argparse.Namespace, settings: Settings, body: bytes) -> tuple[Sequence[SearchResult], float | None]:
    """The results, and how well they fit the query where one is given; raises as a search would."""
    engine = registry.make(args.engine, settings.engines.get(registry.canonical(args.engine)))
    if isinstance(engine, ForeignEngine):
        return (), None
    query = SearchQuery(args.query) if args.query else None
    results = read(engine, Response(args.status, body), query).results
    return results, check_relevance(engine.name, query, results) if query and engine.live_web else None


def _item(rank: int, r: SearchResult) -> dict[str, Any]:
    item = {"rank": rank, "title": r.title, "url": r.url, "snippet": r.snippet, "published_at": r.published_at}
    return {**item, "details": r.details.as_dict()} if r.details else item


def _show(outcome: str, items: list[dict[str, Any]], fits: float | None, failure: SuyuanError | None, t: Texts) -> None:
    out = Terminal(sys.stdout)
    found = f" ({len(items)}{t('relevance', percent=100 * fits) if fits is not None else ''})"
    out.line(outcome + (f" [{failure.code}/{failure.detail_code}]" if failure else found))
    for line in failure.say(t.lang) if failure else ():
        out.line(line)
    for item in items:
        out.line(f"{item['rank']:>2}. {item['title']}")
        out.line(f"    {item['url']}" + (f"  · {item['published_at']}" if item["published_at"] else ""))
        for line in out.folded(item["snippet"], "    "):
            out.line(line)
