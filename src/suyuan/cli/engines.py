"""``suyuan engines``: what there is, and reading a saved page when an engine has changed its own."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..client import AsyncClient
from ..config.settings import Settings
from ..core.engine import Engine
from ..core.errors import SuyuanError, WebBlocked
from ..core.query import SearchQuery
from ..core.result import SearchResult
from ..core.wire import Response
from ..engines import registry
from ..search.runner import EngineRunner
from .terminal import Terminal, padded
from .texts import Texts


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    engines = commands.add_parser("engines", help=t("help.engines"), description=t("help.engines"))
    engines.add_argument("--json", action="store_true", help=t("help.json"))
    engines.set_defaults(run=run_list)
    parse = engines.add_subparsers(metavar="").add_parser("parse", help=t("help.parse"), description=t("help.parse"))
    parse.add_argument("engine", metavar="ENGINE")
    parse.add_argument("file", metavar="FILE", help=t("help.file"))
    parse.add_argument("--status", type=int, default=200, metavar="N", help=t("help.status"))
    parse.add_argument("--query", default="", help=t("help.parse_query"))
    parse.add_argument("--json", action="store_true", help=t("help.json"))
    parse.set_defaults(run=run_parse)


def run_list(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """List the engines and how they are."""
    client = AsyncClient(settings)
    rows: list[dict[str, object]] = [_row(name, client, t) for name in client.engines]
    if args.json:
        sys.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2) + "\n")
        return 0
    out = Terminal(sys.stdout)
    head: dict[str, object] = {
        "name": t("engine.name"),
        "key": t("engine.key"),
        "state": t("engine.state"),
        "address": t("engine.address"),
    }
    table = [head, *rows]
    columns = {field: max(len(str(row[field])) for row in table) + 2 for field in ("name", "key", "state")}
    for i, row in enumerate(table):
        cells = [padded(str(row[field]), columns[field]) for field in ("name", "key", "state")]
        line = "".join(cells) + str(row["address"])
        out.line(out.paint(line, "dim") if i == 0 else line)
    return 0


def _row(name: str, client: AsyncClient, t: Texts) -> dict[str, object]:
    try:
        runner: EngineRunner = client.engines[name]
    except SuyuanError as error:
        return {"name": name, "key": "", "state": t("state.broken"), "address": error.say(t.lang)[0], "ready": False}
    engine = runner.engine
    variable = getattr(engine, "api_key_env", "")
    configured = bool(getattr(engine, "configured", True))
    left = runner.breaker.cooldown_left()
    state, address = t("state.ready"), getattr(engine, "base_url", "") if name != "stub" else "-"
    missing = client.network.browser_problem() if getattr(engine, "via_browser", False) else None
    if missing:
        state, address = t("state.no_browser"), " ".join(missing.say(t.lang))
    elif not configured:
        state = t("state.no_key")
    elif left:
        state = t("state.resting", seconds=left, why=runner.breaker.reason)
    key = t("key.none") if not variable else t("key.set") if configured else t("key.missing", variable=variable)
    return {
        "name": name,
        "title": getattr(engine, "title", name),
        "key": key,
        "state": state,
        "address": address,
        "ready": configured and not left and not missing,
        "resting_seconds": round(left),
    }


def run_parse(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Read a saved page as the engine would, without a network."""
    try:
        body = sys.stdin.buffer.read() if args.file == "-" else Path(args.file).read_bytes()
    except OSError as error:
        Terminal(sys.stderr).line(t("no_file", path=args.file, why=error.strerror or error))
        return 2
    verdict: dict[str, Any] = {"outcome": "ok", "code": None, "detail_code": None, "items": []}
    error_found: SuyuanError | None = None
    try:
        engine = registry.load(args.engine)(settings.engines.get(registry.canonical(args.engine)))
        query = SearchQuery(args.query) if args.query else None
        found = engine.parse(Response(args.status, body), query) if isinstance(engine, Engine) else None
        verdict["items"] = [_item(rank, r) for rank, r in enumerate(found.results if found else (), 1)]
        verdict["outcome"] = "ok" if verdict["items"] else "empty"
    except SuyuanError as error:
        if error.code == "InvalidInput":
            Terminal(sys.stderr).line(" ".join(error.say(t.lang)))
            return 2
        error_found = error
        outcome = "blocked" if isinstance(error, WebBlocked) else "error"
        verdict.update(outcome=outcome, code=error.code, detail_code=error.detail_code or None)
    if args.json:
        sys.stdout.write(json.dumps(verdict, ensure_ascii=False, indent=2) + "\n")
    else:
        _show(verdict, error_found, t)
    return 0


def _item(rank: int, r: SearchResult) -> dict[str, Any]:
    return {"rank": rank, "title": r.title, "url": r.url, "snippet": r.snippet, "published_at": r.published_at}


def _show(verdict: dict[str, Any], error: SuyuanError | None, t: Texts) -> None:
    out = Terminal(sys.stdout)
    out.line(
        f"{verdict['outcome']}" + (f" [{error.code}/{error.detail_code}]" if error else f" ({len(verdict['items'])})")
    )
    if error:
        for line in error.say(t.lang):
            out.line(line)
    for item in verdict["items"]:
        out.line(f"{item['rank']:>2}. {item['title']}")
        out.line(f"    {item['url']}" + (f"  · {item['published_at']}" if item["published_at"] else ""))
        for line in out.folded(item["snippet"], "    "):
            out.line(line)
