"""The numbers that options take: argparse refuses what these refuse, with the name of the option."""

from __future__ import annotations

import math


def number(text: str) -> float:
    """A number; ``float`` alone takes "nan" and "inf" too."""
    found = float(text)
    if not math.isfinite(found):
        raise ValueError(text)
    return found


def amount(text: str) -> float:
    """A number that is not negative."""
    found = number(text)
    if found < 0:
        raise ValueError(text)
    return found


def positive(text: str) -> float:
    """A number above 0."""
    found = number(text)
    if found <= 0:
        raise ValueError(text)
    return found


def port(text: str) -> int:
    """A port, or 0 for any free one; the system would take a larger number modulo 65536."""
    found = int(text)
    if not 0 <= found < 65_536:
        raise ValueError(text)
    return found


def fixed_port(text: str) -> int:
    """A port that is not 0."""
    found = port(text)
    if not found:
        raise ValueError(text)
    return found
