"""``suyuan doctor``: is everything well? Exit code 0 where it is or there are only warnings, 1 where something is broken."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..config.settings import Settings
from ..messages.catalog import Texts
from .terminal import Terminal

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
    """Examine everything and say what was found."""
    from ..doctor.checkup import count, exit_code

    findings = asyncio.run(_examined(args, settings))
    errors, warnings = count(findings)
    if args.json:
        data = {"errors": errors, "warnings": warnings, "findings": [finding.as_dict(t.lang) for finding in findings]}
        sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    else:
        _show(findings, settings, t)
        out = Terminal(sys.stdout)
        out.line()
        out.line(t("doctor.summary", errors=errors, warnings=warnings) if errors or warnings else t("doctor.all_ok"))
    return exit_code(findings)


async def _examined(args: argparse.Namespace, settings: Settings) -> list[Finding]:
    from ..client import AsyncClient
    from ..doctor.checkup import examine

    async with AsyncClient(settings) as client:
        return await examine(client, offline=args.offline, store_check=_store_check(settings, args.offline))


def _store_check(settings: Settings, offline: bool) -> StoreCheck | None:
    """How the conversations are checked; not at all where there are none yet."""
    address = settings.store_address.reveal()
    file = unquote(address.removeprefix("sqlite:///")) if address.startswith("sqlite:///") else ""
    if not address or (file and not Path(file).exists()) or (offline and not file):
        return None
    try:
        from ..store.conversations import Store
    except ModuleNotFoundError:
        return None

    def check() -> list[str]:
        store = Store(settings.store_address)
        try:
            return store.check()
        finally:
            store.close()

    return check


def _show(findings: list[Finding], settings: Settings, t: Texts) -> None:
    out = Terminal(sys.stdout)
    organ = ""
    for finding in findings:
        if finding.organ != organ:
            organ = finding.organ
            out.line(out.paint(t(f"area.{organ}"), "bold"))
        message, hint = finding.say(t.lang)
        mark = out.paint(_MARKS[finding.level], _COLOURS[finding.level])
        code = f" [{finding.code}]" if finding.level != "ok" else ""
        lines = out.folded(message + code, "    ")
        out.line(f"  {mark} " + (lines[0].strip() if lines else ""))
        for line in lines[1:]:
            out.line(line)
        for line in out.folded(t("hint", hint=hint), "    ") if hint and finding.level != "ok" else []:
            out.line(line)
        if finding.guide and finding.level != "ok":
            key = "doctor.guide" if finding.guide == "searxng" else "doctor.guide_other"
            out.line("    " + t(key, url=f"{settings.server.url}/guide/{finding.guide}?lang={t.lang}"))
