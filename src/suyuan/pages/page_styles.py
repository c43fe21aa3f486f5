"""``PageStyles``: the styles of a page's elements by the rules of its own style sheets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from math import inf
from typing import NamedTuple, TypeVar

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from .colour import BLACK, DARK, WHITE
from .css import UNDECIDED, Layer, Rule, StyleSheets, data_sheet, split_selectors, words_of
from .css_conditions import applies_to_screen
from .css_limits import MAX_STEPS, Shape, steps_of
from .css_values import Declared, declarations, plain
from .page_rules import (
    WHOLE_PAGE,
    Complex,
    Look,
    PageRules,
    PageValues,
    SelectedRule,
    Variables,
    may_paint,
    with_variables,
)
from .paint import paint_of
from .selector import Selector, Specificity, TreePlace, is_within, needed_names

_Priority = tuple[bool, Layer, Specificity, int]
_INLINE: Layer = (inf, inf)
_NO_ELEMENTS: frozenset[int] = frozenset()
_SHEETS = "style, link[rel~=stylesheet][href^='data:']"
_EXTERNAL = "link[rel~=stylesheet]:not([href^='data:']), link[as=style]"
_CUSTOM = re.compile(r"--[-\w]+\s*:")


T = TypeVar("T")


class _Match(NamedTuple):
    """The declarations of a rule that applies to an element, and what decides which of several comes first."""

    declared: Declared
    layer: Layer
    specificity: Specificity
    order: int

    def priority(self, important: bool) -> _Priority:
        """Important ones come first, then it is by layer, by specificity, and by order."""
        if self.layer == UNDECIDED:
            important = True
        elif important and self.layer != _INLINE:
            # Among important declarations the first layer comes before the others.
            return True, tuple(-place for place in self.layer), self.specificity, self.order
        return important, self.layer, self.specificity, self.order


class PageStyles:
    """The styles of the elements of a page; what was found of one element serves for those like it."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        quirks = _has_quirks(tree)
        has_sheets = tree.css_first(_SHEETS) is not None
        names = _names(tree, quirks) if has_sheets else frozenset[str]()

        def may_match(selector: str) -> bool:
            """Whether the page has all names that the selector needs."""
            return names.issuperset(needed_names(selector))

        sheets = _sheets(tree, may_match, quirks=quirks)
        self.rules = sheets.rules
        """In the order of the sheets."""
        self.page = _page_values(tree, sheets, quirks)
        self._index = PageRules(sheets.rules, self.page)
        self._variables: dict[int, Variables] = {}
        self._places: dict[int, TreePlace | None] = {}
        self._plain_look = Look(self._index, "", frozenset(), [])
        self._looks: dict[tuple[str, str | None, str | None], Look] = {}
        self._elements: dict[str, frozenset[int] | None] = {}
        self._elements_of_any: dict[Complex, frozenset[int] | None] = {}
        self._steps = float(MAX_STEPS)
        """That searches for elements may take yet."""

    def look(self, tag: str, classes: str | None, identity: str | None) -> Look:
        """The rules that may apply to an element with this tag, classes and id."""
        look = self._looks.get((tag, classes, identity))
        if look is None:
            names = self._names_of(classes, identity)
            keys = [key for key in dict.fromkeys((tag, *names, "*")) if key in self._index]
            look = Look(self._index, tag, frozenset(names), keys) if keys else self._plain_look
            self._looks[tag, classes, identity] = look
        return look

    def _names_of(self, classes: str | None, identity: str | None) -> list[str]:
        """The classes and the id of an element as selectors write them."""
        names = [f".{name}" for name in words_of(classes or "")]
        if identity:
            names.append(f"#{identity}")
        return [name.lower() for name in names] if self.page.quirks else names

    # --- which selectors match -----------------------------------------------------------------------------------
    def is_hidden(self, look: Look, node: LexborNode) -> bool:
        """Whether a rule that may hide the element applies to it."""
        return look.is_hidden or self.any_matches(look.complex, node)

    def any_matches(self, selectors: Complex, node: LexborNode) -> bool:
        """Whether one of these selectors of the element's look matches it."""
        if not selectors.are_decided:
            return True
        if selectors.ancestors:
            place = self._place(node)
            if any(is_within(place, ancestors) for ancestors in selectors.ancestors):
                return True
        if not selectors.texts:
            return False
        if selectors not in self._elements_of_any:
            sets = [self._matched_elements(text) for text in selectors.texts]
            known = [elements for elements in sets if elements is not None]
            self._elements_of_any[selectors] = _NO_ELEMENTS.union(*known) if len(known) == len(sets) else None
        elements = self._elements_of_any[selectors]
        return elements is None or node.mem_id in elements

    def _matches(self, selector: Selector, node: LexborNode) -> bool | None:
        """Whether a selector of the element's look matches it; None if that is not decided."""
        if not selector.is_complex:
            return True
        if not selector.is_decided:
            return None
        if selector.ancestors is not None:
            return is_within(self._place(node), selector.ancestors)
        elements = self._matched_elements(selector.text)
        return None if elements is None else node.mem_id in elements

    def _place(self, node: LexborNode) -> TreePlace:
        """The element with its tag and names, and with those around it."""
        place = _from_outside(node, self._places, None, self._place_within)
        assert place is not None
        return place

    def _place_within(self, node: LexborNode, outer: TreePlace | None) -> TreePlace:
        attributes = node.attributes
        names = frozenset(self._names_of(attributes.get("class"), attributes.get("id")))
        around = frozenset[str]() if outer is None else _all_names(outer)
        return TreePlace(node.tag or "", names, outer, around)

    def _matched_elements(self, selector: str) -> frozenset[int] | None:
        """The elements that a selector matches; None if the search takes more than is left for this page."""
        if selector not in self._elements:
            steps = steps_of(selector, self._shape)
            if steps > self._steps:
                self._elements[selector] = None
            else:
                self._steps -= steps
                self._elements[selector] = self._query(selector)
        return self._elements[selector]

    @cached_property
    def _shape(self) -> Shape:
        return Shape.of(self._tree)

    def _query(self, selector: str) -> frozenset[int]:
        try:
            return frozenset(node.mem_id for node in self._tree.css(selector))
        except (SelectolaxError, ValueError):
            # The parser does not know it: it matches nothing.
            return _NO_ELEMENTS

    # --- styles --------------------------------------------------------------------------------------------------
    def computed(self, entries: Iterable[SelectedRule], node: LexborNode, inline: str) -> dict[str, str]:
        """The style of an element, with the variables in it replaced."""
        declared = self._cascaded(entries, node, inline)
        variables = self.page.variables
        if any("var(" in value for value in declared.values()):
            variables = self._variables_of(node)
        return with_variables(declared, variables)

    def _cascaded(self, entries: Iterable[SelectedRule], node: LexborNode, inline: str) -> dict[str, str]:
        """What is declared of an element."""
        matches = list(self._applying(entries, node))
        if inline:
            matches.append(_Match(declarations(inline, self.page.quirks), _INLINE, (9, 9, 9), 0))
        style: dict[str, str] = {}
        priorities: dict[str, _Priority] = {}
        for match in matches:
            for name, (value, important) in match.declared.items():
                priority = match.priority(important)
                if name not in priorities or priorities[name] <= priority:
                    priorities[name], style[name] = priority, value
        return style

    def _applying(self, entries: Iterable[SelectedRule], node: LexborNode) -> Iterator[_Match]:
        """The rules that apply; one that perhaps does not apply hides text, and does not show it again."""
        for entry in entries:
            selector, rule = entry.selector, entry.rule
            if not rule.is_certain and not rule.is_suspect:
                continue
            matches = self._matches(selector, node)
            if matches:
                yield _Match(rule.declared, rule.layer, selector.specificity, rule.order)
            elif matches is None and rule.is_suspect:
                yield _Match(rule.declared, UNDECIDED, selector.specificity, rule.order)

    def _variables_of(self, node: LexborNode) -> Variables:
        """The variables of an element: its own and those of the elements around it, each of which is asked once."""
        if not self._has_scoped_variables:
            return self.page.variables
        return _from_outside(node, self._variables, self.page.variables, self._with_own_variables)

    @cached_property
    def _has_scoped_variables(self) -> bool:
        """Whether anything but the whole page has variables."""
        if self._tree.css_first('[style*="--"]') is not None:
            return True
        return any(rule.selectors not in WHOLE_PAGE and _CUSTOM.search(rule.body) for rule in self.rules)

    def _with_own_variables(self, node: LexborNode, around: Variables) -> Variables:
        attributes = node.attributes
        look = self.look(node.tag or "", attributes.get("class"), attributes.get("id"))
        inline = attributes.get("style") or ""
        if not look.with_variables and "--" not in inline:
            return around
        own = self._cascaded(look.with_variables, node, inline)
        return {**around, **{name: value for name, value in own.items() if name.startswith("--")}}


