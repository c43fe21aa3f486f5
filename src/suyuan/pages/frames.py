"""The frames between this process and its readers: a header as JSON and the long texts beside it.

Nothing of it is executed: a reader that a hostile page has taken over can send wrong texts, but no code.
"""

from __future__ import annotations

import codecs
import json
import struct
from dataclasses import asdict, replace
from typing import Any, BinaryIO

from ..core.document import PIECE, Document, cut_from
from ..core.errors import InvalidInput, SuyuanError, WebParseError, WebProviderError
from ..core.failure import Failure
from ..core.wire import Response
from .reading import DocumentPart, Reading, ReadingLimits, ReceivedPage

BUFFER = 1 << 17
"""Of both ends of a pipe: a usual page is written and read at once."""
MAX_HEADER = 4_000_000
MAX_PART = 450_000_000
"""Of a file, and more than the text of any."""

_LENGTHS = struct.Struct("!III")
_ERRORS: tuple[type[SuyuanError], ...] = (InvalidInput, WebProviderError, *WebProviderError.__subclasses__())
_BY_CODE = {kind.code: kind for kind in _ERRORS}
_APART = ("text", "cut", "passages", "from_archive")
_FIELDS = tuple(name for name in Document.__slots__ if name not in _APART)


class BrokenFrame(Exception):
    """What came is not a frame, or not a whole one."""


def write_page(stream: BinaryIO, page: ReceivedPage) -> None:
    """Send a page to a reader."""
    response = page.response
    header = {
        "url": page.url,
        "notes": page.notes,
        "rendered": page.rendered,
        "form": page.form,
        "limits": asdict(page.limits),
        "indexed": page.indexed,
        "first": page.first,
        "patience": page.patience,
        "wait": page.wait,
        "status": response.status,
        "final_url": response.url,
        "headers": dict(response.headers),
    }
    _write(stream, header, response.body, b"")


def read_page_frame(stream: BinaryIO) -> ReceivedPage:
    """Receive a page; raises ``EOFError`` at the end."""
    header, body, _ = _read(stream)
    return ReceivedPage(
        header["url"],
        Response(header["status"], body, header["final_url"], header["headers"]),
        tuple(header["notes"]),
        header["rendered"],
        header["form"],
        ReadingLimits(**header["limits"]),
        header["indexed"],
        header["first"],
        header["patience"],
        header["wait"],
    )


def write_outcome(stream: BinaryIO, outcome: Reading | SuyuanError, rss: int) -> None:
    """Send what came of a page, and how much memory the reader has used, in MB."""
    if isinstance(outcome, SuyuanError):
        _write(stream, {"error": outcome.failure.as_dict(), "rss": rss}, b"", b"")
        return
    document = outcome.document
    header = {
        "document": {name: getattr(document, name) for name in _FIELDS},
        "cut": document.cut.as_dict() if document.cut else None,
        "part": asdict(outcome.part) if outcome.part else None,
        "rss": rss,
    }
    _write(stream, header, _encoded(document.text), _encoded(outcome.index))


def read_outcome(stream: BinaryIO) -> tuple[Reading | SuyuanError, int]:
    """Receive what came of a page; raises ``EOFError`` or ``BrokenFrame``."""
    header, text, index = _read(stream)
    try:
        rss = int(header["rss"])
        if "error" in header:
            return error_from(header["error"]), rss
        part = DocumentPart(**header["part"]) if header["part"] else None
        return Reading(_document(header, text), _decoded(index), part), rss
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise BrokenFrame(str(error)) from None


def error_from(data: dict[str, Any]) -> SuyuanError:
    """The error whose failure was written by its ``as_dict``."""
    failure = Failure.from_dict(data)
    return _BY_CODE.get(failure.code, WebParseError)(failure)


def _document(header: dict[str, Any], text: bytes) -> Document:
    fields = header["document"]
    document = Document(**{name: fields[name] for name in _FIELDS}, text=_decoded(text))
    links = tuple((str(name), str(url)) for name, url in document.links)
    return replace(document, links=links, notes=tuple(map(str, document.notes)), cut=cut_from(header["cut"]))


def _decoded(data: bytes) -> str:
    """The text in pieces, since nothing else goes on in this process meanwhile."""
    decoder, whole = codecs.getincrementaldecoder("utf-8")("replace"), memoryview(data)
    found = [decoder.decode(whole[start : start + PIECE]) for start in range(0, len(data), PIECE)]
    return "".join([*found, decoder.decode(b"", True)])


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _write(stream: BinaryIO, header: dict[str, Any], first: bytes, second: bytes) -> None:
    head = json.dumps(header).encode("ascii")
    stream.write(_LENGTHS.pack(len(head), len(first), len(second)) + head)
    stream.write(first)
    stream.write(second)
    stream.flush()


def _read(stream: BinaryIO) -> tuple[dict[str, Any], bytes, bytes]:
    lengths = stream.read(_LENGTHS.size)
    if not lengths:
        raise EOFError
    if len(lengths) < _LENGTHS.size:
        raise BrokenFrame("cut off")
    header, first, second = _LENGTHS.unpack(lengths)
    if header > MAX_HEADER or max(first, second) > MAX_PART:
        raise BrokenFrame("too long")
    parts = [stream.read(length) for length in (header, first, second)]
    if [len(part) for part in parts] != [header, first, second]:
        raise BrokenFrame("cut off")
    try:
        head = json.loads(parts[0])
    except ValueError as error:
        raise BrokenFrame(str(error)) from None
    return head, parts[1], parts[2]
