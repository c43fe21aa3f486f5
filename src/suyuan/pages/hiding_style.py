"""Whether a style hides the text of its element: the ways in which CSS makes text invisible."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from .colour import LEAST_OPACITY, background, colour, is_readable
from .css import pixels

Style = Mapping[str, str]

_OFF_SCREEN = -999.0
_FAR_AWAY = 4000.0
_TINY = 2.0
_FONT_SIZE = re.compile(r"(?:^|\s)((?:\d+\.?\d*|\.\d+)(?:px|em|rem|pt|%|vw|vh)?)(?:\s*/|\s+[^\s])")
_FUNCTION = re.compile(r"([-\w]+)\(([^()]*)\)")
_SPLIT = re.compile(r"[\s,]+")
_EDGE_ON = frozenset(("90deg", "-90deg", "270deg", ".25turn", "0.25turn", "100grad"))
_EDGES = (
    "left", "top", "right", "bottom", "inset", "inset-inline-start", "inset-inline-end", "inset-block-start",
    "inset-block-end", "inset-inline", "inset-block",
)  # fmt: skip
_MARGINS = ("margin", "margin-left", "margin-top", "margin-right", "margin-inline-start", "margin-block-start")
_SIZES = (
    "width", "height", "max-width", "max-height", "inline-size", "block-size", "max-inline-size", "max-block-size",
    "line-height",
)  # fmt: skip


def hides_text(style: Style) -> bool:
    """Whether an element with this style displays no text."""
    return any(found[0](style) for name in style if (found := _CHECKS.get(name)) is not None)


def hiding_properties(style: Style) -> frozenset[str]:
    """The properties by which the style hides the text; none if it does not."""
    checks = (found for name in style if (found := _CHECKS.get(name)) is not None)
    return frozenset().union(*(names for check, names in checks if check(style)))


def has_no_contrast(style: Style) -> bool:
    """Whether text and background of this style have nearly the same colour, or the text is transparent."""
    fill = style.get("-webkit-text-fill-color") or style.get("color") or ""
    text = colour(fill) if fill else None
    if text is None:
        return False
    if text[3] <= LEAST_OPACITY:
        # Letters with a gradient are made with transparent text and a clipped background.
        return "text" not in style.get("background-clip", "") + style.get("-webkit-background-clip", "")
    behind = background(style.get("background-color") or style.get("background") or "")
    return behind is not None and behind[3] > 0.9 and not is_readable(text, behind)


def _share(value: str) -> float:
    return pixels(value, 1.0, percent=0.01)


def _is_tiny(style: Style) -> bool:
    size = style.get("font-size", "")
    if not size and "font" in style and (found := _FONT_SIZE.search(style["font"] + " x")):
        size = found[1]
    if size and pixels(size, 16.0, percent=0.16) <= _TINY:
        return True
    return pixels(style.get("letter-spacing", "")) <= -8 or pixels(style.get("word-spacing", "")) <= _OFF_SCREEN


def _is_off_screen(style: Style) -> bool:
    indent = pixels(style.get("text-indent", ""), percent=12.8)
    if indent <= _OFF_SCREEN or indent >= _FAR_AWAY:
        return True
    position = style.get("position")
    if position in ("absolute", "fixed", "relative", "sticky"):
        for name in _EDGES:
            if name in style and _is_away(style[name]):
                return True
        if position in ("absolute", "fixed") and pixels(style.get("z-index", "")) <= -1:
            return True
    return any(_least(style[name]) <= _OFF_SCREEN for name in _MARGINS if name in style)


def _is_away(value: str) -> bool:
    return _least(value) <= _OFF_SCREEN or _most(value) >= _FAR_AWAY


def _least(value: str) -> float:
    return min(pixels(part, percent=10.0) for part in value.split() or ["0"])


def _most(value: str) -> float:
    return max(pixels(part, percent=10.0) for part in value.split() or ["0"])


def _has_no_area(style: Style) -> bool:
    clip = style.get("clip-path", "") or style.get("-webkit-clip-path", "")
    if clip and _is_clipped(clip):
        return True
    if style.get("position") in ("absolute", "fixed") and "clip" in style and _is_clipped(style["clip"]):
        return True
    overflow = " ".join(style.get(name, "") for name in ("overflow", "overflow-x", "overflow-y"))
    if "hidden" not in overflow and "clip" not in overflow and "strict" not in style.get("contain", ""):
        return False
    return any(pixels(style[name], 99.0, percent=99.0) <= 1.0 for name in _SIZES if name in style)


def _is_clipped(value: str) -> bool:
    """Whether a clipping shape leaves nothing."""
    found = _FUNCTION.search(value)
    if found is None:
        return False
    name, arguments = found.groups()
    words = [word for word in _SPLIT.split(arguments.strip()) if word]
    numbers = [pixels(word, 0.0, percent=1.0) for word in words if word[0] in "0123456789.+-"]
    if name == "inset":
        return any(word.endswith("%") and pixels(word) >= 50 for word in words) or max(numbers, default=0) >= _FAR_AWAY
    if name in ("circle", "ellipse"):
        return bool(numbers) and min(numbers[: 1 if name == "circle" else 2]) <= 1 and words[0] != "at"
    if name == "rect":
        return len(numbers) == 4 and (abs(numbers[2] - numbers[0]) <= 1 or abs(numbers[1] - numbers[3]) <= 1)
    if name == "polygon":
        return len(numbers) > 1 and len(set(numbers[::2])) < 2 or len(set(numbers[1::2])) < 2
    return name == "path" and len(arguments.strip("\"' ")) < 6


def _is_transformed_away(style: Style) -> bool:
    for name, arguments in _FUNCTION.findall(style.get("transform", "")):
        numbers = [pixels(word, 0.0, percent=5.0) for word in _SPLIT.split(arguments.strip())]
        if name.startswith("scale") and min(map(abs, numbers[:2])) <= 0.05:
            return True
        if name.startswith("translate") and (min(numbers) <= _OFF_SCREEN or max(numbers) >= _FAR_AWAY):
            return True
        if name.startswith("matrix") and abs(numbers[0]) <= 0.05:
            return True
        if name in ("rotatex", "rotatey") and arguments.strip() in (
            "90deg",
            "-90deg",
            ".25turn",
            "0.25turn",
            "100grad",
        ):
            return True
    if "scale" in style and min(abs(_share(part)) for part in style["scale"].split() or ["1"]) <= 0.05:
        return True
    return "translate" in style and _is_away(style["translate"])


def _is_filtered_away(style: Style) -> bool:
    for name, argument in _FUNCTION.findall(style.get("filter", "")):
        if name == "opacity" and _share(argument) <= LEAST_OPACITY:
            return True
        if name == "blur" and pixels(argument) >= 10:
            return True
        if name in ("contrast", "brightness") and _share(argument) <= 0.01 and "background" in style:
            return True
    mask = style.get("mask", "") + style.get("mask-image", "") + style.get("-webkit-mask", "")
    mask += style.get("-webkit-mask-image", "")
    return "transparent" in mask and not re.search(r"#|black|white|rgb|hsl|url", mask)


# What to check for each property, and the properties that decide about it together.
_Check = tuple[Callable[[Style], bool], frozenset[str]]
_ALONE: dict[str, Callable[[Style], bool]] = {
    "display": lambda style: style["display"] == "none",
    "visibility": lambda style: style["visibility"] in ("hidden", "collapse"),
    "content-visibility": lambda style: style["content-visibility"] == "hidden",
    "opacity": lambda style: _share(style["opacity"]) <= LEAST_OPACITY,
    # Browsers take 0 for 1 here; old pages have it as a fix for old browsers.
    "zoom": lambda style: 0 < _share(style["zoom"]) <= LEAST_OPACITY,
}
_TOGETHER: tuple[tuple[Callable[[Style], bool], tuple[str, ...], tuple[str, ...]], ...] = (
    (_is_tiny, ("font-size", "font", "letter-spacing", "word-spacing"), ()),
    (_is_off_screen, ("text-indent", "position", *_MARGINS), (*_EDGES, "z-index")),
    (
        _has_no_area,
        ("clip-path", "-webkit-clip-path", "clip", "overflow", "overflow-x", "overflow-y", "contain"),
        (*_SIZES, "position"),
    ),
    (_is_transformed_away, ("transform", "scale", "translate"), ()),
    (_is_filtered_away, ("filter", "mask", "mask-image", "-webkit-mask", "-webkit-mask-image"), ()),
    (has_no_contrast, ("color", "-webkit-text-fill-color"), ("background", "background-color")),
)
_CHECKS: dict[str, _Check] = {name: (check, frozenset((name,))) for name, check in _ALONE.items()}
for _check, _names, _others in _TOGETHER:
    _CHECKS.update(dict.fromkeys(_names, (_check, frozenset((*_names, *_others)))))
