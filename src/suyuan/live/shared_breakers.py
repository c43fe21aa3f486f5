"""``SharedBreakers``: what one worker has learned about an engine's health is known to all."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ..core.tasks import TaskSet
from .nudges import Notifications
from .redis_server import RedisServer

log = logging.getLogger("suyuan.live")

_KEPT_SECONDS = 3600 * 2
_TRIAL_SECONDS = 30

Apply = Callable[[Any], None]


class SharedBreakers:
    """The states of all breakers in Redis, by engine and exit."""

    def __init__(self, server: RedisServer, notifications: Notifications) -> None:
        self._server = server
        self._notifications = notifications
        self._apply: dict[str, Apply] = {}
        self._telling = TaskSet()
        notifications.on("breaker", self._heard)
        notifications.now_and_then(self._reload)

    def join(self, name: str, apply: Apply) -> None:
        """Call ``apply`` with every state of the engine ``name`` that another worker tells."""
        self._apply[name] = apply

    def tell(self, name: str, state: Mapping[str, Any]) -> None:
        """Tell the others, without waiting for it."""
        # Without a loop there is nobody to tell: a command that ends.
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            self._telling.start(self._tell(name, dict(state)))

    async def claim_trial(self, name: str) -> bool:
        """Whether this worker may make the trial request after a cooldown; true as well where Redis is away."""
        return await self._server.claim(self._server.key("trial", name), _TRIAL_SECONDS)

    async def _tell(self, name: str, state: dict[str, Any]) -> None:
        key, text = self._server.key("breakers"), json.dumps(state)

        async def work(client: Any) -> None:
            pipe = client.pipeline(transaction=False)
            pipe.hset(key, name, text)
            pipe.expire(key, _KEPT_SECONDS)
            # The trial is over.
            pipe.delete(self._server.key("trial", name))
            await pipe.execute()

        await self._server.attempt(work)
        await self._notifications.send("breaker", name=name, state=state)

    async def _heard(self, message: Mapping[str, Any]) -> None:
        self._take(str(message["name"]), message["state"])

    async def _reload(self) -> None:
        known = await self._server.ask(lambda client: client.hgetall(self._server.key("breakers")))
        for name, text in known.items():
            try:
                self._take(name.decode(), json.loads(text))
            except ValueError:
                log.warning("a state of an engine that nobody understands: %.80r", text)

    def _take(self, name: str, state: Any) -> None:
        if apply := self._apply.get(name):
            apply(state)
