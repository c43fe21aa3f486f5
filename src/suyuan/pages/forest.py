"""Evaluates the decision trees of ``forest.json``, which ``tools/grow_forest.py`` trains on public benchmark pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

# After the first trees most blocks are clearly not main content; the others would only scale the sum by this factor.
_FIRST = 20
_CLEARLY_OUTSIDE = -1.8
_SCALE = 1.27
_MANY_ROWS = 500


@cache
def _trees() -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The first trees and the rest, as nested tuples (feature, threshold, left, right); a leaf is a number."""
    trees = tuple(_frozen(tree) for tree in json.loads(Path(__file__).with_name("forest.json").read_text("utf-8")))
    return trees[:_FIRST], trees[_FIRST:]


def _frozen(tree: Any) -> Any:
    return (tree[0], tree[1], _frozen(tree[2]), _frozen(tree[3])) if isinstance(tree, list) else tree


_Sum = Callable[..., float]
"""Of the features of a block, each an argument."""
_sums: list[_Sum] = []
_rows = 0


@cache
def _compile(count: int) -> None:
    """Turn the trees into code, once: that takes a moment, and is worth it for a process that reads many pages."""
    _sums[:] = (_compiled(trees, count) for trees in _trees())


def content_score(row: list[float]) -> float:
    """The logarithm of the odds that a block with these features is main content."""
    global _rows
    _rows += 1
    if _rows == _MANY_ROWS:
        _compile(len(row))
    elif not _sums:
        _sums.extend(partial(_sum, trees) for trees in _trees())
    first, rest = _sums
    total = first(*row)
    return total * _SCALE if total < _CLEARLY_OUTSIDE else total + rest(*row)


def _compiled(trees: tuple[Any, ...], count: int) -> _Sum:
    # The same order of additions as below, so that the result is the same to the last bit.
    names = ", ".join(f"f{number}" for number in range(count))
    made: _Sum = eval(f"lambda {names}: 0.0 + {' + '.join(map(_source, trees))}")
    return made


def _source(tree: Any) -> str:
    if not isinstance(tree, tuple):
        return repr(float(tree))
    feature, threshold, left, right = tree
    return f"({_source(left)} if f{int(feature)} <= {float(threshold)!r} else {_source(right)})"


def _sum(trees: tuple[Any, ...], *row: float) -> float:
    total = 0.0
    for tree in trees:
        while type(tree) is tuple:
            feature, threshold, left, right = tree
            tree = left if row[feature] <= threshold else right
        total += tree
    return total
