"""The store of research jobs as an event loop uses it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from threading import Event

import pytest

from suyuan.research.job_store import JobStore
from suyuan.store.research import ResearchStore


@pytest.mark.parametrize("steps", range(8))
async def test_a_cancellation_that_comes_with_the_result_is_not_lost(steps: int, tmp_path: Path) -> None:
    jobs, release = JobStore(ResearchStore(f"sqlite:///{tmp_path / 'chat.sqlite'}")), Event()
    try:
        task = asyncio.create_task(jobs.stored(release.wait))
        await asyncio.sleep(0)
        release.set()
        # The thread is done; so many turns of the event loop later the client leaves.
        jobs.pen.submit(int).result()
        for _ in range(steps):
            await asyncio.sleep(0)
        if task.cancel():
            with pytest.raises(asyncio.CancelledError):
                await task
    finally:
        jobs.close()
