"""Finds text that a reader cannot see: hidden elements, which often carry injected prompts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .colour import LEAST_OPACITY
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


_NONE: frozenset[str] = frozenset()
_READABLE_AGAIN = frozenset(("font-size", "font", "visibility"))
# How pages hide what their scripts show.
_CLOSING = frozenset(("display", "visibility", "opacity", "overflow"))
# The attributes that can hide text by themselves.
_TELLING = frozenset(("hidden", "popover", "style", "bgcolor", "color", "text"))


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
        self.is_readable = self.is_visible and self.has_contrast and self.size * self.scale > TINY


class VisibilityChecker:
    """Decides by inline styles, attributes and the page's own style sheets; external ones are not loaded."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._styles = PageStyles(tree)
        self._read: dict[object, Paint | None] = {}
        self._inline: dict[str, frozenset[str]] = {}
        self._looks: dict[tuple[Look, str, frozenset[str]], dict[str, str]] = {}
        self._fills = b"text-fill-color" in tree.raw_html
        self._react = tree.css_first('[id^="S:"][hidden]') is not None and tree.scripts_contain("$RC(")
        self._page = self._styles.page

    def has_rules_for(self, tag: str) -> bool:
        """Whether a rule may apply to every element of this name."""
        look = self._styles.look(tag, None, None)
        return look.is_telling

    def sight(
        self, node: LexborNode, tag: str, attributes: Attributes, around: Sight, *, is_open: bool = False
    ) -> Sight | None:
        """How the text of the element is seen, where ``around`` is how that around it is; None if nothing is seen.

        With ``is_open`` it is seen as when a script has shown what is not displayed.
        """
        look = self._styles.look(tag, attributes.get("class"), attributes.get("id"))
        if around.is_readable and not look.is_telling and _TELLING.isdisjoint(attributes):
            return around
        if "hidden" in attributes and not is_open and not self._is_streamed(attributes):
            return None
        if "popover" in attributes:
            return None
        inline = attributes.get("style") or ""
        hiding = self._hiding(inline) if inline else _NONE
        if look.hides and self._styles.is_hidden(look, node):
            hiding |= look.hides
        if not around.is_readable:
            hiding |= _READABLE_AGAIN
        if hiding:
            style: Mapping[str, str] = self._style(look, node, inline, hiding)
            if is_open:
                style = {name: value for name, value in style.items() if name not in _CLOSING}
            if hides_text(style):
                return None
            found = _seen(style, around)
            if found is None:
                return None
            around = found
        has_contrast = self._contrast(node, tag, attributes, look, around.has_contrast)
        return around if has_contrast is around.has_contrast else replace(around, has_contrast=has_contrast)

    def _is_streamed(self, attributes: Attributes) -> bool:
        # React sends late parts of a page as <div hidden id="S:1">; its script moves them into place.
        return self._react and bool(_REACT_ID.fullmatch(attributes.get("id") or ""))

    def _hiding(self, inline: str) -> frozenset[str]:
        if inline not in self._inline:
            suspect = _MAY_HIDE.search(inline) is not None
            found = self._page.hiding_properties(declarations(inline, self._page.quirks)) if suspect else _NONE
            self._inline[inline] = found
        return self._inline[inline]

    def _style(self, look: Look, node: LexborNode, inline: str, names: frozenset[str]) -> dict[str, str]:
        """What decides whether the element is seen."""
        entries = look.with_any(names)
        if any(selector.is_complex for selector, _ in entries) or "var(" in inline:
            return self._styles.computed(entries, node, inline)
        if (look, inline, names) not in self._looks:
            self._looks[look, inline, names] = self._styles.computed(entries, node, inline)
        return self._looks[look, inline, names]

    # --- colours -------------------------------------------------------------------------------------------------
    def _contrast(self, node: LexborNode, tag: str, attributes: Attributes, look: Look, around: bool) -> bool:
        """Whether the text differs from what is behind it, where ``around`` says so of the text around it."""
        if around and not self._styles.any_matches(look.faint, node):
            coloured = self._is_coloured(look, attributes)
            if not coloured or self._differs(node, tag, attributes, every=False) is not False:
                return True
        # Only now the rules that take longer to match are worth it: one of them may give it another colour.
        differs = self._differs(node, tag, attributes, every=True)
        return around if differs is None else differs

    def _differs(self, node: LexborNode, tag: str, attributes: Attributes, *, every: bool) -> bool | None:
        """Whether the text differs from what is behind it, by ``every`` rule; None if the element does not say."""
        own = self._paint(node, tag, attributes, every)
        if own is None:
            return None
        text = own.fill or (self._inherited(node, "fill", every) if self._fills else None)
        text = (
            text
            or own.text
            or self._inherited(node, "text", every)
            or (self._page.text if self._page.is_complete else None)
        )
        behind = own.behind or self._inherited(node, "behind", every)
        declared = behind is not None
        if not declared and self._page.is_complete and attributes.keys() & {"class", "id", "style", "color"}:
            # The colour of all links, say, is made for a background that the page gets elsewhere.
            behind = (self._page.behind,)
        if text is None:
            return True
        if behind == "currentcolor":
            behind = (text,)
        return can_be_read(own, text, behind if isinstance(behind, tuple) else (), is_declared=declared)

    def _is_coloured(self, look: Look, attributes: Attributes) -> bool:
        if look.colours:
            return True
        inline = attributes.get("style")
        if inline and _HAS_COLOUR.search(inline) is not None:
            return True
        return "bgcolor" in attributes or "color" in attributes or "text" in attributes

    def _paint(self, node: LexborNode, tag: str, attributes: Attributes, every: bool) -> Paint | None:
        """The colours of the element itself."""
        look = self._styles.look(tag, attributes.get("class"), attributes.get("id"))
        if not every and not self._is_coloured(look, attributes):
            return None
        key: object = node.mem_id if every else (look, tag, *map(attributes.get, ("style", "bgcolor", "color", "text")))
        if key not in self._read:
            rules = look.with_any(COLOURS) if every else look.colours
            style = self._styles.computed(rules, node, attributes.get("style") or "")
            text = attributes.get("color") if tag == "font" else attributes.get("text") if tag == "body" else ""
            behind = _web_colour(attributes.get("bgcolor") or "")
            self._read[key] = paint_of(style, self._page.text, _web_colour(text or ""), behind)
        return self._read[key]

    def _inherited(self, node: LexborNode, which: str, every: bool) -> Any:
        """The colour of the text or the background that the element has from its ancestors."""
        above = node.parent
        for _ in range(_MAX_ANCESTORS):
            if above is None:
                break
            own = self._paint(above, above.tag or "", above.attributes, every)
            if own is not None and (found := getattr(own, which)) is not None:
                return found
            above = above.parent
        return None


def _seen(style: Mapping[str, str], around: Sight) -> Sight | None:
    """How text of this style is seen; None if it is too faint or too small with everything in it."""
    opacity, scale = around.opacity * opacity_of(style), around.scale * scale_of(style)
    if opacity <= LEAST_OPACITY or scale <= LEAST_SCALE:
        return None
    is_visible = not is_invisible(style) if "visibility" in style else around.is_visible
    return Sight(opacity, scale, font_size(style, around.size), is_visible, around.has_contrast)


def _web_colour(value: str) -> str:
    """The colour of an attribute, which may lack its sign."""
    return f"#{value}" if _DIGITS.fullmatch(value) else value
