"""The last known state of SearXNG and the engines; checks run in the background."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..client import AsyncClient
from ..core.errors import SuyuanError
from ..core.notices import take_met
from ..core.tasks import TaskSet
from ..engines import registry

if TYPE_CHECKING:
    from ..doctor.finding import Finding

log = logging.getLogger("suyuan.server")

_SEARXNG = "searxng"
# A state that is older than this is checked again when it is read.
_FRESH = 15.0
_NOTICES_EVERY = 1.0


class Health:
    """The last known state of SearXNG, and the result of the start-up check."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._checked: float | None = None
        self._error: SuyuanError | None = None
        self._state = "unknown"
        self._findings: Sequence[Finding] = ()
        self.tell: Callable[[Sequence[Finding]], None] = lambda findings: None
        """Shows what the check at the start has found, and what is met later, to whoever started the server."""
        self._tasks = TaskSet()
        self._telling = TaskSet()

    def start(self) -> None:
        """Start the first checks, without waiting for them."""
        self._tasks.start(self._logged(self._start_up()))
        if not self._telling:
            self._telling.start(self._logged(self._tell_notices()))

    def report(self, lang: str) -> dict[str, Any]:
        """The last known state; an old one is checked again for the next report."""
        if not self._tasks and (self._checked is None or time.monotonic() - self._checked > _FRESH):
            self._tasks.start(self._logged(self._probe()))
        model = self._client.settings.model
        found = [finding.as_dict(lang) for finding in self._findings]
        return {
            "status": "ok",
            "version": __version__,
            "model": {"name": model.label, "provider": model.provider},
            "engine": self._client.search_service.default,
            "searxng": self._searxng(lang),
            "engines": engines(self._client),
            "notice": found[0] if found else None,
            "notices": found,
        }

    async def close(self) -> None:
        """Cancel the running checks."""
        tasks = [*self._tasks, *self._telling]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _searxng(self, lang: str) -> dict[str, Any]:
        if self._checked is None:
            return {"state": "unknown", "age_seconds": None, "error": None}
        age, error = round(time.monotonic() - self._checked, 1), self._error.as_dict(lang) if self._error else None
        return {"state": self._state, "age_seconds": age, "error": error}

    async def _start_up(self) -> None:
        from ..doctor.checks import startup_findings

        await self._probe()
        self._findings = await startup_findings(self._client)
        for finding in self._findings:
            if finding.area == "browser":
                # The client has logged it when it was made.
                continue
            message, hint = finding.say("en")
            log.warning("found at the start: area=%s code=%s %s %s", finding.area, finding.code, message, hint)
        said = [finding.say("en") for finding in self._findings]
        met = [notice for notice in _met_now() if notice.say("en") not in said]
        if told := [*self._findings, *met]:
            self.tell(told)

    async def _tell_notices(self) -> None:
        """Tell what is set aside, lost or begun anew while the server runs; the log has it already."""
        while True:
            await asyncio.sleep(_NOTICES_EVERY)
            if not self._tasks and (told := _met_now()):
                self.tell(told)

    async def _probe(self) -> None:
        if _SEARXNG in self._client.engines:
            self._error = await self._client.engines[_SEARXNG].check_health()
            self._state = "down" if self._error else "ok"
        if self._state == "ok":
            from ..doctor.engines import searxng_status

            # It is reachable; whether a search is answered, too, a few small requests tell.
            self._error = (await searxng_status(self._client, searching=False)).error
            self._state = "misconfigured" if self._error else "ok"
        self._checked = time.monotonic()

    async def _logged(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception:
            # The outermost edge of a background task: its failure is logged and does not end the server.
            log.exception("unhandled error in the health check")


def _met_now() -> list[Finding]:
    """The notices that were met and that nobody was told of."""
    from ..doctor.finding import WARNING, Finding

    return [Finding("notice", WARNING, each.failure.detail_code, each.failure) for each in take_met()]


def engines(client: AsyncClient, *, without_key: bool = True) -> list[dict[str, Any]]:
    """All engines, and whether they are ready; perhaps not those that wait for a key, which need not be loaded then."""
    names = (
        name for name in client.engines if without_key or not registry.needs_key(name) or client.engines.ready(name)
    )
    return [_engine(client, name) for name in names]


def _engine(client: AsyncClient, name: str) -> dict[str, Any]:
    status = client.engines.status(name)
    needs = {"no_browser": "chrome", "no_key": status.key_variable}.get(status.state, "")
    return {
        "name": name,
        "title": status.title,
        "ready": status.ready,
        "state": status.state,
        "needs": needs,
        "cooldown_seconds": round(status.cooldown),
        "hidden": status.hidden,
    }
