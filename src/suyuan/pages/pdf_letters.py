"""The texts of a PDF's page and where they stand, and which of their letters a reader sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from .pdf_canvas import Box, Canvas, Point, Spot
from .pdf_font import PdfFont
from .pdf_images import Scan
from .pdf_state import INVISIBLE, ONLY_CLIPPING, Matrix, State, placed, times

Place = tuple[int, int]
"""The cells where a letter is looked at, in its lower and in its upper half; -1 where nothing can be seen."""
_LOW, _HIGH = 0.2, 0.5
"""How high these are, as a share of the size: a line through a word hides one of them at most."""
_NOWHERE: Place = (-1, -1)
_UNKNOWN_WIDTH = 0.4
_LEVEL = 0.001
"""A line of text that rises less than this, as a share of its length, is level."""


class Stripe(NamedTuple):
    """The cells along a level text that can be read from its beginning to its end: two rows, and how many cells."""

    low: int
    high: int
    length: int


@dataclass(slots=True)
class ShownString:
    """A string of a text, and what was looked at along it: a stripe, or places as often as it has wide letters."""

    data: bytes
    places: Sequence[Place]
    stripe: Stripe | None = None

    def all_places(self) -> Sequence[Place]:
        """The places, one for each letter of a stripe."""
        if self.stripe is None:
            return self.places
        low, high, length = self.stripe
        number = max(1, len(self.data))
        middles = range(length, 2 * number * length, 2 * length)
        steps = [middle // (2 * number) for middle in middles]
        return [(low + step, high + step) for step in steps]


@dataclass(slots=True)
class TextRun:
    """What one operator shows."""

    at: int
    """Where it stands among the operations of the page."""
    paints: int
    """How many paints were made before."""
    font: PdfFont | None
    is_picture: bool
    """Whether nothing of it is painted, as where the letters of a scanned page were recognised."""
    is_painted: bool
    """False for letters that are only a clipping path, until something is painted in it."""
    pieces: list[ShownString | float] = field(default_factory=list)
    """Strings, and how far the next one is moved."""
    stripe: Stripe | None = None
    """All of it, if that can be read."""

    def strings(self) -> Iterator[ShownString]:
        """Its strings."""
        for piece in self.pieces:
            if isinstance(piece, ShownString):
                yield piece


class Line:
    """The line on which an operator shows its strings, in the state that it has."""

    def __init__(self, state: State, text: list[float], canvas: Canvas, zoom: float) -> None:
        self._state, self._canvas = state, canvas
        self._font = state.font
        self._is_vertical = state.font is not None and state.font.is_vertical
        self._matrix: Matrix = times((text[0], text[1], text[2], text[3], text[4], text[5]), state.matrix)
        is_shown = not state.is_masked_out and not state.is_within_letters
        self._is_seen = is_shown and state.is_legible(self._matrix, zoom)
        self._is_level = not self._is_vertical and abs(self._matrix[1]) < _LEVEL * abs(self._matrix[0])
        self._pen = 0.0

    def show(self, parts: Sequence[Any], run: TextRun) -> None:
        """Show strings, with numbers between them."""
        stretch = -1.0 if self._is_vertical else self._state.stretch
        moved = -self._state.size / 1000 * stretch
        starts = [self._pen]
        for part in parts:
            self._pen += self._length(part) if isinstance(part, bytes) else float(part) * moved
            starts.append(self._pen)
        first, last = min(starts), max(starts)
        if self._is_seen and self._is_level:
            run.stripe = self._stripe(first, last - first)
        for part, start, end in zip(parts, starts, starts[1:], strict=False):
            if not isinstance(part, bytes):
                run.pieces.append(float(part))
            elif run.stripe is not None:
                run.pieces.append(ShownString(part, (), _share(run.stripe, start - first, end - first, last - first)))
            else:
                run.pieces.append(self._piece(part, start, end - start))

    def end(self) -> Point:
        """Where the pen is."""
        return (0.0, -self._pen) if self._is_vertical else (self._pen, 0.0)

    def _piece(self, data: bytes, start: float, length: float) -> ShownString:
        if not self._is_seen:
            return ShownString(data, (_NOWHERE,))
        if self._is_level and (stripe := self._stripe(start, length)) is not None:
            return ShownString(data, (), stripe)
        return ShownString(data, self._places(data, start, length))

    def _length(self, data: bytes) -> float:
        """How far a string moves the pen."""
        font, state = self._font, self._state
        letters = len(data) // font.bytes if font is not None else len(data)
        width = font.width(data) if font is not None else _UNKNOWN_WIDTH * letters
        length = width * state.size + letters * state.letter_space
        if state.word_space and (font is None or font.bytes == 1):
            length += data.count(b" ") * state.word_space
        return length if self._is_vertical else length * state.stretch

    def _stripe(self, start: float, length: float) -> Stripe | None:
        """The cells of a string, if all of it can be read."""
        state, canvas = self._state, self._canvas
        low, high = _LOW * state.size + state.rise, _HIGH * state.size + state.rise
        (x0, y0), (x1, y1) = placed(self._matrix, start, low), placed(self._matrix, start + length, high)
        if state.clip.shapes or x0 > x1 or not _is_within(state.clip.box, (x0, y0), (x1, y1)):
            return None
        first, last = canvas.cell_at(x0, y0), canvas.cell_at(x1, y0)
        stripe = Stripe(first, canvas.cell_at(x0, y1), last - first + 1)
        if state.rendering in (INVISIBLE, ONLY_CLIPPING):
            return stripe
        spots = [*canvas.spots(stripe.low, stripe.length), *canvas.spots(stripe.high, stripe.length)]
        return stripe if all(state.shows_letters(spot.colour) for spot in spots) else None

    def _places(self, data: bytes, start: float, length: float) -> list[Place]:
        state = self._state
        width = self._font.bytes if self._font is not None else 1
        letters = max(1, len(data) // width)
        count = max(1, min(letters, round(abs(length / state.size))))
        found = []
        for index in range(count):
            share = (index + 0.5) / count
            at = start + share * length
            found.append((self._cell(at, _LOW), self._cell(at, _HIGH)))
        return found

    def _cell(self, at: float, height: float) -> int:
        """The cell at a distance and height; -1 where nothing can be seen there."""
        state, canvas = self._state, self._canvas
        if self._is_vertical:
            # Letters below one another hang from the middle of their upper side.
            middle = (_LOW + _HIGH) / 2
            point = (height - middle) * state.size, state.rise - at
        else:
            point = at, state.rise + height * state.size
        x, y = placed(self._matrix, *point)
        if not canvas.holds(state.clip, x, y):
            return -1
        cell = canvas.cell_at(x, y)
        if state.rendering in (INVISIBLE, ONLY_CLIPPING):
            return cell
        return cell if state.shows_letters(canvas.spot(cell).colour) else -1


def _share(stripe: Stripe, start: float, end: float, length: float) -> Stripe:
    """The cells of a part of a text."""
    scale = stripe.length / length if length else 0.0
    offset = min(int(start * scale), stripe.length - 1)
    return Stripe(stripe.low + offset, stripe.high + offset, max(1, int(end * scale) - offset))


def _is_within(box: Box, one: Point, other: Point) -> bool:
    """Whether all between two points, of which the first is on the left, lies in a box."""
    left, bottom, right, top = box
    if one[0] < left or other[0] >= right:
        return False
    return bottom <= min(one[1], other[1]) and max(one[1], other[1]) < top


def paint_letters(runs: Sequence[TextRun], state: State, canvas: Canvas) -> None:
    """Letters are the clipping path, and something is painted with this colour: so it shows in their form."""
    for run in runs:
        places = chain.from_iterable(piece.all_places() for piece in run.strings())
        cells = chain.from_iterable(places)
        behind = [canvas.spot(cell).colour for cell in cells if cell >= 0]
        run.is_painted = run.is_painted or any(map(state.shows_letters, behind))


def _blank_letters(font: PdfFont | None) -> Collection[int]:
    return font.blank if font is not None else ()


def _seen_letters(data: bytes, width: int, seen: Sequence[bool], blank: Collection[int]) -> bytes:
    """The letters of a string that are seen, of so many bytes each, and not blank."""
    count = len(data) // width
    letters = []
    for index in range(count):
        start = index * width
        if seen[index * len(seen) // count] and data[start] not in blank:
            letters.append(data[start : start + width])
    return b"".join(letters)


class Letters:
    """Decides which letters of a page are seen, once all of it is painted."""

    def __init__(self, runs: Sequence[TextRun], canvas: Canvas, scans: Sequence[Scan]) -> None:
        self._canvas = canvas
        self._read: frozenset[int] = frozenset()
        """The images in which a reader sees the text that is recorded with them."""
        if scans:
            self._read = frozenset(self._pictures_of_text(runs, scans))

    def _pictures_of_text(self, runs: Sequence[TextRun], scans: Sequence[Scan]) -> Iterator[int]:
        shown: Counter[int] = Counter()
        pictured: Counter[int] = Counter()
        for run in runs:
            for piece in run.strings():
                places = piece.all_places()
                for place in places:
                    counted = pictured if self._is_pictured(run, place) else shown
                    counted[self._scan(place)] += len(piece.data) // len(places) + 1
        for number, scan in enumerate(scans, start=1):
            # A picture behind ordinary text shows no other text.
            if pictured[number] > shown[number] and scan.can_show(pictured[number]):
                yield number

    def seen_of(self, run: TextRun) -> list[bytes | float] | None:
        """The strings of a run without the letters that nobody sees; None if nothing is left."""
        if run.is_painted and not _blank_letters(run.font) and self._is_whole(run, run.stripe):
            return [piece.data if isinstance(piece, ShownString) else piece for piece in run.pieces]
        parts: list[bytes | float] = []
        is_seen = False
        for piece in run.pieces:
            if not isinstance(piece, ShownString):
                parts.append(piece)
                continue
            seen = self._seen(run, piece) if run.is_painted else b""
            parts.append(seen)
            is_seen = is_seen or seen != b""
        return parts if is_seen else None

    def _seen(self, run: TextRun, piece: ShownString) -> bytes:
        """The letters of a string that a reader sees."""
        blank = _blank_letters(run.font)
        if not blank and self._is_whole(run, piece.stripe):
            return piece.data
        seen = [self._is_seen(run, place) for place in piece.all_places()]
        if not blank and all(seen):
            return piece.data
        if run.font is not None and not run.font.is_exact:
            # Letters of one byte or two cannot be taken apart.
            return piece.data if sum(seen) * 2 > len(seen) else b""
        width = run.font.bytes if run.font is not None else 1
        return _seen_letters(piece.data, width, seen, blank)

    def _is_whole(self, run: TextRun, stripe: Stripe | None) -> bool:
        """Whether a text is along a stripe, and nothing was painted over any part of it."""
        if stripe is None or run.is_picture:
            return False
        return all(spot.covered_by <= run.paints for spot in self._spots(stripe))

    def _spots(self, stripe: Stripe) -> list[Spot]:
        return [*self._canvas.spots(stripe.low, stripe.length), *self._canvas.spots(stripe.high, stripe.length)]

    def _is_seen(self, run: TextRun, place: Place) -> bool:
        if self._is_pictured(run, place):
            return self._scan(place) in self._read
        return any(cell >= 0 and self._canvas.spot(cell).covered_by <= run.paints for cell in place)

    def _is_pictured(self, run: TextRun, place: Place) -> bool:
        """Whether a reader sees a picture where these letters are, if there is one, and not the letters."""
        if run.is_picture:
            return True
        spots = [self._canvas.spot(cell) for cell in place if cell >= 0]
        return bool(spots) and all(spot.covered_by > run.paints and spot.is_image for spot in spots)

    def _scan(self, place: Place) -> int:
        return max((self._canvas.scan(cell) for cell in place if cell >= 0), default=0)
