"""What the check at the start has found, on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..messages.catalog import Texts
from .terminal import Terminal

if TYPE_CHECKING:
    from ..client import AsyncClient
    from ..doctor.finding import Finding

_SECONDS = 3.0


async def check_at_start(client: AsyncClient, t: Texts) -> None:
    """Show what hinders a search by these settings; this sends a few small requests and no search."""
    from ..doctor.checks import startup_findings

    found = await startup_findings(client, _SECONDS, searching=False)
    if found:
        show_findings(found, t)


def show_findings(findings: Sequence[Finding], t: Texts, server: str = "") -> None:
    """Show findings in one block; ``server`` is the address of the server that has the guides."""
    err = Terminal(sys.stderr)
    err.line()
    for finding in findings:
        message, hint = finding.say(t.lang)
        err.line(err.paint(f"! {message}", "yellow"))
        if hint:
            err.line(err.paint("  " + t("hint", hint=hint), "dim"))
        if finding.guide:
            err.line(err.paint("  " + guide_line(finding, t, server), "dim"))
    err.stream.flush()


def guide_line(finding: Finding, t: Texts, server: str = "") -> str:
    """Where the guide of a finding can be read: on the page of ``server``, or in the terminal."""
    if not server:
        return t("start.guide", guide=finding.guide)
    key = "doctor.guide" if finding.guide == "searxng" else "doctor.guide_other"
    return t(key, url=f"{server}/guide/{finding.guide}?lang={t.lang}")
