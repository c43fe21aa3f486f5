"""The stream of an answer for the page: events become messages with HTML, a few per second.

A page that reconnects gets one ``snapshot`` of all there is and then what follows, so it misses and repeats nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any

from ..chat.events import Event, RemoteEvent
from ..chat.remote_runs import RemoteRun
from ..chat.runs import Run
from ..chat.service import ChatService
from .answer_html import AnswerHtml
from .answer_view import AnswerView, kept_view
from .sse import message

# The text is rendered at most this often, and rendering takes at most a tenth of the time.
_RENDER_INTERVAL = 1 / 16
_RENDER_SHARE = 10
# How often the answer of another process is read.
POLL_INTERVAL = 0.7

NumberedEvent = tuple[int, Event | RemoteEvent]


async def live_messages(
    run: Run | RemoteRun, parts: AnswerHtml, question: str = "", versions: Sequence[str] = ()
) -> AsyncIterator[bytes]:
    """The messages of a run: a snapshot, then each change, and the answer at the end."""
    now = datetime.now(UTC).isoformat()
    view = AnswerView(run.id, parts.labels, at=now, question=question, versions=versions)
    past = run.so_far()
    number = past[-1][0] if past else -1
    for _, event in past:
        view.take(event.as_dict())
    view.flush()
    yield message(snapshot(view, parts), event="snapshot", id=max(number, 0))
    if view.answer is not None:
        yield message(_end(view, parts), event="answer", id=number)
    writer = _MessageWriter(view, parts)
    while True:
        found: Sequence[NumberedEvent | None] = [None]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(writer.wait()):
                found = await run.after(number)
        for numbered in found:
            number = numbered[0] if numbered else number
            for each in writer.write(numbered):
                yield each
        if not found:
            return


async def followed_messages(
    chat: ChatService, found: Run | RemoteRun | None, run: str, parts: AnswerHtml, *asked: Any
) -> AsyncIterator[bytes]:
    """The messages of a run: from its events, or from the store where they cannot be followed."""
    if found is not None:
        async for each in live_messages(found, parts, *asked):
            yield each
    if found is None or (isinstance(found, RemoteRun) and found.interrupted is not None):
        async for each in kept_messages(chat, run, parts, *asked):
            yield each


async def kept_messages(
    chat: ChatService, run: str, parts: AnswerHtml, question: str = "", versions: Sequence[str] = ()
) -> AsyncIterator[bytes]:
    """The messages of a stored answer, which another process may still be writing."""
    shown, store = None, chat.store
    while True:
        await chat.read(chat.sweep)
        kept = await chat.read(store.message, run)
        if kept is None:
            return
        events = await chat.read(store.events, run)
        happened = [event for _, event in events]
        view = kept_view(kept, happened, parts.labels, question=question, versions=versions)
        if shown != (kept.text, len(events), kept.state):
            shown = (kept.text, len(events), kept.state)
            yield message(snapshot(view, parts), event="snapshot", id=len(events))
        if kept.state != "running":
            yield message(_end(view, parts), event="answer", id=len(events) + 1)
            return
        await asyncio.sleep(POLL_INTERVAL)


def snapshot(view: AnswerView, parts: AnswerHtml) -> dict[str, Any]:
    """An answer as it is now."""
    return {
        "state": view.state,
        "question": view.question,
        "status": parts.status(view),
        "steps": parts.part("steps", view),
        **parts.evidence(view),
        "notices": parts.part("notices", view),
        "thinking": view.thinking,
        "blocks": view.blocks,
        "claims": parts.part("claims", view),
        "marks": view.marks if view.answer is None else [],
    }


def _end(view: AnswerView, parts: AnswerHtml) -> dict[str, Any]:
    key = f"{view.run}-{view.state}-{len(view.versions)}"
    return {**snapshot(view, parts), "foot": parts.part("foot", view), "key": key}


class _MessageWriter:
    """Turns events into messages; text is collected for a moment."""

    def __init__(self, view: AnswerView, parts: AnswerHtml) -> None:
        self._view = view
        self._parts = parts
        self._number = 0
        self._text_due: float | None = None
        self._next_at = 0.0

    def wait(self) -> float | None:
        """How long to wait for the next event before the collected text is due."""
        return None if self._text_due is None else max(0.0, self._text_due - time.monotonic())

    def write(self, found: NumberedEvent | None) -> list[bytes]:
        """The messages for an event, or for the collected text if there is none."""
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
        text, part = self._text(), self._part(kind, data)
        return text if part is None else [*text, self._message(kind, part)]

    def _text(self) -> list[bytes]:
        self._text_due = None
        started = time.monotonic()
        update = self._view.flush()
        if update is None or not (update.set or update.total):
            return []
        ended = time.monotonic()
        self._next_at = ended + max(_RENDER_INTERVAL, _RENDER_SHARE * (ended - started))
        data = {"set": update.set, "total": update.total, "status": self._parts.status(self._view)}
        return [self._message("blocks", data)]

    def _part(self, kind: str, event: dict[str, Any]) -> dict[str, Any] | None:
        """What an event of this kind changes on the page; None for nothing."""
        view, parts = self._view, self._parts
        match kind:
            case "step":
                return {"status": parts.status(view), "steps": parts.part("steps", view)}
            case "sources":
                return {"status": parts.status(view), "steps": parts.part("steps", view), **parts.evidence(view)}
            case "claims":
                marked = {"claims": parts.part("claims", view), "marks": view.marks}
                return {"status": parts.status(view), **parts.evidence(view), **marked}
            case "notice":
                return {"html": parts.part("notices", view)}
            case "thinking":
                return {"text": event["text"]}
            case "withdrawn":
                return {}
            case "answer":
                return _end(view, parts)
        return None

    def _message(self, kind: str, data: dict[str, Any]) -> bytes:
        return message(data, event=kind, id=self._number)
