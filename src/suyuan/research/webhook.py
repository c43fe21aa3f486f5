"""``Webhook``: tells the address of a job that it has ended."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from ..core.errors import SuyuanError
from ..core.tasks import TaskSet
from ..store.research import StoredJob
from .job_store import JobStore, state_step
from .request import request_from

log = logging.getLogger("suyuan.research")

_SECONDS = 15.0

Post = Callable[[str, bytes], Awaitable[Any]]
"""Sends JSON to an address that may be reached."""


class Webhook:
    """Tells each job's address once; what fails is a step of the job."""

    def __init__(self, jobs: JobStore, post: Post | None) -> None:
        self._jobs = jobs
        self.post = post
        self._telling = TaskSet()

    async def tell(self, job: StoredJob, state: str) -> None:
        """Tell that ``job`` has ended; not cancelled with the caller, as a client may be closed when a job is done."""
        await asyncio.shield(self._telling.start(self._tell(job, state)))

    async def close(self) -> None:
        """Wait for what is being told."""
        await asyncio.gather(*self._telling, return_exceptions=True)

    async def _tell(self, job: StoredJob, state: str) -> None:
        address = request_from(job.request).webhook
        if not address or self.post is None:
            return
        try:
            async with asyncio.timeout(_SECONDS):
                await self.post(address, json.dumps({"id": job.id, "state": state}).encode())
        except (SuyuanError, TimeoutError) as error:
            log.warning("research job=%s: the webhook was not told: %s", job.id, error)
            told = state_step(state, {"webhook": str(error) or type(error).__name__})
            await self._jobs.stored(self._jobs.store.keep, job.id, [told])
