"""``Live``: what the workers share while they run, over one Redis or Valkey."""

from __future__ import annotations

from ..core.secret import Secret
from .nudges import Notifications
from .redis_server import RedisServer
from .run_streams import RunStreams
from .shared_breakers import SharedBreakers
from .shared_cache import SharedCache
from .shared_limits import SharedLimits
from .tries import SharedTries


class Live:
    """The parts, each with its own rule for the time when the server is away."""

    def __init__(self, url: Secret, worker: str, prefix: str = "suyuan") -> None:
        self.server = RedisServer(url, prefix)
        self.streams = RunStreams(self.server)
        self.notifications = Notifications(self.server, worker)
        self.cache = SharedCache(self.server)
        self.limits = SharedLimits(self.server)
        self.breakers = SharedBreakers(self.server, self.notifications)
        self.tries = SharedTries(self.server)

    async def close(self) -> None:
        """Stop listening, and close the connections."""
        await self.notifications.close()
        await self.server.close()
