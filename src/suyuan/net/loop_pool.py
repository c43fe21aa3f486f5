"""``LoopPool``: one client per event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary

MAX_CONNECTIONS_PER_HOST = 100
"""The connections to one host at the same time: they are not shared, so a host that hangs holds up no other."""


class Closable(Protocol):
    """A client that belongs to one event loop."""

    async def close(self) -> None:
        """Close its connections."""
        ...


C = TypeVar("C", bound=Closable)


class LoopPool(Generic[C]):
    """One client per event loop, made when it is first used; synchronous callers have a loop of their own."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, C] = WeakKeyDictionary()

    def get(self) -> C:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._make()
        return client

    async def close(self, seconds: float | None = 2.0) -> None:
        """Close the client of every loop that is still running; wait so long for another loop."""
        here = asyncio.get_running_loop()
        for loop, client in list(self._clients.items()):
            if loop is here:
                await client.close()
            elif loop.is_running():
                # Limited, because that loop may be waiting for this one.
                closing = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(client.close(), loop))
                await asyncio.wait([closing], timeout=seconds)
        self._clients.clear()
