"""Whether the conditions of a style sheet hold: media queries, supported features, sizes of containers."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from .css_limits import bracket_depths
from .css_values import is_checked, is_valid, unescaped
from .lengths import HEIGHT, WIDTH, pixels

Truth = bool | None
"""None where it is not known."""

_MAX_DEPTH = 10
_RANGE = re.compile(r"(?:([^<>=]+?)\s*(<=?|>=?|=)\s*)?([a-z-]+)\s*(?:(<=?|>=?|=)\s*([^<>=]+))?")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
}  # fmt: skip
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
_BOUNDS = {"min-": ">=", "max-": "<="}
_DOTS_PER_INCH = {"dppx": 96.0, "dpcm": 2.54, "dpi": 1.0, "x": 96.0}
_RESOLUTION = re.compile(r"([\d.]+)(dppx|dpcm|dpi|x)")
_ABSENT = ("-moz-", "-ms-", "-o-", "-khtml-")

Leaf = Callable[[str], Truth]


@lru_cache(maxsize=512)
def applies_to_screen(queries: str) -> Truth:
    """Whether a list of media queries holds for the screen of a computer."""
    nodes = _nodes(queries)
    if nodes is None:
        return None
    if not nodes:
        return True
    lists: list[list[Any]] = [[]]
    for node in nodes:
        if node == ",":
            lists.append([])
        else:
            lists[-1].append(node)
    return any(map(_query_holds, lists))


@lru_cache(maxsize=512)
def is_supported(condition: str) -> Truth:
    """Whether a browser of today has what the condition of ``@supports`` asks for."""
    return _holds(_nodes(condition), _is_feature_supported)


@lru_cache(maxsize=512)
def fits_container(condition: str) -> Truth:
    """Whether a container of the width of the screen fits the condition of ``@container``."""
    nodes = _nodes(condition) or []
    if _word(nodes) not in ("", "not"):
        # The name of the container.
        nodes = nodes[1:]
    return _holds(nodes, _container_feature_holds)


def _nodes(condition: str) -> list[Any] | None:
    """The words, signs and brackets of a condition; None if it is too deep to be taken apart."""
    condition = unescaped(condition).strip().lower()
    if max(bracket_depths(condition)) > _MAX_DEPTH or condition.count("not ") > _MAX_DEPTH:
        return None
    # Imported here because most pages do not need it.
    import tinycss2

    nodes = tinycss2.parse_component_value_list(condition, skip_comments=True)
    return _without_spaces(nodes)


def _without_spaces(nodes: Sequence[Any]) -> list[Any]:
    return [node for node in nodes if node.type != "whitespace"]


def _word(nodes: Sequence[Any], place: int = 0) -> str:
    """The word at a place; empty if something else is there, or nothing."""
    is_word = place < len(nodes) and nodes[place].type == "ident"
    return str(nodes[place].value) if is_word else ""


def _query_holds(nodes: Sequence[Any]) -> bool:
    """Whether a media query holds: a kind of medium, a condition, or both."""
    is_negated = _word(nodes) == "not" and _word(nodes, 1) != ""
    if is_negated or _word(nodes) == "only":
        nodes = nodes[1:]
    kind = _word(nodes)
    if kind in ("", "not"):
        return _holds(nodes, _feature_holds) is True
    holds = kind in ("all", "screen")
    if holds and len(nodes) > 1:
        holds = _word(nodes, 1) == "and" and _holds(nodes[2:], _feature_holds) is True
    return holds != is_negated


def _holds(nodes: Sequence[Any] | None, leaf: Leaf) -> Truth:
    """Whether a condition of ``not``, ``and``, ``or`` and brackets holds."""
    if not nodes:
        return None
    if _word(nodes) == "not":
        inner = _holds(nodes[1:], leaf)
        return None if inner is None else not inner
    words = [_word([node]) for node in nodes]
    truths = [_operand_holds(node, leaf) for node, word in zip(nodes, words, strict=True) if word not in ("and", "or")]
    if len(truths) == 1:
        return truths[0]
    decisive = "or" in words
    if decisive in truths:
        return decisive
    return None if None in truths else not decisive


def _operand_holds(node: Any, leaf: Leaf) -> Truth:
    if node.type != "() block":
        return leaf(node.serialize())
    content = _without_spaces(node.content)
    is_condition = content and content[0].type in ("() block", "function")
    if is_condition or _word(content) == "not":
        return _holds(content, leaf)
    return leaf("".join(part.serialize() for part in node.content).strip())


def _container_feature_holds(feature: str) -> Truth:
    if feature.startswith(("style(", "scroll-state(")):
        return None
    return _feature_holds(feature)


def _feature_holds(feature: str) -> bool:
    comparison = _RANGE.fullmatch(feature[:200])
    if comparison is not None and (comparison[2] or comparison[4]):
        return _is_within(comparison)
    name, colon, text = (part.strip() for part in feature.partition(":"))
    bound, base = name[:4], name[4:]
    if bound in _BOUNDS and base in _NUMBERS:
        return _COMPARE[_BOUNDS[bound]](_NUMBERS[base], _number(text))
    if name in _NUMBERS:
        return _NUMBERS[name] == _number(text) if colon else bool(_NUMBERS[name])
    word = _WORDS.get(name)
    if colon:
        return text == word
    return word not in (None, "none", "no-preference")


def _is_within(comparison: re.Match[str]) -> bool:
    low, after_low, name, before_high, high = comparison.groups()
    actual = _NUMBERS.get(name)
    if actual is None:
        return False
    if after_low and not _COMPARE[after_low](_number(low), actual):
        return False
    return not before_high or _COMPARE[before_high](actual, _number(high))


def _number(text: str) -> float:
    """The value of a feature; resolutions in dots per inch."""
    resolution = _RESOLUTION.fullmatch(text.strip())
    if resolution is not None:
        return pixels(resolution[1]) * _DOTS_PER_INCH[resolution[2]]
    top, slash, bottom = text.partition("/")
    if slash and "(" not in text:
        return pixels(top) / (pixels(bottom) or 1.0)
    return pixels(text)


def _is_feature_supported(feature: str) -> Truth:
    name, colon, value = (part.strip() for part in feature.partition(":"))
    if not colon or feature.startswith("selector("):
        return True
    if name.startswith(_ABSENT):
        return False
    if name.startswith(("--", "-webkit-")) or name in _common_properties():
        return True
    return is_valid(name, value) if is_checked(name) else None


@lru_cache(maxsize=1)
def _common_properties() -> frozenset[str]:
    """The properties that every browser of today has, whatever their value is."""
    return frozenset(files(__package__).joinpath("css_properties.txt").read_text("utf-8").split())
