"""Writes the citation markers of an answer in one form, and as links to their sources, in a single pass."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from ..core.urls import is_page, page_key
from ..text.shown_address import shown_address
from .markers import MAX_ADDRESS, Marker, MarkerScanner, Segment
from .reference_stripper import ReferenceStripper
from .registry import Source

log = logging.getLogger("suyuan.citations")

# Characters that could end a link or break out of it, in Markdown or in HTML.
_UNSAFE = re.compile(r"[()<>\[\]{}\"'\s\\`|^]")
_ENTITY = re.compile(r"&(\w{1,32});")
# So many characters are worked on at a time.
_SLICE = 500
_YEARS = range(1900, 2101)


@dataclass(frozen=True, slots=True)
class LinkedAnswer:
    """An answer with its citations resolved."""

    text: str
    """Every marker of a known source as ``[n]``; markers of unknown sources are unchanged."""
    markdown: str
    """The same text, with each ``[n]`` as ``[[n]](url)``."""
    markers: tuple[Marker, ...]
    """All markers of ``text``, of known and unknown sources."""
    cited: tuple[int, ...]
    """The numbers of the cited sources, in order of first use."""
    unknown: tuple[int, ...]
    """The cited numbers that belong to no source."""


class Linker:
    """Resolves the citations of an answer while it is written; the chunks in which it comes make no difference."""

    def __init__(self, sources: Callable[[], Mapping[int, Source]]) -> None:
        self._sources = sources
        self._stripper = ReferenceStripper(sources)
        self._scanner = MarkerScanner()
        self._text: list[str] = []
        self._markdown: list[str] = []
        self._markers: list[Marker] = []
        self._length = 0
        self._cited: dict[int, None] = {}
        self._unknown: dict[int, None] = {}
        self._after_exclamation = False

    def feed(self, chunk: str) -> str:
        """Take more of the answer; return what can be shown now. A marker is returned whole or not at all."""
        return "".join(self.parts(chunk))

    def close(self) -> str:
        """Return the rest of the text; the answer is complete. Unknown numbers are logged."""
        return "".join(self.rest())

    def parts(self, chunk: str) -> Iterator[str]:
        """The same as :meth:`feed` in parts, each of which takes a few milliseconds; all of them have to be taken."""
        for part in _slices(chunk):
            yield from self._scanned(self._stripper.feed(part))
            # Also where all of it is held back, which took its time as well.
            yield ""

    def rest(self) -> Iterator[str]:
        """The same as :meth:`close` in parts."""
        yield from self._scanned(self._stripper.close())
        rest = self._write(self._scanner.close())
        if self._unknown:
            numbers = ", ".join(f"[{number}]" for number in self._unknown)
            log.warning("the answer cites %s, but there is no such source", numbers)
        yield rest

    def _scanned(self, text: str) -> Iterator[str]:
        """What can be shown of ``text``, which may be long: lines that were held back come together."""
        for part in _slices(text):
            yield self._write(self._scanner.feed(part))

    @property
    def answer(self) -> LinkedAnswer:
        """Everything that was written so far."""
        return LinkedAnswer(
            "".join(self._text),
            "".join(self._markdown),
            tuple(self._markers),
            tuple(self._cited),
            tuple(self._unknown),
        )

    def _write(self, segments: Iterable[Segment]) -> str:
        first = len(self._text)
        for segment in segments:
            segment = self._resolved(segment)
            if segment.numbers:
                self._write_marker(segment, self._sources())
            else:
                self._append(segment.raw)
            self._after_exclamation = segment.raw.endswith("!")
        return "".join(self._text[first:])

    def _resolved(self, segment: Segment) -> Segment:
        """A link that the model has written to the source of its number is a marker; any other stays as it is."""
        if not segment.linked:
            return segment
        sources, page = self._sources(), _page(segment.address)
        own = [number for number in segment.linked if number in sources and _page(sources[number].url) == page]
        return Segment(segment.raw, segment.linked) if own else segment

    def _write_marker(self, segment: Segment, sources: Mapping[int, Source]) -> None:
        missing = [number for number in segment.numbers if number not in sources]
        known = len(missing) < len(segment.numbers)
        # "[2024]" is more likely a year than a citation.
        is_year = len(missing) == 1 and missing[0] in _YEARS
        if known or not is_year:
            self._unknown.update(dict.fromkeys(missing))
        if not known:
            self._append_marker(segment.raw, segment.raw, segment.numbers)
            return
        # "![" would begin an image, and "[1](" a link to the text in the parentheses.
        if self._after_exclamation:
            self._append(" ")
        for number in segment.numbers:
            link = f"[{number}]"
            if number in sources:
                self._cited[number] = None
                link = _link(sources[number])
            self._append_marker(f"[{number}]", link, (number,))
        if segment.before_parenthesis:
            self._append(" ")

    def _append_marker(self, text: str, markdown: str, numbers: tuple[int, ...]) -> None:
        self._markers.append(Marker(self._length, self._length + len(text), numbers))
        self._append(text, markdown)

    def _append(self, text: str, markdown: str | None = None) -> None:
        if markdown is None:
            markdown = text
        self._text.append(text)
        self._markdown.append(markdown)
        self._length += len(text)


def safe_url(url: str) -> str:
    """Return ``url`` so that it cannot break out of a Markdown link or HTML attribute; empty if it is not http(s)."""
    real = shown_address(url)
    if not is_page(real):
        return ""
    safe = _UNSAFE.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), real)
    safe = _ENTITY.sub(r"&\1%3B", safe)
    return safe if len(safe) <= MAX_ADDRESS else ""


def _page(url: str) -> str:
    """The same text for all spellings of an address."""
    return unquote(page_key(url))


def _link(source: Source) -> str:
    url = safe_url(source.url)
    return f"[[{source.number}]]({url})" if url else f"[{source.number}]"


def _slices(text: str) -> Iterator[str]:
    """``text`` in parts of a length that takes a few milliseconds."""
    for start in range(0, len(text), _SLICE):
        yield text[start : start + _SLICE]
