"""Colours of text and background, and whether one can be read on the other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Any

from .lengths import pixels

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity, from 0 to 1."""

WHITE: Colour = (1.0, 1.0, 1.0, 1.0)
BLACK: Colour = (0.0, 0.0, 0.0, 1.0)
DARK: Colour = (0.07, 0.07, 0.07, 1.0)
"""The background of a page with a dark scheme."""
LEAST_CONTRAST = 1.25
"""Below this ratio (WCAG) nobody can read a text; the faintest grey that pages use on white has about 1.6."""
LEAST_OPACITY = 0.1

_HEX = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|\b[a-z-]+\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\)|\b[a-z]+\b")
_GRADIENT = re.compile(r"gradient\(((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+)\)")
_IMAGE = re.compile(r"url\(\s*[^\s)]|gradient|image|element\(")
_NO_COLOUR = frozenset(("none", "inherit", "initial", "unset", "revert", "revert-layer", "currentcolor", "auto", "0"))
_SYSTEM: dict[str, Colour] = {
    "white": WHITE, "black": BLACK, "transparent": (0.0, 0.0, 0.0, 0.0), "canvas": WHITE, "canvastext": BLACK,
    "field": WHITE, "fieldtext": BLACK, "buttonface": (0.94, 0.94, 0.94, 1.0), "buttontext": BLACK,
    "highlight": (0.0, 0.47, 0.84, 1.0), "highlighttext": WHITE, "linktext": (0.0, 0.0, 0.93, 1.0),
    "graytext": (0.5, 0.5, 0.5, 1.0), "mark": (1.0, 1.0, 0.0, 1.0), "marktext": BLACK,
}  # fmt: skip
_CALC = re.compile(r"calc\([^()]*\)")
_MIX = re.compile(r"color-mix\(\s*in [^,]*,(.*)\)", re.S)
_SHARE = re.compile(r"([\d.]+)%\s*$|^\s*([\d.]+)%")
_SCHEMES = re.compile(r"light-dark\(([^,()]*(?:\([^()]*\))?),.*\)", re.S)
_RELATIVE = re.compile(r"[a-z]+\(\s*from\s+(\S+(?:\([^()]*\))?)\s+([a-z])\s+([a-z])\s+([a-z])\s*(?:/\s*([^)]+))?\)")


@lru_cache(maxsize=2048)
def colour(value: str) -> Colour | None:
    """Read a colour in any notation; None if it is none."""
    value = value.strip().lower()
    if match := _HEX.fullmatch(value):
        digits = match[1] if len(match[1]) > 4 else "".join(digit * 2 for digit in match[1])
        parts = [int(digits[at : at + 2], 16) / 255 for at in range(0, len(digits), 2)]
        return (parts[0], parts[1], parts[2], parts[3] if len(parts) > 3 else 1.0)
    if not value or value in _NO_COLOUR or len(value) > 200:
        return None
    if value in _SYSTEM:
        return _SYSTEM[value]
    if "(" in value and (found := _made_of_others(value)) is not None:
        return found
    return _parsed(_CALC.sub(lambda match: str(pixels(match[0])), value))


def _made_of_others(value: str) -> Colour | None:
    """A colour that is a mixture or a variant of others."""
    if mixed := _MIX.fullmatch(value):
        parts = [part for part in re.split(r",(?![^()]*\))", mixed[1]) if part.strip()]
        return _mixed(parts) if len(parts) == 2 else None
    if schemes := _SCHEMES.fullmatch(value):
        return colour(schemes[1])
    if (relative := _RELATIVE.fullmatch(value)) and (origin := colour(relative[1])):
        return (*origin[:3], pixels(relative[5], 1.0, percent=0.01) if relative[5] else origin[3])
    return None


def _mixed(parts: list[str]) -> Colour | None:
    shares = [float(found[1] or found[2]) / 100 if (found := _SHARE.search(part)) else None for part in parts]
    one, other = (colour(_SHARE.sub("", part)) for part in parts)
    if one is None or other is None:
        return None
    first = shares[0] if shares[0] is not None else 1 - shares[1] if shares[1] is not None else 0.5
    red, green, blue, alpha = (one[i] * first + other[i] * (1 - first) for i in range(4))
    return (red, green, blue, alpha)


def _parsed(value: str) -> Colour | None:
    # Imported here because many pages do not need it.
    from tinycss2.color4 import parse_color

    found = parse_color(value)
    if found is None or isinstance(found, str):
        return None
    red, green, blue = _red_green_blue(found)
    return (unit(red), unit(green), unit(blue), unit(found.alpha))


def _red_green_blue(found: Any) -> Iterable[float]:
    """Red, green and blue of a colour of any space; the other spaces of three primaries are nearly the same."""
    for space, (white_x, white_z) in (
        ("srgb", (0.0, 0.0)),
        ("xyz-d65", (0.9505, 1.0891)),
        ("xyz-d50", (0.9643, 0.8251)),
    ):
        with suppress(NotImplementedError, ValueError, TypeError):
            x, y, z = (part or 0.0 for part in found.to(space).coordinates)
            if not white_x:
                return x, y, z
            x, z = x / white_x * 0.9505, z / white_z * 1.0891
            linear = (
                3.2406 * x - 1.5372 * y - 0.4986 * z,
                -0.9689 * x + 1.8758 * y + 0.0415 * z,
                0.0557 * x - 0.204 * y + 1.057 * z,
            )
            return map(_gamma, linear)
    parts = (part or 0.0 for part in found.coordinates)
    return map(_gamma, parts) if found.space == "srgb-linear" else parts


def _gamma(part: float) -> float:
    return 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055


def unit(value: float | None) -> float:
    """The value, at least 0 and at most 1."""
    return min(1.0, max(0.0, value or 0.0))


def is_colour_name(word: str) -> bool:
    """Whether a browser takes the word for a colour."""
    return word in _NO_COLOUR - {"none", "auto", "0"} or colour(word) is not None


@lru_cache(maxsize=2048)
def background(value: str) -> tuple[Colour, ...] | None:
    """The colours of a ``background``, several for a gradient; None for an image of unknown colours."""
    stops = tuple(found for part in _GRADIENT.findall(value) for found in _colours(part))
    if stops and "url(" not in value:
        return stops if all(stop[3] > 0.9 for stop in stops) else None
    return None if is_image(value) else _colours(value)[:1]


def _colours(text: str) -> tuple[Colour, ...]:
    return tuple(found for word in _COLOUR.findall(text) if (found := colour(word)))


def is_image(value: str) -> bool:
    """Whether a ``background`` has an image."""
    return _IMAGE.search(value) is not None


def is_transparent(value: str) -> bool:
    """Whether a mask consists of gradients that let nothing through."""
    stops = [found for part in _GRADIENT.findall(value) for found in _colours(part)]
    return bool(stops) and "url(" not in value and all(stop[3] <= LEAST_OPACITY for stop in stops)


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
