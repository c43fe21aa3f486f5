"""Whether a style hides the text of its element: the ways in which CSS makes text invisible."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import prod

from .colour import LEAST_OPACITY, is_transparent
from .lengths import HEIGHT, WIDTH, pixels

Style = Mapping[str, str]

_OFF_SCREEN = -999.0
_OFF_ITS_PLACE = -400.0
"""The same for an element that is placed by itself."""
_FAR_AWAY = 4000.0
_NO_SIZE = 3.0
"""Less than this shows no letter."""
TINY = 2.0
"""The size of letters that nobody can read."""
LEAST_SCALE = 0.05
_FONT_SIZE = re.compile(r"(?:^|\s)((?:\d+\.?\d*|\.\d+)(?:[a-z]+|%)?|[a-z]+\([^()]*\))(?:\s*/|\s+[^\s])")
_FUNCTION = re.compile(r"([-\w]+)\(((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+)\)")
_WORD = re.compile(r"(?:[^\s,()]++|\((?:[^()]++|\([^()]*+\))*+\))++")
_RELATIVE_SIZE = re.compile(r"[\d.](?:em|ex|ch|lh|cap|ic|%)(?!\w)")
_NUMBER_OR_SUM = re.compile(r"[\d.+-]|[a-z-]+\(")
_CONTAINED = re.compile("strict|content|paint")
_SIZE_NAMES = {
    "xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0, "xx-large": 32.0,
    "xxx-large": 48.0, "initial": 16.0,
}  # fmt: skip
_SIZE_FACTORS = {"smaller": 0.83, "larger": 1.2}
_TURNS = ("rotatex", "rotatey", "skew", "skewx", "skewy")
_SECOND_ROWS = {"matrix": 2, "matrix3d": 4}
"""Where the second row of a matrix begins."""
_EDGES = (
    "left", "top", "right", "bottom", "inset", "inset-inline-start", "inset-inline-end", "inset-block-start",
    "inset-block-end", "inset-inline", "inset-block",
)  # fmt: skip
_SCREEN = {"left": WIDTH, "right": WIDTH}
_MARGINS = (
    "margin", "margin-left", "margin-top", "margin-right", "margin-inline-start", "margin-block-start", "margin-inline",
    "margin-block",
)  # fmt: skip
_SIZES = (
    "width", "height", "max-width", "max-height", "inline-size", "block-size", "max-inline-size", "max-block-size",
)  # fmt: skip
_OVERFLOW = ("overflow", "overflow-x", "overflow-y")
_CLIPPING = ("hidden", "clip", "auto", "scroll")
# What another rule may add to a style, so that it hides the text.
_PARTNERS = {"position": "fixed", "overflow": "hidden", "white-space": "nowrap", "backface-visibility": "hidden"}

# Declarations without any of these hide nothing: most rules are told by one search, before they are read. It is for
# text in lower case: a pattern that ignores case takes several times as long, and so does one with an alternative that
# does not begin with one certain character.
_TO_NOTHING = r"\s*:\s*(?:[+.0]|[12](?!\d))"
_FAR_OFF = r"\s*:[^;]*?(?:\d{3}|\d(?!px)[a-z%])"
_SUSPECT = re.compile(
    r"\(|\\|-\.?\d|q(?<=\dq)\b|animation|display[^;]*none|visib|opacity|filter|transform|translate|rotate|scale|zoom|mask|"
    r"clip|security|spacing|indent|adjust|font\s*:\s*(?!inherit)|font-size\s*:\s*(?:[+.0]|[1-8](?!\d)|\d+[%e])|"
    rf"line-height\s*:\s*[+.0]|width{_TO_NOTHING}|height(?<!line-height){_TO_NOTHING}|size(?<!font-size){_TO_NOTHING}|"
    rf"left(?<![-\w]left){_FAR_OFF}|top(?<![-\w]top){_FAR_OFF}|right(?<![-\w]right){_FAR_OFF}|"
    rf"bottom(?<![-\w]bottom){_FAR_OFF}|inset(?<![-\w]inset)[-\w]*{_FAR_OFF}"
)


def may_hide(declarations: str) -> bool:
    """Whether declarations, as they are written, have to be read to know whether they hide text."""
    return _SUSPECT.search(declarations.lower()) is not None


def hides_text(style: Style) -> bool:
    """Whether an element with this style displays nothing, whatever the styles of the elements in it are."""
    return any(check(style) for check in _checks(style))


def hiding_properties(style: Style) -> frozenset[str]:
    """The properties by which the style hides text, makes it fainter or smaller, or would do so with another rule."""
    groups = []
    checks = _checks(style)
    if checks:
        with_others = {**_PARTNERS, **style}
        groups = [_GROUPS[name] for check, name in checks.items() if check(with_others)]
    if not _SHRINKING.isdisjoint(style):
        groups.extend(group for group, shrinks in _SHRINKS if shrinks(style))
    return frozenset().union(*groups)


def _checks(style: Style) -> dict[Callable[[Style], bool], str]:
    """The checks that the style needs, each with a property that needs it."""
    return {_CHECKS[name]: name for name in style if name in _CHECKS}


def is_invisible(style: Style) -> bool:
    """Whether text has this style's visibility; elements in it may be visible again."""
    return style.get("visibility") in ("hidden", "collapse")


