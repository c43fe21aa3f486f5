"""Decompression in small steps, each with a limited output, whatever the input."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

ACCEPTED = "gzip, deflate, br, zstd"
"""The value of ``Accept-Encoding``."""

# Small inputs avoid copying large remainders again and again; small outputs limit the memory.
_STEP_IN = 4096
_STEP_OUT = 64 * 1024


class DecompressionError(ValueError):
    """The body is not what ``Content-Encoding`` says."""


class _Stream(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _Brotli:
    """Brotli with the interface of the others."""

    unused_data = b""

    def __init__(self) -> None:
        import brotli

        self._stream = brotli.Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._stream.is_finished())

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        piece: bytes = self._stream.process(data, output_buffer_limit=max_length)
        return piece


def _zstd(_: bytes) -> _Stream:
    zstd = _zstd_module()
    # The standard for the web (RFC 9659) allows a window of 8 MB; a frame may ask for 2 GB.
    stream: _Stream = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: 23})
    return stream


def _zstd_module() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _deflate(data: bytes) -> _Stream:
    # Some servers omit the zlib header, whose first byte ends in 8.
    has_header = data[0] & 0x0F == 8
    wbits = zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS
    return zlib.decompressobj(wbits)


_STREAMS: dict[str, Callable[[bytes], _Stream]] = {
    "gzip": lambda _: zlib.decompressobj(16 + zlib.MAX_WBITS),
    "x-gzip": lambda _: zlib.decompressobj(16 + zlib.MAX_WBITS),
    "deflate": _deflate,
    "br": lambda _: _Brotli(),
    "zstd": _zstd,
}
# How another member of the same body begins; anything else after the first is padding.
_MEMBER_STARTS: dict[str, tuple[bytes, ...]] = {
    "gzip": (b"\x1f",),
    "x-gzip": (b"\x1f",),
    "zstd": (b"\x28", *(bytes([first]) for first in range(0x50, 0x60))),
}
# Each takes time to set up, so a body of empty members would take seconds.
_MAX_MEMBERS = 1000


class Decompressor:
    """Decompresses one body; ``encoding`` is the value of ``Content-Encoding``."""

    def __init__(self, encoding: str) -> None:
        # Servers also send values that are no encoding ("utf-8"); like browsers, we ignore them.
        known = [name for part in encoding.lower().split(",") if (name := part.strip()) in _STREAMS]
        if len(known) > 1:
            raise DecompressionError("compressed more than once")
        self._name = known[0] if known else ""
        self._stream: _Stream | None = None
        self._members = 0
        self._ended = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decompress ``data`` in pieces; raises ``DecompressionError``."""
        if not self._name:
            yield data
            return
        for start in range(0, len(data), _STEP_IN):
            yield from self._decompress(data[start : start + _STEP_IN])

    def finish(self) -> None:
        """Raise ``DecompressionError`` if the end is missing."""
        if self._stream is not None:
            raise DecompressionError("the end is missing")

    def _decompress(self, data: bytes) -> Iterator[bytes]:
        full = False
        while (data or full) and not self._ended:
            stream = self._stream or self._begin(data)
            if stream is None:
                return
            piece = self._step(stream, data)
            yield piece
            if stream.eof:
                self._stream, data, full = None, stream.unused_data, False
            else:
                # After a full piece there may be more output without more input.
                data, full = getattr(stream, "unconsumed_tail", b""), len(piece) >= _STEP_OUT

    def _begin(self, data: bytes) -> _Stream | None:
        if self._members and not data.startswith(_MEMBER_STARTS.get(self._name, ())):
            self._ended = True
            return None
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise DecompressionError(f"more than {_MAX_MEMBERS} members")
        self._stream = _STREAMS[self._name](data)
        return self._stream

    def _step(self, stream: _Stream, data: bytes) -> bytes:
        try:
            return stream.decompress(data, _STEP_OUT)
        except _errors(self._name) as error:
            raise DecompressionError(str(error)) from None


def _errors(name: str) -> tuple[type[Exception], ...]:
    if name == "br":
        import brotli

        return (brotli.error,)
    return (_zstd_module().ZstdError,) if name == "zstd" else (zlib.error,)
