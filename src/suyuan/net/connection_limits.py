"""``ConnectionLimits``: how many connections a server holds, in all and for one client, before authentication.

A connection on which no complete request has come is waiting. Where there are too many, the oldest one that waits is
closed, of the client that has the most of them; so silent connections never keep anybody out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


class ServerConnection(Protocol):
    """What is counted."""

    def drop(self) -> None:
        """Close the connection at once."""


@dataclass(slots=True)
class _Client:
    waiting: dict[ServerConnection, None] = field(default_factory=dict)
    """The oldest first."""
    busy: set[ServerConnection] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.waiting) + len(self.busy)


class ConnectionLimits:
    """The open connections of one server, by client."""

    def __init__(self, total: int, per_client: int) -> None:
        self._total = total
        self._per_client = per_client
        self._clients: dict[str, _Client] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def open(self, client: str, connection: ServerConnection, *, limited: bool = True) -> bool:
        """Take a new connection, and tell whether there is room for it; a proxy is not limited as one client is."""
        own = self._clients.setdefault(client, _Client())
        if limited and len(own) >= self._per_client:
            room = self._drop_oldest(own)
        else:
            room = self._count < self._total or self._drop_oldest(
                max(self._clients.values(), key=lambda each: len(each.waiting))
            )
        own.waiting[connection] = None
        self._count += 1
        return room

    def work(self, client: str, connection: ServerConnection) -> None:
        """A complete request has come: the connection is kept until it is answered."""
        own = self._clients[client]
        own.waiting.pop(connection, None)
        own.busy.add(connection)

    def wait(self, client: str, connection: ServerConnection) -> None:
        """The request is answered: the connection waits for the next one."""
        own = self._clients[client]
        own.busy.discard(connection)
        own.waiting[connection] = None

    def close(self, client: str, connection: ServerConnection) -> None:
        """Forget a connection that has ended."""
        own = self._clients.get(client)
        if own is None:
            return
        before = len(own)
        own.waiting.pop(connection, None)
        own.busy.discard(connection)
        self._count -= before - len(own)
        if not len(own):
            del self._clients[client]

    def _drop_oldest(self, client: _Client) -> bool:
        oldest = next(iter(client.waiting), None)
        if oldest is None:
            return False
        del client.waiting[oldest]
        self._count -= 1
        oldest.drop()
        return True
