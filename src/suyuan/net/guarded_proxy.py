"""``GuardedProxy``: the browser's proxy, which resolves names itself and connects only to checked addresses.

Behind a proxy Chrome makes no connections of its own, so a DNS server that changes its answer after the check gains
nothing, and requests that the request filter does not see, such as the WebSockets of workers, are checked too.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import sys
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hmac import compare_digest
from http import HTTPStatus
from secrets import token_hex
from socket import SO_LINGER, SOL_SOCKET
from struct import pack
from typing import TYPE_CHECKING

from ..core.cause import Cause
from ..core.causes.network import BAD_HTTP, NO_SUCH_HOST, OFF_LIMITS, REFUSED
from ..core.errors import SuyuanError
from ..core.tasks import TaskSet
from .guard import Address, Guard, parse
from .proxy_connection import LINE_BYTES, IdleTimer, ProxyConnection, connect_first, run_until_one_ends

if TYPE_CHECKING:
    from .fetch_client import Lookup

log = logging.getLogger("suyuan.net")

_MAX_ADDRESSES = 8
_MAX_FAILURES = 256
_LINGER_FORMAT = "hh" if sys.platform == "win32" else "ii"
_LINGER_RESET = pack(_LINGER_FORMAT, 1, 0)
_CONNECT_TARGET = re.compile(r"[^/?#@\\]+:\d{1,5}")
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? +([1-9]\d\d)\b")
# They apply to one connection, not to the message; and the site must not learn the password of this proxy.
_HOP_BY_HOP = frozenset(
    b"connection keep-alive proxy-authenticate proxy-authorization proxy-connection te upgrade".split()
)


@dataclass(frozen=True, slots=True)
class ProxyPolicy:
    """Which connections are allowed: those that the guard allows, and those to ``exceptions``, hosts with ports."""

    guard: Guard
    lookup: Lookup
    exceptions: frozenset[tuple[str, int]] = frozenset()

    async def addresses(self, address: Address) -> Sequence[str]:
        """The IP addresses of ``address``, all checked; raises ``GUARD_REFUSED``, or ``OSError`` if there are none."""
        is_exception = (address.host, address.port) in self.exceptions
        if not is_exception:
            self.guard.check_url(address.href)
        if address.ip is not None:
            return (str(address.ip),)
        ips = tuple(dict.fromkeys(await self.lookup(address.host, address.port)))
        if not is_exception:
            for ip in ips:
                self.guard.check_address(ip, address.host, address.port)
        if not ips:
            raise OSError(f"no address for {address.host}")
        return ips[:_MAX_ADDRESSES]


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """How many seconds a connection may take to be made, may be idle, and may last."""

    connect: float = 10.0
    idle: float = 60.0
    total: float = 600.0


class _Refusal(Exception):
    """The proxy answers the request itself."""

    def __init__(self, status: HTTPStatus, cause: Cause | None = None) -> None:
        super().__init__(status.phrase)
        self.status = status
        self.cause = cause


class GuardedProxy:
    """A proxy for one browser of this program, which alone knows its password."""

    def __init__(self, policy: ProxyPolicy, limits: ProxyLimits | None = None) -> None:
        self.credentials = ("suyuan", token_hex(16))
        """User name and password."""
        self.url = ""
        """The URL, once started."""
        self.status_mark = f"suyuan-{token_hex(8)}"
        """The ``Proxy-Status`` of the proxy's own responses, which no site can know."""
        self._authorization = b"Basic " + b64encode(":".join(self.credentials).encode())
        self._policy = policy
        self._limits = limits or ProxyLimits()
        self._server: asyncio.Server | None = None
        self._tasks = TaskSet()
        self._failures: dict[tuple[str, int], Cause] = {}
        self._closed = False

    @property
    def connections(self) -> int:
        """The number of open connections."""
        return len(self._tasks)

    async def start(self) -> None:
        """Listen on a free port of loopback."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=LINE_BYTES)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """Close every connection, and stop listening."""
        self._closed = True
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()

    def failure(self, url: str) -> Cause | None:
        """Why the last connection to the host of ``url`` failed, since Chrome only says that a proxy failed."""
        with contextlib.suppress(SuyuanError):
            address = parse(url)
            return self._failures.get((address.host, address.port))
        return None

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closed:
            writer.transport.abort()
            return
        self._tasks.start(self._handle(reader, writer))

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(self._limits.idle) as timeout:
                timer = IdleTimer(timeout, self._limits.idle, self._limits.total)
                await self._serve(ProxyConnection(reader, writer, timer), timer)
        except (OSError, EOFError, ValueError) as error:
            # Incomplete, idle for too long (a TimeoutError is an OSError), or not HTTP: a response would be useless.
            log.debug("guarded proxy: a connection ended: %r", error)
            # Reset, because after a regular end the browser could take half a page for a whole one.
            with contextlib.suppress(OSError):
                writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, _LINGER_RESET)
        finally:
            writer.transport.abort()

    async def _serve(self, client: ProxyConnection, timer: IdleTimer) -> None:
        address: Address | None = None
        try:
            lines = await client.read_head()
            if not lines:
                return
            if not compare_digest(b",".join(_values(lines, b"proxy-authorization")), self._authorization):
                raise _Refusal(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED)
            method, address = _target(lines[0])
            server = await self._connect(address, timer)
            try:
                if method == "CONNECT":
                    await client.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    server_ended = await run_until_one_ends(client.forward(server), server.forward(client))
                else:
                    request = _forward_request(client, server, lines, address)
                    server_ended = await run_until_one_ends(request, _forward_response(server, client))
            finally:
                server.abort()
            if server_ended:
                await client.finish()
        except _Refusal as refusal:
            if address is not None and refusal.cause is not None:
                self._record_failure(address, refusal.cause)
            await self._refuse(client, refusal)

    async def _connect(self, address: Address, timer: IdleTimer) -> ProxyConnection:
        try:
            async with asyncio.timeout(self._limits.connect):
                addresses = await self._policy.addresses(address)
        except SuyuanError:
            raise _Refusal(HTTPStatus.FORBIDDEN, OFF_LIMITS) from None
        except OSError:
            raise _Refusal(HTTPStatus.BAD_GATEWAY, NO_SUCH_HOST) from None
        try:
            async with asyncio.timeout(self._limits.connect):
                reader, writer = await connect_first(addresses, address.port)
        except OSError:
            raise _Refusal(HTTPStatus.BAD_GATEWAY, REFUSED) from None
        self._failures.pop((address.host, address.port), None)
        return ProxyConnection(reader, writer, timer)

    def _record_failure(self, address: Address, cause: Cause) -> None:
        log.info("guarded proxy: no connection to %s: %s", address.netloc, cause.detail_code)
        self._failures[address.host, address.port] = cause
        if len(self._failures) > _MAX_FAILURES:
            del self._failures[next(iter(self._failures))]

    async def _refuse(self, client: ProxyConnection, refusal: _Refusal) -> None:
        needs_password = refusal.status is HTTPStatus.PROXY_AUTHENTICATION_REQUIRED
        field = 'Proxy-Authenticate: Basic realm="suyuan"' if needs_password else f"Proxy-Status: {self.status_mark}"
        head = f"HTTP/1.1 {refusal.status.value} {refusal.status.phrase}\r\n{field}\r\nCache-Control: no-store\r\n"
        await client.send(f"{head}Content-Length: 0\r\nConnection: close\r\n\r\n".encode("ascii"))
        await client.finish()


def _target(line: bytes) -> tuple[str, Address]:
    """The method and the address of a request to a proxy; refused with 400 if it is none."""
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


async def _forward_request(
    client: ProxyConnection, server: ProxyConnection, lines: list[bytes], address: Address
) -> None:
    """Forward one request with its body, and return when the browser closes: each connection carries one request."""
    method = lines[0].split()[0].decode("latin-1")
    first = f"{method} {address.target} HTTP/1.1\r\nHost: {address.netloc}\r\n".encode("latin-1")
    await server.send(first + _forwarded_fields(lines, b"host") + b"Connection: close\r\n\r\n")
    if b"chunked" in b",".join(_values(lines, b"transfer-encoding")).lower():
        await _forward_chunks(client, server)
    else:
        await client.forward(server, int((_values(lines, b"content-length") or [b"0"])[0]))
    await client.read(1)


async def _forward_chunks(source: ProxyConnection, target: ProxyConnection) -> None:
    size = 1
    while size:
        line = await source.read_line()
        size = int(line.partition(b";")[0], 16)
        await target.send(line)
        if size:
            await source.forward(target, size)
            await target.send(await source.read_line())
    # After the last chunk: trailer fields, usually none, and an empty line.
    while (line := await source.read_line()) not in (b"\r\n", b"\n"):
        await target.send(line)
    await target.send(line)


async def _forward_response(server: ProxyConnection, client: ProxyConnection) -> None:
    """Forward the response as the last one of its connection; nothing if the server only closes."""
    status = HTTPStatus.CONTINUE.value
    while status < HTTPStatus.OK:
        lines = await _read_response_head(server)
        if not lines:
            return
        status = int(lines[0].split()[1])
        last = b"Connection: close\r\n" if status >= HTTPStatus.OK else b""
        await client.send(lines[0] + _forwarded_fields(lines) + last + b"\r\n")
    await server.forward(client)


async def _read_response_head(server: ProxyConnection) -> list[bytes]:
    try:
        lines = await server.read_head()
    except ValueError:
        raise _Refusal(HTTPStatus.BAD_GATEWAY, BAD_HTTP) from None
    status = _STATUS.match(lines[0]) if lines else None
    # No upgrade was requested, and only the proxy itself may ask for its password (407).
    if lines and (status is None or status[1] in (b"101", b"407")):
        raise _Refusal(HTTPStatus.BAD_GATEWAY, BAD_HTTP)
    return lines


def _values(lines: list[bytes], name: bytes) -> list[bytes]:
    fields = (line.partition(b":") for line in lines[1:])
    return [value.strip() for found, _, value in fields if found.strip().lower() == name]


def _forwarded_fields(lines: list[bytes], *without: bytes) -> bytes:
    """The header fields that are forwarded: all except those of this one connection and ``without``."""
    named = b",".join(_values(lines, b"connection")).lower().split(b",")
    dropped = _HOP_BY_HOP.union(without, (name.strip() for name in named))
    return b"".join(line for line in lines[1:] if line.partition(b":")[0].strip().lower() not in dropped)
