"""Reads declarations of CSS: which values are valid, and what the variables in them stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from .colour import is_colour_name
from .css_limits import MAX_CHAIN, MAX_REFERENCES, MAX_TOKENS, StylesTooComplex
from .lengths import NUMBER, UNITS

Declared = Mapping[str, tuple[str, bool]]
"""The values of properties, and whether they are important."""

_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.S)
_CHARACTERS = range(1, 0x110000)
_COMMENT = re.compile(r"(\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?)|/\*.*?(?:\*/|\Z)", re.S)
# Escapes, blocks, and strings that contain what separates declarations.
_NEEDS_PARSER = re.compile(r"[\\{}]|\"[^\";:!]*[;:!][^\"]*\"|'[^';:!]*[;:!][^']*'")
_IMPORTANT = re.compile(r"\s*!\s*important\s*$", re.I)
# --- which values are valid: browsers ignore the others -----------------------------------------------------------
_LENGTHS = frozenset(
    (
        "left", "top", "right", "bottom", "width", "height", "max-width", "max-height", "min-width", "min-height",
        "inline-size", "block-size", "max-inline-size", "max-block-size", "text-indent", "margin", "margin-left",
        "margin-top", "margin-right", "margin-inline-start", "margin-block-start", "letter-spacing", "word-spacing",
        "inset", "inset-inline-start", "inset-inline-end", "inset-block-start", "inset-block-end",
    )
)  # fmt: skip
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
_FUNCTIONS = frozenset(
    (
        "", "calc", "min", "max", "clamp", "abs", "sign", "round", "mod", "rem", "sin", "cos", "tan", "asin",
        "acos", "atan", "atan2", "pow", "sqrt", "hypot", "log", "exp", "var", "env", "attr", "if", "matrix",
        "matrix3d", "translate", "translate3d", "translatex", "translatey", "translatez", "scale", "scale3d",
        "scalex", "scaley", "scalez", "rotate", "rotate3d", "rotatex", "rotatey", "rotatez", "skew", "skewx",
        "skewy", "perspective", "blur", "brightness", "contrast", "drop-shadow", "grayscale", "hue-rotate",
        "invert", "opacity", "saturate", "sepia", "url", "inset", "circle", "ellipse", "polygon", "path", "rect",
        "xywh", "shape", "fit-content", "calc-size", "anchor", "anchor-size", "sibling-index", "sibling-count",
        "rgb", "rgba", "hsl", "hsla",
    )
)  # fmt: skip
_MAX_VALUE = 20_000
_NO_IMAGES = frozenset(_VALID) - {"filter", "clip-path"}
"""Properties whose values contain no image, however long they are."""
_COLOURS = frozenset(("color", "background-color", "-webkit-text-fill-color"))
_NAME = re.compile(r"[a-z]+")
_HEX_WITHOUT_SIGN = re.compile(r"[0-9a-f]{6}|[0-9a-f]{3}")
_NUMBER = re.compile(NUMBER)


def unescaped(text: str) -> str:
    """``text`` with its escapes replaced by the characters they stand for."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    if match[1] is None:
        return match[2]
    number = int(match[1], 16)
    is_surrogate = 0xD800 <= number < 0xE000
    return chr(number) if number in _CHARACTERS and not is_surrogate else "\ufffd"


@lru_cache(maxsize=8192)
def declarations(text: str, quirks: bool = False) -> Declared:
    """The valid declarations of a style attribute or rule: names and values, and whether they are important.

    With ``quirks``, as in pages without a document type, lengths need no unit, and colours no sign.
    """
    if "/*" in text:
        text = _COMMENT.sub(lambda match: match[1] or "", text)
    declared: dict[str, tuple[str, bool]] = {}
    parts = text.split(";")
    if _NEEDS_PARSER.search(text) or any(map(_is_open, parts)):
        _declare_parsed(declared, text, quirks)
        return declared
    for part in parts:
        name, colon, value = part.partition(":")
        if colon:
            _declare(declared, name.strip(), value, quirks)
    return declared


def _is_open(part: str) -> bool:
    return part.count("(") > part.count(")") or part.count("[") > part.count("]")


