"""The answer as it is written, for the page: events become messages with ready HTML, a few each second at the most.

Rendering has a memory, so a page that comes back is not sent what it missed, but one ``snapshot`` of all there is, and
then what follows. Nothing is lost and nothing comes twice, whatever it had seen before.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from ..chat.events import Event
from ..chat.runs import Run
from ..store.conversations import Store
from .answer_view import AnswerView, Fragments, kept_view
from .sse import message

# The text is rendered at most this often; where rendering is slow, it takes at most a tenth of the time.
_PAUSE = 1 / 16
_SHARE = 10
# How often an answer is looked at that another process writes.
_LOOK_EVERY = 0.7

EngineResults = tuple[int, Event]


async def live_messages(run: Run, parts: Fragments) -> AsyncIterator[bytes]:
    """Everything about a run: a snapshot of now, then each change, and the answer at the end."""
    view = AnswerView(run.id, parts.texts("source.title"), at=datetime.now(UTC).isoformat())
    events, number = _Ahead(run), 0
    try:
        while (past := await events.past()) is not None:
            number = past[0]
            view.take(past[1].as_dict())
        view.flush()
        yield message(snapshot(view, parts), event="snapshot", id=number)
        if view.answer is not None:
            yield message(_end(view, parts), event="answer", id=number)
        writer = _Writer(view, parts)
        while not events.over:
            found = await events.next(writer.wait())
            for each in writer.write(found):
                yield each
    finally:
        await events.close()


async def kept_messages(store: Store, run: str, parts: Fragments) -> AsyncIterator[bytes]:
    """An answer that is not written here: what is kept of it, looked at again while another process goes on with it."""
    shown = None
    while True:
        kept = await asyncio.to_thread(store.message, run)
        if kept is None:
            return
        events = await asyncio.to_thread(store.events, run)
        view = kept_view(kept, [event for _, event in events], parts.texts("source.title"))
        if shown != (kept.text, len(events), kept.state):
            shown = (kept.text, len(events), kept.state)
            yield message(snapshot(view, parts), event="snapshot", id=len(events))
        if kept.state != "running":
            yield message(_end(view, parts), event="answer", id=len(events) + 1)
            return
        await asyncio.sleep(_LOOK_EVERY)


def snapshot(view: AnswerView, parts: Fragments) -> dict[str, Any]:
    """All there is of an answer."""
    return {
        "state": view.state,
        "status": parts.status(view),
        "steps": parts.steps(view),
        "sources": parts.sources(view),
        "notices": parts.notices(view),
        "thinking": view.thinking,
        "blocks": view.blocks,
    }


def _end(view: AnswerView, parts: Fragments) -> dict[str, Any]:
    return {**snapshot(view, parts), "foot": parts.foot(view), "claims": parts.claims(view)}


class _Writer:
    """Turns events into messages, and waits with the text until it is time."""

    def __init__(self, view: AnswerView, parts: Fragments) -> None:
        self._view = view
        self._parts = parts
        self._number = 0
        self._text_due: float | None = None
        self._next_at = 0.0

    def wait(self) -> float | None:
        """How long the next event may take before there is something to write anyway."""
        return None if self._text_due is None else max(0.0, self._text_due - time.monotonic())

    def write(self, found: EngineResults | None) -> list[bytes]:
        """The messages for what was found: an event, or that the time is up."""
        if found is None:
            return self._text()
        self._number, event = found
        data = event.as_dict()
        kind = self._view.take(data)
        if kind == "text":
            if self._text_due is None:
                self._text_due = max(self._next_at, time.monotonic())
            return []
        if kind == "withdrawn" or kind == "answer":
            self._text_due = None
        return [*self._text(), *self._part(kind, data)]

    def _text(self) -> list[bytes]:
        self._text_due = None
        started = time.monotonic()
        update = self._view.flush()
        if update is None or not (update.set or update.total):
            return []
        ended = time.monotonic()
        self._next_at = ended + max(_PAUSE, _SHARE * (ended - started))
        return [
            self._message(
                "blocks", {"set": update.set, "total": update.total, "status": self._parts.status(self._view)}
            )
        ]

    def _part(self, kind: str, event: dict[str, Any]) -> list[bytes]:
        view, parts = self._view, self._parts
        match kind:
            case "step":
                return [self._message(kind, {"status": parts.status(view), "steps": parts.steps(view)})]
            case "sources":
                return [self._message(kind, {"status": parts.status(view), "html": parts.sources(view)})]
            case "notice":
                return [self._message(kind, {"html": parts.notices(view)})]
            case "thinking":
                return [self._message(kind, {"text": event["text"]})]
            case "withdrawn":
                return [self._message(kind, {})]
            case "answer":
                return [self._message(kind, _end(view, parts))]
        return []

    def _message(self, kind: str, data: dict[str, Any]) -> bytes:
        return message(data, event=kind, id=self._number)


class _Ahead:
    """The events of a run, of which the next is always asked for: so one can wait for it with a limit."""

    def __init__(self, run: Run) -> None:
        self._events = run.follow()
        self._upcoming: asyncio.Future[EngineResults | None] | None = None
        self.over = False

    async def past(self) -> EngineResults | None:
        """The next event that has already happened."""
        task = self._ask()
        # One turn of the loop is enough for what needs no waiting.
        await asyncio.sleep(0)
        return self._take() if task.done() else None

    async def next(self, seconds: float | None) -> EngineResults | None:
        """The next event, or None when there is none within ``seconds``, or no more (see :attr:`over`)."""
        done, _ = await asyncio.wait([self._ask()], timeout=seconds)
        return self._take() if done else None

    async def close(self) -> None:
        """Stop waiting."""
        if self._upcoming is not None:
            self._upcoming.cancel()
            await asyncio.gather(self._upcoming, return_exceptions=True)

    def _ask(self) -> asyncio.Future[EngineResults | None]:
        if self._upcoming is None:
            self._upcoming = asyncio.ensure_future(anext(self._events, None))
        return self._upcoming

    def _take(self) -> EngineResults | None:
        assert self._upcoming is not None, "only what was asked for is taken"
        found, self._upcoming = self._upcoming.result(), None
        self.over = found is None
        return found
