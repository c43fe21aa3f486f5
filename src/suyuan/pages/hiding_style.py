"""Whether a style hides the text of its element: the ways in which CSS makes text invisible."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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
_SMALL = {
    "xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0, "xx-large": 32.0,
    "xxx-large": 48.0, "initial": 16.0,
}  # fmt: skip
_EDGES = (
    "left", "top", "right", "bottom", "inset", "inset-inline-start", "inset-inline-end", "inset-block-start",
    "inset-block-end", "inset-inline", "inset-block",
)  # fmt: skip
_MARGINS = (
    "margin", "margin-left", "margin-top", "margin-right", "margin-inline-start", "margin-block-start", "margin-inline",
    "margin-block",
)  # fmt: skip
_SIZES = (
    "width", "height", "max-width", "max-height", "inline-size", "block-size", "max-inline-size", "max-block-size",
)  # fmt: skip
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
    found = []
    if checks := _checks(style):
        with_others = {**_PARTNERS, **style}
        found = [_GROUPS[name] for check, name in checks.items() if check(with_others)]
    if not _SHRINKING.isdisjoint(style):
        if opacity_of(style) < 0.8:
            found.append(_FADING)
        if scale_of(style) < 0.6:
            found.append(_SCALING)
        if font_size(style, 16.0) < 9:
            found.append(_LETTERS)
        if is_invisible(style):
            found.append(frozenset(("visibility",)))
    return frozenset().union(*found) if found else _NONE


def _checks(style: Style) -> dict[Callable[[Style], bool], str]:
    """The checks that the style needs, each with a property that needs it."""
    return {check: name for name in style if (check := _CHECKS.get(name)) is not None}


def is_invisible(style: Style) -> bool:
    """Whether text has this style's visibility; elements in it may be visible again."""
    return style.get("visibility") in ("hidden", "collapse")


def opacity_of(style: Style) -> float:
    """How much of an element is seen, from 0 to 1."""
    opacity = min(1.0, max(0.0, _share(style["opacity"]))) if "opacity" in style else 1.0
    if "opacity" in style.get("filter", ""):
        opacity *= prod(_share(share) for name, share in _FUNCTION.findall(style["filter"]) if name == "opacity")
    return opacity


def scale_of(style: Style) -> float:
    """By how much an element is scaled, in the direction in which it becomes smaller."""
    scale = 1.0
    if "zoom" in style:
        # Browsers take 0 for 1 here; old pages have it as a fix for old browsers.
        scale *= _share(style["zoom"]) or 1.0
    if "scale" in style:
        scale *= min((abs(_share(part)) for part in style["scale"].split()), default=1.0)
    if "(" in style.get("transform", ""):
        scale *= prod(_factor(name, arguments) for name, arguments in _FUNCTION.findall(style["transform"]))
    return scale


def _factor(name: str, arguments: str) -> float:
    """By how much a function of ``transform`` scales."""
    words = _WORD.findall(arguments)
    numbers = [abs(pixels(word, 1.0, percent=0.01)) for word in words]
    if name.startswith("scale") and name != "scalez":
        return min(numbers[:2], default=1.0)
    if name == "matrix" and len(numbers) == 6:
        return min(max(numbers[0], numbers[1]), max(numbers[2], numbers[3]))
    if name == "matrix3d" and len(numbers) == 16:
        return min(max(numbers[0], numbers[1]), max(numbers[4], numbers[5]))
    if name in ("rotatex", "rotatey") and _is_edge_on(arguments):
        return 0.0
    if (
        name == "rotate3d"
        and len(words) == 4
        and (numbers[0] or numbers[1])
        and not numbers[2]
        and _is_edge_on(words[3])
    ):
        return 0.0
    return 0.0 if name.startswith("skew") and any(map(_is_edge_on, words)) else 1.0


def _is_edge_on(angle: str) -> bool:
    return abs(abs(pixels(angle)) % 180 - 90) < 1


def font_size(style: Style, inherited: float) -> float:
    """The size of the letters in pixels."""
    size = style.get("font-size", "")
    if not size and "font" in style and (found := _FONT_SIZE.search(style["font"] + " x")):
        size = found[1]
    if "font-size-adjust" in style and pixels(style["font-size-adjust"], 1.0) == 0:
        return 0.0
    if not size:
        return inherited
    if size in _SMALL:
        return _SMALL[size]
    if size in ("smaller", "larger"):
        return inherited * (0.83 if size == "smaller" else 1.2)
    if re.search(r"[\d.](?:em|ex|ch|lh|cap|ic|%)(?!\w)", size):
        return pixels(size, 16.0, percent=0.16) * inherited / 16
    return pixels(size, inherited)


