"""HTTP/1.1 as httptools reads it, with two additions: raw UTF-8 in a URL, and a limit for the head of a request."""

from __future__ import annotations

import re

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 64 * 1024
_NON_ASCII = re.compile(rb"[\x80-\xff]")


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    _in_request_line = True
    _head_size = 0
    """Bytes of the head that is being read; trailers and chunk headers count too, a body does not."""

    def data_received(self, data: bytes) -> None:
        """Parse ``data``."""
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

    def on_headers_complete(self) -> None:
        """Begin to answer."""
        self._head_size = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass a part of the body on."""
        self._head_size = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request; the next one begins with its request line."""
        self._head_size = 0
        self._in_request_line = True
        super().on_message_complete()
