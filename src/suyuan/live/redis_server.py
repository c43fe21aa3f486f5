"""``RedisServer``: a Redis or Valkey that may be away. Nobody waits long for it, and it is found again by itself."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode
from weakref import WeakKeyDictionary

from ..core.causes.live import LIVE_BAD_ADDRESS, LIVE_NO_DRIVER
from ..core.secret import Secret, redact
from ..core.tasks import end_task

log = logging.getLogger("suyuan.live")
T = TypeVar("T")

_SECONDS = 0.5
"""How long one command may take: a slower server is of no use for a search. ``?socket_timeout=`` allows more."""
_MAX_SECONDS = 60.0
_FIRST_PAUSE, _MAX_PAUSE = 0.2, 2.0
SCHEMES = ("redis://", "rediss://", "unix://")


class LiveAway(Exception):
    """The server does not answer: go on without it."""


class RedisServer:
    """Connections to one server, for every event loop its own."""

    def __init__(self, url: Secret, prefix: str = "suyuan") -> None:
        if not url.reveal().startswith(SCHEMES):
            raise LIVE_BAD_ADDRESS()
        try:
            import redis.asyncio  # noqa: F401 - whether it is there is told now, not by the first search
        except ModuleNotFoundError:
            raise LIVE_NO_DRIVER() from None
        self._url, self._seconds = _with_seconds(url)
        self._prefix = prefix
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Any, Any]] = WeakKeyDictionary()
        self._away = False
        self._probe: asyncio.Task[None] | None = None

    @property
    def away(self) -> bool:
        """Whether the server did not answer the last time it was asked."""
        return self._away

    def key(self, *parts: str) -> str:
        """The name of a key of this product."""
        return ":".join((self._prefix, *parts))

    async def ask(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """The outcome of commands; raises :class:`LiveAway` soon where there is no answer."""
        if self._away:
            raise LiveAway
        return await self._asked(work, self._client()[0], self._seconds)

    async def wait(self, work: Callable[[Any], Awaitable[T]], seconds: float) -> T:
        """Like :meth:`ask`, for commands that wait up to ``seconds`` for something to happen."""
        if self._away:
            raise LiveAway
        return await self._asked(work, self._client()[1], seconds + 2 * self._seconds)

    async def attempt(self, work: Callable[[Any], Awaitable[T]]) -> T | None:
        """Like :meth:`ask`; None where the server is away."""
        try:
            return await self.ask(work)
        except LiveAway:
            return None

    async def claim(self, key: str, seconds: float) -> bool:
        """Whether this worker has ``key`` for so long, and no other; true as well where the server is away."""
        px = max(round(seconds * 1000), 1)
        try:
            return bool(await self.ask(lambda client: client.set(key, b"1", nx=True, px=px)))
        except LiveAway:
            return True

    def client(self) -> Any:
        """The connections of this loop, for commands that wait for long."""
        return self._client()[1]

    async def close(self) -> None:
        """Close the connections of this loop."""
        await end_task(self._probe)
        for client in self._clients.pop(asyncio.get_running_loop(), ()):
            with contextlib.suppress(Exception):
                await client.aclose()

    async def _asked(self, work: Callable[[Any], Awaitable[T]], client: Any, seconds: float) -> T:
        from redis.exceptions import RedisError

        try:
            async with asyncio.timeout(seconds):
                return await work(client)
        except (RedisError, OSError, TimeoutError) as error:
            # One that refuses a command, since it is full or a replica, is of no more use than one that is silent.
            self.gone(error)
            raise LiveAway from None

    def gone(self, error: BaseException) -> None:
        """Note that the server does not answer, and look for it until it does."""
        if self._away:
            return
        self._away = True
        why = redact(str(error) or type(error).__name__, (self._url,))
        log.warning("Redis is away, and this worker goes on alone until it is back: %s", why)
        self._probe = asyncio.get_running_loop().create_task(self._look_for_it(), name="redis-probe")

    async def _look_for_it(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_PAUSE)
            try:
                async with asyncio.timeout(self._seconds):
                    await self._client()[0].ping()
            except Exception as error:  # noqa: BLE001 - whatever it is, the server is not usable yet
                log.debug("Redis is still away: %s", error)
            else:
                self._away = False
                log.warning("Redis is back")
                return

    def _client(self) -> tuple[Any, Any]:
        """Two sets of connections: for commands that answer at once, and for those that wait."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            from redis.asyncio import Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff

            address = self._url.reveal()
            options: dict[str, Any] = {
                "socket_connect_timeout": self._seconds, "retry": Retry(NoBackoff(), 0), "client_name": self._prefix
            }  # fmt: skip
            self._clients[loop] = (
                Redis.from_url(address, socket_timeout=self._seconds, **options),
                Redis.from_url(address, socket_timeout=None, **options),
            )
        return self._clients[loop]


def _with_seconds(url: Secret) -> tuple[Secret, float]:
    """The address without its ``socket_timeout``, and the seconds that it allows for a command."""
    address, _, query = url.reveal().partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    try:
        seconds = float(options.pop("socket_timeout", _SECONDS))
    except ValueError:
        raise LIVE_BAD_ADDRESS() from None
    if not 0 < seconds <= _MAX_SECONDS:
        raise LIVE_BAD_ADDRESS()
    return Secret("?".join(filter(None, (address, urlencode(options))))), seconds
