"""What stands behind and over each place of a PDF's page: the colours of the last shapes and images painted there."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, product
from math import ceil, floor, sqrt
from typing import NamedTuple

from .colour import WHITE, Colour, opaque_mix

Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""
Outline = list[Point]
Rows = dict[int, list[tuple[int, int]]]
"""The cells of a shape: for each row the first of each run of cells, and the one behind it."""

_CELL = 1.5
"""The side of a cell in points: a stroke through a word fills none, a box over the word does."""
_MOST_CELLS = 250_000
_OPAQUE = 0.9
_NO_PAINT = array("i", (0,))
NOWHERE: Box = (0.0, 0.0, 0.0, 0.0)


class Spot(NamedTuple):
    """What is at a cell: its colour, None if that is not known, and the last paint that covers everything before."""

    colour: Colour | None
    covered_by: int = 0
    is_image: bool = False
    """Whether that paint was an image."""


class Clip(NamedTuple):
    """What is left of a page by the clipping paths: a box, and the cells of shapes that are none."""

    box: Box
    shapes: tuple[Rows, ...] = ()


Blend = Callable[[Colour, Colour | None], Colour | None]
"""The colour of a place after a paint, by that of the paint and the one that was there."""


class Canvas:
    """A page as a grid of cells, on which shapes are painted. Only cells that lie within a shape get its colour."""

    def __init__(self, box: Box) -> None:
        self.box = box
        left, bottom, right, top = box
        area = (right - left) * (top - bottom)
        self._cell = max(_CELL, sqrt(area / _MOST_CELLS))
        self._columns = max(1, ceil((right - left) / self._cell))
        self._rows = max(1, ceil((top - bottom) / self._cell))
        self._spots = [Spot(WHITE)]
        # Most pages are white all over: these are filled when something is painted.
        self._cells = array("i")
        self._scans = array("i")
        self.paints = 0
        """How many were made."""

    # --- what is there ---------------------------------------------------------------------------------------------
    def cell_at(self, x: float, y: float) -> int:
        """The cell of a place of the page."""
        column = int((x - self.box[0]) / self._cell)
        row = int((y - self.box[1]) / self._cell)
        return min(row, self._rows - 1) * self._columns + min(column, self._columns - 1)

    def spots(self, first: int, count: int) -> list[Spot]:
        """The different things that are at some cells of a row."""
        if not self._cells:
            return self._spots[:1]
        return [self._spots[number] for number in set(self._cells[first : first + count])]

    def spot(self, cell: int) -> Spot:
        """What is at a cell now."""
        return self._spots[self._cells[cell]] if self._cells else self._spots[0]

    def scan(self, cell: int) -> int:
        """The number of the image at a cell that may be the picture of a text; 0 for none."""
        return self._scans[cell] if self._scans else 0

    def holds(self, clip: Clip, x: float, y: float) -> bool:
        """Whether a place is within the clipping paths."""
        left, bottom, right, top = clip.box
        if not (left <= x < right and bottom <= y < top):
            return False
        if not clip.shapes:
            return True
        row, column = divmod(self.cell_at(x, y), self._columns)
        return all(_has(shape.get(row, ()), column) for shape in clip.shapes)

    # --- painting --------------------------------------------------------------------------------------------------
    def clipped(self, clip: Clip, outlines: Sequence[Outline], *, even_odd: bool) -> Clip:
        """What is left of ``clip`` within these outlines."""
        box = met(clip.box, box_around(outlines))
        if len(outlines) == 1 and is_box(outlines[0]):
            return Clip(box, clip.shapes)
        # The shape may be narrower than a cell, and still show a letter.
        return Clip(box, (*clip.shapes, self._rows_of(outlines, box, even_odd, whole=False)))

    def fill(
        self, outlines: Sequence[Outline], clip: Clip, colour: Colour | None, blend: Blend | None, *, even_odd: bool
    ) -> None:
        """Paint a shape; with ``blend`` what is behind it shines through."""
        self.paints += 1
        runs = list(self._runs(outlines, clip, even_odd))
        if not runs:
            return
        if not self._cells:
            self._cells = _NO_PAINT * (self._columns * self._rows)
        if blend is None and (colour is None or colour[3] >= _OPAQUE):
            self._cover(runs, Spot(colour, self.paints))
        elif blend is not None or (colour is not None and colour[3] > 0):
            self._tint(runs, colour, blend or _over)

    def picture(self, outline: Outline, clip: Clip, *, covers: bool, scan: int) -> None:
        """Paint an image; ``scan`` is its number if it may be the picture of a text."""
        self.paints += 1
        runs = list(self._runs([outline], clip, False))
        if not runs:
            return
        if not self._cells:
            self._cells = _NO_PAINT * (self._columns * self._rows)
        if scan:
            self._scans = self._scans or _NO_PAINT * len(self._cells)
            _set(self._scans, runs, scan)
        if covers:
            self._cover(runs, Spot(None, self.paints, True))
        else:
            self._tint(runs, None, _over)

    def _cover(self, runs: Sequence[tuple[int, int]], spot: Spot) -> None:
        number = len(self._spots)
        self._spots.append(spot)
        _set(self._cells, runs, number)

    def _tint(self, runs: Sequence[tuple[int, int]], colour: Colour | None, blend: Blend) -> None:
        mixed: dict[int, int] = {}
        for start, end in runs:
            before = self._cells[start:end]
            for number in set(before).difference(mixed):
                behind = self._spots[number]
                mixed[number] = len(self._spots)
                blended = None if colour is None else blend(colour, behind.colour)
                self._spots.append(behind._replace(colour=blended))
            self._cells[start:end] = array("i", map(mixed.__getitem__, before))

    def _runs(self, outlines: Sequence[Outline], clip: Clip, even_odd: bool) -> Iterator[tuple[int, int]]:
        """The cells that lie within a shape and the clipping paths, as runs."""
        box = met(clip.box, box_around(outlines))
        if not clip.shapes and len(outlines) == 1 and is_box(outlines[0]):
            yield from self._runs_of_box(box)
            return
        rows = self._rows_of(outlines, box, even_odd, whole=True)
        for row, runs in rows.items():
            first = row * self._columns
            for start, end in runs:
                for a, b in _within(start, end, row, clip.shapes):
                    yield first + a, first + b

    def _runs_of_box(self, box: Box) -> Iterator[tuple[int, int]]:
        left, bottom, right, top = self._inside(box, whole=True)
        if left >= right or bottom >= top:
            return
        if left == 0 and right == self._columns:
            yield bottom * self._columns, top * self._columns
            return
        for first in range(bottom * self._columns, top * self._columns, self._columns):
            yield first + left, first + right

    def _rows_of(self, outlines: Sequence[Outline], box: Box, even_odd: bool, *, whole: bool) -> Rows:
        left, bottom, right, top = self._inside(box, whole=whole)
        if left >= right or bottom >= top:
            return {}
        if len(outlines) == 1 and is_box(outlines[0]):
            return {row: [(left, right)] for row in range(bottom, top)}
        crossings = self._crossings(outlines, bottom, top)
        return {
            row: runs for row, found in crossings.items() if (runs := self._filled(found, left, right, even_odd, whole))
        }

    def _inside(self, box: Box, *, whole: bool) -> tuple[int, int, int, int]:
        """The cells of a box: those that lie in it as a ``whole``, or all that it touches."""
        lower, upper = (ceil, floor) if whole else (floor, ceil)
        # A number that is not exact must not cost the cell at the edge of the page.
        near = 0.01 if whole else 0.0
        left = lower((box[0] - self.box[0]) / self._cell - near)
        bottom = lower((box[1] - self.box[1]) / self._cell - near)
        right = self._columns if box[2] >= self.box[2] - near else upper((box[2] - self.box[0]) / self._cell + near)
        top = self._rows if box[3] >= self.box[3] - near else upper((box[3] - self.box[1]) / self._cell + near)
        return max(0, left), max(0, bottom), min(right, self._columns), min(top, self._rows)

    def _crossings(self, outlines: Sequence[Outline], bottom: int, top: int) -> dict[int, list[tuple[float, int]]]:
        """Where the outlines cross the middle of each row, in cells, and whether upwards or downwards."""
        found: dict[int, list[tuple[float, int]]] = {}
        for outline in outlines:
            for (x0, y0), (x1, y1) in zip(outline, [*outline[1:], outline[0]], strict=True):
                if y0 == y1:
                    continue
                turn = 1 if y1 > y0 else -1
                low, high = sorted((self._row(y0), self._row(y1)))
                slope = (x1 - x0) / (y1 - y0)
                for row in range(max(bottom, ceil(low - 0.5)), min(top, ceil(high - 0.5))):
                    y = self.box[1] + (row + 0.5) * self._cell
                    x = x0 + (y - y0) * slope
                    found.setdefault(row, []).append(((x - self.box[0]) / self._cell, turn))
        return found

    def _row(self, y: float) -> float:
        # Far away, an outline is as long as it likes.
        return max(-1.0, min(self._rows + 1.0, (y - self.box[1]) / self._cell))

    def _filled(
        self, crossings: list[tuple[float, int]], left: int, right: int, even_odd: bool, whole: bool
    ) -> list[tuple[int, int]]:
        crossings.sort()
        runs, turns = [], 0
        for (x0, turn), (x1, _) in zip(crossings, crossings[1:], strict=False):
            turns += 1 if even_odd else turn
            if not (turns % 2 if even_odd else turns):
                continue
            first = ceil(x0 - 0.01) if whole else floor(x0)
            last = floor(x1 + 0.01) if whole else ceil(x1)
            start, end = max(left, first), min(right, last)
            if start < end:
                runs.append((start, end))
        return runs


def _set(cells: array[int], runs: Sequence[tuple[int, int]], number: int) -> None:
    one = array("i", (number,))
    for start, end in runs:
        cells[start:end] = one * (end - start)


def _over(colour: Colour, behind: Colour | None) -> Colour | None:
    """The colour of a place where something is painted that lets the place shine through."""
    if behind is None:
        return None
    return opaque_mix(colour, behind, colour[3])


def _within(start: int, end: int, row: int, shapes: Sequence[Rows]) -> list[tuple[int, int]]:
    """What is left of a run of cells within the shapes."""
    runs = [(start, end)]
    for shape in shapes:
        pairs = product(runs, shape.get(row, ()))
        common = [(max(run[0], other[0]), min(run[1], other[1])) for run, other in pairs]
        runs = [(first, last) for first, last in common if first < last]
    return runs


def _has(runs: Sequence[tuple[int, int]], column: int) -> bool:
    return any(start <= column < end for start, end in runs)


def met(one: Box, other: Box) -> Box:
    """What two boxes have in common."""
    left, bottom = max(one[0], other[0]), max(one[1], other[1])
    right, top = min(one[2], other[2]), min(one[3], other[3])
    return (left, bottom, right, top) if left < right and bottom < top else NOWHERE


def box_around(outlines: Sequence[Outline]) -> Box:
    """The smallest box that has all these outlines."""
    points = list(chain.from_iterable(outlines))
    if not points:
        return NOWHERE
    across, upwards = zip(*points, strict=True)
    return min(across), min(upwards), max(across), max(upwards)


def is_box(outline: Outline) -> bool:
    """Whether an outline is a box whose sides are those of the page."""
    corners = outline[:-1] if len(outline) == 5 and outline[0] == outline[4] else outline
    if len(corners) != 4:
        return False
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = corners
    lying = _near(ay, by) and _near(bx, cx) and _near(cy, dy) and _near(dx, ax)
    standing = _near(ax, bx) and _near(by, cy) and _near(cx, dx) and _near(dy, ay)
    return lying or standing


def _near(one: float, other: float) -> bool:
    return abs(one - other) < 0.05
