"""``Tries``: how often something was tried, by a name such as an account or an address."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .redis_server import RedisServer


class Tries:
    """Those that this process saw, of the latest names only, within a window of time that begins with the first."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, names: int = 10_000) -> None:
        self._clock = clock
        self._names = names
        self._counts: OrderedDict[str, tuple[int, float]] = OrderedDict()

    async def count(self, name: str, seconds: float, more: int = 1) -> tuple[int, float]:
        """Count one more, or take one back, and return how many there are, and the seconds until they are forgotten."""
        number, until = self._counts.get(name, (0, 0.0))
        left = until - self._clock()
        number, left = (number, left) if left > 0 else (0, seconds)
        self._counts[name] = (number + more, self._clock() + left)
        self._counts.move_to_end(name)
        while len(self._counts) > self._names:
            self._counts.popitem(last=False)
        return number + more, left

    async def forget(self, name: str) -> None:
        """Start anew."""
        self._counts.pop(name, None)


class SharedTries(Tries):
    """Those that all workers saw; those of this process where Redis is away."""

    def __init__(self, server: RedisServer) -> None:
        super().__init__()
        self._server = server

    async def count(self, name: str, seconds: float, more: int = 1) -> tuple[int, float]:
        """Count with the other workers."""
        here = await super().count(name, seconds, more)
        key = self._key(name)

        async def work(client: Any) -> tuple[int, float]:
            pipe = client.pipeline(transaction=True)
            pipe.incrby(key, more)
            pipe.pexpire(key, round(seconds * 1000), nx=True)
            pipe.pttl(key)
            number, _, left = await pipe.execute()
            return int(number), max(left, 0) / 1000

        return await self._server.attempt(work) or here

    async def forget(self, name: str) -> None:
        """Start anew, for all workers."""
        await super().forget(name)
        await self._server.attempt(lambda client: client.delete(self._key(name)))

    def _key(self, name: str) -> str:
        return self._server.key("tries", name)
