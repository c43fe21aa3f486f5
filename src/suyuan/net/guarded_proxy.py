"""The way out of the browser: a proxy on loopback that resolves names itself, asks the guard, and connects only to what was checked.

Behind a proxy Chrome connects to nothing by itself, so a DNS that changes its answer in between gains nothing; and what the gate cannot
see, such as the WebSockets of workers, passes here as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import sys
from base64 import b64encode
from collections.abc import Collection, Coroutine, Sequence
from dataclasses import dataclass
from hmac import compare_digest
from http import HTTPStatus
from secrets import token_hex
from socket import SO_LINGER, SOL_SOCKET
from struct import pack
from typing import TYPE_CHECKING, Any

from ..core.cause import Cause
from ..core.causes.network import BAD_HTTP, NO_SUCH_HOST, OFF_LIMITS, REFUSED
from ..core.errors import SuyuanError
from .guard import Address, Guard, parse

if TYPE_CHECKING:
    from .fetch_client import Lookup

log = logging.getLogger("suyuan.net")

_PIECE = 64 * 1024
_LINE_BYTES = 128 * 1024
_HEAD_BYTES = 256 * 1024
_MOST_ADDRESSES = 8
_MOST_FAILURES = 256
# A next address is tried where one is silent for this long, as browsers do.
_STAGGER_SECONDS = 0.25
_RESET = pack("hh" if sys.platform == "win32" else "ii", 1, 0)
# So long the other side has to take an answer and to close.
_PARTING_SECONDS = 1.0

_CONNECT_TARGET = re.compile(r"[^/?#@\\]+:\d{1,5}")
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? +([1-9]\d\d)\b")
# They are of one connection, not of the message; and the site may not learn the password of this proxy.
_OF_ONE_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"upgrade",
    }
)


@dataclass(frozen=True, slots=True)
class ProxyPolicy:
    """Where connections may lead: to what the guard allows, and to ``also``, hosts with their ports."""

    guard: Guard
    lookup: Lookup
    also: frozenset[tuple[str, int]] = frozenset()

    async def addresses(self, address: Address) -> Sequence[str]:
        """All that ``address`` leads to, each one checked; raises ``GUARD_REFUSED``, or ``OSError`` where there is none."""
        free = (address.host, address.port) in self.also
        if not free:
            self.guard.check_url(address.href)
        if address.ip is not None:
            return (str(address.ip),)
        found = tuple(dict.fromkeys(await self.lookup(address.host, address.port)))
        for ip in () if free else found:
            self.guard.check_address(ip, address.host)
        if not found:
            raise OSError(f"no address for {address.host}")
        return found[:_MOST_ADDRESSES]


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """How many seconds a connection may take to be made, be silent, and last."""

    connect: float = 10.0
    idle: float = 60.0
    total: float = 600.0


class _Refusal(Exception):
    """The request is answered by the gateway itself."""

    def __init__(self, status: HTTPStatus, cause: Cause | None = None) -> None:
        super().__init__(status.phrase)
        self.status = status
        self.cause = cause


class GuardedProxy:
    """A proxy for one browser of this program, which alone knows its password."""

    def __init__(self, reach: ProxyPolicy, limits: ProxyLimits | None = None) -> None:
        self.user = "suyuan"
        self.password = token_hex(16)
        self.url = ""
        """Where it listens, once started."""
        self.mark = f"suyuan-{token_hex(8)}"
        """What stands in ``Proxy-Status`` of an answer that is not a site's; no site can know it before."""
        self._key = b"Basic " + b64encode(f"{self.user}:{self.password}".encode())
        self._reach = reach
        self._limits = limits or ProxyLimits()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures: dict[tuple[str, int], Cause] = {}
        self._closed = False

    @property
    def connections(self) -> int:
        """How many are open now."""
        return len(self._tasks)

    async def start(self) -> None:
        """Listen on a port of loopback that is free."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_LINE_BYTES)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """End every connection, and stop listening."""
        self._closed = True
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()

    def failure(self, url: str) -> Cause | None:
        """Why the last connection to the host of ``url`` was not made, since Chrome only says that a proxy failed."""
        with contextlib.suppress(SuyuanError):
            address = parse(url)
            return self._failures.get((address.host, address.port))
        return None

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closed:
            writer.transport.abort()
            return
        task = asyncio.create_task(self._attend(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(self._limits.idle) as timeout:
                clock = _Clock(timeout, self._limits)
                await self._serve(_Wire(reader, writer, clock), clock)
        except (OSError, EOFError, ValueError) as error:
            # Broken off, silent for too long (a TimeoutError is an OSError), or not HTTP: no answer could be understood.
            log.debug("gateway: a connection ended: %r", error)
            # Told as what it is: after a mere end the browser could take half a page for a whole one.
            with contextlib.suppress(OSError):
                writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, _RESET)
        finally:
            writer.transport.abort()

    async def _serve(self, client: _Wire, clock: _Clock) -> None:
        address: Address | None = None
        try:
            lines = await client.head()
            if not lines:
                return
            if not compare_digest(b",".join(_values(lines, b"proxy-authorization")), self._key):
                raise _Refusal(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED)
            method, address = _target(lines[0])
            server = await self._connect(address, clock)
            try:
                if method == "CONNECT":
                    await client.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    by_server = await _either(client.pipe(server), server.pipe(client))
                else:
                    by_server = await _either(_ask(client, server, lines, address), _answer(server, client))
            finally:
                server.abort()
            if by_server:
                await client.finish()
        except _Refusal as refusal:
            if address is not None and refusal.cause is not None:
                self._remember(address, refusal.cause)
            await self._refuse(client, refusal)

    async def _connect(self, address: Address, clock: _Clock) -> _Wire:
        try:
            async with asyncio.timeout(self._limits.connect):
                addresses = await self._reach.addresses(address)
        except SuyuanError:
            raise _Refusal(HTTPStatus.FORBIDDEN, OFF_LIMITS) from None
        except OSError:
            raise _Refusal(HTTPStatus.BAD_GATEWAY, NO_SUCH_HOST) from None
        try:
            async with asyncio.timeout(self._limits.connect):
                reader, writer = await _open(addresses, address.port)
        except OSError:
            raise _Refusal(HTTPStatus.BAD_GATEWAY, REFUSED) from None
        self._failures.pop((address.host, address.port), None)
        return _Wire(reader, writer, clock)

    def _remember(self, address: Address, cause: Cause) -> None:
        log.info("gateway: nothing from %s: %s", address.netloc, cause.detail_code)
        self._failures[address.host, address.port] = cause
        if len(self._failures) > _MOST_FAILURES:
            del self._failures[next(iter(self._failures))]

    async def _refuse(self, client: _Wire, refusal: _Refusal) -> None:
        ask = refusal.status is HTTPStatus.PROXY_AUTHENTICATION_REQUIRED
        own = 'Proxy-Authenticate: Basic realm="suyuan"' if ask else f"Proxy-Status: {self.mark}"
        head = f"HTTP/1.1 {refusal.status.value} {refusal.status.phrase}\r\n{own}\r\nCache-Control: no-store\r\n"
        await client.send(f"{head}Content-Length: 0\r\nConnection: close\r\n\r\n".encode("ascii"))
        await client.finish()


class _Clock:
    """One limit for both directions of a connection: silence of one is no silence while the other speaks."""

    def __init__(self, timeout: asyncio.Timeout, limits: ProxyLimits) -> None:
        self._timeout = timeout
        self._idle = limits.idle
        self._now = asyncio.get_running_loop().time
        self._end = self._now() + limits.total

    def touch(self) -> None:
        if not self._timeout.expired():
            self._timeout.reschedule(min(self._now() + self._idle, self._end))


class _Wire:
    """One side of a connection; what it sends waits until the other side has taken what came before."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, clock: _Clock) -> None:
        self._reader = reader
        self._writer = writer
        self._clock = clock

    async def read(self, most: int = _PIECE) -> bytes:
        """What is there; nothing at the end."""
        data = await self._reader.read(most)
        self._clock.touch()
        return data

    async def line(self) -> bytes:
        """One line with its end; raises ``EOFError`` where it breaks off, ``ValueError`` where it is too long."""
        line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise EOFError("it ended within a line")
        return line

    async def head(self) -> list[bytes]:
        """The lines up to the empty one, each with those that continue it; nothing where the other side only closes."""
        lines: list[bytes] = []
        size = 0
        while (line := await self.line() if lines else await self._reader.readline()) not in (b"\r\n", b"\n", b""):
            size += len(line)
            if size > _HEAD_BYTES:
                raise ValueError("its head is too long")
            if line[:1] in b" \t" and len(lines) > 1:
                lines[-1] += line
            else:
                lines.append(line)
        self._clock.touch()
        return lines

    async def send(self, data: bytes) -> None:
        """Send ``data``; returns when there is room for more."""
        self._writer.write(data)
        await self._writer.drain()
        self._clock.touch()

    async def pipe(self, sink: _Wire, length: int | None = None) -> None:
        """Hand on to ``sink`` what comes: all of it, or ``length`` bytes."""
        while length is None or length > 0:
            data = await self.read(_PIECE if length is None else min(_PIECE, length))
            if not data and length is None:
                return
            if not data:
                raise EOFError("it ended within a body")
            await sink.send(data)
            length = None if length is None else length - len(data)

    async def finish(self) -> None:
        """Let the other side take the rest, and close after it: one that closes with something unread would destroy the answer."""
        self._writer.write_eof()
        # From now on it waits until all is taken.
        self._writer.transport.set_write_buffer_limits(0)
        await self._writer.drain()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PARTING_SECONDS):
                while await self._reader.read(_PIECE):
                    continue

    def abort(self) -> None:
        """Close at once."""
        self._writer.transport.abort()


