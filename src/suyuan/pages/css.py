"""Reads the style sheets of a page: rules with their selectors and declarations, as far as they apply to a screen."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple
from urllib.parse import unquote

from .css_conditions import applies_to_screen, fits_container, is_supported
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

UNLAYERED = (inf,)
UNDECIDED = (inf, inf, inf)
"""The layer of rules of which it is not decided what they match: they hide text, whatever others say."""

WHITE = " \t\n\r\f"
_WHITE = re.compile(f"[{WHITE}]+")
# Alternatives that all begin with one certain character are searched for several times as fast as others.
_TOKEN = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?|/\*.*?(?:\*/|\Z)|\\.|\{|\}|<!--|-->|"
    r"\((?<=[uU][rR][lL]\()\s*+(?![\"'])(?:[^)\\]|\\.)*+",
    re.S,
)
# A rule without comments, nested rules, escapes outside of strings and addresses without quotes, as most are, and a
# block of such rules.
_WITHIN = r"[^{}\"'\\/]*+(?:(?:/(?!\*)|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+')[^{}\"'\\/]*+)*+"
_PLAIN_RULE = re.compile(rf"([^{{}}\"'\\/;@<]*+)\{{({_WITHIN})\}}")
_PLAIN_BLOCK = re.compile(rf"(?:{_WITHIN}\{{{_WITHIN}\}})*+{_WITHIN}\}}")
_NOT_PLAIN = re.compile(r"\((?<=[uU][rR][lL]\()(?!\s*[\"'])|>(?<=-->)|<!--")
_AT_NAME = re.compile(r"@([-\w]+)")
_LAYERS = re.compile(r"@layer\s+([^;{}()\"'@]+);", re.I)
_IMPORT = re.compile(r"@import\s+(?:url\(\s*)?(?:[\"'](data:[^\"']*)[\"']|(data:[^)]*))\s*\)?([^;]*)", re.I)
_IMPORT_LAYER = re.compile(r"layer(?:\(([^)]*)\))?(.*)", re.I)
_SCOPE = re.compile(r"\(((?:[^()]++|\([^()]*+\))*+)\)")
# The outer selector, within a nested one.
_SELF = re.compile(r"&|:scope\b", re.I)
_PLAIN = re.compile(r"[\\\"'(\[]|/\*")
_BETWEEN = re.compile(r"[\s>+~|]+", re.A)
_COMMA = re.compile(r"\"[^\"]*\"?|'[^']*'?|\\.|[(\[]|[)\]]|,")


class Rule(NamedTuple):
    """A style rule: its selectors as one text, its declarations as text, its layer, and whether it surely applies."""

    selectors: str
    body: str
    layer: tuple[float, ...]
    is_certain: bool
    fitting: list[str]
    """Those of its selectors that may match something in the page."""


@dataclass(slots=True)
class _Block:
    selectors: str
    active: bool | None
    """None where it is not known whether the block applies."""
    layer: str = ""
    frames: str = ""
    """The name of the animation that the block describes."""
    is_exact: bool = True
    """Whether its selectors and layer are those of the sheet, not only such as match at least as much."""
    parts: list[str] = field(default_factory=list)

    def within(
        self,
        selectors: str,
        active: bool | None = True,
        *,
        layer: str = "",
        frames: str = "",
        is_exact: bool = True,
    ) -> _Block:
        """A block inside of this one."""
        holds = active if self.active or active is False else self.active
        return _Block(selectors, holds, layer or self.layer, frames or self.frames, self.is_exact and is_exact)


class StyleSheets:
    """The sheets of a page, as far as they apply to a screen: rules, animations, and registered properties.

    Most rules of a large sheet are for other pages: those whose only selector ``may_match`` denies are dropped.
    """

    def __init__(self, may_match: Callable[[str], bool]) -> None:
        self._may_match = may_match
        self.rules: list[Rule] = []
        """In order, with nested ones and those within at-rules."""
        self.frames: dict[str, list[tuple[str, str]]] = {}
        """The selectors and declarations of each animation."""
        self.initial: dict[str, str] = {}
        """The values of registered properties that nobody sets."""
        self._layers: dict[str, int] = {}
        self._imports_within = 0
        self._characters = MAX_CSS
        """That may be read yet."""
        self._expansions = MAX_EXPANDED_TOGETHER
        """Characters of selectors that nested rules may add yet."""
        self._css = ""
        self._stack: list[_Block] = []
        self._pieces: list[str] = []
        """What was read since the last brace, without comments."""
        self._at = 0
        self._odd = -1
        """Where the next part is that is not plain, if that is not before where we are."""

    def read(self, css: str, layer: str = "", *, active: bool | None = True) -> None:
        """Take in the rules of a sheet, from left to right; raises ``StylesTooComplex``.

        ``active`` is None where it is not known whether the sheet applies.
        """
        self._characters -= len(css)
        if self._characters < 0:
            raise StylesTooComplex
        self._css, self._at, self._pieces, self._odd = css, 0, [], -1
        self._stack = stack = [_Block("", active, layer)]
        position = 0
        while True:
            if (
                self._at == position
                and not self._pieces
                and (plain := _PLAIN_RULE.match(css, position)) is not None
                and self._is_plain(position, plain.end())
            ):
                self._at = position = plain.end()
                if selectors := plain[1].strip(WHITE):
                    self._add_plain(stack[-1], selectors, plain[2])
            elif (token := _TOKEN.search(css, position)) is not None:
                position = token.end()
                self._take(token)
                if token[0] == "{" and stack[-1].active is False:
                    self._at = position = self._end_of_unused(position)
            else:
                break
        # What is not closed is closed by the end.
        text = self._text(len(css))
        if len(stack) == 1:
            self._statements(text + ";", layer)
        stack[-1].parts.append(text)
        for block in stack[1:]:
            self._add(block, block.selectors, ";".join(block.parts))

    def _end_of_unused(self, position: int) -> int:
        """The end of a block that was just opened and does not apply; ``position`` if it has to be read to find it."""
        found = _PLAIN_BLOCK.match(self._css, position)
        if found is None or not self._is_plain(position, found.end()):
            return position
        self._stack.pop()
        return found.end()

    def _is_plain(self, start: int, end: int) -> bool:
        """Whether what looks like plain rules is that: each part of a sheet is searched once."""
        if self._odd < start:
            found = _NOT_PLAIN.search(self._css, start)
            self._odd = found.start() if found else len(self._css)
        return self._odd >= end

    def _take(self, token: re.Match[str]) -> None:
        """Go past a token."""
        kind = token[0]
        if kind == "{":
            declared, _, prelude = self._text(token.start()).rpartition(";")
            self._at = token.end()
            outer = self._stack[-1]
            if outer.selectors:
                outer.parts.append(declared)
            elif "@" in declared and outer.active:
                self._statements(declared + ";", outer.layer)
            self._stack.append(self._opened(prelude.strip(WHITE), outer))
        elif kind == "}":
            text = self._text(token.start())
            self._at = token.end()
            if len(self._stack) > 1:
                block = self._stack.pop()
                block.parts.append(text)
                self._add(block, block.selectors, ";".join(block.parts))
        elif kind.startswith(("/*", "<!--", "-->")):
            if (piece := self._css[self._at : token.start()]).strip() or self._pieces:
                self._pieces.append(piece)
            self._at = token.end()

    def _add_plain(self, outer: _Block, selectors: str, body: str) -> None:
        """Keep a rule with no others in it."""
        if outer.selectors and not outer.frames:
            block = self._within(outer, selectors)
            self._add(block, block.selectors, body)
        else:
            self._add(outer, selectors, body)

    def _add(self, block: _Block, selectors: str, body: str) -> None:
        """Keep a rule that stands in ``block``, or that it is."""
        if block.active is False or not selectors or not body.strip(" ;\n"):
            return
        if selectors.startswith("@property"):
            if initial := declarations(body).get("initial-value"):
                self.initial[selectors.split()[-1]] = initial[0]
        elif block.frames:
            self.frames.setdefault(block.frames, []).append((selectors, body))
        elif (fitting := [*filter(self._may_match, split_selectors(selectors))]) or "," in selectors:
            if len(self.rules) == MAX_RULES:
                raise StylesTooComplex
            layer = self._layer(block.layer) if block.layer else UNLAYERED
            is_certain = block.active is True and block.is_exact
            self.rules.append(Rule(selectors, body, layer if block.is_exact else UNDECIDED, is_certain, fitting))

    def _layer(self, path: str) -> tuple[float, ...]:
        """The place of a layer in the order: what stands in a layer itself comes after the layers within it."""
        names = path.split(".")[: MAX_LAYERS + 1]
        paths = (".".join(names[: end + 1]) for end in range(len(names)))
        return (*(self._layers.setdefault(each, len(self._layers)) for each in paths), inf)

    def _statements(self, text: str, layer: str) -> None:
        """Obey the at-rules without a block: the order of layers, and sheets that are imported from the page itself."""
        for found in _LAYERS.finditer(text):
            for name in found[1].split(","):
                self._layer(f"{layer}.{name.strip()}" if layer else name.strip())
        for found in _IMPORT.finditer(text):
            rest = _IMPORT_LAYER.match(found[3].strip())
            css, holds = data_sheet(found[1] or found[2]), applies_to_screen(rest[2] if rest else found[3])
            if css and holds is not False:
                if self._imports_within == MAX_IMPORTS_WITHIN:
                    raise StylesTooComplex
                self._imports_within += 1
                kept = self._css, self._stack, self._pieces, self._at, self._odd
                path = f"{layer}.{rest[1]}" if rest and layer else rest[1] if rest else layer
                self.read(css, path, active=holds)
                self._css, self._stack, self._pieces, self._at, self._odd = kept
                self._imports_within -= 1

    def _text(self, end: int) -> str:
        """What was read since the last brace."""
        text = "".join([*self._pieces, self._css[self._at : end]])
        self._pieces = []
        return text

    def _within(self, outer: _Block, selectors: str) -> _Block:
        """A block with these selectors inside of another one."""
        if outer.frames or not outer.selectors or outer.active is False:
            return outer.within(selectors)
        own, parents = split_selectors(selectors), split_selectors(outer.selectors)
        length = _expanded_length(own, parents)
        is_exact = length <= MAX_EXPANDED
        self._expansions -= length if is_exact else len(selectors) + len(outer.selectors)
        if self._expansions < 0:
            raise StylesTooComplex
        return outer.within(_expanded(own, parents) if is_exact else _ends(own, parents), is_exact=is_exact)

    def _opened(self, prelude: str, outer: _Block) -> _Block:
        if not prelude.startswith("@"):
            return self._within(outer, prelude)
        prelude = unescaped(prelude)
        found = _AT_NAME.match(prelude)
        name = found[1].lower() if found else ""
        rest = prelude[len(name) + 1 :].strip()
        if name == "layer":
            path = rest or f"-{len(self._layers)}"
            path = f"{outer.layer}.{path}" if outer.layer else path
            if path.count(".") >= MAX_LAYERS:
                return outer.within(outer.selectors, is_exact=False)
            self._layer(path)
            return outer.within(outer.selectors, layer=path)
        if name == "scope":
            # The selectors within which the rules apply.
            found = _SCOPE.match(rest)
            return self._within(outer, found[1]) if found else outer.within(outer.selectors)
        if name.endswith("keyframes"):
            return outer.within("", frames=rest.strip("'\" "))
        if name == "property":
            return outer.within(f"@property {rest}")
        holds = {"media": applies_to_screen, "supports": is_supported, "container": fits_container}.get(name)
        return outer.within(outer.selectors, holds(rest) if holds is not None else False)


def data_sheet(address: str) -> str:
    """The style sheet in a ``data:`` address; empty if it is none."""
    kind, comma, text = address.strip().partition(",")
    if not comma or not kind.lower().startswith("data:text/css"):
        return ""
    text = unquote(text)
    if kind.lower().replace(" ", "").endswith(";base64"):
        try:
            return b64decode(text).decode("utf-8", "replace")
        except ValueError:
            return ""
    return text


def _expanded(selectors: list[str], parents: list[str]) -> str:
    """The selectors of a nested rule with those of the rule around it put in."""
    expanded: list[str] = []
    for parent in parents:
        for selector in selectors:
            own = _SELF.sub(lambda match, parent=parent: parent, selector)  # type: ignore[misc]
            expanded.append(own if own != selector else f"{parent} {selector}")
    return ",".join(expanded)


def _expanded_length(selectors: list[str], parents: list[str]) -> int:
    """About how long that is: each selector stands there once for each parent, with that one at each place of it."""
    places = sum(max(1, len(_SELF.findall(selector))) for selector in selectors)
    return sum(map(len, selectors)) * len(parents) + places * sum(map(len, parents))


def _ends(selectors: list[str], parents: list[str]) -> str:
    """Selectors that match at least as much as the expanded ones, and are no longer than those that are there."""
    ends: dict[str, None] = {}
    for selector in selectors:
        last = _BETWEEN.split(selector.rstrip())[-1]
        if _SELF.search(last) and not last.endswith((")", "]")):
            ends.update(dict.fromkeys(map(end_of, parents)))
        else:
            ends[end_of(selector)] = None
    return ",".join(ends)


def words_of(text: str) -> list[str]:
    """The words of a list of classes or a selector: other white space than that of CSS is a part of names."""
    if text.isascii() and text.isprintable():
        return text.split()
    return [word for word in _WHITE.split(text) if word]


def split_selectors(text: str) -> list[str]:
    """The selectors of a list."""
    if "," not in text:
        return [found] if (found := text.strip(WHITE)) else []
    if not _PLAIN.search(text):
        return [found for part in text.split(",") if (found := part.strip(WHITE))]
    parts, depth, at = [], 0, 0
    for token in _COMMA.finditer(text):
        if token[0] in "([":
            depth += 1
        elif token[0] in ")]":
            depth = max(0, depth - 1)
        elif token[0] == "," and not depth:
            parts.append(text[at : token.start()])
            at = token.end()
    return [found for part in (*parts, text[at:]) if (found := part.strip(WHITE))]
