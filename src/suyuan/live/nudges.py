"""``Notifications``: short messages from worker to worker. Their subject is stored elsewhere, so one may be lost."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ..core.tasks import end_task
from .redis_server import LiveAway, RedisServer

log = logging.getLogger("suyuan.live")

_PAUSE = 0.5
_IDLE_SECONDS = 5.0

Handler = Callable[[Mapping[str, Any]], Awaitable[None]]


class Notifications:
    """One channel of Redis that all workers hear."""

    def __init__(self, server: RedisServer, worker: str) -> None:
        self._server = server
        self._worker = worker
        self._handlers: dict[str, Handler] = {}
        self._idle: list[Callable[[], Awaitable[None]]] = []
        self._task: asyncio.Task[None] | None = None

    def on(self, kind: str, handler: Handler) -> None:
        """Call ``handler`` for the messages of this kind that other workers send."""
        self._handlers[kind] = handler

    def now_and_then(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do ``work`` at the start, after the server was away, and every few seconds, for messages that were lost."""
        self._idle.append(work)

    async def send(self, kind: str, **fields: Any) -> bool:
        """Tell the other workers; return whether the server took it."""
        text = json.dumps({"kind": kind, "from": self._worker, **fields}, ensure_ascii=False)
        channel = self._server.key("nudges")
        return await self._server.attempt(lambda client: client.publish(channel, text)) is not None

    def start(self) -> None:
        """Begin to listen."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen(), name="notifications")

    async def close(self) -> None:
        """Stop listening."""
        await end_task(self._task)
        self._task = None

    async def _listen(self) -> None:
        while True:
            try:
                await self._listen_once()
            except LiveAway:
                pass
            except Exception as error:  # noqa: BLE001 - the listener must outlive every failure of the connection
                self._server.gone(error)
            await asyncio.sleep(_PAUSE)

    async def _listen_once(self) -> None:
        if self._server.away:
            raise LiveAway
        async with self._server.client().pubsub(ignore_subscribe_messages=True) as channel:
            async with asyncio.timeout(_PAUSE):
                await channel.subscribe(self._server.key("nudges"))
            heard = asyncio.get_running_loop().time()
            await self._work_idle()
            while not self._server.away:
                message = await channel.get_message(timeout=1.0)
                if message is not None:
                    await self._handle(message["data"])
                if asyncio.get_running_loop().time() - heard > _IDLE_SECONDS:
                    heard = asyncio.get_running_loop().time()
                    await self._work_idle()

    async def _work_idle(self) -> None:
        # Also finds out whether the server still answers.
        await self._server.ask(lambda client: client.ping())
        for work in self._idle:
            await work()

    async def _handle(self, raw: bytes) -> None:
        try:
            message = json.loads(raw)
            if message["from"] == self._worker or (handler := self._handlers.get(message["kind"])) is None:
                return
        except (ValueError, KeyError, TypeError):
            log.warning("a message that nobody understands: %.80r", raw)
            return
        try:
            await handler(message)
        except LiveAway:
            raise
        except Exception:
            # One message must not end all others.
            log.exception("the message %s could not be handled", message["kind"])
