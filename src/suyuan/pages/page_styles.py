"""``PageStyles``: the rules of a page's own style sheets, found by the elements that they may match."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from .css import Rule, applies_to_screen, declarations, resolved, rules, split_selectors
from .hiding_style import hiding_properties
from .selector import Selector, key_of, read_selector

MAX_CSS = 400_000
_MAX_COMPLEX = 300

# Selectors for the whole page or its content: a rule for them does not hide a single text.
WHOLE_PAGE = frozenset(("html", "body", "main", "article", "*", ":root"))

Declared = Mapping[str, tuple[str, bool]]
_Priority = tuple[bool, tuple[int, int, int], int]
_INLINE = (9, 9, 9)
_COLOURS = frozenset(
    (
        "color", "-webkit-text-fill-color", "background", "background-color", "background-image", "background-clip",
        "-webkit-background-clip",
    )
)  # fmt: skip
_NONE: frozenset[str] = frozenset()


class StyleRule:
    """A rule; what it declares is read when an element of the page first needs it."""

    __slots__ = ("_body", "_declared", "_hides", "_variables", "order")

    def __init__(self, body: str, order: int, variables: Mapping[str, str]) -> None:
        self._body = body
        self.order = order
        self._variables = variables
        self._declared: Declared | None = None
        self._hides: frozenset[str] | None = None

    @property
    def declared(self) -> Declared:
        """Its declarations."""
        if self._declared is None:
            self._declared = declarations(self._body)
        return self._declared

    @property
    def hides(self) -> frozenset[str]:
        """The properties by which it hides text; none if it does not."""
        if self._hides is None:
            style = {name: value for name, (value, _) in self.declared.items()}
            if "--" in self._body or "var(" in self._body:
                style = with_variables(self.declared, self._variables)
            self._hides = hiding_properties(style)
        return self._hides


Entry = tuple[Selector, StyleRule]


class Look:
    """The rules that may apply to elements of one tag with the same classes and id."""

    __slots__ = (
        "_all", "_all_colours", "_keys", "_names", "_showing", "_styles", "_tag", "colours", "complex", "is_hidden",
        "properties",
    )  # fmt: skip

    def __init__(self, styles: PageStyles, tag: str, names: frozenset[str], keys: list[str]) -> None:
        self._styles, self._tag, self._names, self._keys = styles, tag, names, keys
        hiding = self._fitting(styles.hiding)
        self.properties = _NONE.union(*(rule.hides for _, rule in hiding)) if hiding else _NONE
        """Those by which one of the rules hides text."""
        self.is_hidden = any(not selector.is_complex for selector, _ in hiding)
        """Whether one of these rules applies to all of the elements; ``complex`` are the other selectors."""
        self.complex = tuple(selector.text for selector, _ in hiding if selector.is_complex)
        self.colours = self._fitting(styles.colours)
        """The rules that give colours to all of these elements and are quick to match."""
        self._all: list[Entry] | None = None
        self._all_colours: list[Entry] | None = None
        self._showing: list[Entry] | None = None

    def _fitting(self, rules_of: Callable[[str], list[Entry]]) -> list[Entry]:
        names, tag = self._names, self._tag
        return [
            entry
            for key in self._keys
            for entry in rules_of(key)
            if entry[0].names <= names and entry[0].tag in ("", tag)
        ]

    @property
    def showing(self) -> list[Entry]:
        """The rules that say something else about what hides these elements."""
        if self._showing is None:
            self._showing = [entry for entry in self.with_any(self.properties) if not entry[1].hides]
        return self._showing

    @property
    def all_colours(self) -> list[Entry]:
        """All rules that may give them colours."""
        if self._all_colours is None:
            self._all_colours = self.with_any(_COLOURS)
        return self._all_colours

    def with_any(self, properties: AbstractSet[str]) -> list[Entry]:
        """The rules that declare one of these properties."""
        if self._all is None:
            self._all = self._fitting(self._styles.entries)
        return [entry for entry in self._all if not properties.isdisjoint(entry[1].declared)]


class PageStyles:
    """The rules of the style elements of a page; a selector is read when the page has an element that it may match."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        found = list(_page_rules(tree))
        self.variables = _variables(found)
        self._texts: dict[str, list[tuple[str, StyleRule]]] = {}
        self._entries: dict[str, list[Entry]] = {}
        self._hiding: dict[str, list[Entry]] = {}
        self._colours: dict[str, list[Entry]] = {}
        self._looks: dict[tuple[str, str | None, str | None], Look] = {}
        self._plain = Look(self, "", _NONE, [])
        self._matched: dict[tuple[str, ...], frozenset[int]] = {}
        for order, rule in enumerate(found):
            known = StyleRule(rule.body, order, self.variables)
            for text in split_selectors(rule.selectors):
                if key := key_of(text):
                    self._texts.setdefault(key, []).append((text, known))

    def look(self, tag: str, classes: str | None, identity: str | None) -> Look:
        """The rules that may apply to an element with this tag, classes and id."""
        look = self._looks.get((tag, classes, identity))
        if look is None:
            names = [f".{name}" for name in (classes or "")[:2000].split()]
            if identity:
                names.append(f"#{identity}")
            keys = [key for key in dict.fromkeys((tag, *names, "*")) if key in self._texts]
            look = Look(self, tag, frozenset(names), keys) if keys else self._plain
            self._looks[tag, classes, identity] = look
        return look

    def entries(self, key: str) -> list[Entry]:
        """The rules with selectors of this key."""
        if key not in self._entries:
            self._entries[key] = [
                (selector, rule) for text, rule in self._texts[key] if (selector := read_selector(text)) is not None
            ]
        return self._entries[key]

    def hiding(self, key: str) -> list[Entry]:
        """Those of them that hide text."""
        if key not in self._hiding:
            self._hiding[key] = [
                (selector, rule)
                for selector, rule in self.entries(key)
                if selector.text not in WHOLE_PAGE and rule.hides
            ]
        return self._hiding[key]

    def colours(self, key: str) -> list[Entry]:
        """Those of them that give colours and are quick to match."""
        if key not in self._colours:
            self._colours[key] = [
                (selector, rule)
                for selector, rule in self.entries(key)
                if not selector.is_complex
                and (selector.names or (selector.tag and selector.text in WHOLE_PAGE))
                and not _COLOURS.isdisjoint(rule.declared)
            ]
        return self._colours[key]

    def is_hidden(self, look: Look, node: LexborNode) -> bool:
        """Whether a rule hides the element, if no other rule shows it again."""
        return look.is_hidden or (bool(look.complex) and node.mem_id in self._elements(look.complex))

    def is_matched(self, selector: Selector, node: LexborNode) -> bool:
        """Whether the selector, one of the element's look, matches it."""
        return not selector.is_complex or node.mem_id in self._elements((selector.text,))

    def computed(self, entries: list[Entry], node: LexborNode, inline: str) -> dict[str, str]:
        """The style of an element: important declarations first, then by specificity, then by order."""
        found: dict[str, tuple[_Priority, str]] = {}
        matched = [
            (selector.specificity, rule.declared, rule.order)
            for selector, rule in entries
            if self.is_matched(selector, node)
        ]
        if inline:
            matched.append((_INLINE, declarations(inline), 0))
        for specificity, declared, order in matched:
            for name, (value, important) in declared.items():
                priority = (important, specificity, order)
                if name not in found or found[name][0] <= priority:
                    found[name] = (priority, value)
        return with_variables({name: (value, False) for name, (_, value) in found.items()}, self.variables)

    def _elements(self, selectors: tuple[str, ...]) -> frozenset[int]:
        """The elements that any of these selectors, which have combinators or attributes, matches."""
        if selectors not in self._matched:
            if len(selectors) == 1 and len(self._matched) >= _MAX_COMPLEX:
                return frozenset()
            self._matched[selectors] = _elements(self._tree, list(selectors[:_MAX_COMPLEX]))
        return self._matched[selectors]


def with_variables(declared: Declared, variables: Mapping[str, str]) -> dict[str, str]:
    """The values of a style, with the variables in them replaced."""
    if any(name.startswith("--") for name in declared):
        variables = {**variables, **{name: value for name, (value, _) in declared.items() if name.startswith("--")}}
    return {name: resolved(value, variables) if "var(" in value else value for name, (value, _) in declared.items()}


def _elements(tree: LexborHTMLParser, selectors: list[str]) -> frozenset[int]:
    """The elements that any of the selectors matches; those that the parser does not know match nothing."""
    try:
        return frozenset(node.mem_id for node in tree.css(", ".join(selectors)))
    except (SelectolaxError, ValueError):
        if len(selectors) == 1:
            return frozenset()
        middle = len(selectors) // 2
        return _elements(tree, selectors[:middle]) | _elements(tree, selectors[middle:])


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
        if "--" in rule.body and any(text in WHOLE_PAGE for text in split_selectors(rule.selectors)):
            own = declarations(rule.body).items()
            variables.update((name, value) for name, (value, _) in own if name.startswith("--"))
    return variables
