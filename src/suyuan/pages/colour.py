"""Colours of text and background, and whether one can be read on the other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from operator import mul
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
_CLEAR_DIFFERENCE = 0.35
_LUMINANCE = (0.2126, 0.7152, 0.0722)
_FROM_XYZ = ((3.2406, -1.5372, -0.4986), (-0.9689, 1.8758, 0.0415), (0.0557, -0.204, 1.057))
"""Red, green and blue of linear light."""

_HEX = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|\b[a-z-]+\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\)|\b[a-z]+\b")
_GRADIENT = re.compile(r"gradient\(((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+)\)")
_IMAGE = re.compile(r"url\(\s*[^\s)]|gradient|image|element\(")
_COLOUR_WORDS = frozenset(("inherit", "initial", "unset", "revert", "revert-layer", "currentcolor"))
_NO_COLOUR = _COLOUR_WORDS | {"", "none", "auto", "0"}
_SYSTEM: dict[str, Colour] = {
    "white": WHITE, "black": BLACK, "transparent": (0.0, 0.0, 0.0, 0.0), "canvas": WHITE, "canvastext": BLACK,
    "field": WHITE, "fieldtext": BLACK, "buttonface": (0.94, 0.94, 0.94, 1.0), "buttontext": BLACK,
    "highlight": (0.0, 0.47, 0.84, 1.0), "highlighttext": WHITE, "linktext": (0.0, 0.0, 0.93, 1.0),
    "graytext": (0.5, 0.5, 0.5, 1.0), "mark": (1.0, 1.0, 0.0, 1.0), "marktext": BLACK,
}  # fmt: skip
_MAX_LENGTH = 200
_CALC = re.compile(r"calc\([^()]*\)")
_MIX = re.compile(r"color-mix\(\s*in [^,]*,(.*)\)", re.S)
_COMMA = re.compile(r",(?![^()]*\))")
_SHARE = re.compile(r"[\d.]+%\s*$|^\s*[\d.]+%")
_SCHEMES = re.compile(r"light-dark\(([^,()]*(?:\([^()]*\))?),.*\)", re.S)
_RELATIVE = re.compile(r"[a-z]+\(\s*from\s+(\S+(?:\([^()]*\))?)\s+([a-z])\s+([a-z])\s+([a-z])\s*(?:/\s*([^)]+))?\)")


@lru_cache(maxsize=2048)
def colour(value: str) -> Colour | None:
    """Read a colour in any notation; None if it is none."""
    value = value.strip().lower()
    if _HEX.fullmatch(value):
        return _hexadecimal(value[1:])
    if value in _NO_COLOUR or len(value) > _MAX_LENGTH:
        return None
    if value in _SYSTEM:
        return _SYSTEM[value]
    made = _made_of_others(value) if "(" in value else None
    return made or _parsed(_CALC.sub(lambda match: str(pixels(match[0])), value))


def _hexadecimal(digits: str) -> Colour:
    """A colour of three, four, six or eight digits."""
    if len(digits) < 6:
        digits = "".join(digit * 2 for digit in digits)
    red, green, blue, alpha, *_ = (part / 255 for part in bytes.fromhex(f"{digits}ff"))
    return (red, green, blue, alpha)


def _made_of_others(value: str) -> Colour | None:
    """A colour that is a mixture or a variant of others."""
    mixture = _MIX.fullmatch(value)
    if mixture is not None:
        parts = [part for part in _COMMA.split(mixture[1]) if part.strip()]
        return _mixed(*parts) if len(parts) == 2 else None
    schemes = _SCHEMES.fullmatch(value)
    if schemes is not None:
        return colour(schemes[1])
    relative = _RELATIVE.fullmatch(value)
    origin = colour(relative[1]) if relative is not None else None
    if relative is None or origin is None:
        return None
    red, green, blue, alpha = origin
    return (red, green, blue, pixels(relative[5] or "", alpha, percent=0.01))


def _mixed(one: str, other: str) -> Colour | None:
    first, second = colour(_SHARE.sub("", one)), colour(_SHARE.sub("", other))
    if first is None or second is None:
        return None
    share, rest = _SHARE.search(one), _SHARE.search(other)
    weight = 0.5
    if share is not None:
        weight = pixels(share[0], percent=0.01)
    elif rest is not None:
        weight = 1 - pixels(rest[0], percent=0.01)
    red, green, blue, alpha = (between(part, end, weight) for part, end in zip(second, first, strict=True))
    return (red, green, blue, alpha)


def between(start: float, end: float, share: float) -> float:
    """The value that lies a share of the way from one to the other."""
    return start + (end - start) * share


def opaque_mix(upper: Colour, lower: Colour, share: float) -> Colour:
    """The colour of which a share is that of the upper one, and the rest that of the lower one."""
    rest = 1 - share
    red, green, blue = (upper[i] * share + lower[i] * rest for i in range(3))
    return (red, green, blue, 1.0)


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
            adapted = (x / white_x * 0.9505, y, z / white_z * 1.0891)
            return [_gamma(sum(map(mul, row, adapted))) for row in _FROM_XYZ]
    parts = (part or 0.0 for part in found.coordinates)
    return map(_gamma, parts) if found.space == "srgb-linear" else parts


def _gamma(part: float) -> float:
    if part <= 0.0031308:
        return 12.92 * part
    root: float = part ** (1 / 2.4)
    return 1.055 * root - 0.055


def _linear(part: float) -> float:
    if part <= 0.04045:
        return part / 12.92
    return float(((part + 0.055) / 1.055) ** 2.4)


def unit(value: float | None) -> float:
    """The value, at least 0 and at most 1."""
    return min(1.0, max(0.0, value or 0.0))


def is_colour_name(word: str) -> bool:
    """Whether a browser takes the word for a colour."""
    return word in _COLOUR_WORDS or colour(word) is not None


@lru_cache(maxsize=2048)
def background(value: str) -> tuple[Colour, ...] | None:
    """The colours of a ``background``, several for a gradient; None for an image of unknown colours."""
    stops = _stops(value)
    if stops and "url(" not in value:
        return stops if all(stop[3] > 0.9 for stop in stops) else None
    return None if is_image(value) else _colours(value)[:1]


def _stops(value: str) -> tuple[Colour, ...]:
    """The colours of the gradients in a value."""
    return _colours(" ".join(_GRADIENT.findall(value)))


def _colours(text: str) -> tuple[Colour, ...]:
    return tuple(filter(None, map(colour, _COLOUR.findall(text))))


def is_image(value: str) -> bool:
    """Whether a ``background`` has an image."""
    return _IMAGE.search(value) is not None


def is_transparent(value: str) -> bool:
    """Whether a mask consists of gradients that let nothing through."""
    stops = _stops(value)
    if not stops or "url(" in value:
        return False
    return all(stop[3] <= LEAST_OPACITY for stop in stops)


def is_readable(text: Colour, behind: Colour) -> bool:
    """Whether text of one colour can be read on the other."""
    if text[3] <= LEAST_OPACITY:
        return False
    pairs = list(zip(text[:3], behind[:3], strict=True))
    seen = [between(below, letter, text[3]) for letter, below in pairs]
    darker, lighter = sorted((_luminance(seen) + 0.05, _luminance(behind[:3]) + 0.05))
    if lighter / darker >= LEAST_CONTRAST:
        return True
    # Colours of the same brightness can be told apart as well.
    return max(abs(one - other) for one, other in zip(seen, behind[:3], strict=True)) > _CLEAR_DIFFERENCE


def _luminance(parts: Iterable[float]) -> float:
    return float(sum(map(mul, _LUMINANCE, map(_linear, parts))))