# --- how much is seen ------------------------------------------------------------------------------------------------
def opacity_of(style: Style) -> float:
    """How much of an element is seen, from 0 to 1."""
    opacity = 1.0
    if "opacity" in style:
        opacity = min(1.0, max(0.0, _share(style["opacity"])))
    return opacity * prod(_share(share) for share in _arguments(style, "filter", "opacity"))


def scale_of(style: Style) -> float:
    """By how much an element is scaled, in the direction in which it becomes smaller."""
    scale = 1.0
    if "zoom" in style:
        # Browsers take 0 for 1 here; old pages have it as a fix for old browsers.
        scale *= _share(style["zoom"]) or 1.0
    if "scale" in style:
        scale *= min((abs(_share(part)) for part in style["scale"].split()), default=1.0)
    for name, arguments in _FUNCTION.findall(style.get("transform", "")):
        scale *= _factor(name, arguments)
    return scale


def _factor(name: str, arguments: str) -> float:
    """By how much a function of ``transform`` scales."""
    words = _WORD.findall(arguments)
    if name in _TURNS:
        return 0.0 if any(map(_is_edge_on, words)) else 1.0
    if name == "rotate3d" and len(words) == 4:
        is_around_view = pixels(words[2]) != 0
        return 1.0 if is_around_view or not _is_edge_on(words[3]) else 0.0
    numbers = [abs(_share(word)) for word in words]
    if name.startswith("scale") and name != "scalez":
        return min(numbers[:2], default=1.0)
    second = _SECOND_ROWS.get(name)
    if second is None:
        return 1.0
    rows = (numbers[:2], numbers[second : second + 2])
    return min(max(row, default=1.0) for row in rows)


def _is_edge_on(angle: str) -> bool:
    return 89 < abs(pixels(angle)) % 180 < 91


def font_size(style: Style, inherited: float) -> float:
    """The size of the letters in pixels."""
    if pixels(style.get("font-size-adjust", ""), 1.0) == 0:
        return 0.0
    size = style.get("font-size", "")
    if not size and "font" in style:
        in_font = _FONT_SIZE.search(style["font"] + " x")
        size = in_font[1] if in_font is not None else ""
    if size in _SIZE_NAMES:
        return _SIZE_NAMES[size]
    if size in _SIZE_FACTORS:
        return inherited * _SIZE_FACTORS[size]
    if _RELATIVE_SIZE.search(size):
        return pixels(size, 16.0, percent=0.16) * inherited / 16
    return pixels(size, inherited)


def _share(value: str) -> float:
    return pixels(value, 1.0, percent=0.01)


def _arguments(style: Style, name: str, function: str) -> list[str]:
    """What a function stands with in the value of a property, each time."""
    value = style.get(name, "")
    if function not in value:
        return []
    return [arguments for called, arguments in _FUNCTION.findall(value) if called == function]


# --- boxes -----------------------------------------------------------------------------------------------------------
def _is_cramped(style: Style) -> bool:
    letters = pixels(style.get("letter-spacing", ""))
    if letters <= -8 or letters >= 400:
        return True
    return pixels(style.get("word-spacing", "")) <= _OFF_SCREEN


def _is_off_screen(style: Style) -> bool:
    indent = pixels(style.get("text-indent", ""), percent=WIDTH / 100)
    far = WIDTH if _clips(style) else _FAR_AWAY
    if indent <= _OFF_SCREEN or indent >= far:
        return True
    position = style.get("position")
    if position in ("absolute", "fixed") and _is_behind_or_away(style):
        return True
    moving = (*_MARGINS, *_EDGES) if position in ("relative", "sticky") else _MARGINS
    return any(min(_lengths(style[name])) <= _OFF_SCREEN for name in moving if name in style)