def _share(value: str) -> float:
    return pixels(value, 1.0, percent=0.01)


def _is_cramped(style: Style) -> bool:
    letters = pixels(style.get("letter-spacing", ""))
    return letters <= -8 or letters >= 400 or pixels(style.get("word-spacing", "")) <= _OFF_SCREEN


def _is_off_screen(style: Style) -> bool:
    indent = pixels(style.get("text-indent", ""), percent=WIDTH / 100)
    if indent <= _OFF_SCREEN or indent >= _FAR_AWAY or (indent >= WIDTH and _clips(style)):
        return True
    position = style.get("position")
    if position in ("absolute", "fixed") and (_is_away(style) or pixels(style.get("z-index", "")) <= -1):
        return True
    moving = (*_MARGINS, *_EDGES) if position in ("relative", "sticky") else _MARGINS
    return any(_least(style[name]) <= _OFF_SCREEN for name in moving if name in style)


def _is_away(style: Style) -> bool:
    """Whether an element that is placed by itself is beside the screen."""
    width = pixels(style.get("width", ""))
    for name in _EDGES:
        if name not in style:
            continue
        least, most = _least(style[name]), _most(style[name])
        if least <= _OFF_ITS_PLACE or most >= _FAR_AWAY or (name == "left" and 0 < width <= -least):
            return True
        if name in ("right", "bottom") and pixels(style[name], percent=WIDTH / 100) >= WIDTH:
            return True
        if style["position"] == "fixed" and most >= (WIDTH if name in ("left", "right") else HEIGHT):
            return True
        if style["position"] == "fixed" and "%" in style[name] and pixels(style[name]) >= 100:
            return True
    return False


def _least(value: str, percent: float = 10.0) -> float:
    return min(pixels(part, percent=percent) for part in _WORD.findall(value) or ["0"])


def _most(value: str) -> float:
    return max(pixels(part, percent=10.0) for part in _WORD.findall(value) or ["0"])


def _clips(style: Style) -> bool:
    if "contain" in style and re.search("strict|content|paint", style["contain"]):
        return True
    return any(style[name].startswith(_CLIPPING) for name in ("overflow", "overflow-x", "overflow-y") if name in style)


def _has_no_area(style: Style) -> bool:
    if not _clips(style):
        return False
    sizes = [name for name in _SIZES if name in style and pixels(style[name], 99.0, percent=99.0) < _NO_SIZE]
    return bool(sizes) or ("line-height" in style and pixels(style["line-height"], 1.0) <= 0)


def _is_cut_away(style: Style) -> bool:
    clip = style.get("clip-path", "") or style.get("-webkit-clip-path", "")
    if clip and _is_clipped(clip):
        return True
    return style.get("position") in ("absolute", "fixed") and "clip" in style and _is_clipped(style["clip"])


def _is_clipped(value: str) -> bool:
    """Whether a clipping shape leaves nothing."""
    found = _FUNCTION.search(value)
    if found is None:
        return False
    name, arguments = found.groups()
    words = _WORD.findall(arguments)
    shape = words[: words.index("at")] if "at" in words else words
    numbers = [pixels(word, 0.0) for word in shape if word[0] in "0123456789.+-" or "(" in word]
    if name == "inset":
        return any("%" in word and pixels(word) >= 50 for word in words) or max(numbers, default=0) >= _FAR_AWAY
    if name in ("circle", "ellipse"):
        return bool(numbers) and min(numbers[: 1 if name == "circle" else 2]) <= 1
    if name == "rect":
        numbers = [pixels(word, 0.0 if word != "auto" else 999.0) for word in words]
        return len(numbers) == 4 and (abs(numbers[2] - numbers[0]) <= 1 or abs(numbers[1] - numbers[3]) <= 1)
    if name == "xywh":
        return len(numbers) > 3 and min(numbers[2:4]) <= 1
    if name == "polygon":
        across, down = numbers[::2], numbers[1::2]
        return any(len(set(side)) < 2 or max(side) <= 0 for side in (across, down))
    return name == "path" and len(arguments.strip("\"' ")) < 6


