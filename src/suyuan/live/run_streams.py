"""``RunStreams``: the events of running answers, one stream for each run, numbered as the run numbers them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from .redis_server import RedisServer

MAX_EVENTS = 50_000
_EXPIRY_SECONDS = 600
_BATCH = 500
_DUPLICATE = "equal or smaller"
"""What Redis says of the id of an event that it has already."""

NumberedData = tuple[int, bytes]


class RunStreams:
    """Streams of Redis. The number of an event is the first half of its id, so a follower continues where it was."""

    def __init__(self, server: RedisServer) -> None:
        self._server = server

    async def publish(self, run: str, events: Sequence[NumberedData]) -> int:
        """Append events, and return how many the stream has had; raises ``LiveAway``."""
        key = self._key(run)

        async def work(client: Any) -> int:
            pipe = client.pipeline(transaction=False)
            for number, data in events:
                pipe.xadd(key, {"e": data}, id=f"{number}-1", maxlen=MAX_EVENTS, approximate=True)
            pipe.expire(key, _EXPIRY_SECONDS)
            pipe.xlen(key)
            answers = await pipe.execute(raise_on_error=False)
            for answer in answers:
                # An event that is there already is refused, and that is right.
                if isinstance(answer, Exception) and _DUPLICATE not in str(answer):
                    raise answer
            return int(answers[-1])

        return await self._server.ask(work)

    async def forget(self, run: str) -> None:
        """Remove a stream, to begin it anew."""
        await self._server.ask(lambda client: client.delete(self._key(run)))

    async def read(self, run: str, after: int, seconds: float = 0.0) -> list[NumberedData]:
        """The events after number ``after``; where there are none, those that come within ``seconds``."""
        query = {self._key(run): f"{after}-1" if after >= 0 else "0-0"}
        if not seconds:
            answer = await self._server.ask(lambda client: client.xread(query, count=_BATCH))
        else:
            block = round(seconds * 1000)
            answer = await self._server.wait(lambda client: client.xread(query, count=_BATCH, block=block), seconds)
        streams = answer.values() if isinstance(answer, dict) else [entries for _, entries in answer or ()]
        entries = chain.from_iterable(map(_flat, streams))
        return [_event(entry) for entry in entries]

    def _key(self, run: str) -> str:
        return self._server.key("run", run)


def _flat(entries: Any) -> list[Any]:
    """The entries of one stream; the two versions of Redis's protocol nest them differently."""
    is_nested = entries and isinstance(entries[0], list)
    return list(entries[0]) if is_nested else list(entries)


def _event(entry: Any) -> NumberedData:
    id, fields = entry
    return int(id.partition(b"-")[0]), fields[b"e"]
