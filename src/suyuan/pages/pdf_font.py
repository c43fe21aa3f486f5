"""The fonts of a PDF: where their letters stand, how large they are, and whether they show."""

from __future__ import annotations

import re
from typing import Any

_UNKNOWN = 0.4
"""The width of a letter whose width is not known: rather too narrow, since a letter off the page is not read."""
_BLANK_GLYPHS = 4
"""A font of pictures has no more glyphs that show nothing than this: spaces."""
_PAINTS = re.compile(rb"(?:^|[\s\])>])(?:[fFBbSs]\*?|Do|sh|EI|Tj|TJ|'|\")(?=\s|$)")

_OWN_COLOURS = re.compile(rb"\bd0\b")


class PdfFont:
    """A font: the widths of its letters, by the bytes that stand for them."""

    def __init__(self, font: Any) -> None:
        kind = font.get("/Subtype")
        self.height = 1.0
        """Of its letters, as a share of the size that is asked for."""
        self.blank: frozenset[int] = frozenset()
        """The codes for which nothing is painted, though they may stand for letters."""
        self.bytes = 1
        """How many bytes a letter has."""
        self.is_exact = True
        """Whether it is known which bytes are one letter."""
        self.has_own_colours = False
        """Whether its letters are pictures that say what colour they have."""
        self.is_vertical = False
        self._widths: dict[int, float] = {}
        self._other = _UNKNOWN
        self._single: list[float] = []
        if kind == "/Type0":
            self._read_composite(font)
        else:
            self._read_simple(font, 0.001)
            if kind == "/Type3":
                self._read_pictures(font)

    def width(self, data: bytes) -> float:
        """The width of a text, as a share of the size."""
        known, other = self._widths, self._other
        if self.bytes == 1:
            if not self._single:
                self._single = [known.get(code, other) for code in range(256)]
            return sum(map(self._single.__getitem__, data))
        codes = zip(data[::2], data[1::2], strict=False)
        return sum([known.get((high << 8) + low, other) for high, low in codes])

    def _read_simple(self, font: Any, scale: float) -> None:
        widths, first = font.get("/Widths"), font.get("/FirstChar", 0)
        if widths is not None:
            self._widths = {int(first) + index: float(width) * scale for index, width in enumerate(widths.get_object())}

    def _read_composite(self, font: Any) -> None:
        encoding = font.get("/Encoding")
        encoding = encoding.get_object() if encoding is not None else None
        name = str(encoding) if isinstance(encoding, str) else ""
        self.is_vertical = name.endswith("-V")
        self.bytes = 2
        # The others have one byte or two; which letters these are does not matter for where they stand.
        is_identity = name.startswith("/Identity")
        is_unicode = "UCS2" in name or "UTF16" in name
        self.is_exact = is_identity or is_unicode
        below = font["/DescendantFonts"].get_object()[0].get_object()
        self._other = float(below.get("/DW", 1000)) / 1000
        widths = below.get("/W")
        if self.is_vertical:
            self._other = 1.0
        elif is_identity and widths is not None:
            self._read_wide([part.get_object() for part in widths.get_object()])

    def _read_wide(self, parts: list[Any]) -> None:
        at = 0
        while at + 1 < len(parts):
            first, second = int(parts[at]), parts[at + 1]
            if isinstance(second, list):
                self._widths.update((first + index, float(width) / 1000) for index, width in enumerate(second))
                at += 2
            elif at + 2 < len(parts):
                width = float(parts[at + 2]) / 1000
                self._widths.update(dict.fromkeys(range(first, min(int(second), 65535) + 1), width))
                at += 3
            else:
                break

    def _read_pictures(self, font: Any) -> None:
        """Of a font whose letters are pictures: their size, and which show nothing."""
        matrix = [float(part) for part in font.get("/FontMatrix", [0.001, 0, 0, 0.001, 0, 0])]
        box = [float(part) for part in font.get("/FontBBox", [0, 0, 0, 0])]
        self._widths = {code: width * 1000 * abs(matrix[0]) for code, width in self._widths.items()}
        tall = abs(box[3] - box[1]) * max(abs(matrix[3]), abs(matrix[1]))
        wide = max(self._widths.values(), default=1.0)
        self.height = max(tall, wide)
        glyphs, encoding = font.get("/CharProcs"), font.get("/Encoding")
        differences = encoding.get_object().get("/Differences") if encoding is not None else None
        if glyphs is not None and differences is not None:
            self._read_glyphs(glyphs, differences)

    def _read_glyphs(self, glyphs: Any, differences: Any) -> None:
        drawn = {name: glyph.get_object().get_data() for name, glyph in glyphs.get_object().items()}
        empty = {name for name, content in drawn.items() if _PAINTS.search(content) is None}
        self.has_own_colours = any(_OWN_COLOURS.search(content) for content in drawn.values())
        if len(empty) > _BLANK_GLYPHS:
            names = _named(differences.get_object())
            self.blank = frozenset(code for code, name in names if name in empty)


def _named(differences: Any) -> list[tuple[int, str]]:
    """The codes of an encoding with the names of their letters."""
    found, code = [], 0
    for part in differences:
        if isinstance(part, str):
            found.append((code, str(part)))
            code += 1
        else:
            code = int(part)
    return found
