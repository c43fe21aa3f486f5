"""Turns the markers of an answer into one form, and into links to the sources."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..core.urls import is_page
from .markers import MAX_ADDRESS, MarkerScanner, Piece
from .reference_stripper import ReferenceStripper
from .registry import Source

log = logging.getLogger("suyuan.citations")

# What could end a link or break out of it, in Markdown or in HTML; direction marks would show another address than the one that is opened.
_UNSAFE = re.compile(
    r"[()<>\[\]{}\"'\s\\`|^\x00-\x20\x7f-\xa0\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
_ENTITY = re.compile(r"&(\w{1,32});")
_YEARS = range(1900, 2101)


@dataclass(frozen=True, slots=True)
class Linked:
    """An answer with its citations settled."""

    text: str
    """Every known marker as ``[n]``; what is not known is as it was."""
    markdown: str
    """The same, with each ``[n]`` as ``[[n]](url)``."""
    cited: tuple[int, ...]
    """The sources that are cited, in order of first use."""
    unknown: tuple[int, ...]
    """Numbers in markers that are no source."""


def link(text: str, sources: Mapping[int, Source]) -> Linked:
    """Settle the citations of a whole answer; numbers that are no source are logged."""
    own, scanner = ReferenceStripper(lambda: sources), MarkerScanner()
    pieces = scanner.feed(own.feed(text) + own.close()) + scanner.close()
    plain, linked = _Writer(), _Writer(link=lambda number: _reference(number, sources))
    canonical, markdown = plain.write(pieces, sources), linked.write(pieces, sources)
    unknown = tuple(plain.unknown)
    if unknown:
        log.warning("the answer cites %s, but there is no such source", ", ".join(f"[{number}]" for number in unknown))
    return Linked(canonical, markdown, tuple(plain.cited), unknown)


class Linker:
    """Does the same to an answer that is still being written; what it returns, joined, is :attr:`Linked.text` of the whole."""

    def __init__(self, sources: Callable[[], Mapping[int, Source]]) -> None:
        self._sources = sources
        self._own, self._scanner, self._writer = ReferenceStripper(sources), MarkerScanner(), _Writer()

    def feed(self, chunk: str) -> str:
        """Take more of the answer; return what may be shown now. A marker comes whole or not at all."""
        return self._writer.write(self._scanner.feed(self._own.feed(chunk)), self._sources())

    def close(self) -> str:
        """Return the rest: the answer is complete."""
        pieces = self._scanner.feed(self._own.close()) + self._scanner.close()
        return self._writer.write(pieces, self._sources())


def safe_url(url: str) -> str:
    """Return ``url`` in a form that cannot break out of a Markdown link or an HTML attribute; empty if it is no http(s) address."""
    if not is_page(url):
        return ""
    safe = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), url)
    safe = _ENTITY.sub(r"&\1%3B", safe)
    return safe if len(safe) <= MAX_ADDRESS else ""


def _reference(number: int, sources: Mapping[int, Source]) -> str:
    url = safe_url(sources[number].url)
    return f"[[{number}]]({url})" if url else f"[{number}]"


@dataclass(slots=True)
class _Writer:
    """Writes pieces, known markers in one form, and keeps count of the numbers."""

    link: Callable[[int], str] = "[{}]".format
    cited: dict[int, None] = field(default_factory=dict)
    unknown: dict[int, None] = field(default_factory=dict)
    _exclaimed: bool = False

    def write(self, pieces: Iterable[Piece], sources: Mapping[int, Source]) -> str:
        out = []
        for piece in pieces:
            written = self._marker(piece, sources) if piece.numbers else piece.raw
            self._exclaimed = written.endswith("!")
            out.append(written)
        return "".join(out)

    def _marker(self, piece: Piece, sources: Mapping[int, Source]) -> str:
        known = [number for number in piece.numbers if number in sources]
        missing = [number for number in piece.numbers if number not in sources]
        if not known and len(missing) == 1 and missing[0] in _YEARS:
            return piece.raw
        self.unknown.update(dict.fromkeys(missing))
        if not known:
            return piece.raw
        self.cited.update(dict.fromkeys(known))
        written = "".join(self.link(number) if number in sources else f"[{number}]" for number in piece.numbers)
        # "![" would begin a picture, and "[1](" a link to whatever stands in the parentheses.
        return f"{' ' if self._exclaimed else ''}{written}{'' if piece.parted else ' '}"
