"""Tables for people, targets for machines, and the few sums that the benchmarks share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from unicodedata import east_asian_width


@dataclass(frozen=True, slots=True)
class Target:
    """A figure and the limit that it is held to."""

    what: str
    value: float
    limit: float
    at_least: bool = False
    unit: str = ""

    @property
    def reached(self) -> bool:
        """Whether the figure is on the right side of its limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def row(self) -> tuple[str, ...]:
        """Return the target as a row of the table at the end."""
        sign = "≥" if self.at_least else "≤"
        return (
            self.what,
            f"{sign} {self.limit:g}{self.unit}",
            f"{self.value:.4g}{self.unit}",
            "reached" if self.reached else "MISSED",
        )


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table: the first column to the left, figures to the right."""
    widths = [max(_width(row[i]) for row in (head, *rows)) for i in range(len(head))]
    print(f"\n{title}")
    for row in (head, ["─" * width for width in widths], *rows):
        cells = [_pad(cell, width, left=i == 0) for i, (cell, width) in enumerate(zip(row, widths, strict=True))]
        print("  " + "  ".join(cells).rstrip())


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the median of the rounds' ratios: both of a round ran at about the same moment of a noisy machine."""
    return median(a / b for a, b in zip(ours, theirs, strict=True))


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Return the median with the smallest and the largest value."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def _width(text: str) -> int:
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _pad(text: str, width: int, *, left: bool) -> str:
    gap = " " * (width - _width(text))
    return text + gap if left else gap + text
