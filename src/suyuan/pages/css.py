"""Reads the style sheets of a page: rules with their selectors and declarations, as far as they apply to a screen."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple
from urllib.parse import unquote

from .css_conditions import Truth, applies_to_screen, fits_container, is_supported
from .css_limits import (
    MAX_CSS,
    MAX_EXPANDED,
    MAX_EXPANDED_TOGETHER,
    MAX_IMPORTS_WITHIN,
    MAX_LAYERS,
    MAX_RULES,
    StylesTooComplex,
    end_of,
)
from .css_values import declarations, unescaped

Layer = tuple[float, ...]

UNLAYERED: Layer = (inf,)
UNDECIDED: Layer = (inf, inf, inf)
"""The layer of rules of which it is not decided what they match: they hide text, whatever others say."""

WHITE = " \t\n\r\f"
_WHITE = re.compile(f"[{WHITE}]+")
_STRING = r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?|\\."
_ADDRESS = r"\((?<=[uU][rR][lL]\()\s*+(?![\"'])(?:[^)\\]|\\.)*+"
_COMMENT = re.compile(rf"({_STRING}|{_ADDRESS})|/\*.*?(?:\*/|\Z)|<!--|-->", re.S)
_CONTENT = rf"(?:[^{{}}\"'\\(]++|{_STRING}|{_ADDRESS}|\()*+"
# A rule with plain selectors and no rules in it, as most are; else what stands before the next brace.
_PIECE = re.compile(rf"([^{{}}\"'\\(;@]*+)\{{({_CONTENT})\}}|({_CONTENT})([{{}}]|\Z)", re.S)
_COMMENT_SIGNS = ("/*", "<!--", "-->")
_AT_RULE = re.compile(r"@([-\w]+)\s*(.*)", re.S)
_LAYERS = re.compile(r"@layer\s+([^;{}()\"'@]+);", re.I)
_IMPORT = re.compile(r"@import\s+(?:url\(\s*)?(?:[\"'](data:[^\"']*)[\"']|(data:[^)]*))\s*\)?([^;]*)", re.I)
_IMPORT_LAYER = re.compile(r"layer(?:\(([^)]*)\))?(.*)", re.I)
_SCOPE = re.compile(r"\(((?:[^()]++|\([^()]*+\))*+)\)")
_CONDITIONS: dict[str, Callable[[str], Truth]] = {
    "media": applies_to_screen,
    "supports": is_supported,
    "container": fits_container,
}
# The outer selector, within a nested one.
_SELF = re.compile(r"&|:scope\b", re.I)
_ENCLOSED = re.compile(r"[\\\"'(\[]")
_COMBINATOR = re.compile(r"[\s>+~|]+", re.A)
_COMMA = re.compile(r"\"[^\"]*\"?|'[^']*'?|\\.|[(\[]|[)\]]|,")


class Rule(NamedTuple):
    """A style rule: its selectors as one text, its declarations as text, its layer, and whether it surely applies."""

    selectors: str
    body: str
    layer: Layer
    is_certain: bool
    fitting: list[str]
    """Those of its selectors that may match something in the page."""


@dataclass(slots=True)
class _Block:
    """A block of a sheet that is not closed yet."""

    selectors: str
    active: Truth
    """None where it is not known whether the block applies."""
    layer: str = ""
    animation: str = ""
    """The name of the animation that the block describes."""
    is_exact: bool = True
    """Whether its selectors and layer are those of the sheet, not only such as match at least as much."""
    parts: list[str] = field(default_factory=list)

    def inner(self, selectors: str, active: Truth = True, *, layer: str = "", is_exact: bool = True) -> _Block:
        """A block inside of this one."""
        if active is not False and self.active is not True:
            active = self.active
        is_exact = is_exact and self.is_exact
        return _Block(selectors, active, layer or self.layer, self.animation, is_exact)

    def animated(self, name: str) -> _Block:
        """The block of an animation inside of this one."""
        return _Block("", self.active, self.layer, name)


class StyleSheets:
    """The sheets of a page, as far as they apply to a screen: rules, animations, and registered properties.

    Most rules of a large sheet are for other pages: those whose only selector ``may_match`` denies are dropped.
    """

    def __init__(self, may_match: Callable[[str], bool]) -> None:
        self._may_match = may_match
        self.rules: list[Rule] = []
        """In order, with nested ones and those within at-rules."""
        self.frames: dict[str, list[tuple[str, str]]] = {}
        """The places and declarations of the frames of each animation."""
        self.initial: dict[str, str] = {}
        """The values of registered properties that nobody sets."""
        self._layers: dict[str, int] = {}
        self._imports_within = 0
        self._characters = MAX_CSS
        """That may be read yet."""
        self._expansions = MAX_EXPANDED_TOGETHER
        """Characters of selectors that nested rules may add yet."""

    def read(self, css: str, layer: str = "", *, active: Truth = True) -> None:
        """Take in the rules of a sheet; raises ``StylesTooComplex``.

        ``active`` is None where it is not known whether the sheet applies.
        """
        self._characters -= len(css)
        if self._characters < 0:
            raise StylesTooComplex
        if any(sign in css for sign in _COMMENT_SIGNS):
            css = _COMMENT.sub(r"\1", css)
        stack = [_Block("", active, layer)]
        for piece in _PIECE.finditer(css):
            selectors, body, text, brace = piece.groups()
            if body is not None:
                self._add_nested(stack[-1], selectors.strip(WHITE), body)
            elif brace == "{":
                stack.append(self._open(text, stack[-1]))
            elif brace == "}" and len(stack) > 1:
                self._close(stack.pop(), text)
            elif not brace:
                self._read_statements(text + ";", layer)
                # What is not closed is closed by the end.
                stack[-1].parts.append(text)
                break
        for block in stack[1:]:
            self._close(block, "")

    def _open(self, text: str, outer: _Block) -> _Block:
        """The block that begins after ``text``, which may end with statements or declarations of the one around it."""
        before, _, prelude = text.rpartition(";")
        if outer.selectors:
            outer.parts.append(before)
        elif "@" in before and outer.active:
            self._read_statements(before + ";", outer.layer)
        prelude = prelude.strip(WHITE)
        if prelude.startswith("@"):
            return self._open_at_rule(unescaped(prelude), outer)
        return self._open_nested(prelude, outer)

    def _open_at_rule(self, prelude: str, outer: _Block) -> _Block:
        at_rule = _AT_RULE.match(prelude)
        if at_rule is None:
            return outer.inner(outer.selectors, active=False)
        name, rest = at_rule[1].lower(), at_rule[2].strip()
        if name in _CONDITIONS:
            return outer.inner(outer.selectors, _CONDITIONS[name](rest))
        if name == "layer":
            return self._open_layer(rest, outer)
        if name == "scope":
            # The selectors within which the rules apply.
            scope = _SCOPE.match(rest)
            return outer.inner(outer.selectors) if scope is None else self._open_nested(scope[1], outer)
        if name == "property":
            return outer.inner(f"@property {rest}")
        if name.endswith("keyframes"):
            return outer.animated(rest.strip("'\" ").lower())
        return outer.inner(outer.selectors, active=False)

    def _open_layer(self, name: str, outer: _Block) -> _Block:
        path = name or f"-{len(self._layers)}"
        if outer.layer:
            path = f"{outer.layer}.{path}"
        if path.count(".") >= MAX_LAYERS:
            return outer.inner(outer.selectors, is_exact=False)
        self._layer(path)
        return outer.inner(outer.selectors, layer=path)

    def _open_nested(self, selectors: str, outer: _Block) -> _Block:
        """A block with these selectors inside of another one."""
        if not outer.selectors or outer.animation or outer.active is False:
            return outer.inner(selectors)
        own, parents = split_selectors(selectors), split_selectors(outer.selectors)
        parent = parents[0] if len(parents) == 1 else f":is({','.join(parents)})"
        places = sum(max(1, len(_SELF.findall(selector))) for selector in own)
        length = len(selectors) + places * len(parent)
        is_exact = length <= MAX_EXPANDED
        self._expansions -= length if is_exact else len(selectors) + len(outer.selectors)
        if self._expansions < 0:
            raise StylesTooComplex
        if not is_exact:
            return outer.inner(",".join(_ends(own, parents)), is_exact=False)
        expanded = dict.fromkeys(_expanded(selector, parent) for selector in own)
        return outer.inner(",".join(expanded))

    def _close(self, block: _Block, text: str) -> None:
        """Keep the rule that a block is."""
        block.parts.append(text)
        body = ";".join(block.parts)
        if block.selectors.startswith("@property"):
            initial = declarations(body).get("initial-value")
            if initial is not None:
                self.initial[block.selectors.split()[-1]] = initial[0]
        else:
            self._add(block, block.selectors, body)

    def _add_nested(self, outer: _Block, selectors: str, body: str) -> None:
        """Keep a rule that stands in a block and has no others in it."""
        if outer.selectors:
            block = self._open_nested(selectors, outer)
            self._add(block, block.selectors, body)
        else:
            self._add(outer, selectors, body)

    def _add(self, block: _Block, selectors: str, body: str) -> None:
        """Keep a rule that stands in a block, or that the block is."""
        if block.active is False or not selectors:
            return
        if block.animation:
            self.frames.setdefault(block.animation, []).append((selectors, body))
            return
        fitting = list(filter(self._may_match, split_selectors(selectors)))
        if not fitting and "," not in selectors:
            return
        if not body.strip(" ;\n"):
            return
        if len(self.rules) == MAX_RULES:
            raise StylesTooComplex
        layer = UNDECIDED
        if block.is_exact:
            layer = self._layer(block.layer) if block.layer else UNLAYERED
        is_certain = block.active is True and block.is_exact
        self.rules.append(Rule(selectors, body, layer, is_certain, fitting))

    def _layer(self, path: str) -> Layer:
        """The place of a layer in the order: what stands in a layer itself comes after the layers within it."""
        places: list[float] = []
        names = path.split(".")[: MAX_LAYERS + 1]
        for end in range(1, len(names) + 1):
            outer = ".".join(names[:end])
            places.append(self._layers.setdefault(outer, len(self._layers)))
        return (*places, inf)

    def _read_statements(self, text: str, layer: str) -> None:
        """Obey the at-rules without a block: the order of layers, and sheets that are imported from the page itself."""
        for layers in _LAYERS.finditer(text):
            for name in layers[1].split(","):
                self._layer(_within(layer, name.strip()))
        for statement in _IMPORT.finditer(text):
            css = data_sheet(statement[1] or statement[2])
            inner, media = layer, statement[3].strip()
            named = _IMPORT_LAYER.match(media)
            if named is not None:
                inner, media = _within(layer, named[1] or ""), named[2]
            active = applies_to_screen(media)
            if not css or active is False:
                continue
            if self._imports_within == MAX_IMPORTS_WITHIN:
                raise StylesTooComplex
            self._imports_within += 1
            self.read(css, inner, active=active)
            self._imports_within -= 1


def _within(layer: str, name: str) -> str:
    """The path of a layer in another one."""
    return f"{layer}.{name}" if layer else name


def data_sheet(address: str) -> str:
    """The style sheet in a ``data:`` address; empty if it is none."""
    kind, comma, text = address.strip().partition(",")
    kind = kind.lower().replace(" ", "")
    if not comma or not kind.startswith("data:text/css"):
        return ""
    text = unquote(text)
    if not kind.endswith(";base64"):
        return text
    try:
        return b64decode(text).decode("utf-8", "replace")
    except ValueError:
        return ""


def _expanded(selector: str, parent: str) -> str:
    """A nested selector with that of the rule around it put in."""
    own = _SELF.sub(lambda match: parent, selector)
    return own if own != selector else f"{parent} {selector}"


def _ends(selectors: list[str], parents: list[str]) -> list[str]:
    """Selectors that match at least as much as the expanded ones, and are no longer than those that are there."""
    ends: dict[str, None] = {}
    for selector in selectors:
        last = _COMBINATOR.split(selector.rstrip())[-1]
        if _SELF.search(last) and not last.endswith((")", "]")):
            ends.update(dict.fromkeys(map(end_of, parents)))
        else:
            ends[end_of(selector)] = None
    return list(ends)


def words_of(text: str) -> list[str]:
    """The words of a list of classes: other white space than that of CSS is a part of names."""
    if text.isascii() and text.isprintable():
        return text.split()
    return [word for word in _WHITE.split(text) if word]


def split_selectors(text: str) -> list[str]:
    """The selectors of a list."""
    parts = _split_enclosed(text) if "," in text and _ENCLOSED.search(text) else text.split(",")
    stripped = [part.strip(WHITE) for part in parts]
    return [part for part in stripped if part]


def _split_enclosed(text: str) -> list[str]:
    """The parts of a text between the commas that are not within brackets or strings."""
    parts = []
    depth = start = 0
    for token in _COMMA.finditer(text):
        if token[0] in "([":
            depth += 1
        elif token[0] in ")]":
            depth = max(0, depth - 1)
        elif token[0] == "," and depth == 0:
            parts.append(text[start : token.start()])
            start = token.end()
    return [*parts, text[start:]]
