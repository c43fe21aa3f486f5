"""The graphics state of a PDF: where, how large, in which colours and within which paths something is painted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import hypot
from typing import Any

from .colour import BLACK, LEAST_OPACITY, Colour, is_readable, opaque_mix
from .paint import blended
from .pdf_canvas import Blend, Clip, Point
from .pdf_font import PdfFont

Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
SMALLEST = 1.0
"""The size of letters, in points, that nobody can read; documents have smaller print in figures than pages have."""
INVISIBLE, FIRST_CLIPPING, ONLY_CLIPPING = 3, 4, 7
"""Modes in which letters are not painted; from the second on they are clipping paths."""
_CROWDED = -0.5
"""With so much of its size between them, letters stand upon one another."""
_FAR = 1e7
_MODES = {
    "/Multiply": "multiply", "/Screen": "screen", "/Darken": "darken", "/Lighten": "lighten",
    "/ColorDodge": "color-dodge", "/ColorBurn": "color-burn", "/Difference": "difference", "/Exclusion": "exclusion",
}  # fmt: skip


@dataclass(slots=True)
class State:
    """What ``q`` keeps and ``Q`` brings back."""

    clip: Clip
    matrix: Matrix = IDENTITY
    fill_colour: Colour | None = BLACK
    """None where it is not known."""
    fill_space: Any = "/DeviceGray"
    fill_opacity: float = 1.0
    stroke_colour: Colour | None = BLACK
    stroke_space: Any = "/DeviceGray"
    stroke_opacity: float = 1.0
    line_width: float = 1.0
    mode: str = "/Normal"
    is_masked: bool = False
    """Whether a mask may hide a part of what is painted."""
    is_masked_out: bool = False
    """Whether a mask hides all of it."""
    is_within_letters: bool = False
    """Whether letters are the clipping path."""
    font: PdfFont | None = None
    size: float = 0.0
    letter_space: float = 0.0
    word_space: float = 0.0
    stretch: float = 1.0
    leading: float = 0.0
    rise: float = 0.0
    rendering: int = 0

    def blend(self, opacity: float) -> Blend | None:
        """How a paint is mixed with what is behind it; None if it covers that."""
        mode = self.mode
        if mode in ("/Normal", "/Compatible") and not self.is_masked:
            return None if opacity >= 1 - LEAST_OPACITY else _mixed_by(opacity, "")
        if self.is_masked or mode not in _MODES:
            return _unknown
        return _mixed_by(opacity, _MODES[mode])

    def shows_letters(self, behind: Colour | None) -> bool:
        """Whether letters in the colours of this state can be read on a colour."""
        rendering = self.rendering % FIRST_CLIPPING
        filled = rendering != 1 and self._is_seen(self.fill_colour, self.fill_opacity, behind)
        if filled or rendering not in (1, 2):
            return filled
        return self._is_seen(self.stroke_colour, self.stroke_opacity, behind)

    def _is_seen(self, colour: Colour | None, opacity: float, behind: Colour | None) -> bool:
        if opacity <= LEAST_OPACITY:
            return False
        if colour is not None and colour[3] <= LEAST_OPACITY:
            return False
        if colour is None or behind is None or self.is_masked:
            return True
        if self.font is not None and self.font.has_own_colours:
            return True
        return _is_readable(colour, opacity, behind, self.mode)

    def is_legible(self, text: Matrix, zoom: float) -> bool:
        """Whether letters have a size that can be read, where ``text`` is their matrix on the page."""
        height = self.font.height if self.font is not None else 1.0
        size = abs(self.size) * zoom * height
        tall, wide = size * hypot(text[2], text[3]), size * hypot(text[0], text[1])
        # With a matrix that presses everything on a line, letters of any size show nothing.
        area = size * size * abs(_determinant(text))
        if min(tall, wide, area / max(tall, wide, SMALLEST)) <= SMALLEST:
            return False
        if self.rendering == INVISIBLE:
            # Recognised letters are stretched to the width of the word on the picture.
            return True
        is_apart = self.letter_space > _CROWDED * abs(self.size)
        return abs(self.stretch) * wide > SMALLEST and is_apart


@lru_cache(maxsize=4096)
def _is_readable(colour: Colour, opacity: float, behind: Colour, mode: str) -> bool:
    letters = (*colour[:3], colour[3] * opacity)
    return is_readable(blended(letters, behind, _MODES.get(mode, "")), behind)


def _mixed_by(opacity: float, mode: str) -> Blend:
    def mix(colour: Colour, behind: Colour | None) -> Colour | None:
        if behind is None:
            return None
        return opaque_mix(blended(colour, behind, mode), behind, opacity * colour[3])

    return mix


def _unknown(colour: Colour, behind: Colour | None) -> Colour | None:
    return None


def times(one: Matrix, other: Matrix) -> Matrix:
    """One matrix before another."""
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    x, y = e * g + f * i, e * h + f * j
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, x + k, y + m)


def _determinant(matrix: Matrix) -> float:
    """How many times as large it makes an area."""
    return matrix[0] * matrix[3] - matrix[1] * matrix[2]


def placed(matrix: Matrix, x: float, y: float) -> Point:
    """Where a point is on the page; nothing is infinitely far away."""
    a, b, c, d, e, f = matrix
    across = x * a + y * c
    upwards = x * b + y * d
    return max(-_FAR, min(_FAR, across + e)), max(-_FAR, min(_FAR, upwards + f))
