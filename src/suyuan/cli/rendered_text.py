"""The text of an answer on a terminal: each finished block is printed, the unfinished one is shown below it."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.table import Table

from ..citations.registry import Source
from ..tools.text import snippet_line
from .answer_text import named
from .flow import Flow
from .markdown import MarkdownRenderer, can_link, finished_length
from .terminal import Terminal, printable

# A finished block is looked for, and an unfinished one is rendered, in at most a tenth of the time.
_SHARE = 10
# A longer unfinished block is shown as it was written, and only its end.
_LONGEST_UNFINISHED = 8_000


class RenderedText:
    """Renders Markdown while it comes; ``urls`` are the addresses of the citation numbers."""

    def __init__(self, out: Terminal, urls: Mapping[int, str]) -> None:
        self._console = out.console()
        self._renderer = MarkdownRenderer(urls, links=can_link(self._console))
        self._text = ""
        self._looked_again_at = 0.0
        self._gap = False
        """Whether a blank line is due before the next block."""
        self._since = time.monotonic()
        self._spinner = Spinner("dots", style="dim")
        self._live: Live | None = None
        # The lines of a log on the same screen would destroy the live part.
        if out.colour and not logging.getLogger().isEnabledFor(logging.WARNING):
            self._live = Live(
                _Unfinished(self),
                console=self._console,
                transient=True,
                # The event loop refreshes it, so that nothing is drawn while a block is printed.
                auto_refresh=False,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()

    def write(self, text: str) -> None:
        """Take more of the text and print the blocks that are finished."""
        self._text += text
        begun = time.monotonic()
        if "\n" not in text or begun < self._looked_again_at:
            return
        length = finished_length(self._text)
        self._looked_again_at = begun + (1 + _SHARE) * (time.monotonic() - begun)
        if length:
            self._text, finished = self._text[length:], self._text[:length]
            self._print(finished)

    def line(self, text: str = "", style: str = "") -> None:
        """Print the text so far, then a line that is not part of it."""
        self.flush()
        self._since = time.monotonic()
        self._console.print(Flow(printable(text), style))
        self._gap = bool(text)

    def sources(self, heading: str, sources: Mapping[Source, str]) -> None:
        """Print title, domain, address and snippet of each source, linked where the terminal can."""
        self.flush()
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(justify="right", no_wrap=True)
        grid.add_column()
        for source, mark in sources.items():
            title = self._renderer.link(printable(f"{named(source)} {mark}".rstrip()), source.url, "bold")
            url = self._renderer.link(printable(source.url), source.url, "dim")
            snippet = [Flow(printable(snippet_line(source.snippet)), "dim")] if source.snippet else []
            grid.add_row(Flow(f"[{source.number}]", "cyan"), Group(title, url, *snippet))
        self._console.print("", Flow(heading, "bold"), grid, sep="\n")

    def close(self) -> None:
        """Print the text so far and end the live part."""
        self.flush()
        if self._live:
            self._live.stop()
            self._live = None

    def refresh(self) -> None:
        """Show the unfinished block as it is now."""
        if self._live:
            self._live.refresh()

    def flush(self) -> None:
        """Print the text so far."""
        text, self._text = self._text, ""
        if text.strip():
            self._print(text)

    def _print(self, text: str) -> None:
        block, self._gap = self._block(text), True
        self._console.print(block)

    def unfinished(self) -> RenderableType:
        """Return the unfinished block, or the time since the last event."""
        if not self._text.strip():
            self._spinner.update(text=Flow(f"{time.monotonic() - self._since:.0f} s", "dim"))
            return self._spinner
        if len(self._text) > _LONGEST_UNFINISHED:
            return Flow("\n".join(map(printable, self._text[-_LONGEST_UNFINISHED:].split("\n"))))
        return self._block(self._text)

    def _block(self, text: str) -> RenderableType:
        block = self._renderer.render(text)
        return Group("", block) if self._gap else block


class _Unfinished:
    """What is unfinished at the moment of rendering, cut to the last lines that fit on the screen."""

    def __init__(self, text: RenderedText) -> None:
        self._text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._text.unfinished(), options, pad=False)
        for line in lines[-max(1, options.size.height - 1) :]:
            yield from line
            yield Segment.line()
