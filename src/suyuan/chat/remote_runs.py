"""``RemoteRun``: an answer that another worker is writing, followed like one of our own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ..core.errors import SuyuanError
from ..core.tasks import end_task
from ..store.conversation import Message
from .event_log import EventLog
from .events import RemoteEvent

if TYPE_CHECKING:
    from ..live.run_streams import RunStreams

_WAIT_SECONDS = 1.0
_PAUSE = 0.3


Stored = Callable[[int], Awaitable[tuple[Message | None, list[tuple[int, dict[str, Any]]]]]]
"""Reads what the store has of the run: the message, and the events after a number."""


class RemoteRun(EventLog[RemoteEvent]):
    """The events of one run, read once for all followers of this worker.

    While the live server is away nothing new is seen; the end is read from the store, whatever happens.
    """

    def __init__(self, id: str, streams: RunStreams, stored: Stored) -> None:
        super().__init__()
        self.id = id
        self.interrupted: str | None = None
        """The text of a run whose worker died."""
        self._streams = streams
        self._stored = stored
        self._task: asyncio.Task[None] | None = None

    async def load(self) -> bool:
        """Read what has happened so far, then go on reading; false where the stream cannot be used."""
        from ..live.redis_server import LiveAway

        try:
            while events := await self._streams.read(self.id, self._last):
                if not self._take(events):
                    return False
        except LiveAway:
            return False
        if self._task is None:
            self._task = asyncio.create_task(self._read_on(), name=f"remote-run-{self.id}")
        return True

    async def close(self) -> None:
        """Stop reading."""
        await end_task(self._task)

    @property
    def reading(self) -> bool:
        """Whether more events may come."""
        return self._task is not None and not self._task.done()

    @property
    def _last(self) -> int:
        return self._events[-1][0] if self._events else -1

    async def _read_on(self) -> None:
        from ..live.redis_server import LiveAway

        broken = False
        while not self.over:
            events = []
            try:
                if not broken:
                    events = await self._streams.read(self.id, self._last, _WAIT_SECONDS)
                    broken = not self._take(events)
            except LiveAway:
                await asyncio.sleep(_PAUSE)
            if broken:
                await asyncio.sleep(_WAIT_SECONDS)
            if not events or broken:
                await self._look_into_store()

    def _take(self, events: list[tuple[int, bytes]]) -> bool:
        """Append events; false where some before them are missing."""
        for number, data in events:
            if number > self._last + 1:
                return False
            # Two may be reading at the same moment: a follower that comes, and the task that goes on reading.
            if number > self._last:
                self._add(number, RemoteEvent(json.loads(data)))
        return True

    async def _look_into_store(self) -> None:
        """Find out whether the run has ended without the stream having told."""
        try:
            message, events = await self._stored(self._last)
        except SuyuanError:
            # Away as well: the next look may find it.
            return
        if self.over or (message is not None and message.state == "running"):
            return
        for number, data in events:
            self._add(number, RemoteEvent(data))
        if message is not None and message.answer:
            self._add(self._last + 1, RemoteEvent(message.answer))
        else:
            self.interrupted = message.text if message else ""
            self._tell(over=True)
