"""Reads declarations of CSS: which values are valid, and what the variables in them stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from .colour import is_colour_name
from .css_limits import MAX_CHAIN, MAX_REFERENCES, StylesTooComplex
from .lengths import NUMBER, UNITS

Declared = Mapping[str, tuple[str, bool]]
"""The values of properties, and whether they are important."""

_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.S)
_COMMENT = re.compile(r"(\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?)|/\*.*?(?:\*/|\Z)", re.S)
# Escapes, blocks, and strings that contain what separates declarations; brackets are counted.
_ODD = re.compile(r"[\\{}]|\"[^\";:!]*[;:!][^\"]*\"|'[^';:!]*[;:!][^']*'")
_MAX_BRACKETS = 100
_MAX_PARSED = 50_000
# What separates declarations, and what it may stand in.
_SEPARATOR = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?|\\.|[()\[\]{};]", re.S)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_IMPORTANT = re.compile(r"\s*!\s*important\s*$", re.I)
# --- which values are valid: browsers ignore the others -----------------------------------------------------------
_LENGTH_NAMES = (
    "left top right bottom width height max-width max-height min-width min-height inline-size block-size "
    "max-inline-size max-block-size text-indent margin-left margin-top margin-right margin-inline-start "
    "margin-block-start letter-spacing word-spacing inset inset-inline-start inset-inline-end inset-block-start "
    "inset-block-end margin"
)
_LENGTHS = frozenset(_LENGTH_NAMES.split())
_OVERFLOW = ("overflow", "overflow-x", "overflow-y")
_WORD = r"inherit|initial|unset|revert|revert-layer"
_ANY_UNIT = "|".join(sorted(filter(None, UNITS), key=len, reverse=True))
_SIZE = rf"{NUMBER}(?:{_ANY_UNIT}|%)|[+-]?0*\.?0+"
_KEYWORDS = (
    r"auto|none|normal|hanging|each-line|fit-content|min-content|max-content|stretch|-webkit-[a-z-]+|-moz-[a-z-]+"
)
_VALID = {
    "display": (
        r"none|contents|(?:(?:block|inline|flow|flow-root|table|flex|grid|ruby|list-item|math|run-in|"
        r"(?:inline|table|ruby|-webkit|-moz|-ms)-[a-z-]+)(?:\s+|$))+"
    ),
    "visibility": "visible|hidden|collapse",
    "position": "static|relative|absolute|fixed|sticky|-webkit-sticky",
    "opacity": rf"{NUMBER}%?",
    "content-visibility": "visible|auto|hidden",
    "font-size": rf"{_SIZE}|(?:xx?|xxx)-(?:small|large)|small|medium|large|smaller|larger|math",
    "line-height": rf"{NUMBER}(?:{_ANY_UNIT}|%)?|normal",
    "transform": "none",
    "filter": "none",
    "clip-path": "none|(?:border|padding|content|margin|fill|stroke|view)-box",
    **dict.fromkeys(_LENGTHS, rf"(?:(?:{_SIZE}|{_KEYWORDS})(?:\s+|$))+"),
    **dict.fromkeys(_OVERFLOW, r"(?:(?:visible|hidden|clip|scroll|auto|overlay)(?:\s+|$))+"),
}
_VALIDATORS = {name: re.compile(f"(?:{pattern}|{_WORD})") for name, pattern in _VALID.items()}
_CALL = re.compile(r"([-a-z0-9]*)\(")
_FUNCTION_NAMES = (
    "calc min max clamp abs sign round mod rem sin cos tan asin acos atan atan2 pow sqrt hypot log exp var env attr if "
    "matrix matrix3d translate translate3d translatex translatey translatez scale scale3d scalex scaley scalez rotate "
    "rotate3d rotatex rotatey rotatez skew skewx skewy perspective blur brightness contrast drop-shadow grayscale "
    "hue-rotate invert opacity saturate sepia url inset circle ellipse polygon path rect xywh shape fit-content "
    "calc-size anchor anchor-size sibling-index sibling-count rgb rgba hsl hsla"
)
_FUNCTIONS = frozenset(("", *_FUNCTION_NAMES.split()))
_MAX_VALUE = 20_000
_NO_IMAGES = frozenset(_VALID) - {"filter", "clip-path"}
"""Properties whose values contain no image, however long they are."""
_COLOURS = frozenset(("color", "background-color", "-webkit-text-fill-color"))
_NAME = re.compile(r"[a-z]+")
_QUIRK = re.compile(rf"^(?:([0-9a-f]{{6}}|[0-9a-f]{{3}})|({NUMBER}))$")


def unescaped(text: str) -> str:
    """``text`` with its escapes replaced by the characters they stand for."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    if match[1] is None:
        return match[2]
    number = int(match[1], 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"


@lru_cache(maxsize=8192)
def declarations(text: str, quirks: bool = False) -> Declared:
    """The valid declarations of a style attribute or rule: names and values, and whether they are important.

    With ``quirks``, as in pages without a document type, lengths need no unit, and colours no sign.
    """
    if "/*" in text:
        text = _COMMENT.sub(lambda match: match[1] or "", text)
    found: dict[str, tuple[str, bool]] = {}
    parts = text.split(";")
    if _ODD.search(text) or any(map(_is_open, parts)):
        # The tokenizer needs a level of recursion for each bracket, and its time.
        if len(text) > _MAX_PARSED or sum(map(text.count, "([{")) > _MAX_BRACKETS:
            for name, value in _separated(text):
                _declare(found, unescaped(name), unescaped(value), quirks)
            return found
        # Imported here because most pages do not need it.
        import tinycss2

        for node in tinycss2.parse_blocks_contents(text, skip_comments=True, skip_whitespace=True):
            if node.type == "declaration":
                value = unescaped("".join(token.serialize() for token in node.value if token.type != "comment"))
                _declare(found, unescaped(node.name), value + (" !important" if node.important else ""), quirks)
        return found
    for part in parts:
        name, colon, value = part.partition(":")
        if colon:
            _declare(found, name.strip(), value, quirks)
    return found


def _separated(text: str) -> Iterator[tuple[str, str]]:
    """The names and values of a long block, in one pass over it; nested blocks are left out."""
    closing: list[str] = []
    start = 0
    for token in _SEPARATOR.finditer(text + ";"):
        sign = token[0]
        if sign in _CLOSING:
            closing.append(_CLOSING[sign])
        elif closing and sign == closing[-1]:
            closing.pop()
        if closing or sign not in (";", "}"):
            continue
        part = text[start : token.start()]
        is_variable = part.lstrip().startswith("--")
        if sign == "}" and is_variable:
            # A block is its value.
            continue
        start = token.end()
        name, colon, value = part.partition(":")
        if sign == ";" and colon:
            yield name.strip(), value
    if closing:
        # The end closes what is open.
        name, colon, value = text[start:].partition(":")
        if colon:
            yield name.strip(), value


def _is_open(part: str) -> bool:
    return part.count("(") > part.count(")") or part.count("[") > part.count("]")


def _declare(found: dict[str, tuple[str, bool]], name: str, value: str, quirks: bool) -> None:
    value = value.strip()
    important = "!" in value[-12:]
    if important:
        value = _IMPORTANT.sub("", value)
    if name.startswith("--"):
        valid = True
    else:
        name = name.lower()
        # The names of variables keep their case.
        if len(value) > _MAX_VALUE and name in _NO_IMAGES and is_valid(name, value[:_MAX_VALUE].lower()):
            raise StylesTooComplex
        value = value[:_MAX_VALUE] if "--" in value else value[:_MAX_VALUE].lower()
        if quirks and (name in _COLOURS or name in _LENGTHS):
            value = _QUIRK.sub(lambda match: f"#{match[1]}" if name in _COLOURS else f"{match[2]}px", value)
        valid = bool(value) and is_valid(name, value)
    if valid and (important or name not in found or not found[name][1]):
        found[name] = (value, important)


def is_valid(name: str, value: str) -> bool:
    """Whether a browser accepts the value, as far as it matters here."""
    if "var(" in value or "env(" in value:
        return True
    if (pattern := _VALIDATORS.get(name)) is not None:
        if "(" in value:
            return all(function in _FUNCTIONS for function in _CALL.findall(value))
        return pattern.fullmatch(value) is not None
    if name in _COLOURS and _NAME.fullmatch(value):
        return is_colour_name(value)
    return True


def is_checked(name: str) -> bool:
    """Whether it is known which values of this property are valid."""
    return name in _VALIDATORS or name in _COLOURS


# --- variables ----------------------------------------------------------------------------------------------------
_REFERENCE = re.compile(r"(?:var|env)\(", re.I)
_INVALID = "\x00"
"""Stands for a reference to what has no value: nothing that it is part of has one."""


def resolved(value: str, variables: Mapping[str, str]) -> str:
    """``value`` with the variables in it replaced; empty if one has no value."""
    found = _replaced(value, variables, {}, 0)
    return "" if _INVALID in found else found.strip().lower()


def _replaced(value: str, variables: Mapping[str, str], known: dict[str, str | None], depth: int) -> str:
    references = list(_REFERENCE.finditer(value))
    if depth > MAX_CHAIN or len(references) > MAX_REFERENCES:
        raise StylesTooComplex
    # The last one contains no other.
    for reference in reversed(references):
        start, inside = reference.span()
        end = _closing(value, inside)
        name, comma, fallback = value[inside:end].partition(",")
        found = _value_of(name.strip(), variables, known, depth)
        if found is None:
            found = fallback if comma else _INVALID
        value = _cut(f"{value[:start]}{found}{value[end + 1 :]}")
    return value


def _value_of(name: str, variables: Mapping[str, str], known: dict[str, str | None], depth: int) -> str | None:
    """The value of a variable; None if it has none, as one that refers to itself."""
    if name not in known:
        known[name] = None
        text = variables.get(name, "initial")
        if text != "initial":
            text = _replaced(text, variables, known, depth + 1)
            known[name] = None if _INVALID in text else text
    return known[name]


def _cut(value: str) -> str:
    """A value of limited length; what is longer is the address of an image, or nothing that can be understood."""
    if len(value) > _MAX_VALUE and "url(" not in value and "data:" not in value:
        raise StylesTooComplex
    return value[:_MAX_VALUE]


def _closing(text: str, start: int) -> int:
    """Where the bracket that is open at ``start`` is closed."""
    depth = 1
    for place in range(start, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if not depth:
            return place
    return len(text)
