"""The colours of a PDF: its colour spaces, and the functions that make one colour of another."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

from .colour import BLACK, Colour, unit

_MOST_WITHIN = 6
"""Colour spaces and functions stand within one another no deeper than this."""
_GREY, _RGB, _CMYK = "/DeviceGray", "/DeviceRGB", "/DeviceCMYK"
_NAMES = {
    "/DeviceGray": _GREY, "/CalGray": _GREY, "/G": _GREY, "/DeviceRGB": _RGB, "/CalRGB": _RGB, "/RGB": _RGB,
    "/DeviceCMYK": _CMYK, "/CMYK": _CMYK, "/CalCMYK": _CMYK,
}  # fmt: skip
_BY_COMPONENTS = {1: _GREY, 3: _RGB, 4: _CMYK}
CLEAR: Colour = (0.0, 0.0, 0.0, 0.0)


def device_colour(parts: Sequence[float]) -> Colour | None:
    """The colour of one, three or four numbers: grey, red with green and blue, or the four inks."""
    if len(parts) == 1:
        grey = unit(parts[0])
        return (grey, grey, grey, 1.0)
    if len(parts) == 3:
        return (unit(parts[0]), unit(parts[1]), unit(parts[2]), 1.0)
    if len(parts) == 4:
        cyan, magenta, yellow, black = map(unit, parts)
        return ((1 - cyan) * (1 - black), (1 - magenta) * (1 - black), (1 - yellow) * (1 - black), 1.0)
    return None


def first_colour(space: Any) -> Colour | None:
    """The colour that a colour space begins with."""
    kind = _kind(space)
    if kind == "/Pattern":
        return None
    if kind in ("/Separation", "/DeviceN"):
        return colour_in(space, [1.0] * (len(_part(space, 1)) if kind == "/DeviceN" else 1))
    return colour_in(space, [0.0]) if kind == "/Indexed" else BLACK


def colour_in(space: Any, parts: Sequence[float], depth: int = 0) -> Colour | None:
    """The colour that these numbers mean in a colour space; None if that cannot be told."""
    if depth > _MOST_WITHIN:
        return None
    kind = _kind(space)
    if kind in _NAMES:
        return device_colour(parts)
    if kind == "/ICCBased":
        count = int(_part(space, 1).get("/N", len(parts)))
        return device_colour(parts) if count in _BY_COMPONENTS and count == len(parts) else None
    if kind == "/Lab":
        return _lab(parts) if len(parts) == 3 else None
    if kind in ("/Indexed", "/I"):
        return _indexed(space, parts, depth)
    if kind in ("/Separation", "/DeviceN"):
        return _ink(space, parts, depth)
    return None


def _kind(space: Any) -> str:
    if isinstance(space, str):
        return _NAMES.get(space, space)
    return str(space[0]) if isinstance(space, list) and space else ""


def _part(space: Any, index: int) -> Any:
    return space[index].get_object()


def _lab(parts: Sequence[float]) -> Colour:
    """A colour by its lightness and two axes, as ``lab()`` in a style sheet."""
    from .colour import colour

    return colour(f"lab({parts[0]:.2f}% {parts[1]:.2f} {parts[2]:.2f})") or BLACK


def _indexed(space: Any, parts: Sequence[float], depth: int) -> Colour | None:
    base, table = _part(space, 1), _part(space, 3)
    if isinstance(table, str):
        data = getattr(table, "original_bytes", b"")
    else:
        data = table if isinstance(table, bytes) else table.get_data()
    kind = _kind(base)
    by_name = {_GREY: 1, _RGB: 3, _CMYK: 4, "/Lab": 3, "/Separation": 1}
    count = int(_part(base, 1).get("/N", 3)) if kind == "/ICCBased" else by_name.get(kind, 3)
    at = int(parts[0]) * count
    found = [byte / 255 for byte in data[at : at + count]]
    return colour_in(base, found, depth + 1) if len(found) == count else None


def _ink(space: Any, parts: Sequence[float], depth: int) -> Colour | None:
    names = _part(space, 1)
    if names == "/None" or (isinstance(names, list) and all(name == "/None" for name in names)):
        return CLEAR
    made = evaluated(_part(space, 3), parts)
    return None if made is None else colour_in(_part(space, 2), made, depth + 1)


# --- functions --------------------------------------------------------------------------------------------------------
def evaluated(function: Any, parts: Sequence[float], depth: int = 0) -> list[float] | None:
    """The values of a function; None where it is a program of its own, or broken."""
    if depth > _MOST_WITHIN or not hasattr(function, "get"):
        return None
    kind = function.get("/FunctionType")
    if kind == 2:
        return _between(function, parts)
    if kind == 3:
        return _stitched(function, parts, depth)
    return _sampled(function, parts) if kind == 0 else None


def _numbers(function: Any, name: str, default: Sequence[float]) -> list[float]:
    found = function.get(name)
    return list(map(float, found.get_object())) if found is not None else list(default)


def _between(function: Any, parts: Sequence[float]) -> list[float]:
    first, last = _numbers(function, "/C0", [0.0]), _numbers(function, "/C1", [1.0])
    power = float(function.get("/N", 1))
    is_defined = parts[0] > 0 or power > 0
    share = unit(parts[0]) ** power if is_defined else 0.0
    return [a + share * (b - a) for a, b in zip(first, last, strict=False)]


def _stitched(function: Any, parts: Sequence[float], depth: int) -> list[float] | None:
    low, high = _numbers(function, "/Domain", [0.0, 1.0])[:2]
    value = min(max(parts[0], low), high)
    edges = [low, *_numbers(function, "/Bounds", []), high]
    functions, encode = function["/Functions"].get_object(), _numbers(function, "/Encode", [])
    last = len(functions) - 1
    for index in range(len(functions)):
        start, end = edges[index], edges[index + 1]
        if value < end or index == last:
            inner, inner_end = encode[2 * index : 2 * index + 2]
            if end > start:
                length, inner_length = end - start, inner_end - inner
                inner += (value - start) * inner_length / length
            return evaluated(functions[index].get_object(), [inner], depth + 1)
    return None


def _sampled(function: Any, parts: Sequence[float]) -> list[float] | None:
    """The nearest of the samples: that is near enough."""
    bits, sizes = int(function["/BitsPerSample"]), [int(size) for size in function["/Size"].get_object()]
    ranges, domain = _numbers(function, "/Range", []), _numbers(function, "/Domain", [])
    if bits not in (8, 16) or len(sizes) != len(parts):
        return None
    if len(domain) != 2 * len(parts):
        return None
    at, step = 0, 1
    for value, size, low, high in zip(parts, sizes, domain[::2], domain[1::2], strict=True):
        share = unit((value - low) / (high - low)) if high > low else 0.0
        nearest = floor(share * (size - 1) + 0.5)
        at += nearest * step
        step *= size
    count, width = len(ranges) // 2, bits // 8
    decode = _numbers(function, "/Decode", ranges)
    length = count * width
    data = function.get_data()[at * length : (at + 1) * length]
    greatest = 256**width - 1
    raw = [int.from_bytes(data[i : i + width], "big") / greatest for i in range(0, len(data), width)]
    return [low + share * (high - low) for share, low, high in zip(raw, decode[::2], decode[1::2], strict=False)]
