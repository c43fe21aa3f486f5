"""A loopback server in a process of its own: fixed answers, and faults drawn from a fixed seed where asked for."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from ._child import answer, child, leave, questions
from ._pages import CHALLENGES, MEDIA_TYPES, page

STALL, LIMITED, CHALLENGE, RESET = 0.20, 0.10, 0.10, 0.05


@dataclass(frozen=True, slots=True)
class Site:
    """One server: the kind of page it serves, the seed of its faults (None: it never fails), or that it never answers.

    ``first`` is the number of the first result of a generated page, ``delay`` the seconds that an answer takes.
    """

    kind: str
    seed: int | None = None
    silent: bool = False
    first: int = 0
    delay: float = 0.0


@contextmanager
def servers(*sites: Site) -> Iterator[tuple[list[str], Callable[[], int]]]:
    """Serve ``sites`` while the block lasts; gives their addresses, and a function that counts their requests."""
    with child("_server", json.dumps([asdict(site) for site in sites])) as ask:
        yield [f"http://127.0.0.1:{port}" for port in ask("ports")], lambda: sum(ask("counts"))


class _Answers:
    """What one server says, prepared as bytes."""

    def __init__(self, site: Site) -> None:
        self.count = 0
        self._chance = random.Random(site.seed) if site.seed is not None else None
        status = "202 Accepted" if site.kind == "ddg" else "200 OK"
        self._silent = site.silent
        self.delay = site.delay
        self._good = _http("200 OK", page(site.kind, site.first), MEDIA_TYPES[site.kind])
        self._challenge = _http(status, CHALLENGES.get(site.kind, b""), "text/html; charset=utf-8")
        self._limited = _http("429 Too Many Requests", b"Too Many Requests", "text/html; charset=utf-8")

    def next(self) -> bytes | None:
        """Return the next answer; empty means reset the connection, None means never answer."""
        self.count += 1
        if self._silent:
            return None
        if self._chance is None:
            return self._good
        drawn = self._chance.random()
        for share, said in ((STALL, None), (LIMITED, self._limited), (CHALLENGE, self._challenge), (RESET, b"")):
            if drawn < share:
                return said
            drawn -= share
        return self._good


class _Connection(asyncio.Protocol):
    """Reads requests off one kept connection and answers each."""

    def __init__(self, answers: _Answers) -> None:
        self._answers = answers
        self._read = bytearray()
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer every request that has come in whole."""
        self._read += data
        while (end := self._read.find(b"\r\n\r\n")) >= 0:
            size = end + 4 + _content_length(bytes(self._read[:end]))
            if len(self._read) < size:
                return
            del self._read[:size]
            said = self._answers.next()
            if self._answers.delay:
                asyncio.get_running_loop().call_later(self._answers.delay, self._say, said)
            else:
                self._say(said)

    def _say(self, said: bytes | None) -> None:
        if said:
            self._transport.write(said)
        elif said is not None:
            # Without lingering the kernel sends a reset instead of an orderly end.
            self._transport.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            self._transport.abort()


def _content_length(head: bytes) -> int:
    _, found, rest = head.lower().partition(b"\r\ncontent-length:")
    return int(rest.partition(b"\r\n")[0]) if found else 0


def _http(status: str, body: bytes, media_type: str) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\nConnection: keep-alive\r\n\r\n"
    return head.encode("ascii") + body


async def _serve(sites: list[Site]) -> None:
    loop = asyncio.get_running_loop()
    answers = [_Answers(site) for site in sites]
    servers = [await loop.create_server(lambda a=a: _Connection(a), "127.0.0.1", 0, backlog=512) for a in answers]  # type: ignore[misc]
    waiting = iter(questions())
    while question := await asyncio.to_thread(next, waiting, None):
        answer([a.count for a in answers] if question == "counts" else [s.sockets[0].getsockname()[1] for s in servers])
    leave()


if __name__ == "__main__":
    asyncio.run(_serve([Site(**entry) for entry in json.loads(sys.argv[1])]))
