"""The whole examination, all organs at once, and the short one at the start of the program."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from ..client import AsyncClient
from ..core.secret import redact
from . import browser, configuration, engines, model, network, packages
from . import storage as places
from .finding import ERROR, WARNING, Finding

_ORDER = ("config", "searxng", "engine", "network", "browser", "model", "archive", "store", "disk", "package")
# Illnesses that only a SearXNG has: then it is one, though nobody has configured it.
_SURELY = ("json_api_off", "http_429", "engines_dead", "searxng_no_engines")
_NOTICE_SECONDS = 5.0


async def examine(
    client: AsyncClient, *, offline: bool = False, store_check: places.StoreCheck | None = None
) -> list[Finding]:
    """Everything, in the order in which people should read it; ``offline`` opens no connection."""
    looks = (
        configuration.examine(client),
        engines.examine(client, offline=offline),
        network.examine(client, offline=offline),
        browser.examine(client),
        model.examine(client, offline=offline),
        places.examine(client, store_check=store_check),
        packages.examine(client),
    )
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(look) for look in looks]
    findings = [_masked(finding, client) for task in tasks for finding in task.result()]
    return sorted(findings, key=lambda finding: _ORDER.index(finding.organ))


async def startup_notice(client: AsyncClient) -> Finding | None:
    """What is wrong with the house's SearXNG, for the page to show; None where it is well or nobody has one.

    It may take seconds: run it beside the start, not before it.
    """
    verdict = await engines.searxng_verdict(client, _NOTICE_SECONDS)
    if verdict.cause and (engines.explicit(client) or verdict.cause.detail_code in _SURELY):
        return _masked(engines.searxng_findings(verdict)[0], client)
    return None


def exit_code(findings: Sequence[Finding]) -> int:
    """0 where all is well or there are only warnings, 1 where something is broken."""
    return 1 if any(finding.level == ERROR for finding in findings) else 0


def count(findings: Sequence[Finding]) -> tuple[int, int]:
    """How many errors, and how many warnings."""
    return sum(f.level == ERROR for f in findings), sum(f.level == WARNING for f in findings)


def _masked(finding: Finding, client: AsyncClient) -> Finding:
    """No secret leaves the house, whatever text it slipped into."""
    secrets = client.settings.secrets
    return replace(
        finding,
        en=redact(finding.en, secrets),
        zh=redact(finding.zh, secrets),
        hint_en=redact(finding.hint_en, secrets),
        hint_zh=redact(finding.hint_zh, secrets),
    )
