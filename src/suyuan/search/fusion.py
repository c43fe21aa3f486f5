"""Joining the results of several engines: by their places, and by the words of the query that they hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from ..core.result import SearchResult
from ..core.urls import page_key
from .relevance import shares

# Chosen by measurement (docs/adr/007-fusion.md).
_POWER = 0.3
_ABSENT = 0.8
_TEXT = 0.5


def fuse(lists: Sequence[Sequence[SearchResult]], query: str = "") -> tuple[SearchResult, ...]:
    """Merge ranked lists: a page found by several engines rises, and keeps the best text that any of them had."""
    merged: dict[str, SearchResult] = {}
    ranked: list[list[str]] = []
    for results in lists:
        keys: dict[str, None] = {}
        for result in results:
            key = page_key(result.url)
            if key not in keys:
                keys[key] = None
                merged[key] = merged[key].joined(result) if key in merged else result
        ranked.append(list(keys))
    scores = _by_place(ranked, list(merged))
    if query:
        held = shares(query, list(merged.values()))
        scores = [place + _TEXT * share for place, share in zip(scores, held, strict=True)]
    # sorted() is stable: pages with equal scores stay in the order in which the engines were named.
    best = sorted(zip(merged.values(), scores, strict=True), key=lambda pair: -pair[1])
    return tuple(result for result, _ in best)


def _by_place(ranked: Sequence[Sequence[str]], pages: Sequence[str]) -> list[float]:
    """A score between 0 and 1 for each page: points by place, as in a Borda count, but less steep.

    A page that an engine did not return gets most of the mean of the places behind its list: the shorter the list,
    the less its absence means.
    """
    points = [float(place) ** _POWER for place in range(len(pages), 0, -1)]
    sums = [0.0, *accumulate(points)]
    scores = dict.fromkeys(pages, 0.0)
    for keys in ranked:
        behind = len(pages) - len(keys)
        points_behind = sums[-1] - sums[len(keys)]
        rest = _ABSENT * points_behind / behind if behind else 0.0
        for place, key in zip(points, keys, strict=False):
            scores[key] += place - rest
    least, most = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    span = (most - least) or 1.0
    return [(score - least) / span for score in scores.values()]
