"""Evaluates the decision trees of ``forest.json``, which ``tools/grow_forest.py`` trains on public benchmark pages."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any

# After the first trees most blocks are clearly not main content; the others would only scale the sum by this factor.
_FIRST = 20
_CLEARLY_OUTSIDE = -1.8
_SCALE = 1.27


@cache
def _trees() -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The first trees and the rest, as nested tuples (feature, threshold, left, right); a leaf is a number."""
    trees = tuple(_frozen(tree) for tree in json.loads((files(__package__) / "forest.json").read_text("utf-8")))
    return trees[:_FIRST], trees[_FIRST:]


def _frozen(tree: Any) -> Any:
    return (tree[0], tree[1], _frozen(tree[2]), _frozen(tree[3])) if isinstance(tree, list) else tree


def load_forest() -> None:
    """Load the trees now instead of when the first page is read."""
    _trees()


def content_probability(row: list[float]) -> float:
    """The probability that a block with these features is main content."""
    first, rest = _trees()
    total = _sum(first, row)
    total = total * _SCALE if total < _CLEARLY_OUTSIDE else total + _sum(rest, row)
    return 1 / (1 + exp(-total))


def _sum(trees: tuple[Any, ...], row: list[float]) -> float:
    total = 0.0
    for tree in trees:
        while type(tree) is tuple:
            feature, threshold, left, right = tree
            tree = left if row[feature] <= threshold else right
        total += tree
    return total
