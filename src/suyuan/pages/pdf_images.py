"""The images of a PDF: whether one can be the picture of a text, and the colour of one that has a single colour."""

from __future__ import annotations

import zlib
from math import hypot
from typing import Any, NamedTuple

from .colour import Colour
from .pdf_canvas import Outline
from .pdf_colour import colour_in

_LEAST_PIXELS = 40
"""An inch of a picture in which letters can be read has more pixels than this."""
_POINTS = 72
_HEAD = 600
"""The bytes of an image that say how it is stored."""
_MOST_COMPARED = 20_000
_PLAIN = 4000
"""An image of one colour takes fewer bytes."""
_MOST_UNPACKED = 50_000_000


class Scan(NamedTuple):
    """An image that may be the picture of a text: its bytes as they are stored."""

    data: bytes

    def can_show(self, letters: int) -> bool:
        """Whether so many letters can be seen in it: an even surface takes next to no bytes."""
        needed = _HEAD + letters
        if len(self.data) < needed:
            return False
        # What repeats itself, as a surface does in every compression, can be made shorter once more.
        return len(zlib.compress(self.data[:_MOST_COMPARED], 1)) >= min(needed, _MOST_COMPARED // 2)


def scan_of(image: Any, data: bytes, outline: Outline) -> Scan | None:
    """The image as a picture of a text, if it has enough pixels for that where it stands."""
    (ax, ay), (bx, by), _, (dx, dy) = outline
    wide, tall = hypot(bx - ax, by - ay) / _POINTS, hypot(dx - ax, dy - ay) / _POINTS
    across, upwards = float(_entry(image, "/Width", "/W", 0)), float(_entry(image, "/Height", "/H", 0))
    if not wide or not tall or min(across / wide, upwards / tall) < _LEAST_PIXELS:
        return None
    return Scan(data)


def covers(image: Any) -> bool:
    """Whether nothing shines through an image."""
    names = (("/SMask", ""), ("/Mask", ""), ("/ImageMask", "/IM"))
    masks = (_entry(image, name, short, None) for name, short in names)
    return all(mask in (None, False) or str(mask) == "False" for mask in masks)


def only_colour(image: Any, data: bytes, space: Any) -> Colour | None:
    """The colour of an image that has a single one, where that is soon found."""
    filters = str(image.get("/Filter"))
    is_photograph = "DCT" in filters or "JPX" in filters
    if is_photograph or len(data) > _PLAIN:
        return None
    pixels = image.get_data()
    first = pixels[:1]
    is_plain = first and pixels.count(first) == len(pixels)
    if not is_plain or len(pixels) > _MOST_UNPACKED:
        return _of_pixel(pixels, space)
    bits = int(_entry(image, "/BitsPerComponent", "/BPC", 8))
    level = first[0] / 255 if bits != 1 else float(first[0] > 127)
    return _coloured(space, level)


def _of_pixel(pixels: bytes, space: Any) -> Colour | None:
    """The colour of an image whose pixels are all the same three or four numbers."""
    for count in (3, 4):
        pixel = pixels[:count]
        repeats, rest = divmod(len(pixels), count)
        is_repeated = repeats > 0 and rest == 0
        if is_repeated and pixel * repeats == pixels:
            found = colour_in(space, [part / 255 for part in pixel])
            if found is not None:
                return found
    return None


def _coloured(space: Any, level: float) -> Colour | None:
    for count in (1, 3, 4):
        found = colour_in(space, [level] * count)
        if found is not None:
            return found
    return None


def _entry(image: Any, name: str, short: str, default: Any) -> Any:
    other = image.get(short, default) if short else default
    found = image.get(name, other)
    return found.get_object() if hasattr(found, "get_object") else found
