"""``PageStyles``: the rules of a page's own style sheets, found by the elements that they may match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from math import inf
from typing import NamedTuple, TypeVar

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from .animation import with_animation
from .colour import BLACK, DARK, LEAST_OPACITY, WHITE, Colour, colour
from .css import Rule, StyleSheets, data_sheet, split_selectors
from .css_conditions import applies_to_screen
from .css_values import Declared, declarations, resolved
from .hiding_style import DECISIVE, hiding_properties
from .paint import can_be_read, paint_of
from .selector import Above, Place, Selector, is_below, key_of, read_selector

MAX_CSS = 1_000_000
_MAX_COMPLEX = 6000

# Selectors for the whole page: a rule for them does not hide a single text.
WHOLE_PAGE = frozenset(("html", "body", "*", ":root"))

Variables = Mapping[str, str]
_Priority = tuple[bool, tuple[float, ...], tuple[int, int, int], int]
_INLINE = ((inf, inf), (9, 9, 9), 0)
COLOURS = frozenset(
    (
        "color", "-webkit-text-fill-color", "background", "background-color", "background-image", "background-clip",
        "-webkit-background-clip", "filter", "mix-blend-mode", "-webkit-text-stroke", "box-shadow",
    )
)  # fmt: skip
_PAINT = COLOURS - {"filter", "box-shadow"}
_NONE: frozenset[str] = frozenset()
_PAINTING = re.compile(r"color|background|filter|shadow|blend|stroke|\\\\", re.I)
_FILTERING = re.compile(r"invert|brightness|contrast|inset", re.I)
_EXTERNAL = "link[rel~=stylesheet]:not([href^='data:']), link[as=style]"
_CUSTOM = re.compile(r"--[-\w]+\s*:")


T = TypeVar("T")


class StyleRule:
    """A rule; what it declares is read when an element of the page first needs it."""

    def __init__(self, rule: Rule, order: int, styles: PageStyles) -> None:
        self._body = rule.body
        self.layer = rule.layer
        self.is_certain = rule.is_certain
        self.order = order
        self._styles = styles

    @cached_property
    def declared(self) -> Declared:
        """Its declarations."""
        declared, frames = declarations(self._body, self._styles.quirks), self._styles.frames
        return with_animation(declared, frames) if frames and "animation" in self._body else declared

    @cached_property
    def hides(self) -> frozenset[str]:
        """The properties by which it may hide text, alone or with other rules."""
        return self._styles.hiding_properties(self.declared)

    @property
    def paints(self) -> bool:
        """Whether it changes colours."""
        if _PAINTING.search(self._body) is None and "animation" not in self._body:
            return False
        return not _PAINT.isdisjoint(self.declared) or _FILTERING.search(self._body) is not None

    @property
    def has_variables(self) -> bool:
        """Whether it gives values to variables."""
        return "--" in self._body and any(name.startswith("--") for name in self.declared)


Entry = tuple[Selector, StyleRule]


class _Others(NamedTuple):
    """Selectors that ask for more than the element's own names."""

    below: tuple[Above, ...]
    """What those ask for that ask only for what is above it."""
    slow: tuple[str, ...]

    @classmethod
    def of(cls, entries: list[Entry]) -> _Others:
        others = [selector for selector, _ in entries if selector.is_complex]
        return cls(
            tuple(selector.above for selector in others if selector.above is not None),
            tuple(selector.text for selector in others if selector.above is None),
        )


class Look:
    """The rules that may apply to elements of one tag with the same classes and id."""

    def __init__(self, styles: PageStyles, tag: str, names: frozenset[str], keys: list[str]) -> None:
        self._styles, self._tag, self._names, self._keys = styles, tag, names, keys
        hiding = self._fitting(styles.hiding)
        self.hides = _NONE.union(*(rule.hides for _, rule in hiding)) if hiding else _NONE
        """The properties by which one of the rules may hide text."""
        self.is_hidden = any(not selector.is_complex for selector, _ in hiding)
        """Whether one of these rules applies to all of the elements; ``complex`` are the other selectors."""
        self.complex = _Others.of(hiding)
        painting = self._fitting(styles.painting)
        self.colours = [entry for entry in painting if not entry[0].is_complex]
        """The rules that give colours to all of these elements and are quick to match."""
        self.faint = _Others.of(painting)
        """The selectors of other rules that give text the colour of the page."""
        self.is_telling = bool(hiding or painting)
        """Whether one of the rules may change how the elements are seen."""
        self.with_any = cache(self._with_any)

    def _fitting(self, rules_of: Callable[[str], list[Entry]]) -> list[Entry]:
        names, tag = self._names, self._tag
        return [
            entry
            for key in self._keys
            for entry in rules_of(key)
            if entry[0].names <= names and entry[0].tag in ("", tag)
        ]

    @cached_property
    def all(self) -> list[Entry]:
        """All rules that may apply."""
        return self._fitting(self._styles.entries)

    def _with_any(self, properties: frozenset[str]) -> list[Entry]:
        """The rules that declare one of these properties."""
        return [entry for entry in self.all if not properties.isdisjoint(entry[1].declared)]

    @cached_property
    def with_variables(self) -> list[Entry]:
        """The rules that give values to variables."""
        return [entry for entry in self.all if entry[1].has_variables]


