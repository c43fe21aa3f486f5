"""``Run``: an answer in progress, saved as it grows, followed from any event on by any number of readers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import Executor
from typing import Any, Protocol

from ..store.conversation import State
from .events import Answer, Event, TextDelta, TextWithdrawn, Thinking
from .turn import Turn, Work

log = logging.getLogger("suyuan.chat")

# How often a growing answer is saved: a crash costs at most this much.
_KEEP_EVERY = 0.5


class Keeper(Protocol):
    """Where a run saves its events; the store implements it."""

    def keep_events(self, run: str, events: list[tuple[int, dict[str, Any]]]) -> None:
        """Save events under their numbers."""

    def keep_text(self, run: str, text: str) -> None:
        """Save the text so far."""

    def finish(self, run: str, *, state: State, text: str, answer: Mapping[str, Any]) -> object:
        """Save the end."""


class Run:
    """One answer in progress."""

    def __init__(self, turn: Turn, work: Work, conversation: str, keeper: Keeper, pens: Executor | None = None) -> None:
        self.id = turn.run
        self.conversation = conversation
        self.answer: Answer | None = None
        self._turn = turn
        self._work = work
        self._keeper = keeper
        self._pens = pens
        self._events: list[Event] = []
        self._text: list[str] = []
        self._news = asyncio.Event()
        self._kept = 0
        self._task: asyncio.Task[None] | None = None

    def start(self, done: Callable[[Run], Awaitable[None]]) -> None:
        """Start; ``done`` is called at the end."""
        self._task = asyncio.create_task(self._go(done), name=f"run-{self.id}")

    @property
    def finished(self) -> bool:
        """Whether the run has ended and everything is saved."""
        return bool(self._events and isinstance(self._events[-1], Answer)) or (
            self._task is not None and self._task.done()
        )

    def stop(self) -> None:
        """Stop the model, the searches and their sockets; what was written is kept."""
        self._turn.stop()

    async def wait(self) -> Answer:
        """Wait for the end and return the answer."""
        assert self._task is not None, "a run is started before it is waited for"
        await asyncio.shield(self._task)
        assert self.answer is not None, "a turn always ends with an answer"
        return self.answer

    async def follow(self, after: int = -1) -> AsyncIterator[tuple[int, Event]]:
        """The events after number ``after``: past ones at once, then new ones as they happen."""
        position = after + 1
        while True:
            news = self._news
            while position < len(self._events):
                yield position, self._events[position]
                position += 1
            if self._events and isinstance(self._events[-1], Answer):
                return
            await news.wait()

    async def _go(self, done: Callable[[Run], Awaitable[None]]) -> None:
        keeping = asyncio.create_task(self._keep_on())
        try:
            async for event in self._turn.events(self._work):
                if isinstance(event, Answer):
                    self.answer = event
                    keeping.cancel()
                    await asyncio.wait([keeping])
                    # Saved before it is shown, so that nothing a reader has seen is lost.
                    await self._written(self._finish, event)
                self._take(event)
        finally:
            keeping.cancel()
            await done(self)

    def _written(self, work: Callable[..., None], *args: Any) -> asyncio.Future[None]:
        return asyncio.get_running_loop().run_in_executor(self._pens, work, *args)

    async def _keep_on(self) -> None:
        """Save the growing answer; the stream does not wait for the disk."""
        while True:
            await asyncio.sleep(_KEEP_EVERY)
            # Shielded: a write that has begun is finished before the end is written.
            writing = self._written(self._keep)
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                await writing
                raise

    def _take(self, event: Event) -> None:
        self._events.append(event)
        if isinstance(event, TextDelta):
            self._text.append(event.text)
        elif isinstance(event, TextWithdrawn):
            self._text.clear()
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _keep(self) -> None:
        new = [
            (i, event)
            for i, event in enumerate(self._events[self._kept :], self._kept)
            if not isinstance(event, (TextDelta, Thinking))
        ]
        self._kept = len(self._events)
        if new:
            self._keeper.keep_events(self.id, [(i, event.as_dict()) for i, event in new])
        self._keeper.keep_text(self.id, "".join(self._text))

    def _finish(self, answer: Answer) -> None:
        self._keep()
        state: State = "stopped" if answer.stopped else "failed" if answer.failure else "done"
        self._keeper.finish(self.id, state=state, text=answer.markdown, answer=answer.as_dict())
