"""``PageStyles``: the styles of a page's elements by the rules of its own style sheets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from math import inf
from typing import TypeVar

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from .colour import BLACK, DARK, WHITE
from .css import UNDECIDED, Rule, StyleSheets, data_sheet, split_selectors, words_of
from .css_conditions import applies_to_screen
from .css_limits import MAX_STEPS, Shape, steps_of
from .css_values import declarations
from .page_rules import (
    WHOLE_PAGE,
    Entry,
    Look,
    Others,
    PageRules,
    PageValues,
    Variables,
    may_paint,
    plain,
    with_variables,
)
from .paint import paint_of
from .selector import Place, Selector, is_below, needed_names

_Priority = tuple[bool, tuple[float, ...], tuple[int, int, int], int]
_INLINE = ((inf, inf), (9, 9, 9), 0)
_NONE: frozenset[str] = frozenset()
_NOWHERE: frozenset[int] = frozenset()
_SHEETS = "style, link[rel~=stylesheet][href^='data:']"
_EXTERNAL = "link[rel~=stylesheet]:not([href^='data:']), link[as=style]"
_CUSTOM = re.compile(r"--[-\w]+\s*:")


T = TypeVar("T")


class PageStyles:
    """The styles of the elements of a page; what was found of one element serves for those like it."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        quirks = _has_quirks(tree)
        names = _names(tree, quirks) if tree.css_first(_SHEETS) is not None else _NONE

        def may_match(selector: str) -> bool:
            """Whether the page has all names that the selector needs."""
            return names.issuperset(needed_names(selector))

        sheets = _sheets(tree, may_match, quirks=quirks)
        self.rules = sheets.rules
        """In the order of the sheets."""
        self.page = _values(tree, sheets, quirks)
        self._index = PageRules(sheets.rules, self.page)
        self._scopes: dict[int, Variables] = {}
        self._looks: dict[tuple[str, str | None, str | None], Look] = {}
        self._plain = Look(self._index, "", _NONE, [])
        self._found: dict[str, frozenset[int] | None] = {}
        self._matched: dict[tuple[str, ...], frozenset[int] | None] = {}
        self._places: dict[int, Place | None] = {}
        self._name_sets: dict[tuple[str | None, str | None], frozenset[str]] = {}
        self._steps = float(MAX_STEPS)
        """That searches for elements may take yet."""

    def look(self, tag: str, classes: str | None, identity: str | None) -> Look:
        """The rules that may apply to an element with this tag, classes and id."""
        look = self._looks.get((tag, classes, identity))
        if look is None:
            names = self._names(classes, identity)
            keys = [key for key in dict.fromkeys((tag, *names, "*")) if key in self._index]
            look = Look(self._index, tag, frozenset(names), keys) if keys else self._plain
            self._looks[tag, classes, identity] = look
        return look

    def is_hidden(self, look: Look, node: LexborNode) -> bool:
        """Whether a rule that may hide the element applies to it."""
        return look.is_hidden or self.any_matches(look.complex, node)

    def any_matches(self, selectors: Others, node: LexborNode) -> bool:
        """Whether one of these selectors of the element's look matches it."""
        if not selectors.are_decided:
            return True
        if selectors.below:
            place = self._place(node)
            for above in selectors.below:
                if is_below(place, above):
                    return True
        if not selectors.slow:
            return False
        found = self._elements(selectors.slow)
        return found is None or node.mem_id in found

    def _matches(self, selector: Selector, node: LexborNode) -> bool | None:
        """Whether a selector of the element's look matches it; None if that is not decided."""
        if not selector.is_complex:
            return True
        if not selector.is_decided:
            return None
        if selector.above is not None:
            return is_below(self._place(node), selector.above)
        found = self._elements((selector.text,))
        return None if found is None else node.mem_id in found

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
        names = [f".{name}" for name in words_of(classes or "")]
        if identity:
            names.append(f"#{identity}")
        return [name.lower() for name in names] if self.page.quirks else names

    def computed(self, entries: Iterable[Entry], node: LexborNode, inline: str) -> dict[str, str]:
        """The style of an element, with the variables in it replaced."""
        declared = self._cascaded(entries, node, inline)
        if any("var(" in value for value in declared.values()):
            return with_variables(declared, self.variables_of(node))
        return with_variables(declared, self.page.variables)

    def _cascaded(self, entries: Iterable[Entry], node: LexborNode, inline: str) -> dict[str, str]:
        """What is declared of an element: important first, then by layer, then by specificity, then by order."""
        found: dict[str, tuple[_Priority, str]] = {}
        matched = []
        for selector, rule in entries:
            # A rule that perhaps does not apply hides text, and does not show it again.
            if not (rule.is_certain or rule.hides or rule.is_faint):
                continue
            matches = self._matches(selector, node)
            if matches:
                matched.append((rule.declared, rule.layer, selector.specificity, rule.order))
            elif matches is None and (rule.hides or rule.is_faint):
                matched.append((rule.declared, UNDECIDED, selector.specificity, rule.order))
        if inline:
            matched.append((declarations(inline, self.page.quirks), *_INLINE))
        for declared, layer, specificity, order in matched:
            for name, (value, important) in declared.items():
                # Among important declarations the first layer comes before the others.
                is_first = layer in (_INLINE[0], UNDECIDED)
                place = tuple(-each for each in layer) if important and not is_first else layer
                priority = (important or layer == UNDECIDED, place, specificity, order)
                if name not in found or found[name][0] <= priority:
                    found[name] = (priority, value)
        return {name: value for name, (_, value) in found.items()}

    def variables_of(self, node: LexborNode) -> Variables:
        """The variables of an element: its own and those of the elements around it."""
        return (
            _from_above(node, self._scopes, self.page.variables, self._scope_in)
            if self._is_scoped
            else self.page.variables
        )

    @cached_property
    def _is_scoped(self) -> bool:
        """Whether anything but the whole page has variables."""
        return self._tree.css_first('[style*="--"]') is not None or any(
            "--" in rule.body and rule.selectors not in WHOLE_PAGE and _CUSTOM.search(rule.body) for rule in self.rules
        )

    def _scope_in(self, node: LexborNode, around: Variables) -> Variables:
        attributes = node.attributes
        look = self.look(node.tag or "", attributes.get("class"), attributes.get("id"))
        inline = attributes.get("style") or ""
        if not look.with_variables and "--" not in inline:
            return around
        own = self._cascaded(look.with_variables, node, inline)
        return {**around, **{name: value for name, value in own.items() if name.startswith("--")}}

    def _elements(self, selectors: tuple[str, ...]) -> frozenset[int] | None:
        """The elements that any of these selectors matches, which need more than tags, names and what is above.

        None if the search takes more than is left for this page.
        """
        if selectors not in self._matched:
            # Elements of many kinds share their selectors, each of which is searched for once.
            found = [self._elements_of(selector) for selector in selectors]
            known = [each for each in found if each is not None]
            self._matched[selectors] = _NOWHERE.union(*known) if len(known) == len(found) else None
        return self._matched[selectors]

    def _elements_of(self, selector: str) -> frozenset[int] | None:
        if selector not in self._found:
            steps = steps_of(selector, self._shape)
            may_search = steps <= self._steps
            self._steps -= steps if may_search else 0
            self._found[selector] = self._query(selector) if may_search else None
        return self._found[selector]

    @cached_property
    def _shape(self) -> Shape:
        return Shape.of(self._tree)

    def _query(self, selector: str) -> frozenset[int]:
        try:
            return frozenset(node.mem_id for node in self._tree.css(selector))
        except (SelectolaxError, ValueError):
            # The parser does not know it: it matches nothing.
            return _NOWHERE


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


