"""``HttpClient``: HTTP/1.1 with kept connections, places for each host, proxies and limited sizes.

An exchange takes about 0.7 of what it takes with aiohttp, and the imports that every search waits for take far less.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from base64 import b64encode
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from socket import SOCK_STREAM
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from aiohappyeyeballs import start_connection

from ..core.cause import Cause
from ..core.causes.engine import TOO_LARGE, UNDECODED
from ..core.causes.network import BAD_HTTP, BROKEN_OFF, NO_SUCH_HOST, NOT_TLS, PROXY_FAILED, REFUSED, TLS_FAILED
from ..core.errors import SuyuanError
from ..core.urls import origin, split_path
from ..core.wire import Request, Response
from .connection import BodyTooLarge, Connection, ConnectionClosed, Limits
from .decompress import ACCEPTED, DecompressionError
from .loop_pool import MAX_CONNECTIONS_PER_HOST, LoopPool
from .settings import NetSettings
from .tls import tls_verdict

_KEEP_SECONDS = 15.0
_ADDRESSES_SECONDS = 120.0
_MAX_HOSTS = 500
_HAPPY_EYEBALLS_DELAY = 0.25
_LINE_BREAK = re.compile(r"[\r\n\0]")
# What may stand in a URL as it is; everything else is percent-encoded.
_URL_CHARACTERS = "!#$%&'()*+,/:;=?@[]~|^`{}\"<>\\"

Resolve = Callable[[str, int], Coroutine[Any, Any, list[Any]]]
"""Returns the addresses of a host, for a port, as ``getaddrinfo`` does; raises ``OSError`` if there are none."""


class _Target(NamedTuple):
    """Where requests of one engine go: the server, and the proxy in between if there is one."""

    scheme: str
    host: str
    port: int
    proxy: str

    @property
    def netloc(self) -> str:
        """The host, with its port unless it is the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        default_port = 443 if self.scheme == "https" else 80
        return host if self.port == default_port else f"{host}:{self.port}"


class _ConnectFailed(Exception):
    """No connection, for a reason that is known."""

    def __init__(self, cause: Cause, why: str = "") -> None:
        self.cause = cause
        self.why = why


class HttpClient:
    """A ``Transport`` that has connections for each event loop that uses it."""

    too_large, undecoded = TOO_LARGE, UNDECODED

    def __init__(
        self,
        settings: NetSettings,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        address_seconds: float = _ADDRESSES_SECONDS,
    ) -> None:
        self._settings = settings
        self._proxied = bool(settings.proxy)
        self._target = lru_cache(256)(self._parse)
        self._limits = Limits(1 << 50, settings.max_bytes)
        options = _ConnectOptions(resolve or _system_addresses, tls, address_seconds)
        self._pool = LoopPool(lambda: _Hosts(options))

    async def send(self, request: Request, engine: str, limits: Limits | None = None) -> Response:
        """Send one request; cancelling it closes its socket."""
        try:
            base, path = split_path(request.sent_url())
            target = self._target(base)
            data = self._bytes(request, path, target)
        except ValueError:
            raise BAD_HTTP(engine=engine, where=request.url[:80]) from None
        outcome = await self._exchange(target, data, engine, limits or self._limits)
        if isinstance(outcome, SuyuanError):
            raise outcome
        status, headers, body = outcome
        return Response(status, body, request.url, headers, datetime.now(UTC))

    async def close(self) -> None:
        """Close the connections of every loop that is still running."""
        await self._pool.close()

    async def _exchange(
        self, target: _Target, data: bytes, engine: str, limits: Limits
    ) -> tuple[int, dict[str, str], bytes] | SuyuanError:
        """The response, or the error to raise: not raised here, since the original may contain the proxy's password."""
        where = target.netloc
        host = self._pool.get().of(target)
        try:
            while True:
                connection, reused = await host.acquire()
                try:
                    return await connection.exchange(data, limits)
                except ConnectionClosed as error:
                    # The server has closed a connection that it kept open until now.
                    if not (reused and error.unused):
                        raise
                finally:
                    host.give_back(connection)
        except _ConnectFailed as error:
            failure: SuyuanError = error.cause(engine=engine, where=where, why=error.why)
        except SuyuanError as error:
            failure = error
        except DecompressionError as error:
            failure = self.undecoded(engine=engine, where=where, what=error)
        except BodyTooLarge as error:
            failure = self.too_large(engine=engine, where=where, limit=error.limit)
        except ValueError:
            failure = BAD_HTTP(engine=engine, where=where)
        except OSError:
            failure = BROKEN_OFF(engine=engine, where=where)
        return failure

    def _parse(self, base: str) -> _Target:
        scheme, host, port = origin(base)
        host = host if host.isascii() else host.encode("idna").decode("ascii")
        proxy = self._settings.proxy_for(host) if self._proxied else None
        return _Target(scheme, host, port, proxy or "")

    def _bytes(self, request: Request, path: str, target: _Target) -> bytes:
        path = path if path.startswith("/") else f"/{path}"
        sent = request.sent_headers()
        sent_names = {name.lower() for name in sent}
        defaults = {"User-Agent": self._settings.user_agent, "Accept": "*/*", "Accept-Encoding": ACCEPTED}
        headers = {"Host": target.netloc}
        headers |= {name: value for name, value in defaults.items() if name.lower() not in sent_names}
        headers |= sent
        if request.body or request.method == "POST":
            headers["Content-Length"] = str(len(request.body))
        if target.proxy and target.scheme == "http":
            path = f"http://{target.netloc}{path}"
            headers |= _proxy_authorization(target.proxy)
        return _head(request.method, path, headers) + request.body


