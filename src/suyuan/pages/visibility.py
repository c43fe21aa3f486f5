"""Finds text that a reader cannot see: hidden elements and invisible characters, which often carry injected prompts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .colour import BLACK, WHITE, Colour, background, colour, is_image, is_readable
from .css import declarations
from .hiding_style import hides_text
from .page_styles import Entry, Look, PageStyles, with_variables

_MAX_ANCESTORS = 60

# Zero-width, bidi and other format characters, Unicode tags and the variation selectors that can carry hidden bytes.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\uffa0"
    "\U000e0000-\U000e0fff]"
)
# A single joiner between letters of Persian or an Indic script, or in an emoji, is spelling; any other is not.
_JOINERS = re.compile("[\u200c\u200d]{2,}|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")

_MAY_HIDE = re.compile(
    r"display|visib|opacity|color|background|font|indent|left|top|right|bottom|inset|margin|height|width|size|clip|"
    r"transform|translate|scale|filter|mask|zoom|spacing|z-index|var\(|\\",
    re.I,
)
_HAS_COLOUR = re.compile(r"color|background|\\", re.I)
_REACT_ID = re.compile(r"S:[0-9a-f]+")

Attributes = Mapping[str, str | None]
_Colours = tuple[Colour | None, Colour | str | None]
"""Text and background of an element; the background is a text if it is an image of unknown colour."""
# The attributes that can hide text by themselves.
_TELLING = frozenset(("hidden", "popover", "style", "bgcolor", "color", "text"))


class Sight(Enum):
    """What a reader sees of an element."""

    HIDDEN = "hidden"
    """Nothing of it."""
    UNREADABLE = "unreadable"
    """Its text has the colour of what is behind it; elements in it may have another colour."""
    READABLE = "readable"


def visible_text(text: str) -> str:
    """Return ``text`` without its invisible characters."""
    if text.isascii():
        return text
    return _JOINERS.sub("", _INVISIBLE.sub("", text))


class VisibilityChecker:
    """Decides by inline styles, attributes and the page's own style sheets; external ones are not loaded."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._styles = PageStyles(tree)
        self._all_colours = False
        self._read: dict[object, _Colours | None] = {}
        self._inline: dict[str, bool] = {}
        self._react = tree.css_first('[id^="S:"][hidden]') is not None and tree.scripts_contain("$RC(")
        # Without external sheets everything about the colours is known.
        self._known = tree.css_first("link[rel~=stylesheet], link[as=style]") is None

    def has_rules_for(self, tag: str) -> bool:
        """Whether a rule may apply to every element of this name."""
        look = self._styles.look(tag, None, None)
        return bool(look.properties or self._colour_rules(look))

    def sight(self, node: LexborNode, tag: str, attributes: Attributes) -> Sight | None:
        """What is seen of the element; None if it has nothing that could change that."""
        look = self._styles.look(tag, attributes.get("class"), attributes.get("id"))
        if _TELLING.isdisjoint(attributes) and not look.properties and not self._colour_rules(look):
            return None
        if "hidden" in attributes and attributes["hidden"] != "until-found" and not self._is_streamed(attributes):
            return Sight.HIDDEN
        if "popover" in attributes:
            return Sight.HIDDEN
        inline = attributes.get("style") or ""
        if inline and self._style_hides(inline):
            return Sight.HIDDEN
        if look.properties and self._rules_hide(node, look, inline):
            return Sight.HIDDEN
        if not self._may_be_coloured(look, attributes):
            return None
        return self._contrast(node, tag, attributes)

    def _is_streamed(self, attributes: Attributes) -> bool:
        # React sends late parts of a page as <div hidden id="S:1">; its script moves them into place.
        return self._react and bool(_REACT_ID.fullmatch(attributes.get("id") or ""))

    def _style_hides(self, style: str) -> bool:
        if style not in self._inline:
            own = with_variables(declarations(style), self._styles.variables) if _MAY_HIDE.search(style) else {}
            self._inline[style] = bool(own) and hides_text(own)
        return self._inline[style]

    def _rules_hide(self, node: LexborNode, look: Look, inline: str) -> bool:
        if not self._styles.is_hidden(look, node):
            return False
        if not inline and not any(self._styles.is_matched(selector, node) for selector, _ in look.showing):
            return True
        # Another rule may show it again: only now all of them are compared.
        return hides_text(self._styles.computed(look.with_any(look.properties), node, inline))

    # --- colours -------------------------------------------------------------------------------------------------
    def _contrast(self, node: LexborNode, tag: str, attributes: Attributes) -> Sight | None:
        own = self._own_colours(node, tag, attributes)
        if own is None:
            return None
        own_rules = attributes.keys() & {"class", "id", "style", "color"}
        text = own[0] or self._inherited(node, 0) or (BLACK if self._known else None)
        # The colour of all links, say, is made for a background that the page gets elsewhere.
        behind = own[1] or self._inherited(node, 1) or (WHITE if self._known and own_rules else None)
        if not isinstance(text, tuple) or not isinstance(behind, tuple) or behind[3] < 0.9 or is_readable(text, behind):
            return Sight.READABLE
        if not self._all_colours:
            # Only now the rules that take longer to match are worth it: one of them may give it another colour.
            self._all_colours = True
            self._read.clear()
            return self._contrast(node, tag, attributes)
        return Sight.UNREADABLE

    def _colour_rules(self, look: Look) -> list[Entry]:
        if self._all_colours:
            return look.all_colours
        # Where external sheets may give any colour to anything, only what one rule says alone is certain.
        return look.colours if self._known else []

    def _own_colours(self, node: LexborNode, tag: str, attributes: Attributes) -> _Colours | None:
        """Text and background of the element itself."""
        classes, identity = attributes.get("class"), attributes.get("id")
        look = self._styles.look(tag, classes, identity)
        if not self._may_be_coloured(look, attributes):
            return None
        key: object = node.mem_id
        if not self._all_colours:
            key = (tag, classes, identity, attributes.get("style"), attributes.get("bgcolor"), attributes.get("color"))
        if key not in self._read:
            self._read[key] = self._read_colours(node, tag, look, attributes)
        return self._read[key]

    def _may_be_coloured(self, look: Look, attributes: Attributes) -> bool:
        if self._colour_rules(look):
            return True
        inline = attributes.get("style")
        if inline and _HAS_COLOUR.search(inline) is not None:
            return True
        return "bgcolor" in attributes or "color" in attributes or "text" in attributes

    def _read_colours(self, node: LexborNode, tag: str, look: Look, attributes: Attributes) -> _Colours | None:
        style = self._styles.computed(self._colour_rules(look), node, attributes.get("style") or "")
        text = colour(style.get("-webkit-text-fill-color") or style.get("color") or _attribute(attributes, tag))
        if "text" in style.get("background-clip", "") + style.get("-webkit-background-clip", ""):
            # Letters with a gradient.
            return text, "image"
        painted = style.get("background-color") or style.get("background") or attributes.get("bgcolor") or ""
        if is_image(painted) or is_image(style.get("background-image", "")):
            return text, "image"
        behind = background(painted) if painted else None
        if behind is not None and behind[3] <= 0.1:
            behind = None
        return None if text is None and behind is None else (text, behind)

    def _inherited(self, node: LexborNode, which: int) -> Colour | str | None:
        """The colour of the text or the background that the element has from its ancestors."""
        above = node.parent
        for _ in range(_MAX_ANCESTORS):
            if above is None:
                break
            own = self._own_colours(above, above.tag or "", above.attributes)
            if own is not None and (found := own[which]) is not None:
                return found
            above = above.parent
        return None


def _attribute(attributes: Attributes, tag: str) -> str:
    return (attributes.get("color") if tag == "font" else attributes.get("text") if tag == "body" else "") or ""