def _names(tree: LexborHTMLParser, quirks: bool) -> frozenset[str]:
    """All classes and ids of the page."""
    attributes = [node.attributes for node in tree.css("[class], [id]")]
    classes, identities = ({each.get(name) or "" for each in attributes} for name in ("class", "id"))
    names = [f".{name}" for name in words_of(" ".join(classes))] + [f"#{name}" for name in identities]
    return frozenset(map(str.lower, names) if quirks else names)


def _sheets(tree: LexborHTMLParser, may_match: Callable[[str], bool], *, quirks: bool) -> StyleSheets:
    """The sheets that stand in the page, as elements and as addresses that contain them."""
    sheets = StyleSheets(may_match)
    for node in tree.css(_SHEETS):
        attributes = node.attributes
        kind = (attributes.get("type") or "text/css").strip().lower()
        text = node.text() if node.tag == "style" else data_sheet(attributes.get("href") or "")
        holds = applies_to_screen(attributes.get("media") or "")
        if kind == "text/css" and holds is not False:
            sheets.read(text.lower() if quirks else text, active=holds)
    return sheets


def _values(tree: LexborHTMLParser, sheets: StyleSheets, quirks: bool) -> PageValues:
    """What the whole page has: variables, animations and colours."""
    text, behind = (WHITE, DARK) if _is_dark(tree, sheets.rules) else (BLACK, WHITE)
    variables = {**sheets.initial, **_variables(sheets.rules)}
    for rule in sheets.rules:
        if rule.selectors in WHOLE_PAGE and may_paint(rule.body):
            style = with_variables(plain(declarations(rule.body, quirks)), variables)
            if (paint := paint_of(style, text)) is not None:
                text = paint.text or text
                behind = paint.behind[0] if isinstance(paint.behind, tuple) else behind
    frames = {name.lower(): steps for name, steps in sheets.frames.items()}
    return PageValues(quirks, tree.css_first(_EXTERNAL) is None, frames, variables, text, behind)


def _is_dark(tree: LexborHTMLParser, rules: list[Rule]) -> bool:
    """Whether the page asks for white letters on a dark background."""
    schemes = [
        value[0]
        for rule in rules
        if "color-scheme" in rule.body and rule.selectors in WHOLE_PAGE
        if (value := declarations(rule.body).get("color-scheme"))
    ]
    if not schemes and (meta := tree.css_first("meta[name=color-scheme]")) is not None:
        schemes = [meta.attributes.get("content") or ""]
    return bool(schemes) and "dark" in schemes[-1] and "light" not in schemes[-1]


def _variables(found: list[Rule]) -> dict[str, str]:
    """The variables of the whole page."""
    variables: dict[str, str] = {}
    for rule in found:
        if "--" in rule.body and any(text in WHOLE_PAGE for text in split_selectors(rule.selectors)):
            own = declarations(rule.body).items()
            variables.update((name, value) for name, (value, _) in own if name.startswith("--"))
    return variables
