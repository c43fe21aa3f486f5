"""Reads the style sheets of a page: rules with their selectors and declarations, as far as they apply to a screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

MAX_RULES = 20_000
_MAX_NESTING = 30
_WIDTH, _HEIGHT = 1280.0, 720.0

_TOKEN = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?|/\*.*?(?:\*/|\Z)|\\.|[{}]", re.S)
# A rule without strings, comments, escapes and nested rules, as most are.
_PLAIN_RULE = re.compile(r"([^{}\"'\\/;@]*+)\{([^{}\"'\\/]*+)\}")
_AT_NAME = re.compile(r"@([-\w]+)")
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.S)
_GROUPS = frozenset(("supports", "layer", "container", "scope"))
_PLAIN = re.compile(r"[\\\"'(\[]|/\*")
_COMMA = re.compile(r"\"[^\"]*\"?|'[^']*'?|\\.|[(\[]|[)\]]|,")
# Escapes, comments, and strings that contain what separates declarations.
_ODD = re.compile(r"\\|/\*|\"[^\";:!]*[;:!][^\"]*\"|'[^';:!]*[;:!][^']*'")
_IMPORTANT = re.compile(r"\s*!\s*important\s*$", re.I)
_VARIABLE = re.compile(r"var\(\s*(--[^\s,)]+)\s*(?:,([^()]*))?\)")
_LENGTH = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+))(?:e[+-]?\d+)?\s*([a-z%]*)", re.I)
_PIXELS = {
    "": 1.0, "px": 1.0, "em": 16.0, "rem": 16.0, "ch": 8.0, "ex": 8.0, "pt": 1.333, "pc": 16.0, "in": 96.0, "cm": 37.8,
    "mm": 3.78, "q": 0.945, "vw": _WIDTH / 100, "vh": _HEIGHT / 100, "vmin": _HEIGHT / 100, "vmax": _WIDTH / 100,
}  # fmt: skip


class Rule(NamedTuple):
    """A style rule: its selectors as one text, and its declarations as text."""

    selectors: str
    body: str


@dataclass(slots=True)
class _Block:
    selectors: str
    active: bool
    parts: list[str] = field(default_factory=list)


def rules(css: str) -> Iterator[Rule]:
    """The style rules of a sheet that apply to a screen, with nested ones and those within at-rules."""
    return islice(_SheetReader(css).read(), MAX_RULES)


class _SheetReader:
    """Cuts a sheet into rules, from left to right."""

    def __init__(self, css: str) -> None:
        self._css = css
        self._stack = [_Block("", True)]
        self._pieces: list[str] = []
        """What was read since the last brace, without comments."""
        self._at = 0

    def read(self) -> Iterator[Rule]:
        css, stack = self._css, self._stack
        position = 0
        while True:
            if self._at == position and not self._pieces and (plain := _PLAIN_RULE.match(css, position)) is not None:
                self._at = position = plain.end()
                if len(stack) < _MAX_NESTING and (rule := _plain_rule(plain, stack[-1])) is not None:
                    yield rule
            elif (token := _TOKEN.search(css, position)) is not None:
                position = token.end()
                if (rule := self._take(token)) is not None:
                    yield rule
            else:
                break
        # What is not closed is closed by the end.
        stack[-1].parts.append(self._text(len(css)))
        for block in stack[1:]:
            if block.active and block.selectors:
                yield Rule(block.selectors, ";".join(block.parts))

    def _take(self, token: re.Match[str]) -> Rule | None:
        """Go past a token; the rule that it ends."""
        kind = token[0]
        if kind == "{":
            declared, _, prelude = self._text(token.start()).rpartition(";")
            self._at = token.end()
            outer = self._stack[-1]
            outer.parts.append(declared)
            # Deeper than this nobody nests; the block is skipped.
            nested = len(self._stack) < _MAX_NESTING
            self._stack.append(_opened(prelude.strip(), outer) if nested else _Block("", False))
        elif kind == "}":
            text = self._text(token.start())
            self._at = token.end()
            return self._closed(text) if len(self._stack) > 1 else None
        elif kind.startswith("/*"):
            if (piece := self._css[self._at : token.start()]).strip() or self._pieces:
                self._pieces.append(piece)
            self._at = token.end()
        return None

    def _closed(self, text: str) -> Rule | None:
        block = self._stack.pop()
        block.parts.append(text)
        body = ";".join(block.parts)
        return Rule(block.selectors, body) if block.active and block.selectors and body.strip(" ;\n") else None

    def _text(self, end: int) -> str:
        """What was read since the last brace."""
        text = "".join([*self._pieces, self._css[self._at : end]])
        self._pieces = []
        return text


def _plain_rule(found: re.Match[str], outer: _Block) -> Rule | None:
    selectors, body = found[1].strip(), found[2]
    if not outer.active or not selectors or not body.strip(" ;\n"):
        return None
    return Rule(_nested(selectors, outer.selectors), body)


def _opened(prelude: str, outer: _Block) -> _Block:
    if not prelude.startswith("@"):
        return _Block(_nested(prelude, outer.selectors), outer.active)
    prelude = unescaped(prelude)
    found = _AT_NAME.match(prelude)
    name = found[1].lower() if found else ""
    rest = prelude[len(name) + 1 :].strip()
    if name == "media":
        return _Block(outer.selectors, outer.active and applies_to_screen(rest))
    return _Block(outer.selectors, outer.active and name in _GROUPS and not rest.lower().startswith("not"))


def _nested(selectors: str, outer: str) -> str:
    if not outer:
        return selectors
    expanded = []
    for parent in split_selectors(outer)[:8]:
        for selector in split_selectors(selectors)[:8]:
            expanded.append(selector.replace("&", parent) if "&" in selector else f"{parent} {selector}")
    return ",".join(expanded)


def split_selectors(text: str) -> list[str]:
    """The selectors of a list."""
    if "," not in text:
        return [text.strip()] if text.strip() else []
    if not _PLAIN.search(text):
        return [part.strip() for part in text.split(",") if part.strip()]
    found, depth, at = [], 0, 0
    for token in _COMMA.finditer(text):
        if token[0] in "([":
            depth += 1
        elif token[0] in ")]":
            depth = max(0, depth - 1)
        elif token[0] == "," and not depth:
            found.append(text[at : token.start()])
            at = token.end()
    return [part.strip() for part in (*found, text[at:]) if part.strip()]


def unescaped(text: str) -> str:
    """``text`` with its escapes replaced by the characters they stand for."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    if match[1] is None:
        return match[2]
    number = int(match[1], 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


@lru_cache(maxsize=8192)
def declarations(text: str) -> Mapping[str, tuple[str, bool]]:
    """The declarations of a style attribute or rule: names and values in lower case, and whether they are important."""
    if _ODD.search(text):
        return _parsed(text)
    found: dict[str, tuple[str, bool]] = {}
    for part in text.split(";"):
        name, colon, value = part.partition(":")
        if colon:
            _declare(found, name.strip().lower(), value)
    return found


def _parsed(text: str) -> Mapping[str, tuple[str, bool]]:
    """The same by a real tokenizer, for texts with escapes, comments and strings."""
    # Imported here because most pages do not need it.
    import tinycss2

    found: dict[str, tuple[str, bool]] = {}
    for node in tinycss2.parse_blocks_contents(text[:20_000], skip_comments=True, skip_whitespace=True):
        if node.type == "declaration":
            value = unescaped("".join(token.serialize() for token in node.value if token.type != "comment"))
            _declare(found, unescaped(node.name).lower(), value + (" !important" if node.important else ""))
    return found


def _declare(found: dict[str, tuple[str, bool]], name: str, value: str) -> None:
    value = value.strip().lower()
    important = bool(value) and "!" in value
    if important:
        value = _IMPORTANT.sub("", value)
    if value and (important or name not in found or not found[name][1]):
        found[name] = (value, important)


def resolved(value: str, variables: Mapping[str, str]) -> str:
    """``value`` with the variables in it replaced."""
    for _ in range(4):
        if "var(" not in value:
            break
        value = _VARIABLE.sub(lambda match: variables.get(match[1], match[2] or ""), value)[:2000]
    return value.strip()


def pixels(value: str, default: float = 0.0, *, percent: float = 1.0) -> float:
    """A length in pixels, or a number; ``percent`` is what one percent is, ``default`` stands for everything else."""
    match = _LENGTH.match(value)
    if match is None:
        return default
    unit = match[2].lower()
    scale = percent if unit == "%" else _PIXELS.get(unit.lstrip("sdl") if unit[1:] in _PIXELS else unit)
    return default if scale is None else float(match[1]) * scale


# --- media queries ---------------------------------------------------------------------------------------------------
_FEATURE = re.compile(r"\(([^()]*)\)")
_RANGE = re.compile(r"([\w-]+)\s*(<=?|>=?|=)\s*([^<>=]+)$")
_NUMBERS = {
    "width": _WIDTH, "device-width": _WIDTH, "height": _HEIGHT, "device-height": _HEIGHT, "resolution": 96.0,
    "aspect-ratio": _WIDTH / _HEIGHT, "device-aspect-ratio": _WIDTH / _HEIGHT, "color": 8.0, "monochrome": 0.0,
    "color-index": 0.0, "grid": 0.0, "-webkit-device-pixel-ratio": 1.0,
}  # fmt: skip
_WORDS = {
    "orientation": "landscape", "hover": "hover", "any-hover": "hover", "pointer": "fine", "any-pointer": "fine",
    "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference", "prefers-contrast": "no-preference",
    "prefers-reduced-transparency": "no-preference", "forced-colors": "none", "scripting": "enabled",
    "update": "fast", "scan": "progressive", "display-mode": "browser", "color-gamut": "srgb",
    "overflow-block": "scroll", "overflow-inline": "scroll", "inverted-colors": "none", "dynamic-range": "standard",
}  # fmt: skip


@lru_cache(maxsize=512)
def applies_to_screen(queries: str) -> bool:
    """Whether a list of media queries holds for the screen of a computer."""
    queries = unescaped(queries).strip().lower()
    return not queries or any(_query_holds(query.strip()) for query in queries.split(","))


def _query_holds(query: str) -> bool:
    negated = query.startswith("not ")
    query = query.removeprefix("not ").removeprefix("only ").strip()
    kind = query.partition("(")[0].partition(" and")[0].strip()
    holds = kind in ("", "all", "screen")
    if holds:
        features = [_feature_holds(feature) for feature in _FEATURE.findall(query)]
        holds = any(features) if " or " in query else all(features)
    return holds != negated


def _feature_holds(feature: str) -> bool:
    if found := _RANGE.match(feature.strip()):
        name, sign, text = found.groups()
        have, limit = _NUMBERS.get(name), _number(text)
        if have is None:
            return False
        return (have < limit if "<" in sign else have > limit) if sign != "=" and have != limit else "=" in sign
    name, colon, text = (part.strip() for part in feature.partition(":"))
    bound, base = name[:4], name[4:]
    if bound in ("min-", "max-") and base in _NUMBERS:
        return _NUMBERS[base] >= _number(text) if bound == "min-" else _NUMBERS[base] <= _number(text)
    if name in _WORDS:
        return text == _WORDS[name] if colon else _WORDS[name] not in ("none", "no-preference")
    if name in _NUMBERS:
        return _NUMBERS[name] == _number(text) if colon else _NUMBERS[name] > 0
    return False


def _number(text: str) -> float:
    """The value of a feature; resolutions in dots per inch."""
    text = text.strip()
    for unit, scale in (("dppx", 96.0), ("dpcm", 2.54), ("dpi", 1.0), ("x", 96.0)):
        if text.endswith(unit) and not text.endswith("px"):
            return pixels(text.removesuffix(unit)) * scale
    top, slash, bottom = text.partition("/")
    return pixels(top) / (pixels(bottom) or 1.0) if slash else pixels(text)