def _is_behind_or_away(style: Style) -> bool:
    if pixels(style.get("z-index", "")) <= -1:
        return True
    return any(_is_away(style, name) for name in _EDGES if name in style)


def _is_away(style: Style, name: str) -> bool:
    """Whether an element that is placed by itself is beside the screen, by one of its edges."""
    value = style[name]
    least, most = min(_lengths(value)), max(_lengths(value))
    if least <= _OFF_ITS_PLACE or most >= _FAR_AWAY:
        return True
    width = pixels(style.get("width", ""))
    is_beside = 0 < width <= -least
    if is_beside and name == "left":
        return True
    if name in ("right", "bottom") and pixels(value, percent=WIDTH / 100) >= WIDTH:
        return True
    if style["position"] != "fixed":
        return False
    if most >= _SCREEN.get(name, HEIGHT):
        return True
    return "%" in value and pixels(value) >= 100


def _lengths(value: str, percent: float = 10.0) -> list[float]:
    return [pixels(word, percent=percent) for word in _WORD.findall(value)] or [0.0]


def _clips(style: Style) -> bool:
    if _CONTAINED.search(style.get("contain", "")):
        return True
    return any(style.get(name, "").startswith(_CLIPPING) for name in _OVERFLOW)


def _has_no_area(style: Style) -> bool:
    if not _clips(style):
        return False
    if "line-height" in style and pixels(style["line-height"], 1.0) <= 0:
        return True
    return any(pixels(style.get(name, ""), 99.0, percent=99.0) < _NO_SIZE for name in _SIZES)


# --- shapes and moves ------------------------------------------------------------------------------------------------
def _is_cut_away(style: Style) -> bool:
    if _is_clipped(style.get("clip-path") or style.get("-webkit-clip-path") or ""):
        return True
    return style.get("position") in ("absolute", "fixed") and _is_clipped(style.get("clip", ""))


def _is_clipped(value: str) -> bool:
    """Whether a clipping shape leaves nothing."""
    function = _FUNCTION.search(value)
    if function is None or function[1] not in _EMPTY_SHAPES:
        return False
    words = _WORD.findall(function[2])
    if "at" in words:
        words = words[: words.index("at")]
    return _EMPTY_SHAPES[function[1]](words)


def _numbers(words: Sequence[str]) -> list[float]:
    return [pixels(word) for word in words if _NUMBER_OR_SUM.match(word)]


def _is_empty_inset(words: Sequence[str]) -> bool:
    if any("%" in word and pixels(word) >= 50 for word in words):
        return True
    return max(_numbers(words), default=0.0) >= _FAR_AWAY


def _is_empty_rectangle(words: Sequence[str]) -> bool:
    if len(words) != 4:
        return False
    top, right, bottom, left = (999.0 if word == "auto" else pixels(word) for word in words)
    return abs(bottom - top) <= 1 or abs(right - left) <= 1


def _is_empty_polygon(words: Sequence[str]) -> bool:
    numbers = _numbers(words)
    across, down = numbers[::2], numbers[1::2]
    return any(len(set(side)) < 2 or max(side) <= 0 for side in (across, down))


_EMPTY_SHAPES: dict[str, Callable[[Sequence[str]], bool]] = {
    "inset": _is_empty_inset,
    "circle": lambda words: min(_numbers(words)[:1], default=9.0) <= 1,
    "ellipse": lambda words: min(_numbers(words)[:2], default=9.0) <= 1,
    "rect": _is_empty_rectangle,
    "xywh": lambda words: min(_numbers(words)[2:4], default=9.0) <= 1,
    "polygon": _is_empty_polygon,
    "path": lambda words: len("".join(words).strip("\"'")) < 6,
}


def _is_moved_away(style: Style) -> bool:
    moves = [arguments for name, arguments in _FUNCTION.findall(style.get("transform", "")) if name in _MOVES]
    moves.append(style.get("translate", ""))
    for arguments in moves:
        lengths = _lengths(arguments, 5.0)
        if min(lengths) <= _OFF_SCREEN or max(_lengths(arguments)) >= _FAR_AWAY:
            return True
        if style.get("position") == "fixed" and "-100%" in arguments:
            return True
    distances = list(map(pixels, _arguments(style, "transform", "perspective")))
    depths = map(pixels, _arguments(style, "transform", "translatez"))
    is_behind_the_eye = distances != [] and max(depths, default=-1.0) >= min(distances)
    return is_behind_the_eye or _is_turned_away(style)


