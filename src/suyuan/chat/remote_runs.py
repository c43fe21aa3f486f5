"""``RemoteRun``: an answer that another worker is writing, followed like one of our own."""

from __future__ import annotations

import asyncio
import json
from bisect import bisect_right
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.errors import SuyuanError
from ..core.tasks import end_task
from ..store.conversation import Message

if TYPE_CHECKING:
    from ..live.run_streams import RunStreams

_WAIT_SECONDS = 1.0
_PAUSE = 0.3


@dataclass(frozen=True, slots=True)
class RemoteEvent:
    """An event as its JSON."""

    data: dict[str, Any]

    @property
    def kind(self) -> str:
        """The kind of event."""
        return str(self.data["kind"])

    def as_dict(self) -> dict[str, Any]:
        """The event as JSON."""
        return self.data


Stored = Callable[[int], Awaitable[tuple[Message | None, list[tuple[int, dict[str, Any]]]]]]
"""Reads what the store has of the run: the message, and the events after a number."""


class RemoteRun:
    """The events of one run, read once for all followers of this worker.

    While the live server is away nothing new is seen; the end is read from the store, whatever happens.
    """

    def __init__(self, id: str, streams: RunStreams, stored: Stored) -> None:
        self.id = id
        self.interrupted: str | None = None
        """The text of a run whose worker died."""
        self.over = False
        self._streams = streams
        self._stored = stored
        self._events: list[tuple[int, RemoteEvent]] = []
        self._news = asyncio.Event()
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

    async def follow(self, after: int = -1) -> AsyncIterator[tuple[int, RemoteEvent]]:
        """The events after number ``after``: past ones at once, then new ones as they happen."""
        position = bisect_right(self._events, after, key=lambda each: each[0])
        while True:
            news = self._news
            while position < len(self._events):
                yield self._events[position]
                position += 1
            if self.over:
                return
            await news.wait()

    async def close(self) -> None:
        """Stop reading."""
        await end_task(self._task)

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
            if number != self._last + 1:
                return False
            self._append(number, json.loads(data))
        return True

    def _append(self, number: int, data: dict[str, Any]) -> None:
        self._events.append((number, RemoteEvent(data)))
        self._end(data["kind"] == "answer")

    def _end(self, over: bool) -> None:
        self.over = self.over or over
        news, self._news = self._news, asyncio.Event()
        news.set()

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
            self._append(number, data)
        if message is not None and message.answer:
            self._append(self._last + 1, message.answer)
        else:
            self.interrupted = message.text if message else ""
            self._end(True)