class PageStyles:
    """The rules of the style elements of a page; a selector is read when the page has an element that it may match."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self.is_complete = tree.css_first(_EXTERNAL) is None
        """Whether everything about the colours is known, since there are no external sheets."""
        # In pages without a document type the case of classes and ids does not matter.
        self.quirks = _has_quirks(tree)
        sheets = _sheets(tree, quirks=self.quirks)
        self.frames = {name.lower(): steps for name, steps in sheets.frames.items()}
        self.variables: Variables = {**sheets.initial, **_variables(sheets.rules)}
        self._rules = sheets.rules
        self._scopes: dict[int, Variables] = {}
        self._texts: dict[str, list[tuple[str, StyleRule]]] = {}
        self.entries = cache(self._entries)
        self.hiding = cache(self._hiding)
        self.painting = cache(self._painting)
        self._looks: dict[tuple[str, str | None, str | None], Look] = {}
        self._plain = Look(self, "", _NONE, [])
        self._matched: dict[tuple[str, ...], frozenset[int]] = {}
        self._places: dict[int, Place | None] = {}
        self._name_sets: dict[tuple[str | None, str | None], frozenset[str]] = {}
        self._tried = 0
        self._unknown: set[str] = set()
        """Selectors that the parser does not know: they match nothing."""
        self.text, self.behind = self._page_colours()
        """The colours of the whole page."""
        for order, rule in enumerate(sheets.rules):
            known = StyleRule(rule, order, self)
            for text in split_selectors(rule.selectors):
                if key := key_of(text):
                    self._texts.setdefault(key, []).append((text, known))

    def _page_colours(self) -> tuple[Colour, Colour]:
        """The colours of text and background of the whole page."""
        text, behind = (WHITE, DARK) if self._is_dark() else (BLACK, WHITE)
        for rule in self._rules:
            if rule.selectors in WHOLE_PAGE and _PAINTING.search(rule.body):
                style = with_variables(_plain(declarations(rule.body, self.quirks)), self.variables)
                if (paint := paint_of(style, text)) is not None:
                    text = paint.text or text
                    behind = paint.behind[0] if isinstance(paint.behind, tuple) else behind
        return text, behind

    def _is_dark(self) -> bool:
        """Whether the page asks for white letters on a dark background."""
        schemes = [
            value[0]
            for rule in self._rules
            if "color-scheme" in rule.body and rule.selectors in WHOLE_PAGE
            if (value := declarations(rule.body).get("color-scheme"))
        ]
        if not schemes and (meta := self._tree.css_first("meta[name=color-scheme]")) is not None:
            schemes = [meta.attributes.get("content") or ""]
        return bool(schemes) and "dark" in schemes[-1] and "light" not in schemes[-1]

    def look(self, tag: str, classes: str | None, identity: str | None) -> Look:
        """The rules that may apply to an element with this tag, classes and id."""
        look = self._looks.get((tag, classes, identity))
        if look is None:
            names = self._names(classes, identity)
            keys = [key for key in dict.fromkeys((tag, *names, "*")) if key in self._texts]
            look = Look(self, tag, frozenset(names), keys) if keys else self._plain
            self._looks[tag, classes, identity] = look
        return look

    def _entries(self, key: str) -> list[Entry]:
        """The rules with selectors of this key."""
        return [(selector, rule) for text, rule in self._texts[key] if (selector := read_selector(text)) is not None]

    def _hiding(self, key: str) -> list[Entry]:
        """Those of them that may hide text."""
        return [entry for entry in self.entries(key) if entry[0].text not in WHOLE_PAGE and entry[1].hides]

    def _painting(self, key: str) -> list[Entry]:
        """Those of them that give colours and are quick to match, or give text the colour of the page."""
        return [
            (selector, rule)
            for selector, rule in self.entries(key)
            # Where external sheets may give any colour to anything, only what one rule says alone is certain.
            if rule.paints
            and (self.is_complete or _is_complete(rule.declared))
            and ((not selector.is_complex and (selector.names or selector.text in WHOLE_PAGE)) or self._is_faint(rule))
        ]

    def _is_faint(self, rule: StyleRule) -> bool:
        """Whether text cannot be read where nothing else has a colour."""
        paint = paint_of(with_variables(_plain(rule.declared), self.variables), self.text)
        if paint is None:
            return False
        text = paint.fill or paint.text or self.text
        behind = (text,) if paint.behind == "currentcolor" else paint.behind or (self.behind,)
        return isinstance(behind, tuple) and not can_be_read(paint, text, behind)

    def is_hidden(self, look: Look, node: LexborNode) -> bool:
        """Whether a rule that may hide the element applies to it."""
        return look.is_hidden or self.any_matches(look.complex, node)

    def any_matches(self, selectors: _Others, node: LexborNode) -> bool:
        """Whether one of these selectors of the element's look matches it."""
        if selectors.below:
            place = self._place(node)
            for above in selectors.below:
                if is_below(place, above):
                    return True
        return bool(selectors.slow) and node.mem_id in self._elements(selectors.slow)

    def _matches(self, selector: Selector, node: LexborNode) -> bool:
        if not selector.is_complex:
            return True
        if selector.above is not None:
            return is_below(self._place(node), selector.above)
        return node.mem_id in self._elements((selector.text,))

    def _place(self, node: LexborNode) -> Place:
        """The element with its tag and names, and with those around it."""
        place = _from_above(node, self._places, None, self._place_in)
        assert place is not None
        return place

    def _place_in(self, node: LexborNode, around: Place | None) -> Place | None:
        attributes = node.attributes
        names = self._name_set(attributes.get("class"), attributes.get("id"))
        return node.tag or "", names, around, _NONE if around is None else _all_of(around)

    def _name_set(self, classes: str | None, identity: str | None) -> frozenset[str]:
        if (known := self._name_sets.get((classes, identity))) is None:
            known = self._name_sets[classes, identity] = frozenset(self._names(classes, identity))
        return known

    def _names(self, classes: str | None, identity: str | None) -> list[str]:
        names = [f".{name}" for name in (classes or "")[:2000].split()]
        if identity:
            names.append(f"#{identity}")
        return [name.lower() for name in names] if self.quirks else names

    def computed(self, entries: Iterable[Entry], node: LexborNode, inline: str) -> dict[str, str]:
        """The style of an element, with the variables in it replaced."""
        declared = self._cascaded(entries, node, inline)
        if any("var(" in value for value in declared.values()):
            return with_variables(declared, self.variables_of(node))
        return with_variables(declared, self.variables)

    def _cascaded(self, entries: Iterable[Entry], node: LexborNode, inline: str) -> dict[str, str]:
        """What is declared of an element: important first, then by layer, then by specificity, then by order."""
        found: dict[str, tuple[_Priority, str]] = {}
        # A rule that perhaps does not apply hides text, and does not show it again.
        matched = [
            (rule.declared, rule.layer, selector.specificity, rule.order)
            for selector, rule in entries
            if (rule.is_certain or rule.hides) and self._matches(selector, node)
        ]
        if inline:
            matched.append((declarations(inline, self.quirks), *_INLINE))
        for declared, layer, specificity, order in matched:
            for name, (value, important) in declared.items():
                # Among important declarations the first layer comes before the others.
                place = tuple(-each for each in layer) if important and layer != _INLINE[0] else layer
                priority = (important, place, specificity, order)
                if name not in found or found[name][0] <= priority:
                    found[name] = (priority, value)
        return {name: value for name, (_, value) in found.items()}

    def variables_of(self, node: LexborNode) -> Variables:
        """The variables of an element: its own and those of the elements around it."""
        return _from_above(node, self._scopes, self.variables, self._scope_in) if self._is_scoped else self.variables

    @cached_property
    def _is_scoped(self) -> bool:
        """Whether anything but the whole page has variables."""
        return self._tree.css_first('[style*="--"]') is not None or any(
            "--" in rule.body and rule.selectors not in WHOLE_PAGE and _CUSTOM.search(rule.body) for rule in self._rules
        )

    def _scope_in(self, node: LexborNode, around: Variables) -> Variables:
        attributes = node.attributes
        look = self.look(node.tag or "", attributes.get("class"), attributes.get("id"))
        inline = attributes.get("style") or ""
        if not look.with_variables and "--" not in inline:
            return around
        own = self._cascaded(look.with_variables, node, inline)
        return {**around, **{name: value for name, value in own.items() if name.startswith("--")}}

    def hiding_properties(self, declared: Declared) -> frozenset[str]:
        """The properties by which declarations may hide text, alone or with others."""
        if DECISIVE.isdisjoint(declared):
            return _NONE
        found = hiding_properties(with_variables(_plain(declared), self.variables))
        # What a variable is here is known only for each element.
        unknown = [name for name, (value, _) in declared.items() if "var(" in value and name in DECISIVE]
        return found.union(unknown) if unknown else found

    def _elements(self, selectors: tuple[str, ...]) -> frozenset[int]:
        """The elements that any of these selectors matches, which need more than tags, names and what is above."""
        if selectors not in self._matched:
            self._tried += len(selectors)
            known = [selector for selector in selectors if selector not in self._unknown]
            self._matched[selectors] = self._query(known) if known and self._tried <= _MAX_COMPLEX else frozenset()
        return self._matched[selectors]

    def _query(self, selectors: list[str]) -> frozenset[int]:
        try:
            return frozenset(node.mem_id for node in self._tree.css(", ".join(selectors)))
        except (SelectolaxError, ValueError):
            if len(selectors) == 1:
                self._unknown.add(selectors[0])
                return frozenset()
            middle = len(selectors) // 2
            return self._query(selectors[:middle]) | self._query(selectors[middle:])


