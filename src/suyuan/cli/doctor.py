"""``suyuan doctor``: check the installation; exit code 1 where there is an error, 0 otherwise."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any

from ..config.settings import Settings
from ..core.errors import SuyuanError
from ..messages.catalog import Texts
from .startup import guide_line
from .tables import Cell, show_table
from .terminal import Terminal, print_json, with_progress

if TYPE_CHECKING:
    from ..doctor.finding import Finding
    from ..doctor.storage import StoreCheck

_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}
_MARKS = {"ok": "✓", "warning": "!", "error": "✗"}


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    doctor = commands.add_parser("doctor", help=t("help.doctor"), description=t("help.doctor"))
    doctor.add_argument("--json", action="store_true", help=t("help.json"))
    doctor.add_argument("--offline", action="store_true", help=t("help.offline"))
    doctor.set_defaults(run=run)


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Run every check and write the findings."""
    from ..doctor.checks import count

    findings = asyncio.run(_findings(args, settings, t))
    errors, warnings = count(findings)
    if args.json:
        shown = [finding.as_dict(t.lang) for finding in findings]
        print_json({"errors": errors, "warnings": warnings, "findings": shown})
    else:
        _show(findings, settings, t)
        out = Terminal(sys.stdout)
        out.line()
        out.line(t("doctor.summary", errors=errors, warnings=warnings) if errors or warnings else t("doctor.all_ok"))
    return 1 if errors else 0


async def _findings(args: argparse.Namespace, settings: Settings, t: Texts) -> list[Finding]:
    from ..client import AsyncClient
    from ..doctor.checks import check_all
    from ..doctor.finding import Finding

    try:
        client = AsyncClient(settings)
    except SuyuanError as error:
        # The folder is being restored: nothing in it may be looked at.
        return [Finding.problem("store", error)]
    async with client:
        checks = check_all(client, offline=args.offline, store_check=_store_check(settings, args.offline))
        return await with_progress(checks, t, "checking")


def _store_check(settings: Settings, offline: bool) -> StoreCheck | None:
    """Return the check of the stored conversations, or None where there are none yet."""
    file = settings.store_file
    if not settings.store_address or (file and not file.exists()) or (offline and not file):
        return None
    try:
        from ..store.conversations import Store
    except ModuleNotFoundError:
        return None

    def check() -> list[str | SuyuanError]:
        store = Store(settings.store_address)
        try:
            return store.check()
        finally:
            store.close()

    return check


def _show(findings: list[Finding], settings: Settings, t: Texts) -> None:
    rows: list[list[Cell]] = []
    area = ""
    for finding in findings:
        title = t(f"area.{finding.area}") if finding.area != area else ""
        area = finding.area
        mark = [(_MARKS[finding.level], _COLOURS[finding.level])]
        rows.append([[(title, "bold")], mark, _text(finding, settings, t)])
    show_table(Terminal(sys.stdout), rows, wrapped=(2,))


def _text(finding: Finding, settings: Settings, t: Texts) -> list[tuple[str, str]]:
    message, hint = finding.say(t.lang)
    if finding.level == "ok":
        return [(message, "")]
    text = [(f"{message} [{finding.code}]", "")]
    if hint:
        text.append(("\n" + t("hint", hint=hint), "dim"))
    if finding.guide:
        text.append(("\n" + guide_line(finding, t, settings.server.url), "dim"))
    return text
