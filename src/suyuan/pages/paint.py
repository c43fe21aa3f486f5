"""How text is painted: its colour, what is behind it, the effects on it, and whether it can be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from .colour import LEAST_OPACITY, Colour, background, between, colour, is_image, is_readable, unit
from .lengths import pixels

_EFFECTS = frozenset(("filter", "mix-blend-mode", "-webkit-text-stroke"))
_WIDE_STROKE, _WIDE_SHADOW = 3.0, 20.0
_OPAQUE = 0.9


class Paint(NamedTuple):
    """What an element says about the colours of its text and background."""

    text: Colour | None
    fill: Colour | None
    """The colour of the letters themselves, which comes before that of the text."""
    behind: tuple[Colour, ...] | str | None
    """Several for a gradient; a text for an image of unknown colours, and for the colour of the text itself."""
    style: Mapping[str, str]


def paint_of(style: Mapping[str, str], initial: Colour, text: str = "", behind: str = "") -> Paint | None:
    """What a style says about colours; ``text`` and ``behind`` are attributes, ``initial`` the colour of all text."""
    text = style.get("color") or text
    own = initial if text == "initial" else colour(text)
    fill = colour(style.get("-webkit-text-fill-color", ""))
    clips = (style.get("background-clip", ""), style.get("-webkit-background-clip", ""))
    if any("text" in clip for clip in clips):
        # Letters with a gradient.
        return Paint(own, fill, "image", style)
    around = _behind(style.get("background-color") or style.get("background") or behind, style)
    says_nothing = (own, fill, around) == (None, None, None)
    if says_nothing and _EFFECTS.isdisjoint(style):
        return None
    return Paint(own, fill, around, style)


def _behind(painted: str, style: Mapping[str, str]) -> tuple[Colour, ...] | str | None:
    shadow = style.get("box-shadow", "")
    if shadow.startswith("inset") and max(map(pixels, shadow.split())) > _WIDE_SHADOW:
        inside = background(shadow)
        if inside:
            return inside
    image = style.get("background-image", "")
    if is_image(painted) or is_image(image):
        return background(f"{painted} {image}") or "image"
    if "currentcolor" in painted:
        return "currentcolor"
    known = background(painted)
    return known if known and known[0][3] > LEAST_OPACITY else None


def can_be_read(paint: Paint, text: Colour, behind: tuple[Colour, ...], *, is_declared: bool = True) -> bool:
    """Whether text can be read on one of the colours behind it; text is blended only with what the page declares."""
    if paint.behind == "image":
        return True
    stroke = paint.style.get("-webkit-text-stroke", "")
    if pixels(stroke) > _WIDE_STROKE:
        text = next(iter(background(stroke) or ()), text)
    if paint.behind is None and "filter" in paint.style:
        text = _filtered(text, paint.style["filter"])
    if text[3] <= LEAST_OPACITY:
        return False
    mode = paint.style.get("mix-blend-mode", "") if is_declared else ""
    if not behind or any(colour[3] < _OPAQUE for colour in behind):
        return True
    return any(is_readable(blended(text, colour, mode), colour) for colour in behind)


# --- effects ------------------------------------------------------------------------------------------------------
def _dodged(text: float, behind: float) -> float:
    """A part of a colour that is divided by what another one leaves."""
    if behind <= 0:
        return 0.0
    return min(1.0, behind / (1 - text)) if text < 1 else 1.0


_EFFECT = re.compile(r"([a-z-]+)\(([^()]*)\)")
_FILTERS: dict[str, Callable[[float, float], float]] = {
    "invert": lambda part, share: between(part, 1 - part, share),
    "brightness": lambda part, share: part * share,
    "contrast": lambda part, share: (part - 0.5) * share + 0.5,
}
_BLENDS: dict[str, Callable[[float, float], float]] = {
    "multiply": lambda text, behind: text * behind,
    "screen": lambda text, behind: text + behind - text * behind,
    "darken": min,
    "lighten": max,
    "color-dodge": lambda text, behind: _dodged(text, behind),
    "color-burn": lambda text, behind: 1 - _dodged(1 - text, 1 - behind),
    "difference": lambda text, behind: abs(text - behind),
    "exclusion": lambda text, behind: between(text, 1 - text, behind),
    "plus-lighter": lambda text, behind: min(1.0, text + behind),
}


def _filtered(text: Colour, filters: str) -> Colour:
    """The colour of letters after the filters of their element."""
    red, green, blue, alpha = text
    for name, argument in _EFFECT.findall(filters):
        share = pixels(argument, 1.0, percent=0.01)
        change = _FILTERS.get(name)
        if name == "opacity":
            alpha *= unit(share)
        elif change is not None:
            red, green, blue = (unit(change(part, share)) for part in (red, green, blue))
    return (red, green, blue, alpha)


def blended(text: Colour, behind: Colour, mode: str) -> Colour:
    """The colour of letters that are blended with what is behind them."""
    if mode not in _BLENDS:
        return text
    red, green, blue = map(_BLENDS[mode], text[:3], behind[:3])
    return (red, green, blue, text[3])