def _declare_parsed(declared: dict[str, tuple[str, bool]], text: str, quirks: bool) -> None:
    """Add the declarations of a text that has to be parsed to know where each of them ends."""
    if sum(map(text.count, "([{;:\\")) > MAX_TOKENS:
        raise StylesTooComplex
    # Imported here because most pages do not need it.
    import tinycss2

    for node in tinycss2.parse_blocks_contents(text, skip_comments=True, skip_whitespace=True):
        if node.type != "declaration":
            continue
        name = unescaped(node.name)
        try:
            value = unescaped("".join(token.serialize() for token in node.value if token.type != "comment"))
        except RecursionError:
            # Brackets too deep to be written again: nobody can tell what the value is.
            if name.lower() in _NO_IMAGES:
                raise StylesTooComplex from None
            continue
        if node.important:
            value += " !important"
        _declare(declared, name, value, quirks)


def _declare(declared: dict[str, tuple[str, bool]], name: str, value: str, quirks: bool) -> None:
    """Add a declaration, if it is valid and no earlier one is more important."""
    value = value.strip()
    important = "!" in value[-12:]
    if important:
        value = _IMPORTANT.sub("", value)
    if not name.startswith("--"):
        name = name.lower()
        value = _shortened(name, value)
        if quirks:
            value = _without_quirks(name, value)
        if not value or not is_valid(name, value):
            return
    if important or not declared.get(name, ("", False))[1]:
        declared[name] = (value, important)


def _shortened(name: str, value: str) -> str:
    """A value of limited length, in lower case; the names of variables keep their case."""
    short = value[:_MAX_VALUE]
    is_cut = len(short) < len(value)
    if is_cut and name in _NO_IMAGES and is_valid(name, short.lower()):
        raise StylesTooComplex
    return short if "--" in short else short.lower()


def _without_quirks(name: str, value: str) -> str:
    """A value as it would be written in a page with a document type."""
    if name in _COLOURS and _HEX_WITHOUT_SIGN.fullmatch(value):
        return f"#{value}"
    if name in _LENGTHS and _NUMBER.fullmatch(value):
        return f"{value}px"
    return value


def is_valid(name: str, value: str) -> bool:
    """Whether a browser accepts the value, as far as it matters here."""
    if "var(" in value or "env(" in value:
        return True
    validator = _VALIDATORS.get(name)
    if validator is not None:
        if "(" in value:
            return _FUNCTIONS.issuperset(_CALL.findall(value))
        return validator.fullmatch(value) is not None
    if name in _COLOURS and _NAME.fullmatch(value):
        return is_colour_name(value)
    return True


def is_checked(name: str) -> bool:
    """Whether it is known which values of this property are valid."""
    return name in _VALIDATORS or name in _COLOURS


# --- variables ----------------------------------------------------------------------------------------------------
_REFERENCE = re.compile(r"(?:var|env)\(", re.I)
_BRACKET = re.compile(r"[()]")
_INVALID = "\x00"
"""Stands for a reference to what has no value: nothing that it is part of has one."""


def resolved(value: str, variables: Mapping[str, str]) -> str:
    """``value`` with the variables in it replaced; empty if one has no value."""
    replaced = _replaced(value, variables, {}, 0)
    return "" if _INVALID in replaced else replaced.strip().lower()


def _replaced(value: str, variables: Mapping[str, str], known: dict[str, str | None], depth: int) -> str:
    references = list(_REFERENCE.finditer(value))
    if depth > MAX_CHAIN or len(references) > MAX_REFERENCES:
        raise StylesTooComplex
    # The last one contains no other.
    for reference in reversed(references):
        start, inside = reference.span()
        end = _closing(value, inside)
        name, comma, fallback = value[inside:end].partition(",")
        new = _value_of(name.strip(), variables, known, depth)
        if new is None:
            new = fallback if comma else _INVALID
        value = f"{value[:start]}{new}{value[end + 1 :]}"
        if len(value) > _MAX_VALUE:
            if "url(" not in value and "data:" not in value:
                raise StylesTooComplex
            # The address of an image.
            value = value[:_MAX_VALUE]
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


def _closing(text: str, start: int) -> int:
    """Where the bracket that is open at ``start`` is closed."""
    depth = 1
    for bracket in _BRACKET.finditer(text, start):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return bracket.start()
    return len(text)


def plain(declared: Declared) -> dict[str, str]:
    """The values without what is said of their importance."""
    return {name: value for name, (value, _) in declared.items()}
