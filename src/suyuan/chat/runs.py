"""``Run``: an answer in progress, saved as it grows, followed from any event on by any number of readers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from ..core.at_work import name_of, working_for
from ..core.causes.chat import NOT_SAVED, UNEXPECTED
from ..core.causes.store import STORE_SLOW
from ..core.errors import SuyuanError
from ..core.person import current_person
from ..store.conversation import State
from ..store.conversations import Store
from .answering import answer_events
from .event_log import EventLog
from .events import Answer, ClaimsChecked, Event, Notice, TextDelta, TextWithdrawn, Thinking
from .turn import Turn

log = logging.getLogger("suyuan.chat")

# How often a growing answer is saved: a crash costs at most this much.
_KEEP_EVERY = 0.5
# How long a finished answer waits for the store before it is shown as not saved.
_SAVE_SECONDS = 3.0
# About what the check of a citation takes, and a character that was sent and is in the answer.
_CHECK_BYTES, _TEXT_BYTES = 400, 10
# What the finished answer contains.
_CONTAINED = (TextDelta, Thinking, ClaimsChecked, Answer)


class Run(EventLog[Event]):
    """One answer in progress."""

    def __init__(
        self,
        turn: Turn,
        conversation: str,
        store: Store,
        pens: Executor,
        unsaved: Callable[[Run], Awaitable[None]],
    ) -> None:
        super().__init__()
        self.id = turn.run
        self.conversation = conversation
        self.person = current_person.get().id
        """Whose it is."""
        self.answer: Answer | None = None
        self._turn = turn
        self._store = store
        self._pens = pens
        self._unsaved = unsaved
        """Takes the run if the store does not take its answer."""
        self._text: list[str] = []
        self._kept = -1
        self._unwanted = False
        self._task: asyncio.Task[None] | None = None

    def start(self, done: Callable[[Run], Awaitable[None]]) -> None:
        """Start; ``done`` is called at the end."""
        self._task = asyncio.create_task(working_for(name_of("answer", self.id), self._go(done)), name=f"run-{self.id}")

    @property
    def finished(self) -> bool:
        """Whether the run has ended."""
        return self.over or (self._task is not None and self._task.done())

    def stop(self) -> None:
        """Stop the model, the searches and their sockets; what was written is kept."""
        self._turn.stop()

    async def wait(self) -> Answer:
        """Wait for the end and return the answer."""
        assert self._task is not None, "a run is started before it is waited for"
        await asyncio.shield(self._task)
        assert self.answer is not None, "a turn always ends with an answer"
        return self.answer

    async def _go(self, done: Callable[[Run], Awaitable[None]]) -> None:
        keeping = asyncio.create_task(self._keep_on())
        try:
            async for event in answer_events(self._turn):
                if isinstance(event, Answer):
                    await self._end(event, keeping)
                else:
                    self._take(event)
        finally:
            keeping.cancel()
            self._tell(over=True)
            await done(self)

    async def _end(self, answer: Answer, keeping: asyncio.Task[None]) -> None:
        """Save the answer, then show it; where the store does not take it, it is shown as not saved."""
        self.answer = answer
        keeping.cancel()
        failure = None
        try:
            async with asyncio.timeout(_SAVE_SECONDS):
                await asyncio.wait([keeping])
                # Saved before it is shown, so that nothing a reader has seen is lost.
                await asyncio.shield(self.save())
        except TimeoutError:
            failure = STORE_SLOW.failure(seconds=_SAVE_SECONDS)
        except SuyuanError as error:
            failure = error.failure
        except Exception as error:
            log.exception("run=%s cannot be saved", self.id)
            failure = UNEXPECTED.failure(what=type(error).__name__, run=self.id)
        if failure is not None:
            log.warning("run=%s is not saved yet: %s", self.id, failure.message())
            self._take(Notice("warning", NOT_SAVED.failure(cause=failure)))
            answer = self.answer = replace(answer, unsaved=True)
            await self._unsaved(self)
        self._take(answer)

    @property
    def size(self) -> int:
        """About how many bytes its events take."""
        checks = sum(len(event.claims) for _, event in self._events if isinstance(event, ClaimsChecked | Answer))
        return checks * _CHECK_BYTES + sum(map(len, self._text)) * _TEXT_BYTES

    def save(self) -> asyncio.Future[None]:
        """Save the finished answer with all events that are not saved yet."""
        assert self.answer is not None, "only a finished run is saved"
        saving = self._written(self._finish)
        # One that is given up is tried again; its error was told then.
        saving.add_done_callback(lambda done: done.cancelled() or done.exception())
        return saving

    def outcome(self) -> dict[str, Any]:
        """The finished answer as the store takes it: state, text and answer."""
        assert self.answer is not None, "only a finished run has an outcome"
        state: State = "stopped" if self.answer.stopped else "failed" if self.answer.failure else "done"
        return {"state": state, "text": self.answer.markdown, "answer": replace(self.answer, unsaved=False).as_dict()}

    def all_events(self) -> list[tuple[int, dict[str, Any]]]:
        """The events as they are shown again, with what is true only now."""
        return [(number, event.as_dict()) for number, event in self._events if not isinstance(event, _CONTAINED)]

    def kept_events(self, after: int = -1) -> list[tuple[int, dict[str, Any]]]:
        """The events after number ``after`` that are stored: the text is stored as a whole."""
        return [
            (number, event.as_dict())
            for number, event in self.so_far(after)
            if not isinstance(event, _CONTAINED) and not _is_passing(event)
        ]

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
                if self._unwanted:
                    self.stop()
            except asyncio.CancelledError:
                await asyncio.wait([writing])
                raise
            except SuyuanError as error:
                # The text is in memory, and the end is saved with all of it.
                log.warning("run=%s: the text so far is not saved: %s", self.id, error.message)

    def _take(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            self._text.append(event.text)
        elif isinstance(event, TextWithdrawn):
            self._text.clear()
        self._add(len(self._events), event)

    def _keep(self) -> None:
        known = len(self._events) - 1
        if new := self.kept_events(self._kept):
            self._store.keep_events(self.id, new)
        self._unwanted = self._store.keep_text(self.id, "".join(self._text))
        self._kept = known

    def _finish(self) -> None:
        self._keep()
        self._store.finish(self.id, **self.outcome())


def _is_passing(event: Event) -> bool:
    """Whether an event says something that is no longer true once it is stored."""
    return isinstance(event, Notice) and event.failure.detail_code == NOT_SAVED.detail_code
