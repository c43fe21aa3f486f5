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
from typing import NamedTuple

from .animation import with_animation
from .colour import LEAST_OPACITY, Colour, colour
from .css import Rule
from .css_values import Declared, declarations, resolved
from .hiding_style import DECISIVE, hiding_properties, may_hide
from .paint import can_be_read, paint_of
from .selector import Above, Selector, key_of, read_selector

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
_NONE: frozenset[str] = frozenset()
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
    """The selectors and declarations of each animation."""
    variables: Variables
    text: Colour
    behind: Colour
    """The colours of the whole page."""

    def hiding_properties(self, declared: Declared) -> frozenset[str]:
        """The properties by which declarations may hide text, alone or with others."""
        if DECISIVE.isdisjoint(declared):
            return _NONE
        found = hiding_properties(with_variables(plain(declared), self.variables))
        # What a variable is here is known only for each element.
        unknown = [name for name, (value, _) in declared.items() if "var(" in value and name in DECISIVE]
        return found.union(unknown) if unknown else found

    def is_faint(self, declared: Declared) -> bool:
        """Whether text of this style cannot be read where nothing else has a colour."""
        paint = paint_of(with_variables(plain(declared), self.variables), self.text)
        if paint is None:
            return False
        text = paint.fill or paint.text or self.text
        behind = (text,) if paint.behind == "currentcolor" else paint.behind or (self.behind,)
        return isinstance(behind, tuple) and not can_be_read(paint, text, behind)


class StyleRule:
    """A rule, made when the page has an element that it may match; what it declares is read where that is needed."""

    def __init__(self, rule: Rule, order: int, page: PageValues) -> None:
        self._body = rule.body
        self.layer = rule.layer
        self.is_certain = rule.is_certain
        self.order = order
        self._page = page
        self.hides = page.hiding_properties(self.declared) if may_hide(rule.body) else _NONE
        """The properties by which it may hide text, alone or with other rules."""
        self.paints = (may_paint(rule.body) or "animation" in rule.body) and (
            not _PAINT.isdisjoint(self.declared) or _FILTERING.search(rule.body) is not None
        )
        """Whether it changes colours."""

    @cached_property
    def is_faint(self) -> bool:
        """Whether text cannot be read that it gives its colours to."""
        return self.paints and self._page.is_faint(self.declared)

    @cached_property
    def declared(self) -> Declared:
        """Its declarations."""
        declared, frames = declarations(self._body, self._page.quirks), self._page.frames
        return with_animation(declared, frames) if frames and "animation" in self._body else declared

    @property
    def has_variables(self) -> bool:
        """Whether it gives values to variables."""
        return "--" in self._body and any(name.startswith("--") for name in self.declared)


Entry = tuple[Selector, StyleRule]


class Others(NamedTuple):
    """Selectors that ask for more than the element's own names."""

    below: tuple[Above, ...]
    """What those ask for that ask only for what is above it."""
    slow: tuple[str, ...]
    are_decided: bool = True
    """False if it is not known what one of them matches."""

    @classmethod
    def of(cls, entries: list[Entry]) -> Others:
        """Those of the rules."""
        if not (others := [selector for selector, _ in entries if selector.is_complex]):
            return _NO_OTHERS
        return cls(
            tuple([selector.above for selector in others if selector.above is not None]),
            tuple([selector.text for selector in others if selector.above is None and selector.is_decided]),
            all(selector.is_decided for selector in others),
        )


_NO_OTHERS = Others((), ())


