"""What an animation of a style sheet shows for good."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from .css_values import Declared, declarations, plain
from .hiding_style import hiding_properties
from .lengths import pixels

Frames = Sequence[tuple[str, str]]
"""The places of an animation, such as ``from`` or ``50%``, and what is declared there."""

_TIME = re.compile(r"-?[\d.]+m?s")
_MAX_WAITED_SECONDS = 5.0
"""Nobody waits longer for an animation."""


def with_animation(declared: Declared, animations: Mapping[str, Frames]) -> Declared:
    """Declarations with those of the frame at which an animation stays."""
    words = _animation_words(declared)
    for name in words:
        if name in animations:
            final = _final_frame(animations[name], words)
            # An animation comes before everything that is not important.
            declared = {**declared, **{key: (value, True) for key, (value, _) in final.items()}}
    return declared


def _animation_words(declared: Declared) -> list[str]:
    values = [value for name, (value, _) in declared.items() if name.startswith("animation")]
    return " ".join(values).replace(",", " ").split()


def _final_frame(frames: Frames, words: Sequence[str]) -> Declared:
    """What an animation shows for good; nothing if it passes."""
    first = _frame_at({"from", "0%"}, frames)
    last = _frame_at({"to", "100%"}, frames)
    if _stays_at_start(words):
        return first
    if not {"forwards", "both"}.isdisjoint(words):
        return last
    if "infinite" in words and _hides(first) and _hides(last):
        return last
    return {}


def _stays_at_start(words: Sequence[str]) -> bool:
    times = [pixels(word) for word in words if _TIME.fullmatch(word)]
    duration, delay, *_ = *times, 0.0, 0.0
    if "paused" in words or duration > _MAX_WAITED_SECONDS:
        return True
    fills_delay = not {"backwards", "both"}.isdisjoint(words)
    return fills_delay and delay > _MAX_WAITED_SECONDS


def _frame_at(places: Iterable[str], frames: Frames) -> Declared:
    declared: dict[str, tuple[str, bool]] = {}
    for selectors, body in frames:
        own_places = {place.strip().lower() for place in selectors.split(",")}
        if not own_places.isdisjoint(places):
            declared.update(declarations(body))
    return declared


def _hides(frame: Declared) -> bool:
    return bool(hiding_properties(plain(frame)))
