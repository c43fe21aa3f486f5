"""Text for ``rich`` that wraps between words and between Chinese characters, and never inside a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.containers import Lines
from rich.text import Text

from .terminal import line_breaks

if TYPE_CHECKING:
    from rich.console import Console


class Flow(Text):
    """A text whose lines are broken by :func:`line_breaks`."""

    def wrap(self, console: Console, width: int, *, justify: Any = None, tab_size: int = 8, **_: Any) -> Lines:
        """Return the lines of the text."""
        lines = Lines()
        for line in self.split(allow_blank=True):
            line.expand_tabs(tab_size)
            parts = line.divide(line_breaks(line.plain, width, cell_len))
            for part in parts:
                part.rstrip()
            parts.justify(console, width, justify=justify or self.justify or "left", overflow="fold")
            lines.extend(parts)
        return lines
