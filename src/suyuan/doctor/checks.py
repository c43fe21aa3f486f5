"""All checks at once, and the short one when a server starts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import chain

from ..client import AsyncClient
from ..core.errors import SuyuanError
from . import browser, configuration, engines, model, network, packages, storage
from .finding import ERROR, WARNING, Finding

_ORDER = (
    "config",
    "searxng",
    "engine",
    "network",
    "browser",
    "model",
    "archive",
    "library",
    "store",
    "notice",
    "disk",
    "package",
)
# Problems that only a SearXNG has: with one of these it is there, even if it is not configured.
_SEARXNG_ONLY = ("json_api_off", "http_429", "searxng_no_engines")
_NOTICE_SECONDS = 5.0


async def check_all(
    client: AsyncClient, *, offline: bool = False, store_check: storage.StoreCheck | None = None
) -> list[Finding]:
    """Run every check and return the findings in reading order; ``offline`` opens no connection."""
    checks = (
        configuration.check(client),
        engines.check(client, offline=offline),
        network.check(client, offline=offline),
        browser.check(client),
        model.check(client, offline=offline),
        storage.check(client, store_check=store_check),
        packages.check(client),
    )
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(check) for check in checks]
    findings = chain.from_iterable(task.result() for task in tasks)
    redacted = [finding.redacted(client.settings.secrets) for finding in findings]
    return sorted(redacted, key=lambda finding: _ORDER.index(finding.area))


async def startup_findings(
    client: AsyncClient, seconds: float = _NOTICE_SECONDS, *, searching: bool = True
) -> list[Finding]:
    """The problems of the SearXNG and the browser in use, found in at most ``seconds``.

    With ``searching`` this includes a search, so the start must not wait for it.
    """
    found = [finding for finding in await browser.check(client) if finding.level == ERROR]
    if "searxng" in client.engines:
        status = await engines.searxng_status(client, seconds, searching=searching)
        if status.error and (engines.searxng_configured(client) or _only_of_searxng(status.error)):
            found.insert(0, engines.searxng_findings(status)[0])
    return [finding.redacted(client.settings.secrets) for finding in found]


def _only_of_searxng(error: SuyuanError) -> bool:
    return error.detail_code in _SEARXNG_ONLY or error.detail_code.startswith("engines_")


def count(findings: Sequence[Finding]) -> tuple[int, int]:
    """Return the numbers of errors and of warnings."""
    return sum(f.level == ERROR for f in findings), sum(f.level == WARNING for f in findings)
