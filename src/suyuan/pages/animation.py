"""What an animation of a style sheet shows for good."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .css_values import Declared, declarations
from .hiding_style import hiding_properties
from .lengths import pixels

_SECONDS = re.compile(r"-?[\d.]+m?s")
_LONG = 5.0
"""So many seconds nobody waits for an animation."""


def with_animation(declared: Declared, frames: Mapping[str, list[tuple[str, str]]]) -> Declared:
    """Declarations with those of the frame at which an animation stays."""
    words = " ".join(value for name, (value, _) in declared.items() if name.startswith("animation"))
    words_of = words.replace(",", " ").split()
    for name in words_of:
        if name in frames and (held := _held_frame(frames[name], words_of)):
            # An animation comes before everything that is not important.
            declared = {**declared, **{name: (value, True) for name, (value, _) in held.items()}}
    return declared


def _held_frame(steps: list[tuple[str, str]], words: list[str]) -> Declared:
    """What an animation shows for good; nothing if it passes."""
    first: dict[str, tuple[str, bool]] = {}
    last: dict[str, tuple[str, bool]] = {}
    for selectors, body in steps:
        places = [part.strip().lower() for part in selectors.split(",")]
        if not {"from", "0%"}.isdisjoint(places):
            first.update(declarations(body))
        if not {"to", "100%"}.isdisjoint(places):
            last.update(declarations(body))
    duration, delay, *_ = *(pixels(word) for word in words if _SECONDS.fullmatch(word)), 0.0, 0.0
    if "paused" in words or duration > _LONG or (delay > _LONG and ("backwards" in words or "both" in words)):
        return first
    if "forwards" in words or "both" in words:
        return last
    return last if "infinite" in words and all(_hides(frame) for frame in (first, last)) else {}


def _hides(frame: Declared) -> bool:
    return bool(hiding_properties({name: value for name, (value, _) in frame.items()}))