def _is_moved_away(style: Style) -> bool:
    moves = _FUNCTION.findall(style.get("transform", ""))
    if "translate" in style:
        moves.append(("translate", style["translate"]))
    for name, arguments in moves:
        if name.startswith("translate") and (_least(arguments, 5.0) <= _OFF_SCREEN or _most(arguments) >= _FAR_AWAY):
            return True
        if name.startswith("translate") and style.get("position") == "fixed" and "-100%" in arguments:
            return True
    turned = " ".join([style.get("rotate", ""), style.get("transform", "")])
    if "rotate" in style and re.match(r"\s*[xy]\b", style["rotate"]) and _is_edge_on(style["rotate"].split()[-1]):
        return True
    if style.get("backface-visibility") == "hidden" and (found := _BACK.search(turned)):
        return abs(abs(pixels(found[1] or found[2])) % 360 - 180) < 90
    return "perspective(" in turned and _is_behind(moves)


_BACK = re.compile(r"rotate[xy]\(([^()]+)\)|(?<=[xy] )([\d.]+[a-z]+)")


def _is_behind(moves: list[tuple[str, str]]) -> bool:
    """Whether something is moved behind the eye of the reader."""
    distance = min((pixels(arguments) for name, arguments in moves if name == "perspective"), default=0.0)
    return any(name == "translatez" and pixels(arguments) >= distance for name, arguments in moves)


def _is_masked(style: Style) -> bool:
    filters = style.get("filter", "")
    if "blur" in filters and any(name == "blur" and pixels(size) >= 10 for name, size in _FUNCTION.findall(filters)):
        return True
    mask = " ".join(value for name, value in style.items() if name in _MASKS)
    if is_transparent(mask) or _NO_MASK.search(mask):
        return True
    return style.get("-webkit-text-security", "none") not in ("none", "initial", "inherit")


# A mask of no size, or an image that stands in the style itself: an icon, which has no text.
_NO_MASK = re.compile(r"/\s*0(?:px|%)?\b(?!\.)|url\(\s*[\"']?data:")
_MASKS = ("mask", "mask-image", "-webkit-mask", "-webkit-mask-image")
_ALONE: dict[str, Callable[[Style], bool]] = {
    # Functions of the page's own and conditions in values: nobody writes them here but to hide something.
    "display": lambda style: style["display"] == "none" or "(" in style["display"],
    "content-visibility": lambda style: style["content-visibility"] == "hidden",
    "content": lambda style: "url(" in style["content"] or "image" in style["content"],
    "opacity": lambda style: opacity_of(style) <= LEAST_OPACITY,
    "letter-spacing": _is_cramped,
    "word-spacing": _is_cramped,
}
_OVERFLOW = ("overflow", "overflow-x", "overflow-y", "contain")
_TOGETHER: tuple[tuple[Callable[[Style], bool], tuple[str, ...], tuple[str, ...]], ...] = (
    (_is_off_screen, ("text-indent", *_EDGES, "z-index", *_MARGINS), ("position", "width", *_OVERFLOW)),
    (_has_no_area, (*_SIZES, "line-height"), _OVERFLOW),
    (_is_cut_away, ("clip-path", "-webkit-clip-path", "clip"), ("position",)),
    (_is_moved_away, ("transform", "translate", "rotate"), ("position", "backface-visibility")),
    (_is_masked, ("filter", "-webkit-text-security", *_MASKS), ()),
)
_FADING = frozenset(("opacity", "filter"))
_SCALING = frozenset(("zoom", "scale", "transform"))
_LETTERS = frozenset(("font-size", "font", "font-size-adjust"))
_SHRINKING = _FADING | _SCALING | _LETTERS | {"visibility"}
_NONE: frozenset[str] = frozenset()
_CHECKS: dict[str, Callable[[Style], bool]] = {**_ALONE}
_GROUPS: dict[str, frozenset[str]] = {name: frozenset((name,)) for name in _ALONE}
"""The properties that decide together with each one."""
for _check, _names, _others in _TOGETHER:
    _CHECKS.update(dict.fromkeys(_names, _check))
    _GROUPS.update(dict.fromkeys(_names, frozenset((*_names, *_others))))
DECISIVE = frozenset().union(_SHRINKING, *_GROUPS.values())
"""The properties that decide about it, except the colours."""
