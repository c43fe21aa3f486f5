"""The text of an answer in a pipe: Markdown as it comes."""

from __future__ import annotations

from collections.abc import Mapping

from ..citations.registry import Source
from ..tools.text import snippet_line
from .terminal import Terminal, printable


def named(source: Source) -> str:
    """The title of a source and its domain."""
    return " — ".join(dict.fromkeys(part for part in (source.title, source.domain) if part))


class PlainText:
    """Writes Markdown as it comes; ``RenderedText`` has the same methods."""

    def __init__(self, out: Terminal) -> None:
        self._out = out
        self._in_line = False

    def write(self, text: str) -> None:
        """Write more of the text at once, without control characters."""
        self._out.stream.write("\n".join(printable(line) for line in text.split("\n")))
        self._out.stream.flush()
        self._in_line = not text.endswith("\n")

    def line(self, text: str = "", style: str = "") -> None:
        """End the text so far and write a line that is not part of it."""
        self.flush()
        self._out.line(text)

    def sources(self, heading: str, sources: Mapping[Source, str]) -> None:
        """Write title, domain, address and snippet of each source, with its mark."""
        self.line()
        self.line(heading)
        for source, mark in sources.items():
            self.line(f"[{source.number}] {named(source)} {mark}".rstrip())
            self.line(f"      {source.url}")
            if source.snippet:
                self.line(f"      {snippet_line(source.snippet)}")

    def refresh(self) -> None:
        """Do nothing: all of the text is written."""

    def flush(self) -> None:
        """End the line."""
        if self._in_line:
            self._out.stream.write("\n")
            self._out.stream.flush()
            self._in_line = False

    def close(self) -> None:
        """End the line."""
        self.flush()