class Look:
    """The rules that may apply to elements of one tag with the same classes and id."""

    def __init__(self, rules: PageRules, tag: str, names: frozenset[str], keys: list[str]) -> None:
        self._rules, self._tag, self._names, self._keys = rules, tag, names, keys
        self._with: dict[frozenset[str], list[Entry]] = {}
        telling = [rules.telling(key) for key in keys]
        hiding = self._fitting(one for one, _ in telling)
        self.hides = _NONE.union(*(rule.hides for _, rule in hiding)) if hiding else _NONE
        """The properties by which one of the rules may hide text."""
        self.is_hidden = any(not selector.is_complex for selector, _ in hiding)
        """Whether one of these rules applies to all of the elements; ``complex`` are the other selectors."""
        self.complex = Others.of(hiding)
        painting = self._fitting(other for _, other in telling)
        self.colours = [entry for entry in painting if not entry[0].is_complex]
        """The rules that give colours to all of these elements and are quick to match."""
        self.faint = Others.of(painting)
        """The selectors of other rules that give text the colour of the page."""
        self.is_telling = bool(hiding or painting)
        """Whether one of the rules may change how the elements are seen."""

    def _fitting(self, lists: Iterable[list[Entry]]) -> list[Entry]:
        names, tag = self._names, self._tag
        return [
            entry for entries in lists for entry in entries if entry[0].names <= names and entry[0].tag in ("", tag)
        ]

    @cached_property
    def all(self) -> list[Entry]:
        """All rules that may apply."""
        return self._fitting(map(self._rules.entries, self._keys))

    def with_any(self, properties: frozenset[str]) -> list[Entry]:
        """The rules that declare one of these properties."""
        if (known := self._with.get(properties)) is None:
            known = [entry for entry in self.all if not properties.isdisjoint(entry[1].declared)]
            self._with[properties] = known
        return known

    @cached_property
    def with_variables(self) -> list[Entry]:
        """The rules that give values to variables."""
        return [entry for entry in self.all if entry[1].has_variables]


class PageRules:
    """The rules of a page by key; a selector is read when the page has an element that it may match."""

    def __init__(self, rules: list[Rule], page: PageValues) -> None:
        self._page = page
        self._rules = rules
        self._known: dict[int, StyleRule] = {}
        self._texts: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self._entries: dict[str, list[Entry]] = {}
        self._telling: dict[str, tuple[list[Entry], list[Entry]]] = {}
        texts = self._texts
        for order, rule in enumerate(rules):
            for text in rule.fitting:
                if key := key_of(text):
                    texts[key].append((text, order))

    def __contains__(self, key: str) -> bool:
        """Whether there are rules of this key."""
        return key in self._texts

    def entries(self, key: str) -> list[Entry]:
        """The rules with selectors of this key."""
        if (known := self._entries.get(key)) is None:
            read = [(read_selector(text), self._rule(order)) for text, order in self._texts[key]]
            known = self._entries[key] = [(selector, rule) for selector, rule in read if selector is not None]
        return known

    def telling(self, key: str) -> tuple[list[Entry], list[Entry]]:
        """Those of them that may hide text, and those that give colours; the selectors of the others are not read."""
        if (known := self._telling.get(key)) is None:
            hiding: list[Entry] = []
            painting: list[Entry] = []
            known = self._telling[key] = hiding, painting
            for text, order in self._texts[key]:
                rule = self._rule(order)
                paints = self._paints(rule)
                if not (rule.hides or paints) or (selector := read_selector(text)) is None:
                    continue
                if rule.hides and selector.text not in WHOLE_PAGE:
                    hiding.append((selector, rule))
                # Those that are quick to match, or give text the colour of the page.
                is_quick = not selector.is_complex and (selector.names or selector.text in WHOLE_PAGE)
                if paints and (is_quick or rule.is_faint):
                    painting.append((selector, rule))
        return known

    def _rule(self, order: int) -> StyleRule:
        if (known := self._known.get(order)) is None:
            known = self._known[order] = StyleRule(self._rules[order], order, self._page)
        return known

    def _paints(self, rule: StyleRule) -> bool:
        # Where external sheets may give any colour to anything, only what one rule says alone is certain.
        return rule.paints and (self._page.is_complete or _is_complete(rule.declared))


def may_paint(body: str) -> bool:
    """Whether declarations, as they are written, may change colours."""
    return _PAINTING.search(body.lower()) is not None


def with_variables(declared: Variables, variables: Variables) -> dict[str, str]:
    """The values of a style, with the variables in them replaced."""
    if any(name.startswith("--") for name in declared):
        variables = {**variables, **{name: value for name, value in declared.items() if name.startswith("--")}}
    return {
        name: resolved(value, variables) if "var(" in value or "env(" in value else value
        for name, value in declared.items()
    }


def _is_complete(declared: Declared) -> bool:
    """Whether declarations say by themselves that text has no contrast: both colours, or transparent letters."""
    value = declared.get("-webkit-text-fill-color") or declared.get("color")
    if value is None or "background" in declared or "background-color" in declared:
        return value is not None
    found = colour(value[0])
    return found is not None and found[3] < 2 * LEAST_OPACITY


def plain(declared: Declared) -> dict[str, str]:
    """The values without what is said of their importance."""
    return {name: value for name, (value, _) in declared.items()}