@dataclass(frozen=True, slots=True)
class _ConnectOptions:
    """How connections are made: the resolver, the trusted certificates, and the seconds that addresses are cached."""

    resolve: Resolve
    tls: ssl.SSLContext | None
    address_seconds: float


class _Hosts:
    """The hosts that are known to one event loop."""

    def __init__(self, options: _ConnectOptions) -> None:
        self._options = options
        self._hosts: dict[_Target, _Host] = {}

    def of(self, target: _Target) -> _Host:
        """What is known about ``target``."""
        if target not in self._hosts:
            if len(self._hosts) >= _MAX_HOSTS:
                self._hosts = {known: host for known, host in self._hosts.items() if host.is_used}
            self._hosts[target] = _Host(target, self._options)
        return self._hosts[target]

    async def close(self) -> None:
        """Close all connections."""
        for host in self._hosts.values():
            await host.close()
        self._hosts.clear()


class _Host:
    """One host: its addresses, and its connections, of which there are never more than its slots."""

    def __init__(self, target: _Target, options: _ConnectOptions) -> None:
        self._target = target
        self._options = options
        self._waiting = 0
        self._slots = asyncio.Semaphore(MAX_CONNECTIONS_PER_HOST)
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._addresses: asyncio.Task[list[Any]] | None = None
        self._resolved_at = 0.0

    async def acquire(self) -> tuple[Connection, bool]:
        """Return a connection, to be given back, and whether it is reused; wait while all slots are taken."""
        self._waiting += 1
        try:
            await self._slots.acquire()
            try:
                idle = self._pop_idle()
                connection = idle or await self._connect()
            except BaseException:
                self._slots.release()
                raise
        finally:
            self._waiting -= 1
        self._busy.add(connection)
        return connection, idle is not None

    def give_back(self, connection: Connection) -> None:
        """Keep the connection for another request, or close it."""
        self._slots.release()
        self._busy.discard(connection)
        if connection.reusable:
            connection.keep(_KEEP_SECONDS)
            self._idle.append(connection)
        else:
            connection.transport.abort()

    async def close(self) -> None:
        """Close all connections."""
        if self._addresses is not None:
            self._addresses.cancel()
        for connection in (*self._idle, *self._busy):
            await connection.close()

    @property
    def is_used(self) -> bool:
        """Whether it has connections, or somebody waits for one."""
        if self._waiting or self._busy:
            return True
        return any(not connection.transport.is_closing() for connection in self._idle)

    def _pop_idle(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.reuse():
                return connection
        return None

    async def _connect(self) -> Connection:
        target = self._target
        if not target.proxy:
            return await self._open(target.scheme, target.host, target.port)
        try:
            connection = await self._open(*origin(target.proxy))
        except _ConnectFailed:
            raise _ConnectFailed(PROXY_FAILED) from None
        if target.scheme == "https":
            await self._tunnel(connection)
        return connection

    async def _open(self, scheme: str, host: str, port: int) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            # The user's proxy may be anywhere.
            resolve = _system_addresses if self._target.proxy else self._options.resolve
            addresses = await self._resolved(resolve, host, port)
        except OSError:
            raise _ConnectFailed(NO_SUCH_HOST) from None
        try:
            sock = await start_connection(addresses, happy_eyeballs_delay=_HAPPY_EYEBALLS_DELAY)
        except OSError:
            self._addresses = None
            raise _ConnectFailed(REFUSED) from None
        try:
            if scheme == "https":
                _, connection = await loop.create_connection(
                    Connection, sock=sock, ssl=self._tls(), server_hostname=host
                )
            else:
                _, connection = await loop.create_connection(Connection, sock=sock)
        except OSError as error:
            # The port is open, but there is no trusted TLS.
            raise _ConnectFailed(TLS_FAILED, tls_verdict(error) or NOT_TLS) from None
        return connection

    async def _tunnel(self, connection: Connection) -> None:
        """Let the proxy connect to the server, and begin TLS with it."""
        target = self._target
        netloc = f"{target.netloc}:443" if target.port == 443 else target.netloc
        head = _head("CONNECT", netloc, {"Host": netloc, **_proxy_authorization(target.proxy)})
        try:
            status, _, _ = await connection.exchange(head, None)
        except (OSError, ValueError):
            status = 0
        if status != 200:
            connection.transport.abort()
            raise _ConnectFailed(PROXY_FAILED)
        loop = asyncio.get_running_loop()
        try:
            transport = await loop.start_tls(connection.transport, connection, self._tls(), server_hostname=target.host)
        except OSError as error:
            raise _ConnectFailed(TLS_FAILED, tls_verdict(error) or NOT_TLS) from None
        assert transport is not None
        connection.connection_made(transport)

    def _tls(self) -> ssl.SSLContext:
        return self._options.tls or trusted_certificates()

    async def _resolved(self, resolve: Resolve, host: str, port: int) -> list[Any]:
        """The addresses of the host, looked up once for all who wait: a lookup that hangs takes one thread."""
        lookup = self._addresses
        if lookup is None or self._is_outdated(lookup):
            lookup = asyncio.get_running_loop().create_task(resolve(host, port))
            # Its failure is looked at even if nobody waits for it any more.
            lookup.add_done_callback(_has_failed)
            self._addresses = lookup
            self._resolved_at = time.monotonic()
        return await asyncio.shield(lookup)

    def _is_outdated(self, lookup: asyncio.Task[list[Any]]) -> bool:
        if not lookup.done():
            return False
        is_expired = time.monotonic() - self._resolved_at > self._options.address_seconds
        return is_expired or _has_failed(lookup)


async def _system_addresses(host: str, port: int) -> list[Any]:
    """The addresses according to the resolver of this machine."""
    # As bytes: for a text Python loads its tables of international names, which hardly any host needs.
    encoding = "ascii" if host.isascii() else "idna"
    name = host.encode(encoding)
    return await asyncio.get_running_loop().getaddrinfo(name, port, type=SOCK_STREAM)


def _has_failed(task: asyncio.Task[Any]) -> bool:
    return task.cancelled() or task.exception() is not None


@cache
def trusted_certificates() -> ssl.SSLContext:
    """What this machine trusts; made once, since reading the certificates takes a while."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _head(method: str, path: str, headers: dict[str, str]) -> bytes:
    lines = [f"{method} {quote(path, safe=_URL_CHARACTERS)} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if any(map(_LINE_BREAK.search, lines)):
        raise ValueError("a line break in a header")
    return "\r\n".join([*lines, "", ""]).encode("utf-8")


def _proxy_authorization(proxy: str) -> dict[str, str]:
    parts = urlsplit(proxy)
    if not parts.username and not parts.password:
        return {}
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
