"""The whole examination, all organs at once, and the short one at the start of the program."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from ..contract.secret import redact
from ..wiring import House
from . import browser, configuration, engines, model, network, packages, places
from .finding import ERROR, WARNING, Finding

_ORDER = ("config", "searxng", "engine", "network", "browser", "model", "archive", "store", "disk", "package")
# Illnesses that only a SearXNG has: then it is one, though nobody has configured it.
_SURELY = ("json_api_off", "http_429", "engines_dead", "searxng_no_engines")
_NOTICE_SECONDS = 5.0


async def examine(house: House, *, offline: bool = False, store_check: places.StoreCheck | None = None) -> list[Finding]:
    """Everything, in the order in which people should read it; ``offline`` opens no connection."""
    looks = (
        configuration.examine(house),
        engines.examine(house, offline=offline),
        network.examine(house, offline=offline),
        browser.examine(house),
        model.examine(house, offline=offline),
        places.examine(house, store_check=store_check),
        packages.examine(house),
    )
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(look) for look in looks]
    findings = [_masked(finding, house) for task in tasks for finding in task.result()]
    return sorted(findings, key=lambda finding: _ORDER.index(finding.organ))


async def startup_notice(house: House) -> Finding | None:
    """What is wrong with the house's SearXNG, for the page to show; None where it is well or nobody has one.

    It may take seconds: run it beside the start, not before it.
    """
    verdict = await engines.searxng_verdict(house, _NOTICE_SECONDS)
    if verdict.cause and (engines.explicit(house) or verdict.cause.detail_code in _SURELY):
        return _masked(engines.searxng_findings(verdict)[0], house)
    return None


def exit_code(findings: Sequence[Finding]) -> int:
    """0 where all is well or there are only warnings, 1 where something is broken."""
    return 1 if any(finding.level == ERROR for finding in findings) else 0


def count(findings: Sequence[Finding]) -> tuple[int, int]:
    """How many errors, and how many warnings."""
    return sum(f.level == ERROR for f in findings), sum(f.level == WARNING for f in findings)


def _masked(finding: Finding, house: House) -> Finding:
    """No secret leaves the house, whatever text it slipped into."""
    settings = house.settings
    secrets = [own.api_key for own in settings.engines.values()]
    secrets += [settings.model.api_key, settings.net.proxy, settings.server.token, settings.store_url]
    return replace(
        finding,
        en=redact(finding.en, secrets),
        zh=redact(finding.zh, secrets),
        cure_en=redact(finding.cure_en, secrets),
        cure_zh=redact(finding.cure_zh, secrets),
    )
