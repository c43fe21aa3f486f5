"""Whether the conditions of a style sheet hold: media queries, supported features, sizes of containers."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from .css_values import is_checked, is_valid, unescaped
from .lengths import HEIGHT, WIDTH, pixels

Truth = bool | None
"""None where it is not known."""

_QUERY = re.compile(r"(?:(not|only)\s+)?([a-z][a-z-]*)(?:\s+and\s+(.*))?", re.S)
_MAX_DEPTH = 20
_BRACKET = re.compile(r"[()]")
_RANGE = re.compile(r"(?:([^<>=]+?)\s*(<=?|>=?|=)\s*)?([a-z-]+)\s*(?:(<=?|>=?|=)\s*([^<>=]+))?")
_NUMBERS = {
    "width": WIDTH, "device-width": WIDTH, "height": HEIGHT, "device-height": HEIGHT, "resolution": 96.0,
    "aspect-ratio": WIDTH / HEIGHT, "device-aspect-ratio": WIDTH / HEIGHT, "color": 8.0, "monochrome": 0.0,
    "color-index": 0.0, "grid": 0.0, "-webkit-device-pixel-ratio": 1.0, "inline-size": WIDTH, "block-size": HEIGHT,
}  # fmt: skip
_WORDS = {
    "orientation": "landscape", "hover": "hover", "any-hover": "hover", "pointer": "fine", "any-pointer": "fine",
    "prefers-color-scheme": "light", "prefers-reduced-motion": "no-preference", "prefers-contrast": "no-preference",
    "prefers-reduced-transparency": "no-preference", "forced-colors": "none", "scripting": "enabled",
    "update": "fast", "scan": "progressive", "display-mode": "browser", "color-gamut": "srgb",
    "overflow-block": "scroll", "overflow-inline": "scroll", "inverted-colors": "none", "dynamic-range": "standard",
}  # fmt: skip
_ABSENT = ("-moz-", "-ms-", "-o-", "-khtml-")


@lru_cache(maxsize=512)
def applies_to_screen(queries: str) -> Truth:
    """Whether a list of media queries holds for the screen of a computer."""
    queries = unescaped(queries).strip().lower()
    if not queries:
        return True
    if _is_nested_deeply(queries):
        return None
    return any(_query_holds(query) for query in _parts(queries, ","))


@lru_cache(maxsize=512)
def is_supported(condition: str) -> Truth:
    """Whether a browser of today has what the condition of ``@supports`` asks for."""
    return _holds(unescaped(condition).strip().lower(), _is_supported)


@lru_cache(maxsize=512)
def fits_container(condition: str) -> Truth:
    """Whether a container of the width of the screen fits the condition of ``@container``."""
    condition = condition.strip().lower()
    name, bracket, rest = condition.partition("(")
    if name.strip() not in ("", "not", "style", "scroll-state"):
        condition = ("not " if name.split()[-1] == "not" else "") + bracket + rest
    return _holds(
        condition, lambda feature: None if feature.startswith(("style", "scroll")) else _feature_holds(feature)
    )


def _query_holds(query: str) -> bool:
    found = None if query.startswith("not (") else _QUERY.fullmatch(query)
    if found is None:
        return _holds(query, _feature_holds) is True
    negated, kind, condition = found.groups()
    holds = kind in ("all", "screen") and (not condition or _holds(condition, _feature_holds) is True)
    return holds != (negated == "not")


def _is_nested_deeply(condition: str) -> bool:
    """Whether a condition is too deep to be taken apart."""
    depth = 0
    for bracket in _BRACKET.finditer(condition):
        depth += 1 if bracket[0] == "(" else -1
        if depth > _MAX_DEPTH // 2:
            return True
    return condition.count("not ") > _MAX_DEPTH // 2


def _holds(condition: str, leaf: Callable[[str], Truth], depth: int = 0) -> Truth:
    """Whether a condition of ``not``, ``and``, ``or`` and brackets holds."""
    words = _parts(condition, " ")
    if depth > _MAX_DEPTH or not words:
        return None
    if words[0] == "not":
        inner = _holds(" ".join(words[1:]), leaf, depth + 1)
        return None if inner is None else not inner
    operands = [word for word in words if word not in ("and", "or")]
    if len(operands) > 1:
        each = [_holds(word, leaf, depth + 1) for word in operands]
        decisive = "or" in words
        return decisive if decisive in each else None if None in each else not decisive
    word = operands[0] if operands else ""
    if not word.startswith("("):
        return leaf(word)
    inner_text = word[1:].removesuffix(")").strip()
    if inner_text.startswith(("(", "not ", "selector(", "font-")):
        return _holds(inner_text, leaf, depth + 1)
    return leaf(inner_text)


def _parts(text: str, separator: str) -> list[str]:
    """``text`` cut at the separators that are not in brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth <= 0 and (character == separator or (separator == " " and character.isspace())):
            parts.append("")
        elif separator == " " and character == "(" and depth == 1 and parts[-1] in ("and", "or", "not"):
            parts.append(character)
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _feature_holds(feature: str) -> bool:
    found = _RANGE.fullmatch(feature[:200])
    if found is not None and (found[2] or found[4]):
        low, before, name, after, high = found.groups()
        have = _NUMBERS.get(name)
        if have is None:
            return False
        return (not before or _compare(_number(low), before, have)) and (
            not after or _compare(have, after, _number(high))
        )
    name, colon, text = (part.strip() for part in feature.partition(":"))
    bound, base = name[:4], name[4:]
    if bound in ("min-", "max-") and base in _NUMBERS:
        return _NUMBERS[base] >= _number(text) if bound == "min-" else _NUMBERS[base] <= _number(text)
    if name in _WORDS:
        return text == _WORDS[name] if colon else _WORDS[name] not in ("none", "no-preference")
    if name in _NUMBERS:
        return _NUMBERS[name] == _number(text) if colon else _NUMBERS[name] > 0
    return False


def _compare(one: float, sign: str, other: float) -> bool:
    return ("=" in sign and one == other) or (one < other if "<" in sign else one > other if ">" in sign else False)


def _number(text: str) -> float:
    """The value of a feature; resolutions in dots per inch."""
    text = text.strip()
    for unit, scale in (("dppx", 96.0), ("dpcm", 2.54), ("dpi", 1.0), ("x", 96.0)):
        if text.endswith(unit) and not text.endswith("px"):
            return pixels(text.removesuffix(unit)) * scale
    top, slash, bottom = text.partition("/")
    return pixels(top) / (pixels(bottom) or 1.0) if slash and "(" not in text else pixels(text)


def _is_supported(feature: str) -> Truth:
    name, colon, value = (part.strip() for part in feature.partition(":"))
    if not colon or feature.startswith("selector("):
        return True
    if name.startswith(_ABSENT):
        return False
    if name.startswith(("--", "-webkit-")) or name in _COMMON:
        return True
    return is_valid(name, value) if is_checked(name) else None


_COMMON_NAMES = (
    "backdrop-filter gap grid-template-columns grid-template-rows grid-template-areas grid aspect-ratio object- "
    "fit mask mask-image animation transition animation-timeline mix-blend-mode scroll-behavior scrollbar-width "
    "scrollbar-gutter container-type text-wrap accent-color flex-wrap flex-basis hanging-punctuation initial- "
    "letter shape-outside columns background-clip box-decoration-break text-decoration-color writing-mode touch- "
    "action overscroll-behavior color-scheme width height padding paint-order overflow-anchor font-variation- "
    "settings font-palette hyphens appearance background"
)
_COMMON = frozenset(_COMMON_NAMES.split())
