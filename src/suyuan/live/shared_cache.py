"""``SharedCache``: values that one worker has found and all may use, and who is finding one at the moment."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable

from .redis_server import RedisServer

_LARGEST = 1_000_000
_POLL_SECONDS = 0.03


class SharedCache:
    """Values in Redis with a time to live; the reader says how old one may be."""

    def __init__(self, server: RedisServer, clock: Callable[[], float] = time.time) -> None:
        self._server = server
        self._clock = clock

    async def get(self, name: str, max_age: float) -> bytes | None:
        """The value under ``name``, unless it is older than ``max_age`` seconds; None where Redis is away."""
        found: bytes | None = await self._server.attempt(lambda client: client.get(self._key(name)))
        if found is None:
            return None
        stamp, _, value = found.partition(b"\n")
        try:
            age = self._clock() - float(stamp)
        except ValueError:
            return None
        return value if age < max_age else None

    async def put(self, name: str, value: bytes, seconds: float) -> None:
        """Keep ``value`` for so long, unless it is very large."""
        if len(value) <= _LARGEST and seconds > 0:
            data = b"%f\n%b" % (self._clock(), value)
            await self._server.attempt(lambda client: client.set(self._key(name), data, px=round(seconds * 1000)))

    async def claim(self, name: str, seconds: float) -> bool:
        """Whether this worker is the one to find the value; true as well where Redis is away."""
        return await self._server.claim(self._key(name) + ":claim", seconds)

    async def release(self, name: str) -> None:
        """Say that the value is there, or will not come."""
        await self._server.attempt(lambda client: client.delete(self._key(name) + ":claim"))

    async def await_other(self, name: str, max_age: float, seconds: float) -> bytes | None:
        """The value that another worker is finding; None where it does not come in time, or that worker gave up."""
        deadline = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < deadline:
            # The claim first: its owner writes the value before it lets go.
            claimed = await self._server.attempt(lambda client: client.exists(self._key(name) + ":claim"))
            if (found := await self.get(name, max_age)) is not None or not claimed:
                return found
            await asyncio.sleep(_POLL_SECONDS)
        return None

    def _key(self, name: str) -> str:
        # A hash, since a query may be long and private.
        return self._server.key("cache", hashlib.sha256(name.encode("utf-8", "replace")).hexdigest())
