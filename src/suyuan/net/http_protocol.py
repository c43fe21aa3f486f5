"""HTTP/1.1 as httptools reads it, with additions: raw UTF-8 in a URL, and limits before a request is complete.

A head must be complete within seconds and is limited in size; so is the time of a body, and the number of connections
(:mod:`.connection_limits`). None of it depends on the application, which sees a request only when its head is complete.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Container
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from .connection_limits import ConnectionLimits
from .credentials import client_name

BY_PROXY = "suyuan.by_proxy"
"""The extension of a request that a trusted proxy has sent."""
LARGEST_HEAD = 64 * 1024
HEAD_SECONDS = 10.0
# Longer than the application allows, which gives the better answer.
_BODY_SECONDS = 35.0
# A client that is still sending when it is answered gets this long to read the answer.
_LINGER_SECONDS = 3.0
_JOINED = 16 * 1024
_NON_ASCII = re.compile(rb"[\x80-\xff]")


def _refusal(status: str, text: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nretry-after: 5\r\ncontent-type: text/plain\r\nconnection: close\r\n"
    return head.encode() + b"content-length: %d\r\n\r\n%b" % (len(text), text)


_FULL = _refusal("503 Service Unavailable", b"There are too many connections.\n")
_SLOW = _refusal("408 Request Timeout", b"The request is too slow.\n")


class WriteCoalescer:
    """A transport that joins the writes of one turn of the event loop: a head with its body, words with words.

    Writes for a client that has gone are dropped: the answer to a request may come after the connection has ended.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send ``data`` with what else is written now."""
        if not self._parts:
            self._loop.call_soon(self._send)
        self._parts.append(data)
        self._size += len(data)
        # The transport says when it has too much.
        if self._size > _JOINED:
            self._send()

    def close(self) -> None:
        """Send what is left, and close the connection."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        parts, self._parts, self._size = self._parts, [], 0
        if parts and not self._transport.is_closing():
            self._transport.write(b"".join(parts))


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    _in_request_line = True
    _head_open = False
    _body_open = False
    _head_size = 0
    """Bytes of the head that is being read; trailers and chunk headers count too, a body does not."""
    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, limits: ConnectionLimits, proxies: Container[str] = (), **named: Any) -> None:
        super().__init__(*args, **named)
        self._limits = limits
        self._proxies = proxies
        self._name = ""
        self._unanswered: list[RequestResponseCycle] = []
        """The requests of this connection: the one that is answered, and those sent behind it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection if there is a place for it."""
        super().connection_made(WriteCoalescer(transport, self.loop))  # type: ignore[arg-type]
        host = self.client[0] if self.client else ""
        self._name = client_name(host)
        if self._limits.open(self._name, self, limited=host not in self._proxies):
            self._allow(HEAD_SECONDS)
        else:
            self.transport.write(_FULL)
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and tell whoever answers a request of it."""
        self._allow(None)
        self._limits.close(self._name, self)
        super().connection_lost(exc)
        # uvicorn tells the last one that was sent only, which may not have begun: another one would go on for ever.
        for cycle in self._unanswered:
            cycle.disconnected = not cycle.response_complete
            cycle.message_event.set()

    def drop(self) -> None:
        """Close the connection, in favour of another one."""
        self._allow(None)
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Parse ``data``."""
        if self.transport.is_closing():
            return
        if self._in_request_line:
            # `curl host/search?q=你好` sends UTF-8 as it is; the parser accepts ASCII only.
            line, newline, rest = data.partition(b"\n")
            self._in_request_line = not newline
            if not line.isascii():
                data = _NON_ASCII.sub(lambda byte: b"%%%02X" % byte[0][0], line) + newline + rest
        self._head_size += len(data)
        super().data_received(data)
        # The parser keeps an endless header in memory.
        if self._head_size > LARGEST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The headers are larger than {LARGEST_HEAD // 1024} KB.")
        # From the first byte, not the last: one byte at a time must not keep a connection open.
        if self._deadline is None and self._body_open:
            self._allow(_BODY_SECONDS)
        elif self._deadline is None and (self._head_open or self._answered):
            self._allow(HEAD_SECONDS)

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._head_open = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._head_size = 0
        self._head_open, self._body_open = False, True
        self._allow(None)
        if self.client and self.client[0] in self._proxies:
            # Known only here: the address of the client takes the place of the proxy's.
            self.scope["extensions"] = {BY_PROXY: {}}
        super().on_headers_complete()
        left = [cycle for cycle in self._unanswered if not cycle.response_complete]
        self._unanswered = [*left, self.cycle]

    def on_body(self, body: bytes) -> None:
        """Pass a part of the body on."""
        self._head_size = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request; the next one begins with its request line."""
        self._head_size = 0
        self._in_request_line = True
        self._body_open = False
        self._allow(None)
        # It may have been answered already, such as one with a wrong token.
        if not self._answered and not self.transport.is_closing():
            self._limits.work(self._name, self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """End the answer; what follows on this connection is another request, or nothing."""
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if self._body_open:
            self._allow(_LINGER_SECONDS)
        elif not self.pipeline:
            self._limits.wait(self._name, self)

    @property
    def _answered(self) -> bool:
        return self.cycle is None or bool(self.cycle.response_complete)

    def _allow(self, seconds: float | None) -> None:
        """Close the connection unless something happens within ``seconds``."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._too_slow)

    def _too_slow(self) -> None:
        self._deadline = None
        if self._head_open and not self.transport.is_closing():
            self.transport.write(_SLOW)
        self.transport.close()