def _from_outside(node: LexborNode, known: dict[int, T], outermost: T, step: Callable[[LexborNode, T], T]) -> T:
    """What an element has from those around it, each of which is asked once; pages can be nested very deeply."""
    path: list[LexborNode] = []
    walker: LexborNode | None = node
    while walker is not None and walker.mem_id not in known:
        path.append(walker)
        walker = walker.parent
    value = outermost if walker is None else known[walker.mem_id]
    for element in reversed(path):
        known[element.mem_id] = value = step(element, value)
    return value


def _all_names(place: TreePlace) -> frozenset[str]:
    """The tags and names of an element and of those around it."""
    if place.tag in place.around and place.names <= place.around:
        return place.around
    return place.around.union(place.names, (place.tag,))


# --- what the whole page has -------------------------------------------------------------------------------------
def _has_quirks(tree: LexborHTMLParser) -> bool:
    node = tree.root.prev if tree.root is not None else None
    while node is not None and node.tag != "-doctype":
        node = node.prev
    return node is None


def _names(tree: LexborHTMLParser, quirks: bool) -> frozenset[str]:
    """All classes and ids of the page."""
    attributes = [node.attributes for node in tree.css("[class], [id]")]
    classes = {element.get("class") or "" for element in attributes}
    names = {f".{name}" for name in words_of(" ".join(classes))}
    names.update(f"#{element.get('id') or ''}" for element in attributes)
    if quirks:
        names = set(map(str.lower, names))
    return frozenset(names)


