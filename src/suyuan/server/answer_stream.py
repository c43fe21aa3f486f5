"""The stream of an answer for the page: events become messages with HTML, a few per second.

A page that reconnects gets one ``snapshot`` of all there is and then what follows, so it misses and repeats nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ..chat.events import Event, RemoteEvent
from ..chat.remote_runs import RemoteRun
from ..chat.runs import Run
from ..chat.service import ChatService
from ..markup.blocks import changes
from ..store.conversation import Message
from .answer_html import AnswerHtml
from .answer_view import AnswerView, kept_view
from .layout import Layout
from .sse import message

# How often the answer of another process is read.
POLL_INTERVAL = 0.7
# Its text is laid out as a whole each time, which takes at most a tenth of the time.
_SHARE = 10

NumberedEvent = tuple[int, Event | RemoteEvent]


async def live_messages(
    run: Run | RemoteRun, parts: AnswerHtml, layout: Layout, question: str = "", versions: Sequence[str] = ()
) -> AsyncIterator[bytes]:
    """The messages of a run: a snapshot, then each change, and the answer at the end."""
    now = datetime.now(UTC).isoformat()
    view = AnswerView(run.id, parts.labels, at=now, question=question, versions=versions)
    past = run.so_far()
    number = past[-1][0] if past else -1
    for _, event in past:
        view.take(event.as_dict())
    writer = _MessageWriter(view, parts, layout)
    await writer.lay_out()
    yield message(snapshot(view, parts), event="snapshot", id=max(number, 0))
    if view.answer is not None:
        yield message(_end(view, parts), event="answer", id=number)
    while True:
        found: Sequence[NumberedEvent | None] = [None]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(writer.wait()):
                found = await run.after(number)
        for numbered in found:
            number = numbered[0] if numbered else number
            for each in await writer.write(numbered):
                yield each
        if not found:
            return


async def followed_messages(
    chat: ChatService, found: Run | RemoteRun | None, run: str, parts: AnswerHtml, layout: Layout, *asked: Any
) -> AsyncIterator[bytes]:
    """The messages of a run: from its events, or from the store where they cannot be followed."""
    if found is not None:
        async for each in live_messages(found, parts, layout, *asked):
            yield each
    if found is None or (isinstance(found, RemoteRun) and found.interrupted is not None):
        async for each in kept_messages(chat, run, parts, layout, *asked):
            yield each


async def kept_messages(
    chat: ChatService,
    run: str,
    parts: AnswerHtml,
    layout: Layout,
    question: str = "",
    versions: Sequence[str] = (),
) -> AsyncIterator[bytes]:
    """The messages of a stored answer, which another process may still be writing."""
    shown, took, store = None, 0.0, chat.store
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
            begun = time.monotonic()
            await layout.show(view)
            took = time.monotonic() - begun
            yield message(snapshot(view, parts), event="snapshot", id=len(events))
        if kept.state != "running":
            yield message(_end(view, parts), event="answer", id=len(events) + 1)
            return
        await asyncio.sleep(max(POLL_INTERVAL, _SHARE * took))


async def plain_messages(kept: Message, parts: AnswerHtml, why: str) -> AsyncIterator[bytes]:
    """The messages of an answer that is not worked on: its text as it was written."""
    view = kept_view(replace(kept, answer=None), [], parts.labels)
    view.blocks = view.as_written(why)
    yield message(_end(view, parts), event="answer", id=0)


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

    def __init__(self, view: AnswerView, parts: AnswerHtml, layout: Layout) -> None:
        self._view = view
        self._parts = parts
        self._layout = layout
        self._number = 0
        self._text_due: float | None = None
        self._live = layout.live(view.run, view.withdrawn, view.labels)

    def wait(self) -> float | None:
        """How long to wait for the next event before the collected text is due."""
        return None if self._text_due is None else max(0.0, self._text_due - time.monotonic())

    async def write(self, found: NumberedEvent | None) -> list[bytes]:
        """The messages for an event, or for the collected text if there is none."""
        if found is None:
            return await self._text()
        self._number, event = found
        data = event.as_dict()
        kind = self._view.take(data)
        if kind == "text":
            if self._text_due is None:
                self._text_due = max(self._live.next_at, time.monotonic())
            return []
        if kind == "withdrawn":
            self._text_due = None
            self._live = self._layout.live(self._view.run, self._view.withdrawn, self._view.labels)
        if kind == "answer":
            await self.lay_out()
        text, part = await self._text(), self._part(kind, data)
        return text if part is None else [*text, self._message(kind, part)]

    async def lay_out(self) -> None:
        """Bring the blocks of the view up to its text."""
        view = self._view
        self._text_due = None
        if view.whole is not None:
            await self._layout.show(view)
            return
        view.blocks, complete = await self._live.up_to(0, view.text_so_far, view.addresses())
        if not complete:
            self._text_due = self._live.next_at

    async def _text(self) -> list[bytes]:
        if self._text_due is None or self._text_due > time.monotonic():
            return []
        before = self._view.blocks
        await self.lay_out()
        update = changes(before, self._view.blocks)
        if not (update.set or update.total):
            return []
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
