"""``SharedLimits``: how often all workers together may ask an engine."""

from __future__ import annotations

from .redis_server import RedisServer

# The same rule as RateLimiter's: KEYS[1] is when the next request is due, KEYS[2] when those of the last minute were.
# The clock is the server's; the time to live is a bound where that clock jumps.
_TAKE = """
local t = redis.call('TIME')
local now = tonumber(t[1]) + tonumber(t[2]) / 1000000
local interval, slack, allowed, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local due = tonumber(redis.call('GET', KEYS[1]) or '0')
local left = redis.call('PTTL', KEYS[1]) / 1000
due = math.max(math.min(due, now + math.max(left, 0)), now)
local wait = math.max(0, due - slack - now)
local first = redis.call('LINDEX', KEYS[2], -most)
if first then
  local kept = redis.call('PTTL', KEYS[2]) / 1000
  wait = math.max(wait, math.min(tonumber(first) + 60 - now, math.max(kept, 0)))
end
if wait < allowed then
  local px = math.ceil((due + interval - now) * 1000) + 1
  redis.call('SET', KEYS[1], string.format('%.6f', due + interval), 'PX', px)
  local oldest = redis.call('LINDEX', KEYS[2], 0)
  while oldest and tonumber(oldest) <= now - 60 do
    redis.call('LPOP', KEYS[2])
    oldest = redis.call('LINDEX', KEYS[2], 0)
  end
  redis.call('RPUSH', KEYS[2], string.format('%.6f', now + wait))
  redis.call('PEXPIRE', KEYS[2], math.ceil((wait + 60) * 1000) + 1)
end
return string.format('%.6f', wait)
"""
_GIVE_BACK = """
local due = redis.call('GET', KEYS[1])
if due then redis.call('SET', KEYS[1], string.format('%.6f', tonumber(due) - tonumber(ARGV[1])), 'KEEPTTL') end
redis.call('RPOP', KEYS[2])
return 1
"""


class SharedLimits:
    """The limits of engines, in Redis."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    async def take(self, name: str, interval: float, slack: float, allowed: float, most: int) -> float | None:
        """Reserve the next slot and return the seconds to wait for it; None where Redis is away.

        Nothing is reserved where that would take ``allowed`` seconds or longer.
        """
        arguments = [f"{value:.6f}" for value in (interval, slack, allowed)]
        wait = await self._server.attempt(lambda client: client.eval(_TAKE, 2, *self._keys(name), *arguments, most))
        return None if wait is None else float(wait)

    async def give_back(self, name: str, interval: float) -> None:
        """Return a reserved slot that was not used."""
        await self._server.attempt(lambda client: client.eval(_GIVE_BACK, 2, *self._keys(name), f"{interval:.6f}"))

    def _keys(self, name: str) -> tuple[str, str]:
        return self._server.key("rate", name), self._server.key("rate-slots", name)