def _sheets(tree: LexborHTMLParser, may_match: Callable[[str], bool], *, quirks: bool) -> StyleSheets:
    """The sheets that stand in the page, as elements and as addresses that contain them."""
    sheets = StyleSheets(may_match)
    for node in tree.css(_SHEETS):
        attributes = node.attributes
        kind = (attributes.get("type") or "text/css").strip().lower()
        active = applies_to_screen(attributes.get("media") or "")
        if kind != "text/css" or active is False:
            continue
        text = node.text() if node.tag == "style" else data_sheet(attributes.get("href") or "")
        if quirks:
            text = text.lower()
        sheets.read(text, active=active)
    return sheets


def _page_values(tree: LexborHTMLParser, sheets: StyleSheets, quirks: bool) -> PageValues:
    """What the whole page has: variables and colours."""
    text, behind = (WHITE, DARK) if _is_dark(tree, sheets.rules) else (BLACK, WHITE)
    variables = {**sheets.initial, **_variables(sheets.rules)}
    for rule in sheets.rules:
        if rule.selectors not in WHOLE_PAGE or not may_paint(rule.body):
            continue
        paint = paint_of(with_variables(plain(declarations(rule.body, quirks)), variables), text)
        if paint is not None:
            text = paint.text or text
            behind = paint.behind[0] if isinstance(paint.behind, tuple) else behind
    return PageValues(quirks, tree.css_first(_EXTERNAL) is None, sheets.frames, variables, text, behind)


def _is_dark(tree: LexborHTMLParser, rules: list[Rule]) -> bool:
    """Whether the page asks for white letters on a dark background."""
    meta = tree.css_first("meta[name=color-scheme]")
    scheme = (meta.attributes.get("content") or "") if meta is not None else ""
    for rule in rules:
        if "color-scheme" in rule.body and rule.selectors in WHOLE_PAGE:
            declared = declarations(rule.body)
            scheme = declared["color-scheme"][0] if "color-scheme" in declared else scheme
    return "dark" in scheme and "light" not in scheme


def _variables(rules: list[Rule]) -> dict[str, str]:
    """The variables of the whole page."""
    variables: dict[str, str] = {}
    for rule in rules:
        if "--" in rule.body and not WHOLE_PAGE.isdisjoint(split_selectors(rule.selectors)):
            own = declarations(rule.body).items()
            variables.update((name, value) for name, (value, _) in own if name.startswith("--"))
    return variables
