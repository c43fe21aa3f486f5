"""Finds text that a reader cannot see: hidden elements and invisible characters, which often carry injected prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from .colour import BLACK, WHITE, Colour, background, colour, is_image, is_readable
from .css import Rule, applies_to_screen, declarations, resolved, rules, split_selectors
from .hiding_style import hides_text, hiding_properties
from .selector import Selector, read_selector

MAX_CSS = 400_000
_MAX_COMPLEX = 300
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
_SIMPLE = re.compile(r"([a-zA-Z][\w-]*)?((?:[.#][\w-]+)*)")
_SELECTOR_PART = re.compile(r"[.#][\w-]+")
_REACT_ID = re.compile(r"S:[0-9a-f]+")
# Selectors for the whole page or its content: a rule for them does not hide a single text.
_WHOLE_PAGE = frozenset(("html", "body", "main", "article", "*", ":root"))

Attributes = Mapping[str, str | None]
_Priority = tuple[bool, tuple[int, int, int], int]
_Entry = tuple[Selector, Mapping[str, tuple[str, bool]], int]
_INLINE = (9, 9, 9)
_COLOURS = frozenset(
    (
        "color", "-webkit-text-fill-color", "background", "background-color", "background-image", "background-clip",
        "-webkit-background-clip",
    )
)  # fmt: skip
_NO_NAMES: frozenset[str] = frozenset()


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
        self._tree = tree
        found = list(_page_rules(tree))
        self._variables = _variables(found)
        self._read_rules: list[tuple[Rule, Mapping[str, tuple[str, bool]], bool]] = []
        self._hiding = _SelectorSet(tree)
        self._showing: _SelectorSet | None = None
        self._hiding_names: set[str] = set()
        """The properties of the rules that hide something."""
        self._colours: dict[str, list[_Entry]] = {}
        self._all_colours = False
        self._read: dict[object, tuple[Colour | None, Colour | str | None] | None] = {}
        self._others: dict[str, list[_Entry]] | None = None
        self._matched: dict[str, frozenset[int]] = {}
        self._styles: dict[str, bool] = {}
        self._react = tree.css_first('[id^="S:"][hidden]') is not None and tree.scripts_contain("$RC(")
        # Without external sheets everything about the colours is known.
        self._known = tree.css_first("link[rel~=stylesheet], link[as=style]") is None
        for order, rule in enumerate(rule for rule in found if _MAY_HIDE.search(rule.body)):
            self._index(rule, order)
        self._by_tag = {key for key in (*self._hiding.keys, *self._colours) if key[0] not in ".#"}

    def has_rules_for(self, tag: str) -> bool:
        """Whether a rule may apply to every element of this name."""
        return tag in self._by_tag or "*" in self._by_tag

    def sight(self, node: LexborNode, tag: str, attributes: Attributes) -> Sight | None:
        """What is seen of the element; None if it has nothing that could change that."""
        if "hidden" in attributes and attributes["hidden"] != "until-found" and not self._is_streamed(attributes):
            return Sight.HIDDEN
        if "popover" in attributes:
            return Sight.HIDDEN
        inline = attributes.get("style") or ""
        if inline and self._style_hides(inline):
            return Sight.HIDDEN
        names = _names(attributes)
        if self._hiding and self._rules_hide(node, tag, names, inline):
            return Sight.HIDDEN
        if not self._may_be_coloured(tag, names, attributes):
            return None
        return self._contrast(node, tag, attributes)

    def _is_streamed(self, attributes: Attributes) -> bool:
        # React sends late parts of a page as <div hidden id="S:1">; its script moves them into place.
        return self._react and bool(_REACT_ID.fullmatch(attributes.get("id") or ""))

    def _style_hides(self, style: str) -> bool:
        if style not in self._styles:
            own = self._resolved(declarations(style)) if _MAY_HIDE.search(style) else {}
            self._styles[style] = bool(own) and hides_text(own)
        return self._styles[style]

    def _resolved(self, declared: Mapping[str, tuple[str, bool]]) -> dict[str, str]:
        known = self._variables
        if any(name.startswith("--") for name in declared):
            known = known | {name: value for name, (value, _) in declared.items() if name.startswith("--")}
        return {name: resolved(value, known) if "var(" in value else value for name, (value, _) in declared.items()}

    # --- rules ---------------------------------------------------------------------------------------------------
    def _index(self, rule: Rule, order: int) -> None:
        declared = declarations(rule.body)
        hides = hiding_properties(self._resolved(declared))
        self._read_rules.append((rule, declared, bool(hides)))
        # Where external sheets may give any colour to anything, only what one rule says alone is certain.
        coloured = self._known and _HAS_COLOUR.search(rule.body) is not None
        if not hides and not coloured:
            return
        for text in split_selectors(rule.selectors):
            if text in _WHOLE_PAGE and not coloured:
                continue
            selector = _simple(text) or (read_selector(text) if hides else None)
            if selector is None:
                continue
            if coloured and not selector.is_complex and (selector.names or text in _WHOLE_PAGE):
                self._colours.setdefault(selector.key, []).append((selector, declared, order))
            if hides and text not in _WHOLE_PAGE:
                self._hiding.add(selector)
                self._hiding_names |= hides

    def _rules_hide(self, node: LexborNode, tag: str, names: frozenset[str], inline: str) -> bool:
        if not self._hiding.matches(node, tag, names):
            return False
        if self._showing is None:
            self._showing = self._showing_rules()
        if not inline and not self._showing.matches(node, tag, names):
            return True
        # Another rule may show it again: only now all of them are compared.
        if self._others is None:
            self._others = self._all_rules(self._hiding_names)
        return hides_text(self._computed(self._others, node, tag, names, inline))

    def _showing_rules(self) -> _SelectorSet:
        """The rules that say something else about what hides elements."""
        found = _SelectorSet(self._tree)
        for rule, declared, hides in self._read_rules:
            if hides or self._hiding_names.isdisjoint(declared):
                continue
            for text in split_selectors(rule.selectors):
                if (selector := _simple(text) or read_selector(text)) is not None:
                    found.add(selector)
        return found

    def _all_rules(self, properties: AbstractSet[str]) -> dict[str, list[_Entry]]:
        """All rules with one of these properties, by the key of their selectors."""
        found: dict[str, list[_Entry]] = {}
        for order, (rule, declared, _) in enumerate(self._read_rules):
            if properties.isdisjoint(declared):
                continue
            for text in split_selectors(rule.selectors):
                if (selector := _simple(text) or read_selector(text)) is not None:
                    found.setdefault(selector.key, []).append((selector, declared, order))
        return found

    def _matching(
        self, index: Mapping[str, list[_Entry]], node: LexborNode, tag: str, names: frozenset[str]
    ) -> Iterator[_Entry]:
        for key in (tag, *names, "*"):
            for entry in index.get(key, ()):
                selector = entry[0]
                if (
                    selector.names <= names
                    and selector.tag in ("", tag)
                    and (not selector.is_complex or node.mem_id in self._elements(selector.text))
                ):
                    yield entry

    def _elements(self, selector: str) -> frozenset[int]:
        """The elements that a selector with combinators or attributes matches."""
        if selector not in self._matched:
            if len(self._matched) >= _MAX_COMPLEX:
                return frozenset()
            self._matched[selector] = elements(self._tree, [selector])
        return self._matched[selector]

    def _computed(
        self, index: Mapping[str, list[_Entry]], node: LexborNode, tag: str, names: frozenset[str], inline: str
    ) -> dict[str, str]:
        """The style of an element: important declarations first, then by specificity, then by order."""
        found: dict[str, tuple[_Priority, str]] = {}
        matched = [(entry[0].specificity, entry[1], entry[2]) for entry in self._matching(index, node, tag, names)]
        if inline:
            matched.append((_INLINE, declarations(inline), 0))
        for specificity, declared, order in matched:
            for name, (value, important) in declared.items():
                priority = (important, specificity, order)
                if name not in found or found[name][0] <= priority:
                    found[name] = (priority, value)
        return self._resolved({name: (value, False) for name, (_, value) in found.items()})

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
            self._colours = self._all_rules(_COLOURS)
            self._by_tag = {key for key in (*self._hiding.keys, *self._colours) if key[0] not in ".#"}
            return self._contrast(node, tag, attributes)
        return Sight.UNREADABLE

    def _own_colours(
        self, node: LexborNode, tag: str, attributes: Attributes
    ) -> tuple[Colour | None, Colour | str | None] | None:
        """Text and background of the element itself; the background is a text if it is an image of unknown colour."""
        names = _names(attributes)
        if not self._may_be_coloured(tag, names, attributes):
            return None
        key = (tag, names, attributes.get("style"), attributes.get("bgcolor"), attributes.get("color"))
        if self._all_colours:
            return self._read_colours(node, tag, names, attributes)
        if key not in self._read:
            self._read[key] = self._read_colours(node, tag, names, attributes)
        return self._read[key]

    def _may_be_coloured(self, tag: str, names: frozenset[str], attributes: Attributes) -> bool:
        colours = self._colours
        if colours and (tag in colours or "*" in colours or not colours.keys().isdisjoint(names)):
            return True
        inline = attributes.get("style")
        if inline and _HAS_COLOUR.search(inline) is not None:
            return True
        return "bgcolor" in attributes or "color" in attributes or "text" in attributes

    def _read_colours(
        self, node: LexborNode, tag: str, names: frozenset[str], attributes: Attributes
    ) -> tuple[Colour | None, Colour | str | None] | None:
        style = self._computed(self._colours, node, tag, names, attributes.get("style") or "")
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


class _SelectorSet:
    """Selectors by key; tells whether any of them matches an element."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._simple: dict[str, list[Selector]] = {}
        self._complex: dict[str, list[str]] = {}
        self._found: dict[str, frozenset[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._simple or self._complex)

    @property
    def keys(self) -> set[str]:
        """The names that the elements have."""
        return {*self._simple, *self._complex}

    def add(self, selector: Selector) -> None:
        """Add a selector."""
        if selector.is_complex:
            self._complex.setdefault(selector.key, []).append(selector.text)
        else:
            self._simple.setdefault(selector.key, []).append(selector)

    def matches(self, node: LexborNode, tag: str, names: frozenset[str]) -> bool:
        """Whether any of the selectors matches the element."""
        for key in (tag, *names, "*"):
            if any(each.names <= names and each.tag in ("", tag) for each in self._simple.get(key, ())):
                return True
            if key in self._complex:
                if key not in self._found:
                    self._found[key] = elements(self._tree, self._complex[key][:_MAX_COMPLEX])
                if node.mem_id in self._found[key]:
                    return True
        return False


def elements(tree: LexborHTMLParser, selectors: list[str]) -> frozenset[int]:
    """The elements that any of the selectors matches; those that the parser does not know match nothing."""
    try:
        return frozenset(node.mem_id for node in tree.css(", ".join(selectors)))
    except (SelectolaxError, ValueError):
        if len(selectors) == 1:
            return frozenset()
        middle = len(selectors) // 2
        return elements(tree, selectors[:middle]) | elements(tree, selectors[middle:])


def _simple(text: str) -> Selector | None:
    match = _SIMPLE.fullmatch(text)
    if match is None or not text:
        return None
    parts = _SELECTOR_PART.findall(match[2])
    ids = sum(part[0] == "#" for part in parts)
    tag = (match[1] or "").lower()
    return Selector(text, tag, frozenset(parts), False, (ids, len(parts) - ids, int(bool(tag))))


def _names(attributes: Attributes) -> frozenset[str]:
    if "class" not in attributes and "id" not in attributes:
        return _NO_NAMES
    names = ["." + name for name in (attributes.get("class") or "")[:2000].split()]
    if identity := attributes.get("id"):
        names.append("#" + identity)
    return frozenset(names)


def _attribute(attributes: Attributes, tag: str) -> str:
    return (attributes.get("color") if tag == "font" else attributes.get("text") if tag == "body" else "") or ""


def _page_rules(tree: LexborHTMLParser) -> Iterator[Rule]:
    budget = MAX_CSS
    for node in tree.css("style"):
        attributes = node.attributes
        kind = (attributes.get("type") or "text/css").strip().lower()
        text = node.text()[:budget]
        budget -= len(text)
        if kind == "text/css" and applies_to_screen(attributes.get("media") or ""):
            yield from rules(text)


def _variables(found: list[Rule]) -> dict[str, str]:
    """The variables of the whole page."""
    variables: dict[str, str] = {}
    for rule in found:
        if "--" in rule.body and any(text in _WHOLE_PAGE for text in split_selectors(rule.selectors)):
            own = declarations(rule.body).items()
            variables.update((name, value) for name, (value, _) in own if name.startswith("--"))
    return variables
