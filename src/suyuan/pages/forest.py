"""A small forest of decision trees, read from ``forest.json`` (grown outside, on public benchmark pages)."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any

# After the first trees most blocks of a page are plainly outside; the rest of the forest would only say so louder, by this much.
_FIRST = 20
_OUTSIDE = -1.8
_LOUDER = 1.27


@cache
def _trees() -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The first trees and the rest, as nested tuples (feature, threshold, left, right); a leaf is a number."""
    trees = tuple(_frozen(tree) for tree in json.loads((files(__package__) / "forest.json").read_text("utf-8")))
    return trees[:_FIRST], trees[_FIRST:]


def _frozen(tree: Any) -> Any:
    return (tree[0], tree[1], _frozen(tree[2]), _frozen(tree[3])) if isinstance(tree, list) else tree


def likelihood(row: list[float]) -> float:
    """How likely the block of these features is main content, from 0 to 1."""
    first, rest = _trees()
    total = _sum(first, row)
    total = total * _LOUDER if total < _OUTSIDE else total + _sum(rest, row)
    return 1 / (1 + exp(-total))


def _sum(trees: tuple[Any, ...], row: list[float]) -> float:
    total = 0.0
    for tree in trees:
        while type(tree) is tuple:
            feature, threshold, left, right = tree
            tree = left if row[feature] <= threshold else right
        total += tree
    return total
