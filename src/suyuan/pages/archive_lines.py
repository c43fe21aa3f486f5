"""Pages of an archive for other programs and machines: JSON, one page a line, and read back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO

from ..core.document import Cut, Document
from ..core.urls import is_page
from ..messages.catalog import Text

_TEXTS = ("url", "final_url", "title", "text", "content_type", "fetched_at")
_OTHER_TEXTS = ("canonical_url", "author", "site_name", "language", "etag", "last_modified")


class Unreadable(Exception):
    """A line that holds no page, and why."""

    def __init__(self, why: Text) -> None:
        super().__init__(why.key)
        self.why = why


def exported(document: Document) -> dict[str, Any]:
    """Everything that an archive knows of a page."""
    more = {"links": [list(link) for link in document.links], "etag": document.etag}
    return {**document.as_dict(), **more, "last_modified": document.last_modified}


def pages_in(stream: BinaryIO) -> Iterator[tuple[int, Document | Text]]:
    """The pages of a file, by line, each or why it cannot be read; also those in the export of a person."""
    for number, line in enumerate(stream, 1):
        if line.strip() == b"{":
            # Not one page a line, but all that is kept of a person.
            yield from _of_person(line + stream.read())
            return
        if line.strip():
            yield number, _page(line)


def _of_person(content: bytes) -> Iterator[tuple[int, Document | Text]]:
    try:
        pages = json.loads(content)["archive"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        yield 1, Text("archive.detail.not_json", {"why": str(error)})
        return
    for number, page in enumerate(pages if isinstance(pages, list) else [], 1):
        yield number, _checked(page)


def _page(line: bytes) -> Document | Text:
    try:
        return _checked(json.loads(line))
    except (ValueError, RecursionError) as error:
        return Text("archive.detail.not_json", {"why": str(error)})


def _checked(data: object) -> Document | Text:
    try:
        return imported(data)
    except Unreadable as error:
        return error.why


def imported(data: object) -> Document:
    """Read what :func:`exported` has made; raises ``Unreadable``."""
    if not isinstance(data, dict):
        raise Unreadable(Text("archive.detail.not_json", {"why": type(data).__name__}))
    values: dict[str, Any] = {name: _text(data, name) for name in _TEXTS}
    values |= {name: _text(data, name) for name in _OTHER_TEXTS if data.get(name)}
    for name in ("url", "final_url"):
        if not is_page(values[name]):
            raise _field(name)
    values["published_at"] = _text(data, "published_at") if data.get("published_at") else None
    values["status"] = _status(data)
    values["notes"] = tuple(map(str, _list(data, "notes")))
    values["links"] = tuple(_link(link) for link in _list(data, "links"))
    values["cut"] = _cut(data)
    try:
        datetime.fromisoformat(values["fetched_at"])
    except ValueError:
        raise _field("fetched_at") from None
    document = Document(**values)
    if data.get("sha256") not in (None, document.sha256):
        raise Unreadable(Text("archive.detail.other_text"))
    return document.shown()


def _field(name: str) -> Unreadable:
    return Unreadable(Text("archive.detail.field", {"name": name}))


def _text(data: dict[str, Any], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise _field(name)
    return value


def _list(data: dict[str, Any], name: str) -> list[Any]:
    value = data.get(name) or []
    if not isinstance(value, list):
        raise _field(name)
    return value


def _status(data: dict[str, Any]) -> int:
    status = data.get("status", 200)
    if type(status) is not int:
        raise _field("status")
    return status


def _link(link: object) -> tuple[str, str]:
    if not isinstance(link, list) or len(link) != 2:
        raise _field("links")
    return str(link[0]), str(link[1])


def _cut(data: dict[str, Any]) -> Cut | None:
    cut = data.get("cut")
    if not cut:
        return None
    try:
        return Cut(str(cut["unit"]), int(cut["read"]), int(cut["total"]))
    except (KeyError, TypeError, ValueError):
        raise _field("cut") from None
