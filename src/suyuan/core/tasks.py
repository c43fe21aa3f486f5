"""Ending tasks."""

from __future__ import annotations

import asyncio
from typing import Any

_AGAIN_SECONDS = 0.2


async def end_task(task: asyncio.Task[Any] | None) -> None:
    """Cancel a task and wait for its end; again where a library has caught the cancellation as its own time-out."""
    while task is not None and not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=_AGAIN_SECONDS)
