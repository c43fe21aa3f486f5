"""``suyuan research``: a report in which every sentence can be checked, and what can be done with it later."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from ..client import AsyncClient, Connect
from ..config.settings import Settings
from ..core.causes.research import BAD_RESEARCH
from ..core.errors import SuyuanError
from ..messages.catalog import Texts
from ..research.forms import FORMS
from .ask import with_model
from .failure import FAILED, NOTHING, OK, show_failure
from .page_text import show_markdown
from .terminal import Terminal, print_json


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    research = commands.add_parser("research", help=t("help.research"), description=t("help.research"))
    research.add_argument("words", nargs="+", metavar="QUESTION", help=t("help.research_words"))
    research.add_argument("--yes", action="store_true", help=t("help.research_yes"))
    research.add_argument("--json", action="store_true", help=t("help.json"))
    research.add_argument("--out", default="", metavar="FILE", help=t("help.research_out"))
    research.add_argument("--form", choices=FORMS, default="", help=t("help.research_form"))
    research.add_argument(
        "--depth", choices=("quick", "normal", "deep"), default="normal", help=t("help.research_depth")
    )
    research.add_argument("--outline", action="append", default=[], metavar="HEADING", help=t("help.research_outline"))
    research.add_argument("--query", action="append", default=[], metavar="QUERY", help=t("help.research_query"))
    research.add_argument("--budget", action="append", default=[], metavar="NAME=N", help=t("help.research_budget"))
    research.add_argument("--based-on", default="", metavar="ID", help=t("help.research_based_on"))
    research.add_argument("--webhook", default="", metavar="URL", help=t("help.research_webhook"))
    research.add_argument("--focus", default="", metavar="NAME", help=t("help.focus"))
    research.add_argument("--freshness", default="", metavar="WHEN", help=t("help.freshness"))
    research.add_argument("--lang", action="append", default=[], help=t("help.lang"))
    research.add_argument("--site", action="append", default=[], metavar="DOMAIN", help=t("help.site"))
    research.add_argument("--not-site", action="append", default=[], metavar="DOMAIN", help=t("help.not_site"))
    research.add_argument("-e", "--engine", default="", metavar="PLAN", help=t("help.engine"))
    research.add_argument("--model", default="", metavar="NAME", help=t("help.ask_model"))
    research.set_defaults(run=run, failed="research.failed")


def run(args: argparse.Namespace, settings: Settings, t: Texts, connect: Connect = AsyncClient) -> int:
    """Research a question, or do something with a job."""
    return asyncio.run(_run(connect(with_model(settings, args.model)), args, t))


async def _run(client: AsyncClient, args: argparse.Namespace, t: Texts) -> int:
    async with client:
        try:
            name, *rest = args.words
            action = _ACTIONS.get(name)
            if action is not None and (not rest or (len(rest) == 1 and name != "list")):
                return await action(client, _named(name, rest), args, t)
            return await _new(client, " ".join(args.words), args, t)
        except SuyuanError as error:
            return show_failure(error, t, "research.failed")


async def _new(client: AsyncClient, question: str, args: argparse.Namespace, t: Texts) -> int:
    from .research_view import settle_plan

    _check_out(client, args)
    service = client.research_service
    asks = not args.yes and not args.json and sys.stdin.isatty()
    job = await service.create(question, {**_options(args), "wait_for_plan": asks or bool(args.query)})
    if asks or args.query:
        job = await service.wait(job.id)
        plan = _with_queries(job.plan or {}, args.query)
        if job.state == "awaiting_plan":
            settled = settle_plan(question, plan, t) if asks else plan
            if settled is None:
                Terminal(sys.stderr).text(t("research.kept", id=job.id))
                return OK
            await service.accept(job.id, settled)
    return await _finish(client, job.id, args, t)


async def _finish(client: AsyncClient, id: str, args: argparse.Namespace, t: Texts) -> int:
    """Show how a job goes on, and its report when it has ended."""
    from .research_view import follow

    try:
        await follow(client.research_service, id, t)
    except asyncio.CancelledError:
        Terminal(sys.stderr).text(t("research.interrupted", id=id))
        raise
    return await _show(client, id, args, t)


async def _show(client: AsyncClient, id: str, args: argparse.Namespace, t: Texts) -> int:
    from ..research.report import Research

    job = await client.research_service.get(id)
    found = Research.of(job)
    if args.out:
        await _write(client, found.as_dict(), args, t)
    if args.json:
        print_json(found.as_dict())
    elif not args.out:
        show_markdown(Terminal(sys.stdout), found.report or t("research.state", **_row(job)))
    if found.state == "failed" and not found.report:
        failure = found.result.get("failure") or {}
        Terminal(sys.stderr).text(f"{failure.get('message', '')} {failure.get('hint', '')}")
    return OK if found.claims else FAILED if found.state == "failed" else NOTHING


async def _resume(client: AsyncClient, id: str, args: argparse.Namespace, t: Texts) -> int:
    service = client.research_service
    job = await service.get(id)
    await (service.accept(id) if job.state == "awaiting_plan" else service.resume(id))
    return await _finish(client, id, args, t)


async def _stop(client: AsyncClient, id: str, args: argparse.Namespace, t: Texts) -> int:
    job = await client.research_service.stop(id)
    Terminal(sys.stdout).text(t("research.state", **_row(job)))
    return OK


async def _list(client: AsyncClient, _: str, args: argparse.Namespace, t: Texts) -> int:
    jobs = await client.research_service.find(limit=200)
    if args.json:
        rows = [
            {"id": job.id, "state": job.state, "question": job.question, "created_at": job.created_at} for job in jobs
        ]
        print_json(rows)
        return OK
    out = Terminal(sys.stdout)
    for job in jobs:
        out.text(t("research.state", **_row(job)))
    if not jobs:
        out.text(t("research.none"))
    return OK if jobs else NOTHING


async def _remove(client: AsyncClient, id: str, args: argparse.Namespace, t: Texts) -> int:
    await client.research_service.remove(id)
    Terminal(sys.stdout).text(t("research.removed", id=id))
    return OK


async def _export(client: AsyncClient, id: str, args: argparse.Namespace, t: Texts) -> int:
    from ..research.report import Research

    found = Research.of(await client.research_service.get(id))
    await _write(client, found.as_dict(), args, t)
    return OK


async def _verify(client: AsyncClient, name: str, args: argparse.Namespace, t: Texts) -> int:
    from ..research.verify import read_report, verify

    outcome = await verify(read_report(Path(name)), client)
    if args.json:
        print_json(outcome)
    else:
        out = Terminal(sys.stdout)
        for claim in outcome["claims"]:
            out.text(t("research.claim", mark="✓" if claim["holds"] else "✗", text=claim["text"]))
        out.text(t("research.held", held=outcome["held"], total=len(outcome["claims"])))
    return OK if outcome["held"] == len(outcome["claims"]) else NOTHING


_ACTIONS: dict[str, Callable[[AsyncClient, str, argparse.Namespace, Texts], Awaitable[int]]] = {
    "list": _list,
    "show": _show,
    "resume": _resume,
    "stop": _stop,
    "export": _export,
    "verify": _verify,
    "remove": _remove,
}


async def _write(client: AsyncClient, result: Mapping[str, Any], args: argparse.Namespace, t: Texts) -> None:
    from ..research.export import export

    data = await export(result, _form(args), client.network)
    if args.out:
        try:
            await asyncio.to_thread(Path(args.out).write_bytes, data)
        except OSError as error:
            raise BAD_RESEARCH(name="--out", value=error) from None
        Terminal(sys.stderr).text(t("research.written", file=args.out))
    else:
        sys.stdout.buffer.write(data)


def _check_out(client: AsyncClient, args: argparse.Namespace) -> None:
    """Raise before anything is searched where the report could not be written in the end."""
    if _form(args) == "pdf" and (problem := client.network.print_problem()):
        raise problem
    file = Path(args.out)
    if args.out and (file.is_dir() or not file.parent.is_dir()):
        raise BAD_RESEARCH(name="--out", value=args.out)


def _form(args: argparse.Namespace) -> str:
    form = args.form or Path(args.out).suffix.lstrip(".").lower() or "md"
    if form not in FORMS:
        raise BAD_RESEARCH(name="--form", value=form)
    return str(form)


def _named(action: str, rest: list[str]) -> str:
    """What an action is done with: every one but ``list`` needs an id or a file."""
    if not rest and action != "list":
        raise BAD_RESEARCH(name=f"{action} {'FILE' if action == 'verify' else 'ID'}", value="?")
    return rest[0] if rest else ""


def _options(args: argparse.Namespace) -> dict[str, Any]:
    scope = {
        "focus": args.focus,
        "languages": args.lang,
        "allowed_domains": args.site,
        "blocked_domains": args.not_site,
        "freshness": args.freshness,
        "engines": args.engine,
    }
    return {
        "depth": args.depth,
        "scope": scope,
        "budget": dict(_limit(each) for each in args.budget),
        "outline": args.outline,
        "model": args.model,
        "webhook": args.webhook,
        "based_on": args.based_on,
    }


def _limit(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        raise BAD_RESEARCH(name="--budget", value=text) from None
    return name, int(number) if number.is_integer() else number


def _with_queries(plan: Mapping[str, Any], queries: list[str]) -> dict[str, Any]:
    """The plan with more searches for its first sub-question."""
    first, *others = plan["sub_questions"]
    return {**plan, "sub_questions": [{**first, "queries": [*first["queries"], *queries]}, *others]}


def _row(job: Any) -> dict[str, str]:
    return {"id": job.id, "state": job.state, "day": job.created_at[:16], "question": job.question}
