"""``Connection``: HTTP/1.1 on one socket, one exchange after another, with a limited size of head and body."""

from __future__ import annotations

import asyncio
from typing import NamedTuple, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from .decompress import Decompressor

REDIRECTS = frozenset((301, 302, 303, 307, 308))
_MAX_HEAD, _MAX_HEADER, _MAX_HEADERS = 64 * 1024, 32 * 1024, 128


class Limits(NamedTuple):
    """The most bytes of a body, as it is sent and decompressed."""

    wire: int
    body: int


class BadResponse(ValueError):
    """What the server sent is not HTTP."""


class BodyTooLarge(ValueError):
    """The body is larger than ``limit``."""

    def __init__(self, limit: int) -> None:
        self.limit = limit


class ConnectionClosed(OSError):
    """The server closed the connection before the end of its response; ``unused`` if it sent nothing at all."""

    def __init__(self, unused: bool) -> None:
        super().__init__("closed by the server")
        self.unused = unused


class Connection(asyncio.Protocol):
    """A socket and the response that is being received on it."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self._lost = asyncio.get_running_loop().create_future()
        self._expiry: asyncio.TimerHandle | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._closes = True

    # --- for the client -------------------------------------------------------------------------------------------
    async def exchange(self, data: bytes, limits: Limits | None) -> tuple[int, dict[str, str], bytes]:
        """Send a request; return status, headers with lower-case names, and the decompressed body of its response.

        Without limits no body is read, as of a redirect.
        """
        if self.transport.is_closing():
            raise ConnectionClosed(unused=True)
        self._waiting = asyncio.get_running_loop().create_future()
        self._limits = limits
        self._parser = HttpResponseParser(self)
        # As browsers do: old servers end lines with a line feed alone.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._received = 0
        self._begin()
        try:
            self.transport.write(data)
            await self._waiting
        except BaseException:
            # Also when the caller leaves: the server must see that nobody waits for the rest.
            self.transport.abort()
            raise
        finally:
            self._waiting = None
        return self._status, self._headers, b"".join(self._body)

    @property
    def reusable(self) -> bool:
        """Whether another request can be sent."""
        return not self._closes and not self.transport.is_closing()

    def keep(self, seconds: float) -> None:
        """Close the connection if it is not used again within ``seconds``."""
        self._expiry = asyncio.get_running_loop().call_later(seconds, self.transport.close)

    def reuse(self) -> bool:
        """Take a kept connection into use again; False if it has been closed."""
        if self._expiry is not None:
            self._expiry.cancel()
        return not self.transport.is_closing()

    async def close(self) -> None:
        """Close the socket."""
        self.transport.abort()
        await self._lost

    # --- for the event loop ---------------------------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way to the server."""
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Parse a part of the response."""
        if self._waiting is None:
            # Nothing was asked for.
            self.transport.abort()
            return
        self._received += len(data)
        try:
            self._parser.feed_data(data)
            in_head = not self._complete and not self._in_body
            if in_head and self._received > _MAX_HEAD:
                raise BadResponse("the headers are too large")
        except HttpParserUpgrade:
            self._fail(BadResponse("another protocol"))
        except HttpParserError as error:
            # An error in one of the methods below is the context of the parser's own.
            if isinstance(error.__context__, ValueError):
                self._fail(error.__context__)
            else:
                self._fail(BadResponse(str(error)))
        except ValueError as error:
            self._fail(error)

    def eof_received(self) -> None:
        """Complete a body that ends with the connection."""
        in_body = self._waiting is not None and self._in_body and not self._complete
        if in_body and self._until_end:
            self.on_message_complete()

    def connection_lost(self, error: Exception | None) -> None:
        """End the exchange that was under way."""
        if not self._lost.done():
            self._lost.set_result(None)
        if self._waiting is not None:
            self._fail(ConnectionClosed(unused=not self._received))

    def _fail(self, error: BaseException) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error)
            self.transport.abort()

    def _begin(self) -> None:
        self._status = 0
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._wire = self._size = 0
        self._in_body = self._complete = self._until_end = False
        self._decompressor: Decompressor | None = None

    # --- for the parser -------------------------------------------------------------------------------------------
    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one header."""
        if len(value) > _MAX_HEADER or len(self._headers) == _MAX_HEADERS:
            raise BadResponse("the headers are too large")
        self._headers[name.decode("latin-1").lower()] = value.decode("utf-8", "surrogateescape")

    def on_headers_complete(self) -> None:
        """Prepare for the body."""
        self._status = self._parser.get_status_code()
        self._in_body = self._status >= 200
        chunked = self._headers.get("transfer-encoding", "").lower().endswith("chunked")
        self._until_end = "content-length" not in self._headers and not chunked
        if encoding := self._headers.get("content-encoding", ""):
            self._decompressor = Decompressor(encoding)
        length = self._headers.get("content-length", "")
        is_redirect = self._status in REDIRECTS and "location" in self._headers
        if self._limits is None or (is_redirect and length != "0"):
            self._end(closes=True)
        elif length.isdecimal() and int(length) > self._limits.wire:
            raise BodyTooLarge(self._limits.wire)

    def on_body(self, data: bytes) -> None:
        """Take a part of the body."""
        if self._complete or self._limits is None:
            return
        self._wire += len(data)
        if self._wire > self._limits.wire:
            raise BodyTooLarge(self._limits.wire)
        pieces = (data,) if self._decompressor is None else self._decompressor.feed(data)
        for piece in pieces:
            self._size += len(piece)
            if self._size > self._limits.body:
                raise BodyTooLarge(self._limits.body)
            self._body.append(piece)

    def on_message_complete(self) -> None:
        """End the exchange, unless the response is only an interim one (``103 Early Hints``)."""
        if self._complete:
            return
        if self._status < 200:
            self._begin()
            return
        if self._decompressor is not None:
            self._decompressor.finish()
        self._end(closes=self._until_end or not self._parser.should_keep_alive())

    def _end(self, *, closes: bool) -> None:
        self._complete, self._closes = True, closes
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)