def with_variables(declared: Variables, variables: Variables) -> dict[str, str]:
    """The values of a style, with the variables in them replaced."""
    if any(name.startswith("--") for name in declared):
        variables = {**variables, **{name: value for name, value in declared.items() if name.startswith("--")}}
    return {
        name: resolved(value, variables) if "var(" in value or "env(" in value else value
        for name, value in declared.items()
    }


def _from_above(node: LexborNode, known: dict[int, T], outermost: T, inherit: Callable[[LexborNode, T], T]) -> T:
    """What an element has from those around it, each of which is asked once; pages can be nested very deeply."""
    above: list[LexborNode] = []
    walker: LexborNode | None = node
    while walker is not None and walker.mem_id not in known:
        above.append(walker)
        walker = walker.parent
    found = outermost if walker is None else known[walker.mem_id]
    for each in reversed(above):
        known[each.mem_id] = found = inherit(each, found)
    return found


def _all_of(place: Place) -> frozenset[str]:
    """The tags and names of an element and of those around it."""
    tag, names, _, around = place
    return around if tag in around and names <= around else around.union(names, (tag,))


def _has_quirks(tree: LexborHTMLParser) -> bool:
    before = tree.root.prev if tree.root is not None else None
    while before is not None and before.tag != "-doctype":
        before = before.prev
    return before is None


