"""``suyuan search``: search once."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

from ..client import AsyncClient, Connect
from ..config.settings import Settings
from ..core.errors import SuyuanError
from ..core.extras import Extras
from ..core.page_reading import DEPTHS
from ..core.query import SearchQuery
from ..core.result import Attempt, Details, SearchPage, SearchResult
from ..core.views import VIEWS, receipt
from ..engines import registry
from ..messages.catalog import Texts
from .arguments import SECONDS, checked
from .failure import NOTHING, OK, show_failure
from .tables import show_table
from .terminal import Terminal, print_json, with_progress

_MOST_AUTHORS = 3


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    search = commands.add_parser("search", help=t("help.search"), description=t("help.search"))
    search.add_argument("query", nargs="+", help=t("help.query"))
    search.add_argument("--freshness", "--time-range", default="", metavar="WHEN", help=t("help.freshness"))
    search.add_argument("--site", action="append", default=[], metavar="DOMAIN", help=t("help.site"))
    search.add_argument("--not-site", action="append", default=[], metavar="DOMAIN", help=t("help.not_site"))
    search.add_argument("--summary", action="store_true", help=t("help.summary"))
    search.add_argument("--json", action="store_true", help=t("help.json"))
    search.add_argument("--shape", choices=sorted(VIEWS), help=t("help.shape"))
    add_common(search, t)
    search.set_defaults(run=run, failed="failed")


def add_common(command: argparse.ArgumentParser, t: Texts) -> None:
    """Add the options that ``search`` and ``shell`` share."""
    command.add_argument("-e", "--engine", default="", metavar="PLAN", help=t("help.engine"))
    command.add_argument("--focus", default="", metavar="NAME", help=t("help.focus"))
    command.add_argument("-n", "--count", type=int, default=10, metavar="N", help=t("help.count"))
    command.add_argument("--lang", default="", help=t("help.lang"))
    command.add_argument("--country", default="", help=t("help.country"))
    command.add_argument("--timeout", type=checked(SECONDS, t), metavar="SECONDS", help=t("help.timeout"))
    command.add_argument("--max-wait", type=checked(SECONDS, t), default=0, metavar="SECONDS", help=t("help.max_wait"))
    command.add_argument(
        "--read", dest="depth", action="store_const", const="passages", default="results", help=t("help.read")
    )
    command.add_argument("--depth", choices=DEPTHS, default="results", help=t("help.depth"))
    command.add_argument("--max-tokens", type=int, metavar="N", help=t("help.max_tokens"))
    command.add_argument("--explain", action="store_true", help=t("help.explain"))


def run(args: argparse.Namespace, settings: Settings, t: Texts, connect: Connect = AsyncClient) -> int:
    """Search once."""
    return asyncio.run(_once(args, connect(settings), t))


async def _once(args: argparse.Namespace, client: AsyncClient, t: Texts) -> int:
    async with client:
        return await search(client, " ".join(args.query), args, t)


async def search(client: AsyncClient, text: str, args: argparse.Namespace, t: Texts) -> int:
    """Search for ``text``, write the results and return the exit code."""
    try:
        query = SearchQuery(
            text,
            count=args.count,
            lang=args.lang,
            country=args.country,
            freshness=args.freshness or None,
            allowed_domains=tuple(args.site),
            blocked_domains=tuple(args.not_site),
            need_summary=args.summary,
            focus=args.focus,
            budget_ms=round(args.timeout * 1000) if args.timeout is not None else None,
        )
        work = client.search(
            query, engines=args.engine, max_wait=args.max_wait, depth=args.depth, max_tokens=args.max_tokens
        )
        page = await with_progress(work, t, "searching")
    except SuyuanError as error:
        return _show_failure(error, args, t)
    if args.json or args.shape:
        data = VIEWS[args.shape or "items"](page, t.lang)
        print_json({**data, "receipt": receipt(page.attempts, t.lang)} if args.explain else data)
    else:
        show_page(page, t, explain=args.explain, optional=_optional(client))
    return OK if page.results or page.extras.answers else NOTHING


def _optional(client: AsyncClient) -> frozenset[str]:
    """Return the engines that are tried without being configured."""
    names = {info.name for info in registry.BUILT_IN.values() if info.probed_unconfigured}
    for name, own in client.settings.engines.items():
        if own.base_url:
            names.discard(name)
    return frozenset(names)


def show_page(page: SearchPage, t: Texts, *, explain: bool, optional: frozenset[str] = frozenset()) -> None:
    """Write the results as a list."""
    out = Terminal(sys.stdout)
    _show_extras(out, page.extras, t)
    for r in page.results:
        out.line(f"{r.rank:>2}. " + out.paint(r.title or r.url, "bold"))
        where = out.paint(r.source, "green") + (f" · {r.published_at[:10]}" if r.published_at else "")
        if r.fetched_at:
            where += f" · {t('archived', day=r.fetched_at[:10])}"
        out.line(f"    {where}  " + out.paint(r.url, "dim"))
        if r.details and (known := details_text(r.details, t)):
            out.line(f"    {known}")
        _show_text(out, r, t)
        out.line()
    seconds = page.took_ms / 1000
    if not page.results and not page.extras.answers:
        out.line(t("none", query=page.query.text, engine=page.engine))
    elif page.cached:
        out.line(out.paint(t("summary.cached", count=len(page.results), engine=page.engine), "dim"))
    else:
        out.line(out.paint(t("summary.title", count=len(page.results), engine=page.engine, seconds=seconds), "dim"))
    if explain:
        _show_receipt(out, page.attempts, t)
    else:
        # Failures of other engines are shown, except that an optional engine is not there.
        for a in page.attempts:
            if a.failure and not (a.outcome == "skipped" and a.engine in optional):
                out.line(out.paint(t("summary.fallback", engine=a.engine, message=a.failure), "yellow"))


def _show_text(out: Terminal, result: SearchResult, t: Texts) -> None:
    """Write what the page says, where it was read, else what the engine says of it."""
    read = result.reading
    texts = (read.text,) if read and read.text else tuple(p.text for p in read.passages) if read else ()
    if read and read.error:
        out.line("    " + out.paint(t("not_read", why=read.error.message(t.lang)), "yellow"))
    for at, text in enumerate(texts or (result.summary or result.snippet,)):
        if at:
            out.line("    " + out.paint("…", "dim"))
        for line in text.splitlines():
            for folded in out.folded(line, "    "):
                out.line(folded)


def details_text(details: Details, t: Texts) -> str:
    """Authors, venue, DOI and counts in one line."""
    authors = ", ".join(details.authors[:_MOST_AUTHORS]) + (", …" if len(details.authors) > _MOST_AUTHORS else "")
    counts = (
        ("details.cited_by", details.cited_by),
        ("details.stars", details.stars),
        ("details.score", details.score),
        ("details.comments", details.comments),
    )
    shown = [t(key, count=value) for key, value in counts if value is not None]
    doi = f"doi:{details.doi}" if details.doi else ""
    page = t("details.page", count=details.page) if details.page else ""
    accepted = t("details.accepted") if details.accepted else ""
    cut = details.cut.message(t.lang) if details.cut else ""
    known = (authors, details.venue, doi, *shown, accepted, details.file, page, cut, details.image)
    return " · ".join(part for part in known if part)


def _show_extras(out: Terminal, extras: Extras, t: Texts) -> None:
    """Write direct answers, infoboxes, and queries that may help, where an engine has them."""
    if not extras:
        return
    for answer in extras.answers:
        out.line(out.paint(answer.text, "bold") + out.paint(f"  {answer.url or answer.engine}".rstrip(), "dim"))
    for box in extras.infoboxes:
        out.line(out.paint(box.title, "bold") + (out.paint(f"  {box.url}", "dim") if box.url else ""))
        for line in out.folded(box.text, "    "):
            out.line(line)
        for name, value in box.facts:
            out.line(f"    {name}: {value}")
    for key, texts in (("corrections", extras.corrections), ("suggestions", extras.suggestions)):
        if texts:
            out.line(out.paint(t(key, texts=" · ".join(texts)), "dim"))
    out.line()


def _show_failure(error: SuyuanError, args: argparse.Namespace, t: Texts) -> int:
    if args.json or args.shape:
        print_json({"error": error.as_dict(t.lang), "receipt": receipt(error.attempts, t.lang)})
    code = show_failure(error, t, "failed")
    if error.attempts and (args.explain or len(error.attempts) > 1):
        _show_receipt(Terminal(sys.stderr), error.attempts, t)
    return code


def _show_receipt(out: Terminal, attempts: tuple[Attempt, ...], t: Texts) -> None:
    out.line(t("receipt"))
    rows = []
    for a in attempts:
        what = t(f"outcome.{a.outcome}", count=a.count)
        if a.relevance is not None and not a.failure:
            what += t("relevance", percent=100 * a.relevance)
        why = f" [{a.code}/{a.detail_code}] {a.failure.message(t.lang)}" if a.failure else ""
        notes = [t("unsupported_params", names=", ".join(a.unsupported_params))] if a.unsupported_params else []
        rows.append((f"  {a.engine}", f"{a.latency_ms:>5} ms", "\n".join((what + why, *notes, *a.notes))))
    show_table(out, rows, wrapped=(2,))
