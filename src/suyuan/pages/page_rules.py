"""``PageRules``: the rules of a page's style sheets by the elements that they may match, and what each of them does.

Nothing here refers to what refers to it, so that all of it is freed at once when a page has been read: the rules of a
page are many objects, and the garbage collector would have to search for them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from .animation import with_animation
from .colour import LEAST_OPACITY, Colour, colour
from .css import Rule
from .css_values import Declared, declarations, plain, resolved
from .hiding_style import DECISIVE, hiding_properties, may_hide
from .paint import can_be_read, paint_of
from .selector import Ancestors, Selector, key_of, read_selector

# Selectors for the whole page: a rule for them does not hide a single text.
WHOLE_PAGE = frozenset(("html", "body", "*", ":root"))

Variables = Mapping[str, str]
COLOURS = frozenset(
    (
        "color", "-webkit-text-fill-color", "background", "background-color", "background-image", "background-clip",
        "-webkit-background-clip", "filter", "mix-blend-mode", "-webkit-text-stroke", "box-shadow",
    )
)  # fmt: skip
_PAINT = COLOURS - {"filter", "box-shadow"}
_FAINT = 2 * LEAST_OPACITY
_NO_PROPERTIES: frozenset[str] = frozenset()
# For text in lower case.
_PAINTING = re.compile(r"color|background|filter|shadow|blend|stroke|\\")
_FILTERING = re.compile(r"invert|brightness|contrast|inset", re.I)


@dataclass(frozen=True, slots=True)
class PageValues:
    """What the values in the rules of a page depend on."""

    quirks: bool
    """Whether the page has no document type, so that the case of classes and ids does not matter."""
    is_complete: bool
    """Whether everything about the colours is known, since there are no external sheets."""
    frames: Mapping[str, list[tuple[str, str]]]
    """The places and declarations of the frames of each animation."""
    variables: Variables
    text: Colour
    behind: Colour
    """The colours of the whole page."""

    def hiding_properties(self, declared: Declared) -> frozenset[str]:
        """The properties by which declarations may hide text, alone or with others."""
        if DECISIVE.isdisjoint(declared):
            return _NO_PROPERTIES
        hiding = hiding_properties(with_variables(plain(declared), self.variables))
        # What a variable is here is known only for each element.
        return hiding.union(name for name in DECISIVE.intersection(declared) if "var(" in declared[name][0])

    def is_faint(self, declared: Declared) -> bool:
        """Whether text of this style cannot be read where nothing else has a colour."""
        paint = paint_of(with_variables(plain(declared), self.variables), self.text)
        if paint is None:
            return False
        text = paint.fill or paint.text or self.text
        behind = paint.behind or (self.behind,)
        if behind == "currentcolor":
            behind = (text,)
        return isinstance(behind, tuple) and not can_be_read(paint, text, behind)


class StyleRule:
    """A rule, made when the page has an element that it may match; what it declares is read where that is needed."""

    def __init__(self, rule: Rule, order: int, page: PageValues) -> None:
        self._body = rule.body
        self.layer = rule.layer
        self.is_certain = rule.is_certain
        self.order = order
        self._page = page
        self.hides = page.hiding_properties(self.declared) if may_hide(rule.body) else _NO_PROPERTIES
        """The properties by which it may hide text, alone or with other rules."""

    @cached_property
    def declared(self) -> Declared:
        """Its declarations, with those of the frame at which an animation stays."""
        declared, frames = declarations(self._body, self._page.quirks), self._page.frames
        if frames and "animation" in self._body:
            return with_animation(declared, frames)
        return declared

    @cached_property
    def paints(self) -> bool:
        """Whether it changes colours in a way that is certain."""
        if not may_paint(self._body) and "animation" not in self._body:
            return False
        if _PAINT.isdisjoint(self.declared) and _FILTERING.search(self._body) is None:
            return False
        # Where external sheets may give any colour to anything, only what one rule says alone is certain.
        return self._page.is_complete or _is_complete(self.declared)

    @cached_property
    def is_faint(self) -> bool:
        """Whether text cannot be read that it gives its colours to."""
        return self.paints and self._page.is_faint(self.declared)

    @property
    def is_suspect(self) -> bool:
        """Whether it may hide text or make it faint."""
        return bool(self.hides) or self.is_faint

    @property
    def has_variables(self) -> bool:
        """Whether it gives values to variables."""
        return "--" in self._body and any(name.startswith("--") for name in self.declared)


@dataclass(frozen=True, slots=True)
class SelectedRule:
    """A rule with one of its selectors."""

    selector: Selector
    rule: StyleRule


@dataclass(frozen=True, slots=True, eq=False)
class Complex:
    """Selectors that ask for more than the element's own names."""

    ancestors: tuple[Ancestors, ...]
    """What those ask for that ask only for what is around it."""
    texts: tuple[str, ...]
    """The others."""
    are_decided: bool
    """False if it is not known what one of them matches."""

    @classmethod
    def of(cls, entries: Iterable[SelectedRule]) -> Complex:
        """Those of the rules."""
        selectors = [entry.selector for entry in entries if entry.selector.is_complex]
        if not selectors:
            return _NOT_COMPLEX
        ancestors = [selector.ancestors for selector in selectors if selector.ancestors is not None]
        texts = [selector.text for selector in selectors if selector.ancestors is None]
        return cls(tuple(ancestors), tuple(texts), all(selector.is_decided for selector in selectors))


_NOT_COMPLEX = Complex((), (), are_decided=True)


