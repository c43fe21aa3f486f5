"""The styles of a Word document: how text looks by its styles, its own marks and the colours of the theme."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar
from xml.etree.ElementTree import Element

from .colour import LEAST_OPACITY, WHITE, Colour, colour, opaque_mix

_MOST_BASES = 12
"""Styles are based on one another no deeper than this."""
AUTO: Colour = (-1.0, -1.0, -1.0, 1.0)
"""The colour of text that is chosen so that it can be read, and of a background that is none."""
_THEME_NAMES = {
    "dark1": "dk1", "light1": "lt1", "dark2": "dk2", "light2": "lt2", "text1": "dk1", "background1": "lt1",
    "text2": "dk2", "background2": "lt2", "hyperlink": "hlink", "followedHyperlink": "folHlink",
    "tx1": "dk1", "bg1": "lt1", "tx2": "dk2", "bg2": "lt2",
}  # fmt: skip
_MAPPED = {"bg1": "background1", "t1": "text1", "bg2": "background2", "t2": "text2"}
_HIGHLIGHTS = {"darkYellow": "#808000", "lightGray": "#c0c0c0", "darkGray": "#808080", "green": "#00ff00"}
_OFF = ("0", "false", "off")
_TOO_CLEAR = (1 - LEAST_OPACITY) * 100_000


class WordLook(NamedTuple):
    """How letters look; None where nothing is said about it."""

    is_hidden: bool | None = None
    colour: Colour | None = None
    size: float | None = None
    """In points."""
    stretch: float | None = None
    spacing: float | None = None
    """Between letters, in points."""
    shade: Colour | None = None
    highlight: Colour | None = None


class WordPlace(NamedTuple):
    """Where a paragraph stands, in twentieths of a point, and what is behind it; None where nothing is said."""

    shade: Colour | None = None
    line: float | None = None
    """The height of a line that is exact."""
    left: float | None = None
    right: float | None = None
    first: float | None = None


S = TypeVar("S", WordLook, WordPlace)


def upon(base: S, own: S) -> S:
    """What is said by ``own``, and for the rest by ``base``."""
    said = (old if new is None else new for old, new in zip(base, own, strict=True))
    return type(base)(*said)  # type: ignore[arg-type]


class WordStyles:
    """The styles of a document by their ids."""

    def __init__(self, styles: Element | None, theme: Element | None, settings: Element | None) -> None:
        self._theme = dict(_theme_colours(theme)) if theme is not None else {}
        self._mapping = dict(_THEME_NAMES)
        self.shows_background = False
        """Whether the colour of the page is shown."""
        if settings is not None:
            self._read_settings(settings)
        self._styles = (
            {value(each, "styleId"): each for each in styles if tag(each) == "style"} if styles is not None else {}
        )
        defaults = child(styles, "docDefaults", "rPrDefault", "rPr") if styles is not None else None
        self.defaults = self.look(defaults) if defaults is not None else WordLook()
        self._looks: dict[str, WordLook] = {}
        self._places: dict[str, WordPlace] = {}
        kinds = {
            value(each, "type"): value(each, "styleId") for each in self._styles.values() if is_on(each, "default")
        }
        self.default_paragraph = kinds.get("paragraph", "")

    def _read_settings(self, settings: Element) -> None:
        for each in settings:
            if tag(each) == "displayBackgroundShape":
                self.shows_background = is_on(each)
            if tag(each) == "clrSchemeMapping":
                for name, meant in each.attrib.items():
                    known = _MAPPED.get(name.rpartition("}")[2])
                    if known is not None and meant in _THEME_NAMES:
                        self._mapping[known] = _THEME_NAMES[meant]

    # --- styles ----------------------------------------------------------------------------------------------------
    def look_of(self, style: str) -> WordLook:
        """How letters look by a style of paragraphs or letters."""
        if style not in self._looks:
            found = WordLook()
            for each in self.chain(style):
                found = upon(found, self.look(child(each, "rPr")))
            self._looks[style] = found
        return self._looks[style]

    def place_of(self, style: str) -> WordPlace:
        """Where paragraphs of a style stand."""
        if style not in self._places:
            found = WordPlace()
            for each in self.chain(style):
                found = upon(found, self.place(child(each, "pPr")))
            self._places[style] = found
        return self._places[style]

    def chain(self, style: str) -> list[Element]:
        """A style and those that it is based on, which come first."""
        found: list[Element] = []
        while style in self._styles and len(found) < _MOST_BASES:
            found.append(self._styles[style])
            base = child(found[-1], "basedOn")
            style = value(base) if base is not None else ""
        return found[::-1]

    # --- what elements say -----------------------------------------------------------------------------------------
    def look(self, marks: Element | None) -> WordLook:
        """What the marks of a run or a style say."""
        said: dict[str, Any] = {}
        for each in marks if marks is not None else ():
            name = tag(each)
            if name in ("vanish", "specVanish"):
                said["is_hidden"] = is_on(each)
            elif name == "color":
                said["colour"] = self._coloured(each, "val", "theme")
            elif name == "sz":
                said["size"] = number(each) / 2
            elif name == "w":
                said["stretch"] = number(each, default=100.0) / 100
            elif name == "spacing":
                said["spacing"] = number(each) / 20
            elif name == "shd":
                said["shade"] = self.shade(each)
            elif name == "highlight":
                said["highlight"] = _highlight(value(each))
            elif name == "textFill":
                said["colour"] = self._filled(each) or said.get("colour")
        return WordLook(**said)

    def place(self, marks: Element | None) -> WordPlace:
        """What the marks of a paragraph say about where it stands."""
        said: dict[str, float | Colour | None] = {}
        for each in marks if marks is not None else ():
            name = tag(each)
            if name == "shd":
                said["shade"] = self.shade(each)
            elif name == "spacing" and value(each, "lineRule") == "exact":
                said["line"] = number(each, "line", 240.0)
            elif name == "ind":
                sides = {"left": ("left", "start"), "right": ("right", "end"), "first": ("firstLine",)}
                for side, names in sides.items():
                    found = [number(each, one) for one in names if value(each, one)]
                    said[side] = found[0] if found else said.get(side)
                if value(each, "hanging"):
                    said["first"] = -number(each, "hanging")
        return WordPlace(**said)  # type: ignore[arg-type]

    def shade(self, element: Element) -> Colour | None:
        """The colour of a background."""
        kind = value(element) or "clear"
        fill = self._coloured(element, "fill", "themeFill")
        if kind in ("nil", "clear"):
            return fill
        over = self._coloured(element, "color", "theme")
        share = _share_of_pattern(kind)
        one = (0.0, 0.0, 0.0, 1.0) if over in (None, AUTO) else over
        other = WHITE if fill in (None, AUTO) else fill
        assert one is not None and other is not None
        return opaque_mix(one, other, share)

    def background(self, element: Element) -> Colour | None:
        """The colour of the page."""
        return self._coloured(element, "color", "theme")

    def _coloured(self, element: Element, name: str, theme: str) -> Colour | None:
        """A colour by its value, or by its name in the theme, which comes first."""
        attribute = "themeColor" if theme == "theme" else theme
        named = value(element, attribute)
        if named and (found := self._of_theme(named)) is not None:
            return _varied(found, value(element, f"{theme}Tint"), value(element, f"{theme}Shade"))
        written = value(element, name)
        if written == "auto":
            return AUTO
        return colour(f"#{written}") if written else None

    def _of_theme(self, name: str) -> Colour | None:
        return self._theme.get(self._mapping.get(name, name))

    def filled(self, fill: Element) -> Colour | None:
        """The colour of what is filled by a drawing; None if it is not known."""
        for each in fill:
            name = tag(each)
            if name == "srgbClr":
                found = colour(f"#{value(each)}")
            elif name == "schemeClr":
                found = self._of_theme(value(each))
            elif name in ("sysClr", "prstClr"):
                found = colour(f"#{value(each, 'lastClr')}") or colour(value(each))
            else:
                continue
            return None if found is None else (*found[:3], 1 - _clear(each) / 100_000)
        return None

    def _filled(self, fill: Element) -> Colour | None:
        """The colour of letters that are filled like a drawing."""
        for each in fill:
            if tag(each) == "noFill":
                return (0.0, 0.0, 0.0, 0.0)
            if tag(each) == "solidFill":
                return self.filled(each)
        return None


def _clear(element: Element) -> float:
    """How transparent a colour of letters is, in thousandths of a percent."""
    return next((number(each) for each in element if tag(each) == "alpha"), 0.0)


def _varied(base: Colour, tint: str, shade: str) -> Colour:
    """A lighter or a darker variant of a colour."""
    if tint:
        share = _byte(tint)
        red, green, blue = (base[i] * share + 1 - share for i in range(3))
        return (red, green, blue, 1.0)
    share = _byte(shade) if shade else 1.0
    return (base[0] * share, base[1] * share, base[2] * share, 1.0)


def _byte(text: str) -> float:
    try:
        return int(text, 16) / 255
    except ValueError:
        return 1.0


def _highlight(name: str) -> Colour | None:
    return AUTO if name == "none" else colour(_HIGHLIGHTS.get(name, name))


def _theme_colours(theme: Element) -> Iterator[tuple[str, Colour]]:
    for scheme in theme.iter():
        if tag(scheme) != "clrScheme":
            continue
        for each in scheme:
            for one in each:
                found = colour(f"#{value(one, 'lastClr') or value(one)}")
                if found is not None:
                    yield tag(each), found


def _share_of_pattern(kind: str) -> float:
    """The share of a background that the colour of its pattern covers."""
    if kind == "solid":
        return 1.0
    percent = kind.removeprefix("pct")
    is_percent = percent != kind and percent.isdigit()
    return float(percent) / 100 if is_percent else 0.0


# --- elements ---------------------------------------------------------------------------------------------------------
def tag(element: Element) -> str:
    """The name of an element without that of its space."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def value(element: Element, name: str = "val") -> str:
    """An attribute by its name without that of its space; empty if there is none."""
    for key, text in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return text
    return ""


def is_on(element: Element, name: str = "val") -> bool:
    """Whether a switch is on: without a value it is; an attribute of another name has to be there."""
    found = value(element, name)
    if not found:
        return name == "val"
    return found not in _OFF


def number(element: Element, name: str = "val", default: float = 0.0) -> float:
    """A number of an attribute, which may have the sign for percent or a unit."""
    text = value(element, name).strip()
    scale = 20.0 if text.endswith("pt") else 1.0
    try:
        return float(text.removesuffix("%").removesuffix("pt")) * scale
    except ValueError:
        return default


def child(element: Element | None, *names: str) -> Element | None:
    """The element that these names lead to."""
    for name in names:
        if element is None:
            return None
        element = next((each for each in element if tag(each) == name), None)
    return element


def children(element: Element, name: str) -> Iterable[Element]:
    """The elements of a name directly within an element."""
    return (each for each in element if tag(each) == name)
