"""``GiveWay``: what works on the event loop for long lets the others have their turn in between."""

from __future__ import annotations

import asyncio
import time

_MAX_TURN = 0.005


class GiveWay:
    """Waits for the others where a few milliseconds have passed since they had their turn."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    async def __call__(self) -> None:
        """Let the others have their turn, if it is time."""
        if time.monotonic() - self._since >= _MAX_TURN:
            await asyncio.sleep(0)
            self._since = time.monotonic()