@dataclass(frozen=True, slots=True)
class _Telling:
    """The rules of one key that may change how text is seen."""

    hiding: list[SelectedRule]
    painting: list[SelectedRule]


class Look:
    """The rules that may apply to elements of one tag with the same classes and id."""

    def __init__(self, rules: PageRules, tag: str, names: frozenset[str], keys: list[str]) -> None:
        self._rules, self._tag, self._names, self._keys = rules, tag, names, keys
        self._with: dict[frozenset[str], list[SelectedRule]] = {}
        telling = [rules.telling(key) for key in keys]
        hiding = self._fitting(part.hiding for part in telling)
        self.hides = _NO_PROPERTIES.union(*(entry.rule.hides for entry in hiding))
        """The properties by which one of the rules may hide text."""
        self.is_hidden = any(not entry.selector.is_complex for entry in hiding)
        """Whether one of these rules applies to all of the elements; ``complex`` are the other selectors."""
        self.complex = Complex.of(hiding)
        painting = self._fitting(part.painting for part in telling)
        self.colours = [entry for entry in painting if not entry.selector.is_complex]
        """The rules that give colours to all of these elements and are quick to match."""
        self.faint = Complex.of(painting)
        """The selectors of other rules that give text the colour of the page."""
        self.is_telling = bool(hiding or painting)
        """Whether one of the rules may change how the elements are seen."""

    def _fitting(self, lists: Iterable[list[SelectedRule]]) -> list[SelectedRule]:
        """The entries whose selectors ask for nothing that the elements do not have."""
        fitting = []
        for entries in lists:
            for entry in entries:
                selector = entry.selector
                if selector.names <= self._names and selector.tag in ("", self._tag):
                    fitting.append(entry)
        return fitting

    @cached_property
    def all(self) -> list[SelectedRule]:
        """All rules that may apply."""
        return self._fitting(map(self._rules.entries, self._keys))

    def with_any(self, properties: frozenset[str]) -> list[SelectedRule]:
        """The rules that declare one of these properties."""
        if properties not in self._with:
            self._with[properties] = [entry for entry in self.all if not properties.isdisjoint(entry.rule.declared)]
        return self._with[properties]

    @cached_property
    def with_variables(self) -> list[SelectedRule]:
        """The rules that give values to variables."""
        return [entry for entry in self.all if entry.rule.has_variables]


class PageRules:
    """The rules of a page by key; a selector is read when the page has an element that it may match."""

    def __init__(self, rules: list[Rule], page: PageValues) -> None:
        self._page = page
        self._rules = rules
        self._style_rules: dict[int, StyleRule] = {}
        self._texts: dict[str, list[tuple[str, int]]] = defaultdict(list)
        """The selectors of each key, and the places of their rules."""
        self._entries: dict[str, list[SelectedRule]] = {}
        self._telling: dict[str, _Telling] = {}
        for order, rule in enumerate(rules):
            for text in rule.fitting:
                key = key_of(text)
                if key:
                    self._texts[key].append((text, order))

    def __contains__(self, key: str) -> bool:
        """Whether there are rules of this key."""
        return key in self._texts

    def entries(self, key: str) -> list[SelectedRule]:
        """The rules with selectors of this key."""
        if key not in self._entries:
            pairs = [(read_selector(text), self._rule(order)) for text, order in self._texts[key]]
            self._entries[key] = [SelectedRule(selector, rule) for selector, rule in pairs if selector is not None]
        return self._entries[key]

    def telling(self, key: str) -> _Telling:
        """Those of them that may hide text, and those that give colours; the selectors of the others are not read."""
        if key not in self._telling:
            self._telling[key] = self._find_telling(key)
        return self._telling[key]

    def _find_telling(self, key: str) -> _Telling:
        telling = _Telling([], [])
        for text, order in self._texts[key]:
            rule = self._rule(order)
            if not rule.hides and not rule.paints:
                continue
            selector = read_selector(text)
            if selector is None:
                continue
            is_whole_page = selector.text in WHOLE_PAGE
            if rule.hides and not is_whole_page:
                telling.hiding.append(SelectedRule(selector, rule))
            # Those that are quick to match, or give text the colour of the page.
            is_quick = not selector.is_complex and (is_whole_page or bool(selector.names))
            if rule.paints and (is_quick or rule.is_faint):
                telling.painting.append(SelectedRule(selector, rule))
        return telling

    def _rule(self, order: int) -> StyleRule:
        if order not in self._style_rules:
            self._style_rules[order] = StyleRule(self._rules[order], order, self._page)
        return self._style_rules[order]


def may_paint(body: str) -> bool:
    """Whether declarations, as they are written, may change colours."""
    return _PAINTING.search(body.lower()) is not None


def with_variables(declared: Variables, variables: Variables) -> dict[str, str]:
    """The values of a style, with the variables in them replaced."""
    own = {name: value for name, value in declared.items() if name.startswith("--")}
    if own:
        variables = {**variables, **own}
    style = dict(declared)
    for name, value in declared.items():
        if "var(" in value or "env(" in value:
            style[name] = resolved(value, variables)
    return style


def _is_complete(declared: Declared) -> bool:
    """Whether declarations say by themselves that text has no contrast: both colours, or transparent letters."""
    value = declared.get("-webkit-text-fill-color") or declared.get("color")
    if value is None:
        return False
    if "background" in declared or "background-color" in declared:
        return True
    letters = colour(value[0])
    return letters is not None and letters[3] < _FAINT