def _is_turned_away(style: Style) -> bool:
    """Whether an element is turned until only its edge or its back is to be seen."""
    axis, _, angle = style.get("rotate", "").partition(" ")
    is_turned = axis in ("x", "y")
    if is_turned and _is_edge_on(angle):
        return True
    if style.get("backface-visibility") != "hidden":
        return False
    angles = [*_arguments(style, "transform", "rotatex"), *_arguments(style, "transform", "rotatey")]
    if is_turned:
        angles.append(angle)
    return any(90 < abs(pixels(angle)) % 360 < 270 for angle in angles)


def _is_blurred(style: Style) -> bool:
    return any(pixels(radius) >= 10 for radius in _arguments(style, "filter", "blur"))


def _is_masked(style: Style) -> bool:
    mask = " ".join(style[name] for name in _MASKS if name in style)
    return is_transparent(mask) or _NO_MASK.search(mask) is not None


# A mask of no size, or an image that stands in the style itself: an icon, which has no text.
_NO_MASK = re.compile(r"/\s*0(?:px|%)?\b(?!\.)|url\(\s*[\"']?data:")
_MASKS = ("mask", "mask-image", "-webkit-mask", "-webkit-mask-image")
_MOVES = ("translate", "translatex", "translatey", "translatez", "translate3d")
_ALONE: dict[str, Callable[[Style], bool]] = {
    # Functions of the page's own and conditions in values: nobody writes them here but to hide something.
    "display": lambda style: style["display"] == "none" or "(" in style["display"],
    "content-visibility": lambda style: style["content-visibility"] == "hidden",
    "content": lambda style: "url(" in style["content"] or "image" in style["content"],
    "opacity": lambda style: opacity_of(style) <= LEAST_OPACITY,
    "letter-spacing": _is_cramped,
    "word-spacing": _is_cramped,
    "filter": _is_blurred,
    "-webkit-text-security": lambda style: style["-webkit-text-security"] not in ("none", "initial", "inherit"),
}
_OVERFLOW_OR_CONTAIN = (*_OVERFLOW, "contain")
_TOGETHER: tuple[tuple[Callable[[Style], bool], tuple[str, ...], tuple[str, ...]], ...] = (
    (_is_off_screen, ("text-indent", *_EDGES, "z-index", *_MARGINS), ("position", "width", *_OVERFLOW_OR_CONTAIN)),
    (_has_no_area, (*_SIZES, "line-height"), _OVERFLOW_OR_CONTAIN),
    (_is_cut_away, ("clip-path", "-webkit-clip-path", "clip"), ("position",)),
    (_is_moved_away, ("transform", "translate", "rotate"), ("position", "backface-visibility")),
    (_is_masked, _MASKS, ()),
)
"""Checks of several properties, these properties, and others that may take part."""
_FADING = frozenset(("opacity", "filter"))
_SCALING = frozenset(("zoom", "scale", "transform"))
_LETTERS = frozenset(("font-size", "font", "font-size-adjust"))
_SHRINKS: tuple[tuple[frozenset[str], Callable[[Style], bool]], ...] = (
    (_FADING, lambda style: opacity_of(style) < 0.8),
    (_SCALING, lambda style: scale_of(style) < 0.6),
    (_LETTERS, lambda style: font_size(style, 16.0) < 9),
    (frozenset(("visibility",)), is_invisible),
)
_SHRINKING = frozenset().union(*(group for group, _ in _SHRINKS))
_CHECKS: dict[str, Callable[[Style], bool]] = {**_ALONE}
_GROUPS: dict[str, frozenset[str]] = {name: frozenset((name,)) for name in _ALONE}
"""The properties that decide together with each one."""
for _check, _names, _others in _TOGETHER:
    _CHECKS.update(dict.fromkeys(_names, _check))
    _GROUPS.update(dict.fromkeys(_names, frozenset((*_names, *_others))))
DECISIVE = frozenset().union(_SHRINKING, *_GROUPS.values())
"""The properties that decide about it, except the colours."""
