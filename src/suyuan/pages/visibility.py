"""Finds text that a reader cannot see: hidden elements, which often carry injected prompts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .colour import LEAST_OPACITY, Colour
from .css_values import declarations
from .hiding_style import LEAST_SCALE, TINY, font_size, hides_text, is_invisible, opacity_of, scale_of
from .page_rules import COLOURS, Look
from .page_styles import PageStyles
from .paint import Paint, can_be_read, paint_of

_MAX_ANCESTORS = 60

_MAY_HIDE = re.compile(
    r"display|visib|opacity|color|background|font|indent|left|top|right|bottom|inset|margin|height|width|size|clip|"
    r"transform|translate|scale|rotate|filter|mask|zoom|spacing|z-index|contain|content|security|var\(|\\",
    re.I,
)
_HAS_COLOUR = re.compile(r"color|background|filter|blend|stroke|shadow|\\", re.I)
_DIGITS = re.compile(r"[0-9a-fA-F]{6}")
_REACT_ID = re.compile(r"S:[0-9a-f]+")

Attributes = Mapping[str, str | None]


_NO_PROPERTIES: frozenset[str] = frozenset()
_READABLE_AGAIN = frozenset(("font-size", "font", "visibility"))
# How pages hide what their scripts show.
_CLOSING = frozenset(("display", "visibility", "opacity", "overflow"))
# The attributes that can hide text by themselves.
_TELLING = frozenset(("hidden", "popover", "style", "bgcolor", "color", "text"))
_COLOUR_ATTRIBUTES = frozenset(("bgcolor", "color", "text"))
# The colour of all links, say, is made for a background that the page gets elsewhere.
_OWN = frozenset(("class", "id", "style", "color"))
_TEXT_COLOURS = {"font": "color", "body": "text"}
"""The attributes of these elements that give text a colour."""


@dataclass(slots=True, eq=False)
class Sight:
    """How a reader sees the text of an element."""

    opacity: float = 1.0
    scale: float = 1.0
    size: float = 16.0
    """Of the letters, in pixels, before they are scaled."""
    is_visible: bool = True
    has_contrast: bool = True
    is_readable: bool = field(init=False)
    """Whether it can be read; elements in it may be readable where it is not."""

    def __post_init__(self) -> None:
        is_large = self.size * self.scale > TINY
        self.is_readable = is_large and self.is_visible and self.has_contrast


class VisibilityChecker:
    """Decides by inline styles, attributes and the page's own style sheets; external ones are not loaded."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._styles = PageStyles(tree)
        self._paints: dict[object, Paint | None] = {}
        self._inline: dict[str, frozenset[str]] = {}
        self._computed: dict[tuple[Look, str, frozenset[str]], dict[str, str]] = {}
        self._has_fills = b"text-fill-color" in tree.raw_html
        self._has_react = tree.css_first('[id^="S:"][hidden]') is not None and tree.scripts_contain("$RC(")
        self._page = self._styles.page

    def has_rules_for(self, tag: str) -> bool:
        """Whether a rule may apply to every element of this name."""
        return self._styles.look(tag, None, None).is_telling

    def sight(
        self, node: LexborNode, tag: str, attributes: Attributes, around: Sight, *, is_open: bool = False
    ) -> Sight | None:
        """How the text of the element is seen, where ``around`` is how that around it is; None if nothing is seen.

        With ``is_open`` it is seen as when a script has shown what is not displayed.
        """
        look = self._styles.look(tag, attributes.get("class"), attributes.get("id"))
        is_plain = not look.is_telling and _TELLING.isdisjoint(attributes)
        if is_plain and around.is_readable:
            return around
        if self._has_hiding_attribute(attributes, is_open):
            return None
        hiding = self._hiding_properties(look, node, attributes)
        if not around.is_readable:
            hiding |= _READABLE_AGAIN
        sight: Sight | None = around
        if hiding:
            style = self._style(look, node, attributes.get("style") or "", hiding)
            sight = _seen_open(style, around) if is_open else _seen(style, around)
        if sight is None:
            return None
        has_contrast = self._has_contrast(node, tag, attributes, look, around.has_contrast)
        return sight if has_contrast is sight.has_contrast else replace(sight, has_contrast=has_contrast)

    def _has_hiding_attribute(self, attributes: Attributes, is_open: bool) -> bool:
        if "popover" in attributes:
            return True
        if is_open or "hidden" not in attributes:
            return False
        # React sends late parts of a page as <div hidden id="S:1">; its script moves them into place.
        is_streamed = self._has_react and _REACT_ID.fullmatch(attributes.get("id") or "") is not None
        return not is_streamed

    def _hiding_properties(self, look: Look, node: LexborNode, attributes: Attributes) -> frozenset[str]:
        """The properties by which the element may be hidden."""
        hiding = _NO_PROPERTIES
        inline = attributes.get("style")
        if inline:
            if inline not in self._inline:
                self._inline[inline] = self._hiding_inline(inline)
            hiding = self._inline[inline]
        if look.hides and self._styles.is_hidden(look, node):
            hiding |= look.hides
        return hiding

    def _hiding_inline(self, inline: str) -> frozenset[str]:
        if _MAY_HIDE.search(inline) is None:
            return _NO_PROPERTIES
        return self._page.hiding_properties(declarations(inline, self._page.quirks))

    def _style(self, look: Look, node: LexborNode, inline: str, names: frozenset[str]) -> dict[str, str]:
        """What decides whether the element is seen."""
        entries = look.with_any(names)
        if "var(" in inline or any(entry.selector.is_complex for entry in entries):
            return self._styles.computed(entries, node, inline)
        key = (look, inline, names)
        if key not in self._computed:
            self._computed[key] = self._styles.computed(entries, node, inline)
        return self._computed[key]

    # --- colours -------------------------------------------------------------------------------------------------
    def _has_contrast(self, node: LexborNode, tag: str, attributes: Attributes, look: Look, around: bool) -> bool:
        """Whether the text differs from what is behind it, where ``around`` says so of the text around it."""
        is_clear = around and not self._styles.any_matches(look.faint, node)
        if is_clear and _is_coloured(look, attributes):
            is_clear = self._differs(node, tag, attributes, every=False) is not False
        if is_clear:
            return True
        # Only now the rules that take longer to match are worth it: one of them may give it another colour.
        differs = self._differs(node, tag, attributes, every=True)
        return around if differs is None else differs

    def _differs(self, node: LexborNode, tag: str, attributes: Attributes, *, every: bool) -> bool | None:
        """Whether the text differs from what is behind it, by ``every`` rule; None if the element does not say."""
        own = self._paint(node, tag, attributes, every)
        if own is None:
            return None
        text = self._letters(node, own, every)
        if text is None:
            return True
        behind = own.behind or self._inherited(node, "behind", every)
        is_declared = behind is not None
        if behind == "currentcolor":
            behind = (text,)
        elif not is_declared and self._is_own_background(attributes):
            behind = (self._page.behind,)
        if not isinstance(behind, tuple):
            behind = ()
        return can_be_read(own, text, behind, is_declared=is_declared)

    def _is_own_background(self, attributes: Attributes) -> bool:
        """Whether an element without a background has that of the page behind it."""
        return self._page.is_complete and not _OWN.isdisjoint(attributes)

    def _letters(self, node: LexborNode, own: Paint, every: bool) -> Colour | None:
        """The colour of the letters of an element; None if it is not known."""
        fill = own.fill
        if fill is None and self._has_fills:
            fill = self._inherited(node, "fill", every)
        text: Colour | None = fill or own.text or self._inherited(node, "text", every)
        if text is None and self._page.is_complete:
            return self._page.text
        return text

    def _paint(self, node: LexborNode, tag: str, attributes: Attributes, every: bool) -> Paint | None:
        """The colours of the element itself."""
        look = self._styles.look(tag, attributes.get("class"), attributes.get("id"))
        if not every and not _is_coloured(look, attributes):
            return None
        key: object = node.mem_id if every else (look, tag, *map(attributes.get, ("style", *_COLOUR_ATTRIBUTES)))
        if key not in self._paints:
            entries = look.with_any(COLOURS) if every else look.colours
            style = self._styles.computed(entries, node, attributes.get("style") or "")
            text = _web_colour(attributes.get(_TEXT_COLOURS.get(tag, "")))
            behind = _web_colour(attributes.get("bgcolor"))
            self._paints[key] = paint_of(style, self._page.text, text, behind)
        return self._paints[key]

    def _inherited(self, node: LexborNode, which: str, every: bool) -> Any:
        """The colour of the text or the background that the element has from its ancestors."""
        above = node.parent
        for _ in range(_MAX_ANCESTORS):
            if above is None:
                return None
            paint = self._paint(above, above.tag or "", above.attributes, every)
            colour = getattr(paint, which, None)
            if colour is not None:
                return colour
            above = above.parent
        return None


def _is_coloured(look: Look, attributes: Attributes) -> bool:
    """Whether an element says something about colours, as far as that is quick to know."""
    if look.colours or not _COLOUR_ATTRIBUTES.isdisjoint(attributes):
        return True
    return _HAS_COLOUR.search(attributes.get("style") or "") is not None


def _seen(style: Mapping[str, str], around: Sight) -> Sight | None:
    """How text of this style is seen; None if neither it nor anything in it is."""
    if hides_text(style):
        return None
    opacity, scale = around.opacity * opacity_of(style), around.scale * scale_of(style)
    if opacity <= LEAST_OPACITY or scale <= LEAST_SCALE:
        return None
    is_visible = not is_invisible(style) if "visibility" in style else around.is_visible
    return Sight(opacity, scale, font_size(style, around.size), is_visible, around.has_contrast)


def _seen_open(style: Mapping[str, str], around: Sight) -> Sight | None:
    """How text of this style is seen when a script has shown it."""
    return _seen({name: value for name, value in style.items() if name not in _CLOSING}, around)


def _web_colour(value: str | None) -> str:
    """The colour of an attribute, which may lack its sign."""
    if not value:
        return ""
    return f"#{value}" if _DIGITS.fullmatch(value) else value
