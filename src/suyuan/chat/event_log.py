"""``EventLog``: the events of an answer by their numbers, read from any of them on by any number of readers."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator
from typing import Generic, TypeVar

from .events import Event, RemoteEvent

E = TypeVar("E", Event, RemoteEvent)


class EventLog(Generic[E]):
    """Grows until the answer; a reader that is slow costs no memory."""

    def __init__(self) -> None:
        self.over = False
        """Whether no event will come any more."""
        self._events: list[tuple[int, E]] = []
        self._news = asyncio.Event()

    def so_far(self, after: int = -1) -> list[tuple[int, E]]:
        """The events with numbers above ``after`` that have happened."""
        return self._events[bisect_right(self._events, after, key=lambda each: each[0]) :]

    async def after(self, number: int) -> list[tuple[int, E]]:
        """The events with higher numbers, as soon as there are any; none after the end."""
        while not (found := self.so_far(number)) and not self.over:
            await self._news.wait()
        return found

    async def follow(self, after: int = -1) -> AsyncIterator[tuple[int, E]]:
        """The events after number ``after``: past ones at once, then new ones as they happen."""
        while found := await self.after(after):
            for after, event in found:
                yield after, event

    def _add(self, number: int, event: E) -> None:
        self._events.append((number, event))
        self._tell(event.kind == "answer")

    def _tell(self, over: bool) -> None:
        self.over = self.over or over
        news, self._news = self._news, asyncio.Event()
        news.set()
