"""Lengths, angles, times and numbers of CSS, and sums of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import hypot, inf, nan

from .css_limits import StylesTooComplex

WIDTH, HEIGHT = 1280.0, 720.0
"""The screen in pixels."""

NUMBER = r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:e[+-]?\d++)?+"
_LENGTH = re.compile(rf"\s*({NUMBER})\s*([a-z%]*)", re.I)
UNITS = {
    "": 1.0, "px": 1.0, "em": 16.0, "rem": 16.0, "ch": 8.0, "ex": 8.0, "cap": 11.0, "ic": 16.0, "lh": 19.0, "rlh": 19.0,
    "pt": 1.333, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "q": 0.945, "deg": 1.0, "turn": 360.0, "rad": 57.29578,
    "grad": 0.9, "s": 1.0, "ms": 0.001,
}  # fmt: skip
_VIEW = {"w": WIDTH, "h": HEIGHT, "i": WIDTH, "b": HEIGHT, "min": HEIGHT, "max": WIDTH}
for _start in ("v", "sv", "dv", "lv", "cq"):
    UNITS.update((_start + end, size / 100) for end, size in _VIEW.items())
_SUM = re.compile(rf"{NUMBER}[a-z%]*|[-a-z0-9]+\(|[-+*/(),]|[-a-z]+", re.I)
_MOST_BRACKETS = 100
_MOST_CHARACTERS = 20_000
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "calc(": lambda value: value, "(": lambda value: value, "min(": lambda *values: min(values),
    "max(": lambda *values: max(values), "clamp(": lambda low, value, high: max(low, min(value, high)),
    "abs(": abs, "hypot(": hypot, "sign(": lambda value: (value > 0) - (value < 0), "mod(": lambda a, b: a % b,
    "rem(": lambda a, b: a % b, "round(": lambda *values: values[-2] if len(values) > 1 else values[0],
}  # fmt: skip
_CALCULATED = tuple(name for name in _FUNCTIONS if name != "(")
_CONSTANTS = {"infinity": inf, "-infinity": -inf, "pi": 3.14159265, "e": 2.71828183, "nearest": 0.0, "up": 0.0}


def pixels(value: str, default: float = 0.0, *, percent: float = 1.0) -> float:
    """A length in pixels, an angle in degrees, or a number; one percent is ``percent``, anything else ``default``."""
    match = _LENGTH.match(value)
    if match is not None:
        scale = percent if match[2] == "%" else UNITS.get(match[2].lower())
        return default if scale is None else float(match[1]) * scale
    if "(" not in value:
        return default
    if value.count("(") > _MOST_BRACKETS or len(value) > _MOST_CHARACTERS:
        if value.lstrip().lower().startswith(_CALCULATED):
            raise StylesTooComplex
        return default
    try:
        result = _sum([*reversed(_SUM.findall(value.lower()))], percent)
    except (IndexError, KeyError, TypeError, ValueError, ArithmeticError):
        return default
    return default if result != result else result


def _sum(stack: list[str], percent: float) -> float:
    total = _product(stack, percent)
    while stack and stack[-1] in ("+", "-"):
        sign = stack.pop()
        total += _product(stack, percent) * (1 if sign == "+" else -1)
    return total


def _product(stack: list[str], percent: float) -> float:
    value = _operand(stack, percent)
    while stack and stack[-1] in ("*", "/"):
        sign, other = stack.pop(), _operand(stack, percent)
        value = value * other if sign == "*" else value / other
    return value


def _operand(stack: list[str], percent: float) -> float:
    token = stack.pop()
    if not token.endswith("("):
        return _CONSTANTS[token] if token in _CONSTANTS else pixels(token, nan, percent=percent)
    arguments = [_sum(stack, percent)]
    while (sign := stack.pop()) == ",":
        arguments.append(_sum(stack, percent))
    if sign != ")":
        raise ValueError(sign)
    return _FUNCTIONS[token](*arguments)