def _sheets(tree: LexborHTMLParser, *, quirks: bool) -> StyleSheets:
    """The sheets that stand in the page, as elements and as addresses that contain them."""
    sheets, budget = StyleSheets(), MAX_CSS
    for node in tree.css("style, link[rel~=stylesheet][href^='data:']"):
        attributes = node.attributes
        kind = (attributes.get("type") or "text/css").strip().lower()
        text = node.text() if node.tag == "style" else data_sheet(attributes.get("href") or "")
        text = text[:budget]
        budget -= len(text)
        if kind == "text/css" and applies_to_screen(attributes.get("media") or ""):
            sheets.read(text.lower() if quirks else text)
    return sheets


def _variables(found: list[Rule]) -> dict[str, str]:
    """The variables of the whole page."""
    variables: dict[str, str] = {}
    for rule in found:
        if "--" in rule.body and any(text in WHOLE_PAGE for text in split_selectors(rule.selectors)):
            own = declarations(rule.body).items()
            variables.update((name, value) for name, (value, _) in own if name.startswith("--"))
    return variables


def _is_complete(declared: Declared) -> bool:
    """Whether declarations say by themselves that text has no contrast: both colours, or transparent letters."""
    value = declared.get("-webkit-text-fill-color") or declared.get("color")
    if value is None or "background" in declared or "background-color" in declared:
        return value is not None
    found = colour(value[0])
    return found is not None and found[3] < 2 * LEAST_OPACITY


def _plain(declared: Declared) -> dict[str, str]:
    return {name: value for name, (value, _) in declared.items()}
