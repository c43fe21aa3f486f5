"""Colours of text and background, and whether one can be read on the other."""

from __future__ import annotations

import re
from functools import lru_cache

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity, from 0 to 1."""

WHITE: Colour = (1.0, 1.0, 1.0, 1.0)
BLACK: Colour = (0.0, 0.0, 0.0, 1.0)
LEAST_CONTRAST = 1.25
"""Below this ratio (WCAG) nobody can read a text; the faintest grey that pages use on white has about 1.6."""
LEAST_OPACITY = 0.1

_HEX = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_WORDS = re.compile(r"#?[-\w.]+(?:\([^()]*\))?")
_IMAGE = re.compile(r"url\(|gradient|image|element\(")
_NO_COLOUR = frozenset(("none", "inherit", "initial", "unset", "revert", "currentcolor", "auto", "0"))


@lru_cache(maxsize=2048)
def colour(value: str) -> Colour | None:
    """Read a colour in any notation; None if it is none."""
    value = value.strip().lower()
    if match := _HEX.fullmatch(value):
        digits = match[1] if len(match[1]) > 4 else "".join(digit * 2 for digit in match[1])
        parts = [int(digits[at : at + 2], 16) / 255 for at in range(0, len(digits), 2)]
        return (parts[0], parts[1], parts[2], parts[3] if len(parts) > 3 else 1.0)
    if not value or value in _NO_COLOUR or len(value) > 100:
        return None
    # Imported here because most pages do not need it.
    from tinycss2.color4 import parse_color

    found = parse_color(value)
    if found is None or isinstance(found, str):
        return None
    try:
        red, green, blue = found.to("srgb").coordinates
    except (NotImplementedError, ValueError, TypeError):
        return None
    return (_unit(red), _unit(green), _unit(blue), _unit(found.alpha))


def _unit(value: float | None) -> float:
    return min(1.0, max(0.0, value or 0.0))


@lru_cache(maxsize=2048)
def background(value: str) -> Colour | None:
    """The colour of a ``background``; None if there is none, or an image that may be of any colour."""
    if _IMAGE.search(value):
        return None
    return next((found for word in _WORDS.findall(value) if (found := colour(word))), None)


def is_image(value: str) -> bool:
    """Whether a ``background`` has an image."""
    return _IMAGE.search(value) is not None


def is_readable(text: Colour, behind: Colour) -> bool:
    """Whether text of one colour can be read on the other."""
    if text[3] <= LEAST_OPACITY:
        return False
    share = text[3]
    mixed = [text[i] * share + behind[i] * (1 - share) for i in range(3)]
    one, other = _luminance(mixed), _luminance(behind[:3])
    return (max(one, other) + 0.05) / (min(one, other) + 0.05) >= LEAST_CONTRAST or _distance(mixed, behind) > 0.35


def _distance(one: list[float], other: Colour) -> float:
    """How far two colours of the same brightness are apart."""
    return max(abs(one[i] - other[i]) for i in range(3))


def _luminance(parts: list[float] | tuple[float, ...]) -> float:
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
