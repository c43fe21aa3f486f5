"""Publishes the events of a run, so that other workers can follow it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from typing import TYPE_CHECKING

from .events import Answer
from .runs import Run

if TYPE_CHECKING:
    from ..live.run_streams import RunStreams

log = logging.getLogger("suyuan.chat")

# Events are collected for a moment: what a worker pays is one message, however many events are in it.
_INTERVAL = 0.03
_PAUSE = 0.3
_GIVE_UP_SECONDS = 60.0


async def publish(run: Run, streams: RunStreams) -> None:
    """Publish all events of ``run`` until its end; where the server is away, from the same event on when it is back."""
    from ..live.redis_server import LiveAway
    from ..live.run_streams import MAX_EVENTS

    sent, waited = 0, 0.0
    while events := await run.after(sent - 1):
        try:
            length = await streams.publish(run.id, [(number, _json(event.as_dict())) for number, event in events])
            waited = 0.0
        except LiveAway:
            waited += _PAUSE
            if run.finished and waited > _GIVE_UP_SECONDS:
                # Whoever asks now finds it in the store.
                return
            await asyncio.sleep(_PAUSE)
            continue
        if length < min(sent + len(events), MAX_EVENTS):
            log.info("run=%s: the stream lost its beginning, and is written anew", run.id)
            await asyncio.sleep(_PAUSE)
            sent = 0
            with contextlib.suppress(LiveAway):
                await streams.forget(run.id)
            continue
        sent += len(events)
        if isinstance(events[-1][1], Answer):
            return
        await asyncio.sleep(_INTERVAL)


def _json(event: object) -> bytes:
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
