"""Tables: drawn by ``rich`` on a terminal, aligned columns without wrapping in a pipe."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .terminal import Terminal, padded, printable, width_of

Cell = str | Sequence[tuple[str, str]]
"""A text, or parts of a text with the style of each; a part may begin with a line break."""


def show_table(
    out: Terminal, rows: Sequence[Sequence[Cell]], head: Sequence[str] = (), wrapped: Collection[int] = ()
) -> None:
    """Write a table; the columns ``wrapped`` give way where the terminal is too narrow."""
    if not rows and not head:
        return
    if out.interactive:
        _draw(out, rows, head, wrapped)
    else:
        _align(out, [head, *rows] if head else rows)


def _draw(out: Terminal, rows: Sequence[Sequence[Cell]], head: Sequence[str], wrapped: Collection[int]) -> None:
    from rich.table import Table

    from .flow import Flow

    table = Table(box=None, show_header=bool(head), pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for i, title in enumerate(head or [""] * len(rows[0])):
        table.add_column(Flow(title), no_wrap=i not in wrapped)
    for row in rows:
        table.add_row(*(Flow.assemble(*_parts(cell)) for cell in row))
    out.console().print(table)


def _align(out: Terminal, rows: Sequence[Sequence[Cell]]) -> None:
    table = [["".join(text for text, _ in _parts(cell)).split("\n") for cell in row] for row in rows]
    widths = [max(width_of(line) for cell in column for line in cell) + 2 for column in zip(*table, strict=True)]
    for row in table:
        for n in range(max(map(len, row))):
            cells = [cell[n] if n < len(cell) else "" for cell in row]
            out.line("".join(padded(cell, width) for cell, width in zip(cells, widths, strict=True)).rstrip())


def _parts(cell: Cell) -> list[tuple[str, str]]:
    parts = [(cell, "")] if isinstance(cell, str) else cell
    return [("\n".join(printable(line) for line in text.split("\n")), style) for text, style in parts]