async def _either(up: Coroutine[Any, Any, None], down: Coroutine[Any, Any, None]) -> bool:
    """Run both until one of them ends, which ends the other; whether it was ``down``, that is the server."""
    rising, falling = tasks = asyncio.create_task(up), asyncio.create_task(down)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        ended = falling if falling.done() else rising
        ended.result()
        return ended is falling
    finally:
        await _ended(tasks)


async def _ended(tasks: Collection[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _open(addresses: Sequence[str], port: int) -> _Streams:
    """Connect to the first of ``addresses`` that answers; they are numbers, so nothing is resolved again."""
    tries = [asyncio.create_task(_try(ip, port, number * _STAGGER_SECONDS)) for number, ip in enumerate(addresses)]
    waiting = set(tries)
    winner = None
    try:
        while waiting and winner is None:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            winner = next((task for task in done if task.exception() is None), None)
        return (winner or tries[-1]).result()
    finally:
        others = [task for task in tries if task is not winner]
        await _ended(others)
        for late in others:
            if not late.cancelled() and late.exception() is None:
                late.result()[1].transport.abort()


async def _try(ip: str, port: int, pause: float) -> _Streams:
    await asyncio.sleep(pause)
    return await asyncio.open_connection(ip, port, limit=_LINE_BYTES)


def _target(line: bytes) -> tuple[str, Address]:
    """Method and address of a request to a proxy; an answer of 400 where it is none."""
    parts = line.decode("latin-1").split()
    method, target = (parts[0], parts[1]) if len(parts) == 3 else ("", "")
    try:
        if method == "CONNECT" and _CONNECT_TARGET.fullmatch(target):
            return method, parse(f"https://{target}/")
        address = parse(target)
    except SuyuanError:
        raise _Refusal(HTTPStatus.BAD_REQUEST) from None
    if method == "CONNECT" or address.scheme != "http":
        raise _Refusal(HTTPStatus.BAD_REQUEST)
    return method, address


async def _ask(client: _Wire, server: _Wire, lines: list[bytes], address: Address) -> None:
    """Hand on one request with its body, and return when the browser closes: each connection carries one request."""
    method = lines[0].split()[0].decode("latin-1")
    first = f"{method} {address.target} HTTP/1.1\r\nHost: {address.netloc}\r\n".encode("latin-1")
    await server.send(first + _onward(lines, b"host") + b"Connection: close\r\n\r\n")
    if b"chunked" in b",".join(_values(lines, b"transfer-encoding")).lower():
        await _chunks(client, server)
    else:
        await client.pipe(server, int((_values(lines, b"content-length") or [b"0"])[0]))
    await client.read(1)


async def _chunks(source: _Wire, sink: _Wire) -> None:
    size = 1
    while size:
        line = await source.line()
        size = int(line.partition(b";")[0], 16)
        await sink.send(line)
        if size:
            await source.pipe(sink, size)
            await sink.send(await source.line())
    # What follows the last chunk: fields, as a rule none, and an empty line.
    while (line := await source.line()) not in (b"\r\n", b"\n"):
        await sink.send(line)
    await sink.send(line)


async def _answer(server: _Wire, client: _Wire) -> None:
    """Hand on the answer, told to be the last of its connection; nothing where the server only closes."""
    status = HTTPStatus.CONTINUE.value
    while status < HTTPStatus.OK:
        lines = await _answer_head(server)
        if not lines:
            return
        status = int(lines[0].split()[1])
        last = b"Connection: close\r\n" if status >= HTTPStatus.OK else b""
        await client.send(lines[0] + _onward(lines) + last + b"\r\n")
    await server.pipe(client)


async def _answer_head(server: _Wire) -> list[bytes]:
    try:
        lines = await server.head()
    except ValueError:
        raise _Refusal(HTTPStatus.BAD_GATEWAY, BAD_HTTP) from None
    found = _STATUS.match(lines[0]) if lines else None
    # Nothing was upgraded; and it is for the gateway to ask for its password: a site that does would be given it in circles.
    if lines and (found is None or found[1] in (b"101", b"407")):
        raise _Refusal(HTTPStatus.BAD_GATEWAY, BAD_HTTP)
    return lines


def _values(lines: list[bytes], name: bytes) -> list[bytes]:
    fields = (line.partition(b":") for line in lines[1:])
    return [value.strip() for found, _, value in fields if found.strip().lower() == name]


def _onward(lines: list[bytes], *without: bytes) -> bytes:
    """The fields of a head that go on: those of the message, without those of this one connection."""
    named = b",".join(_values(lines, b"connection")).lower().split(b",")
    dropped = _OF_ONE_HOP.union(without, (name.strip() for name in named))
    return b"".join(line for line in lines[1:] if line.partition(b":")[0].strip().lower() not in dropped)
